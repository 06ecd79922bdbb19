/**
 * An honest device that was offline, and comes back with edits of an item that
 * was deleted meanwhile, where a server has rules: what its people hear of it.
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
} from "../mod.ts";
import type { Server } from "../server/mod.ts";
import { until } from "./kit/patience.ts";
import { ANN, BOB, withServer } from "./server_place.ts";

const Note = defineSchema("note", {
  title: field.string(),
});

const all = { create: () => true, update: () => true, delete: () => true };
const rules = defineRules({
  "team/a": { read: () => true, collections: [rulesFor(Note, all)] },
});

type Device = Awaited<ReturnType<typeof deviceOf>>;

/** A device that is connected, and tells what it lost. */
async function deviceOf(server: Server, token: string) {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Note],
    rules,
  });
  const repository = await db.repository("team/a");
  const notes = repository.collection(Note);
  const told: unknown[] = [];
  notes.onOverwritten((edits) => {
    for (const edit of edits) told.push([edit.kind, edit.id, edit.before]);
  });
  const connect = async () => {
    db.connect(server.url, { session: { token } });
    await repository.sync.ready;
  };
  await connect();
  const { sync } = repository;
  return { db, sync, notes, told, connect };
}

/** Two of them: bob goes offline with what ann has made, edits it, and she deletes it. */
async function withLate(
  begin: (bob: Device) => Promise<unknown>,
  work: (bob: Device, late: readonly Promise<void>[]) => Promise<void>,
): Promise<void> {
  await withServer({ rules }, async ({ server }) => {
    const ann = await deviceOf(server, ANN);
    const bob = await deviceOf(server, BOB);
    await ann.notes.create({ id: "n", title: "hers" }).synced;
    await begin(bob);
    await until(() => bob.notes.has("n"), "he has it");
    await bob.db.connection!.close();
    const late = ["one", "two"].map((title) =>
      bob.notes.update("n", { title }).synced
    );
    await ann.notes.delete("n").synced;
    await bob.connect();
    await work(bob, late);
    equal(bob.notes.has("n"), false);
    for (const { db } of [ann, bob]) await db.close();
  });
}

Deno.test("late edits of who has written before are accepted, and told as lost", () =>
  withLate(
    ({ notes }) => notes.create({ id: "m", title: "his" }).synced,
    async (bob, late) => {
      await Promise.all(late);
      await until(() => bob.told.length > 0, "it is told");
      deepEqual(bob.told, [["deleted", "n", { id: "n", title: "two" }]]);
      deepEqual(bob.sync.status.refusals, []);
    },
  ));

Deno.test("late edits of who has never written there are refused with their reason, and nothing else is", () =>
  withLate(
    () => Promise.resolve(),
    async (bob, late) => {
      const own = bob.notes.create({ id: "m", title: "his" });
      for (const one of late) {
        await rejects(one, /note.update.*"n" was deleted meanwhile/);
      }
      await own.synced;
      const { refusals } = bob.sync.status;
      const told = refusals.map(({ reason, rule }) => [reason, rule]);
      deepEqual(told, Array(2).fill(["denied", "team/a note.update"]));
      for (const refused of refusals) await refused.discard();
      deepEqual(bob.sync.status.refusals, []);
    },
  ));
