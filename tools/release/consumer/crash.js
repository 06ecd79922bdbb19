/** @module What was acknowledged survives kill -9 of the process that wrote it. */

import assert from "node:assert/strict";
import process from "node:process";
import { defineSchema, field, openDatabase } from "@sheaf/sheaf";
import { beside, Child, withFolder } from "./place.js";

const Entry = defineSchema("entry", { text: field.string() });

/** After how many acknowledged writes each writer is killed. */
const KILLED_AFTER = [1, 7, 40, 3, 120];

async function open(path) {
  const db = await openDatabase({ path, schemas: [Entry] });
  const repo = await db.repository("notes");
  return { db, repo, entries: repo.collection(Entry) };
}

if (process.argv[2] === "write") {
  const { entries } = await open(process.argv[3]);
  for (let i = 0;; i++) {
    const write = entries.create({ text: `${i} ${"x".repeat(i % 500)}` });
    await write.durable;
    console.log(`durable ${write.id}`);
  }
}

async function killOnce(path, count, known) {
  const child = new Child(beside("crash.js"), "write", path);
  await child.said(/^durable/, count);
  child.signal("SIGKILL");
  assert.equal(await child.ended, "SIGKILL");
  for (const line of child.lines) known.add(line.split(" ")[1]);
  const { db, repo, entries } = await open(path);
  const lost = [...known].filter((id) => entries.get(id) === undefined);
  assert.deepEqual(lost, []);
  const { ok } = await repo.verify();
  assert.equal(ok, true);
  await db.close();
}

/** The checks by their sentences. */
export function crash() {
  return {
    "a write that was acknowledged is there after kill -9": () =>
      withFolder(async (folder) => {
        const known = new Set();
        for (const count of KILLED_AFTER) {
          await killOnce(`${folder}/data`, count, known);
        }
        assert.ok(known.size >= KILLED_AFTER.reduce((a, b) => a + b));
      }),
  };
}
