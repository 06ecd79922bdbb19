/** The server's own records are there whatever rotted in their checkpoint. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { filesOf, restored, withFile } from "../tests/kit/mod.ts";
import { sized } from "../tests/kit/tier.ts";
import { limits } from "../src/base/limits.ts";
import { system } from "../src/base/system.ts";
import type { Storage } from "../src/storage/storage.ts";
import { layFoundation } from "./foundation.ts";

function open(storage: Storage) {
  return layFoundation({ storage, scrub: false }, system, () => {});
}

/** Files of a server that has issued so many sessions and was closed, and the name of its checkpoint. */
async function closed(sessions: number) {
  const storage = restored([]);
  const { database, books } = await open(storage);
  const at = new Date(0);
  for (let i = 0; i < sessions; i++) {
    const id = i.toString(16).padStart(64, "0");
    const session = { user: `user ${i}`, claims: { i }, issued: at };
    void books.sessions.create({ id, ...session, expires: at });
    if (i % 10 === 0) void books.revocations.create({ id, reason: "", at });
    if (i % 20 === 0) void books.sessions.update(id, { user: "another" });
  }
  await database.close();
  const files = filesOf(storage);
  const [name, bytes] = files.find(([name]) => name.includes("/checkpoint-"))!;
  return { files, name, bytes };
}

/** Starts with one bit flipped at each of these places, and reads everything. */
async function flipAt(
  { files, name, bytes }: Awaited<ReturnType<typeof closed>>,
  places: Iterable<number>,
  sessions: number,
): Promise<void> {
  for (const at of places) {
    const rotten = bytes.slice();
    rotten[at]! ^= 1 << at % 8;
    const storage = restored(withFile(files, name, rotten));
    const { database, books: { sessions: all, revocations } } = await open(
      storage,
    );
    const seen = `byte ${at} of ${bytes.length}`;
    equal(all.all().length, sessions, seen);
    equal(all.where({ user: "another" }).count(), sessions / 20, seen);
    equal(revocations.count(), sessions / 10, seen);
    const id = "0".repeat(64);
    deepEqual(all.get(id)?.claims, { i: 0 }, seen);
    await database.close();
  }
}

Deno.test("layFoundation() starts at once whatever bit of the books' checkpoint flipped, with all of them", async () => {
  const made = await closed(100);
  const used = [...made.bytes.keys()].filter((at) => made.bytes[at] !== 0);
  const stride = sized(61, 3);
  const places = used.filter((_, i) => i % stride === 0);
  ok(places.length > 50, `${places.length} places`);
  await flipAt(made, places, 100);
});

Deno.test("layFoundation() starts at once over a large checkpoint of the books that rotted anywhere", async () => {
  const sessions = 12_000;
  const made = await closed(sessions);
  const { length } = made.bytes;
  ok(length > limits.checkpointCheckedBytesMax, `${length} bytes`);
  const count = sized(7, 64);
  const step = Math.floor(length / count);
  await flipAt(
    made,
    Array.from({ length: count }, (_, i) => i * step),
    sessions,
  );
});
