/** The server's own records are there whatever rotted of them. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { type Files, filesOf, restored, withFile } from "../tests/kit/mod.ts";
import { isTried, sized } from "../tests/kit/tier.ts";
import { serverOptions } from "../tests/server_place.ts";
import type { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { system } from "../src/base/system.ts";
import type { Storage } from "../src/storage/storage.ts";
import { withDefaults } from "./options.ts";
import { createServer } from "./server.ts";
import { layFoundation } from "./foundation.ts";
import type { LogRecord } from "./log.ts";

function open(storage: Storage) {
  return layFoundation(
    withDefaults({ storage, scrub: false }),
    system,
    () => {},
  );
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

/** Files of a server that was closed, or killed. */
async function left(isClosed: boolean): Promise<Files> {
  const storage = restored([]);
  const { database, books } = await open(storage);
  const at = new Date(0);
  for (let i = 0; i < RECORDS; i++) {
    const id = i.toString(16).padStart(64, "0");
    const session = { user: `user ${i}`, claims: {}, issued: at };
    await books.sessions.create({ id, ...session, expires: at });
    await books.revocations.create({ id, reason: "", at });
  }
  if (isClosed) await database.close();
  return filesOf(storage);
}

const RECORDS = 5;
/** Header, genesis, certificate, and the batch of the first session. */
const HEAD_BYTES = 500;

for (const isClosed of [true, false]) {
  const how = isClosed ? "closed" : "killed";
  Deno.test(`layFoundation() starts whatever byte of the keys or at the beginning of the books was changed, after it was ${how}`, async () => {
    const files = await left(isClosed);
    const isMeant = ([name]: Files[number]) =>
      name === "database" || name.includes("/log-");
    for (const [name, bytes] of files.filter(isMeant)) {
      const end = Math.min(bytes.length, HEAD_BYTES);
      for (let at = 0; at < end; at++) {
        if (!isTried(at, 13)) continue;
        for (const mask of [1 << at % 8, 0xff]) {
          const rotten = bytes.slice();
          rotten[at]! ^= mask;
          const seen = `byte ${at} of ${name} changed by ${mask}`;
          await startsOver(withFile(files, name, rotten), seen, mask !== 0xff);
        }
      }
    }
  });
}

/** Starts over damaged files, writes, and finds all but the one record that was damaged, if more than a bit of it was. */
async function startsOver(
  files: Files,
  seen: string,
  isBit: boolean,
): Promise<void> {
  const storage = restored(files);
  const { database, books, own } = await layFoundation(
    withDefaults({ storage }),
    system,
    () => {},
  );
  const { sessions, revocations } = books;
  const { lost, quarantine } = own.status().recovery;
  equal(revocations.count(), RECORDS, seen);
  equal(sessions.count(), RECORDS - (lost?.commits ?? 0), seen);
  if (isBit) deepEqual([lost, quarantine], [undefined, undefined], seen);
  const at = new Date(0);
  const session = { user: "new", claims: {}, issued: at, expires: at };
  await sessions.create({ id: "new", ...session });
  await database.close();
  const again = await open(storage);
  equal(again.books.sessions.get("new")?.user, "new", seen);
  await again.database.close();
}

Deno.test("a server says that it repaired its keys and its books, and where the damaged bytes are", async () => {
  const files = await left(false);
  const [name, bytes] = files.find(([name]) => name.includes("/log-"))!;
  const [log, keys] = [bytes.slice(), files[0]![1].slice()];
  equal(files[0]![0], "database");
  log[HEAD_BYTES]! ^= 0xff;
  keys[9]! ^= 0xff;
  const storage = restored(
    withFile(withFile(files, name, log), "database", keys),
  );
  const records: LogRecord[] = [];
  await using _server = await createServer(serverOptions({ storage }, records));
  const told = records.filter(({ level }) => level === "error");
  deepEqual(
    told.map(({ event, repository, lost }) => [event, repository, lost]),
    [
      ["keys-mended", undefined, undefined],
      ["repository-damaged", "_server", 1],
    ],
  );
  const folder = name.split("/log-")[0];
  ok(storage.open(`${folder}/${told[1]!.quarantine}`));
  ok(storage.open("quarantine-database"));
});

Deno.test("a server without repairs, and one whose books cannot be repaired, say what to do and touch nothing", async () => {
  const files = await left(true);
  const [name, bytes] = files.find(([name]) => name.includes("/log-"))!;
  const torn = bytes.slice();
  torn.fill(0xff, 0, 64);
  const bit = bytes.slice();
  bit[9]! ^= 1;
  for (const [spoiled, scrub] of [[torn, true], [bit, false]] as const) {
    const image = withFile(files, name, spoiled);
    const storage = restored(image);
    await rejects(
      layFoundation(withDefaults({ storage, scrub }), system, () => {}),
      (error: DatabaseError) => {
        ok(["log-damaged", "format-unknown"].includes(error.code));
        match(error.message, /own records.*move the folder.*away/s);
        return true;
      },
    );
    deepEqual(filesOf(storage), image);
  }
});
