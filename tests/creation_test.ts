/**
 * A power cut while a database is made, or the death of whoever makes it:
 * whatever is left of it, a database opens there again, and what was
 * acknowledged is in it.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { generateKeyPair } from "../crypto/mod.ts";
import { defineSchema, field, openDatabase, type Storage } from "../mod.ts";
import { faultyStorage, type Kept } from "./kit/mod.ts";
import { isTried, sized } from "./kit/tier.ts";

const Note = defineSchema("note", { text: field.string() });

/** A database with keys of its own, and one that waits for a server to certify it. */
const own: Keys = {};
const client: Keys = {
  rootKey: generateKeyPair((key) => key.fill(7)).publicKey,
};

type Keys = { readonly rootKey?: Uint8Array };

/** Makes a database with one note; says whether the note was acknowledged. */
async function make(storage: Storage, keys: Keys): Promise<boolean> {
  try {
    const db = await openDatabase({ storage, schemas: [Note], ...keys });
    const notes = (await db.repository("a")).collection(Note);
    await notes.upsert({ id: "first", text: "a" });
    return true;
  } catch {
    return false;
  }
}

for (const [name, keys] of Object.entries({ own, client })) {
  Deno.test(`a power cut at any step of a creation leaves a folder that opens (${name} keys)`, () =>
    cutEverywhere(keys));
}

async function cutEverywhere(keys: Keys): Promise<void> {
  const images: Kept[] = ["synced", "all", ...Array(12).keys()];
  let isMade = false;
  let cuts = 0;
  for (let freezeAt = 1; !isMade; freezeAt++) {
    if (!isTried(freezeAt, 5)) continue;
    for (const kept of images) {
      const storage = faultyStorage({ freezeAt });
      isMade = await make(storage, keys);
      const db = await openDatabase({
        storage: storage.powerCut(kept),
        schemas: [Note],
        ...keys,
      });
      const repo = await db.repository("a");
      const notes = repo.collection(Note);
      if (isMade) ok(notes.has("first"), `cut ${freezeAt}, kept ${kept}`);
      await notes.upsert({ id: "second", text: "b" });
      equal((await repo.verify()).ok, true);
      deepEqual(db.repositories(), ["a"]);
      await db.close();
      cuts++;
    }
  }
  ok(cuts > sized(20, 100), `${cuts} cuts`);
}

for (const [name, keys] of Object.entries({ own, client })) {
  Deno.test(`a power cut takes nothing of what was acknowledged where whoever made the database had died at any step (${name} keys)`, () =>
    dieEverywhere(keys));
}

async function dieEverywhere(keys: Keys): Promise<void> {
  let isMade = false;
  for (let freezeAt = 1; !isMade; freezeAt++) {
    const first = faultyStorage({ freezeAt });
    isMade = await make(first, keys);
    const next = first.nextProcess();
    ok(await make(next, keys), `died at ${freezeAt}`);
    const storage = next.powerCut("synced");
    const db = await openDatabase({ storage, schemas: [Note], ...keys });
    const notes = (await db.repository("a")).collection(Note);
    ok(notes.has("first"), `died at ${freezeAt}`);
    await db.close();
  }
}
