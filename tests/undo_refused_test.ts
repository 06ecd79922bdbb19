/** Undo beside writes that a server refuses. */

import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
} from "../mod.ts";
import { MemoryServer } from "./kit/memory_server.ts";

const Card = defineSchema("card", {
  title: field.string().default(""),
  rank: field.number().default(0),
  votes: field.counter(),
});

const rules = defineRules({
  board: {
    read: () => true,
    collections: [rulesFor(Card, {
      create: () => true,
      update: ({ after }) => after.rank < 5 || "too high",
      delete: () => true,
    })],
  },
});

Deno.test("undo passes over what the server refused, and finds what had to move beside it", async () => {
  const server = new MemoryServer({ users: { a: "ann" }, rules });
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Card],
    rootKey: server.rootKey,
  });
  const repository = await db.repository("board");
  const { undo, sync } = repository;
  await undo.ready;
  const cards = repository.collection(Card);
  cards.create({ id: "a" });
  cards.update("a", { title: "kept" });
  const refused = cards.update("a", { rank: 9, votes: { increment: 7 } });
  const moved = cards.update("a", { title: "moved", votes: { increment: 1 } });
  const { connector, login } = server;
  db.connect(connector, { session: { token: "a" }, login });
  await refused.synced.then(() => equal("accepted", "refused"), () => {});
  await moved.synced;
  equal(sync.status.refusals.length, 1);
  const seen = () => {
    const { title = "", rank, votes } = cards.get("a") ?? {};
    return [title, rank, votes];
  };
  deepEqual(seen(), ["moved", 0, 1]);
  deepEqual(undo.undo()!.result, { changed: 2, leftAlone: [] });
  deepEqual(seen(), ["kept", 0, 0]);
  deepEqual(undo.undo()!.result, { changed: 1, leftAlone: [] });
  deepEqual(seen(), ["", 0, 0]);
  undo.undo();
  equal(cards.has("a"), false);
  await undo.redo()!.synced;
});

Deno.test("undo passes over what the server refused after it had moved", async () => {
  const server = new MemoryServer({ users: { a: "ann" }, rules });
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Card],
    rootKey: server.rootKey,
  });
  const repository = await db.repository("board");
  const { undo } = repository;
  await undo.ready;
  const cards = repository.collection(Card);
  cards.create({ id: "a" });
  const kept = cards.update("a", { votes: { increment: 1 } });
  // The second one moves since the first one is refused, and is refused then.
  const refused = [9, 7].map((increment) =>
    cards.update("a", { rank: increment, votes: { increment } })
  );
  const { connector, login } = server;
  db.connect(connector, { session: { token: "a" }, login });
  for (const { synced } of refused) await rejects(synced, { code: "refused" });
  await kept.synced;
  equal(cards.get("a")?.votes, 1);
  deepEqual(undo.undo()!.result, { changed: 1, leftAlone: [] });
  equal(cards.get("a")?.votes, 0);
});
