/** What is erased is gone in every page, and in the files of their device. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { replicaOf } from "../src/db/internals.ts";
import { filesWith } from "./kit/found_text.ts";
import { until } from "./kit/patience.ts";
import { Card, ServedOrigin } from "./kit/tab_cards.ts";

const SECRET = "wild rose lane";

Deno.test("tabs: what is erased on the server is gone in each page, in its undo, and in the files", async () => {
  const place = new ServedOrigin();
  const [database, first] = await place.tab();
  const [, second] = await place.tab();
  place.connect(database);
  await first.undo.ready;
  const cards = first.collection(Card);
  await cards.create({ id: "x", title: SECRET }).synced;
  await cards.update("x", { title: `${SECRET} 7` }).synced;
  await cards.create({ id: "y", title: "stays" }).synced;
  await until(() => second.collection(Card).has("y"), "the other page has it");
  await first.checkpoint();
  const files = place.origin.files;
  const hasUndo = () =>
    filesWith(files, SECRET).some((name) => name.includes("undo"));
  await until(hasUndo, "what can be undone is kept");
  ok(first.undo.canUndo);

  const replica = await place.server.replica("board");
  const items = [{ collection: Card.name, id: "x" }];
  equal(await replica.redact(items, place.server.root, ""), 2);
  const [, third] = await place.tab();
  for (const page of [first, second, third]) {
    const isGone = () =>
      page.collection(Card).get("x")?.title === undefined &&
      page.collection(Card).has("x");
    await until(isGone, "a page erases it");
    equal(page.collection(Card).get("y")?.title, "stays");
    await replicaOf(page).redacted;
  }
  const isClean = () => filesWith(files, SECRET).length === 0;
  await until(isClean, () => filesWith(files, SECRET).join());
  deepEqual(filesWith(place.server.storage, SECRET), []);
  while (first.undo.canUndo) first.undo.undo();
  equal(first.collection(Card).get("x")?.title, undefined);
  await second.collection(Card).update("x", { title: "said anew" }).synced;
  const isAnew = () => first.collection(Card).get("x")?.title === "said anew";
  await until(isAnew, "it goes on");
  await first.verify();
  await place.close();
  deepEqual(filesWith(files, SECRET), []);
});
