/** Undo in tabs: each tab takes back its own, and a reload forgets nothing. */

import { deepEqual, equal } from "node:assert/strict";
import { defineSchema, field } from "../mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { decodeSteps } from "../src/db/undo_file.ts";
import { filesOf } from "./kit/images.ts";
import { Origin } from "./kit/origin.ts";
import { Tab } from "./kit/tab_place.ts";
import { until } from "./kit/patience.ts";

const Card = defineSchema("card", {
  title: field.string().default(""),
  rank: field.number().default(0),
});
const schemas = [Card];

async function open(tab: Tab) {
  const repository = await tab.repository();
  await repository.undo.ready;
  return { undo: repository.undo, cards: repository.collection(Card) };
}

Deno.test("undo in a tab takes back what that tab wrote, and leaves what another one changed since", async () => {
  const origin = new Origin();
  await using one = new Tab(origin, { schemas });
  await using two = new Tab(origin, { schemas });
  const [a, b] = [await open(one), await open(two)];
  await a.cards.create({ id: "x", title: "first" });
  await until(() => b.cards.has("x"), "the other tab sees it");
  await b.cards.update("x", { title: "second", rank: 5 });
  await a.cards.create({ id: "y" });
  await until(
    () => a.cards.get("x")?.rank === 5 && b.cards.has("y"),
    "both see all",
  );
  a.undo.undo();
  equal(a.cards.has("y"), false);
  await b.undo.undo();
  deepEqual([b.cards.get("x")?.title, b.cards.get("x")?.rank], ["first", 0]);
  equal(b.undo.canUndo, false);
  await until(
    () => a.cards.get("x")?.rank === 0,
    "it is a write like any other",
  );
  await until(() => !b.cards.has("y"), "and so is the other one");
});

Deno.test("undo in a tab goes on after a reload of the page, and after all pages were closed", async () => {
  const origin = new Origin();
  {
    await using page = new Tab(origin, { schemas });
    const { cards } = await open(page);
    await cards.create({ id: "x", title: "first" });
    await cards.update("x", { rank: 1 });
    await cards.update("x", { title: "second" });
    const repository = await page.repository();
    await repository.close();
  }
  {
    await using page = new Tab(origin, { schemas });
    const { undo, cards } = await open(page);
    deepEqual(undo.undo()!.result, { changed: 1, leftAlone: [] });
    equal(cards.get("x")?.title, "first");
  }
  await using page = new Tab(origin, { schemas });
  const { undo, cards } = await open(page);
  undo.redo();
  equal(cards.get("x")?.title, "second");
  undo.undo();
  undo.undo();
  equal(cards.get("x")?.rank, 0);
  await undo.undo();
  equal(cards.has("x"), false);
});

/** How many steps that can be undone the files hold. */
function keptSteps(origin: Origin, genesisId: Uint8Array): number {
  const bytes = filesOf(origin.files)
    .find(([name]) => name.endsWith("/file-undo"))?.[1];
  return bytes && decodeSteps(bytes, genesisId)?.done.length || 0;
}

Deno.test("undo goes on in another page when its page died without a word", async () => {
  const origin = new Origin();
  await using other = new Tab(origin, { schemas });
  const { cards: seen } = await open(other);
  const page = new Tab(origin, { schemas });
  const { cards } = await open(page);
  cards.create({ id: "x", title: "first" });
  await cards.update("x", { rank: 1 });
  const { genesisId } = replicaOf(await page.repository()).loaded;
  await until(
    () => keptSteps(origin, genesisId) === 2,
    "both steps are written down, a moment after",
  );
  page.kill();
  await using later = new Tab(origin, { schemas });
  const { undo, cards: again } = await open(later);
  deepEqual(undo.undo()!.result, { changed: 1, leftAlone: [] });
  equal(again.get("x")?.rank, 0);
  deepEqual(undo.undo()!.result, { changed: 1, leftAlone: [] });
  await until(() => !seen.has("x"), "the other tab sees it");
});
