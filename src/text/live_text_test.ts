import assert from "node:assert/strict";
import { memoryStorage, openDatabase } from "../../mod.ts";
import { limits } from "../base/limits.ts";
import { seededRandom } from "../../tests/kit/mod.ts";
import { defineSchema } from "../schema/mod.ts";
import { TextState } from "../schema/text_state.ts";
import { LiveText } from "./live_text.ts";
import { field } from "./mod.ts";
import { piecesPutIn } from "./update_kit_test.ts";

const Card = defineSchema("card", { note: field.text() });

async function open(note: string) {
  const db = await openDatabase({ storage: memoryStorage(), schemas: [Card] });
  const repo = await db.repository("r");
  const cards = repo.collection(Card);
  cards.create({ id: "c", note });
  const errors: unknown[] = [];
  const live = new LiveText({
    collection: cards,
    id: "c",
    field: "note",
    delayMs: 1,
    isWatched: () => false,
    after: () => () => {},
    onChange: () => {},
    onError: (error) => void errors.push(error),
  });
  return { db, repo, cards, live, errors };
}

Deno.test("LiveText writes as one piece what one change has too many places for", async () => {
  const words = limits.textRunsMax + 100;
  const { db, repo, cards, live, errors } = await open("a ".repeat(words));
  const splices = Array.from({ length: words }, (_, i) => ({
    at: 2 * i,
    delete: 1,
    insert: "bc",
  }));
  live.edit(splices);
  live.flush();
  assert.deepEqual(errors, []);
  assert.equal(cards.get("c")!.note, "bc ".repeat(words));
  assert.equal(live.text, cards.get("c")!.note);
  assert.equal(repo.history().length, 2);
  await db.close();
});

Deno.test("LiveText writes before one change has too many places", async () => {
  const places = limits.textRunsMax - 24;
  const { db, repo, cards, live, errors } = await open("a".repeat(places));
  for (let round = 0; round < 3; round++) {
    const { length } = live.text;
    const splices = Array.from({ length: places }, (_, i) => ({
      at: Math.floor((i * length) / places),
      delete: 0,
      insert: "b",
    }));
    live.edit(splices);
  }
  live.flush();
  assert.deepEqual(errors, []);
  assert.equal(cards.get("c")!.note, live.text);
  assert.equal(live.text.length, 4 * places);
  assert.equal(repo.history().length, 4);
  await db.close();
});

Deno.test("LiveText types on under a new name when somebody else types under its own", async () => {
  const { db, cards, live } = await open("a");
  live.edit([{ at: 1, delete: 0, insert: "b" }]);
  live.flush();
  const client = live.doc.clientID;
  // Whatever it will type is dead already.
  const length = 2 ** 31;
  const lie = { clock: 1, left: { client, clock: 0 }, right: undefined };
  const runs = [{ ...lie, length, text: undefined }];
  const note = new TextState(new Map([[client, { runs, gone: [] }]]));
  cards.update("c", { note } as never);
  assert.notEqual(live.doc.clientID, client);
  live.edit([{ at: 2, delete: 0, insert: "c" }]);
  live.flush();
  assert.deepEqual([live.text, cards.get("c")!.note], ["abc", "abc"]);
  await db.close();
});

Deno.test("LiveText types on under a new name after its units were taken back", async () => {
  const { db, repo, cards, live } = await open("a");
  live.edit([{ at: 1, delete: 0, insert: "b" }]);
  live.flush();
  const before = new Set(cards.textOf("c", "note")!.clients.keys());
  live.edit([{ at: 2, delete: 0, insert: "?" }]);
  cards.delete("c");
  cards.create({ id: "c", note: "new" });
  assert.deepEqual([live.text, cards.get("c")!.note], ["new", "new"]);
  live.edit([{ at: 3, delete: 0, insert: "er" }]);
  live.flush();
  assert.equal(cards.get("c")!.note, "newer");
  const { clients } = cards.textOf("c", "note")!;
  const fresh = [...clients].filter(([client]) => !before.has(client))
    .flatMap(([, { runs }]) => runs.map(({ text }) => text));
  assert.ok(fresh.includes("er"), fresh.join());
  assert.equal(repo.history().length, 6);
  await db.close();
});

Deno.test("LiveText takes what others type in proportion to it, and whoever reads the text is shown it so", async () => {
  const { db, cards, live } = await open("once upon a time ".repeat(20));
  const other = new LiveText({
    collection: cards,
    id: "c",
    field: "note",
    delayMs: 1,
    isWatched: () => false,
    after: () => () => {},
    onChange: () => {},
    onError: (error) => assert.fail(String(error)),
  });
  const random = seededRandom(3);
  for (let i = 0; i < 200; i++) {
    const at = Math.floor(random() * live.text.length);
    const pieces = piecesPutIn(() => {
      live.edit([{ at, delete: 1, insert: "ab" }]);
      live.flush();
      assert.equal(cards.get("c")!.note, live.text);
    });
    assert.equal(other.text, live.text);
    assert.ok(pieces <= 2, `${pieces} pieces in edit ${i}`);
  }
  other.close();
  live.close();
  await db.close();
});
