/**
 * The whole database over a pool of OPFS files: many repositories at once, and
 * the power cut at any step.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { defineSchema, field, openDatabase } from "../mod.ts";
import { openOpfs } from "../src/storage/opfs_open.ts";
import { Died, FakeOpfs, type FakeProcess } from "./kit/fake_opfs.ts";
import { sized } from "./kit/tier.ts";

const Note = defineSchema("note", { text: field.string() });

async function withDatabase<T>(
  process: FakeProcess,
  task: (db: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>,
): Promise<T> {
  const storage = await openOpfs(process.directory, "db", 0);
  try {
    const db = await openDatabase({ storage, schemas: [Note] });
    try {
      return await task(db);
    } finally {
      await db.close();
    }
  } finally {
    await storage.close();
  }
}

const NAMES = Array.from({ length: 40 }, (_, i) => `team/${i}`).sort();

Deno.test("many repositories are made, written and closed at once over OPFS", async () => {
  const opfs = new FakeOpfs();
  await withDatabase(opfs.process(), async (db) => {
    await Promise.all(NAMES.map(async (name) => {
      const notes = (await db.repository(name)).collection(Note);
      await notes.create({ id: "a", text: name });
      await notes.create({ id: "b", text: "more" });
    }));
  });
  const process = opfs.process();
  await withDatabase(process, async (db) => {
    deepEqual(await db.repositories(), NAMES);
    const before = process.handles.size;
    for (const name of NAMES) {
      const repo = await db.repository(name);
      equal(repo.collection(Note).get("a")?.text, name);
      await repo.close();
    }
    ok(process.handles.size <= before + 6, "closed repositories hold nothing");
  });
});

/** Writes until it dies; gives the ids that were acknowledged. */
async function live(process: FakeProcess): Promise<string[]> {
  const acked: string[] = [];
  try {
    await withDatabase(process, async (db) => {
      for (const name of ["one", "two"]) {
        const notes = (await db.repository(name)).collection(Note);
        for (let i = 0; i < 4; i++) {
          await notes.create({ id: `${name}${i}`, text: `${i}` });
          acked.push(`${name}${i}`);
        }
      }
    });
  } catch (error) {
    if (!process.isDead) throw error;
    ok(error instanceof Died || error instanceof Error);
  }
  return acked;
}

async function check(opfs: FakeOpfs, acked: readonly string[]): Promise<void> {
  await withDatabase(opfs.process(), async (db) => {
    for (const id of acked) {
      const repo = await db.repository(id.slice(0, -1));
      equal(repo.collection(Note).get(id)?.text, id.slice(-1), id);
    }
    const repo = await db.repository("after");
    await repo.collection(Note).create({ text: "goes on" });
  });
}

Deno.test("a database over OPFS keeps what it acknowledged, wherever it ended", async () => {
  const whole = new FakeOpfs().process();
  equal((await live(whole)).length, 8);
  const step = Math.ceil(whole.steps / sized(15, 60));
  for (let dieAt = 1; dieAt <= whole.steps; dieAt += step) {
    const opfs = new FakeOpfs();
    const acked = await live(opfs.process(dieAt));
    await check(opfs.powerCut("synced"), acked);
    await check(opfs.powerCut(dieAt), acked);
    await check(opfs, acked);
  }
});
