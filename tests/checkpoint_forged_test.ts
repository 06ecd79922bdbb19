/**
 * A checkpoint whose checksums are right and whose content is not: somebody wrote
 * it on purpose, or it was wrong before it was written.
 */

import { ok } from "node:assert/strict";
import fc from "fast-check";
import {
  DatabaseError,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Storage,
} from "../mod.ts";
import { crc32 } from "../src/base/crc32.ts";
import { sized } from "./kit/tier.ts";

const PAGE = 4096;
const REPOSITORY = "team/a";
const Row = defineSchema("row", {
  text: field.string(),
  rank: field.number().optional(),
  tags: field.set(field.string()),
  steps: field.list(field.string()),
  when: field.date().optional(),
  done: field.boolean().optional(),
}, { indexes: [["rank"]] });

function opened(storage: Storage) {
  return openDatabase({ storage, schemas: [Row] });
}

/** Reads what there is in every way that reads a checkpoint; and writes upon it. */
async function readAll(storage: Storage): Promise<void> {
  await using db = await opened(storage);
  const repo = await db.repository(REPOSITORY);
  const rows = repo.collection(Row);
  for (let i = 0; i < 300; i += 29) {
    rows.get(`i${i}`);
    for (const _ of rows.history(`i${i}`));
  }
  rows.where({ rank: { gte: 100 } }).count();
  rows.orderBy("rank").limit(5).run();
  rows.orderBy("text").limit(5).run();
  await rows.update("i7", { tags: { add: ["later"] } });
  rows.all();
}

/** A folder whose checkpoint holds all kinds of cells: as they were made, changed, deleted. */
async function written() {
  const storage = memoryStorage();
  {
    await using db = await opened(storage);
    const repo = await db.repository(REPOSITORY);
    const rows = repo.collection(Row);
    for (let i = 0; i < 300; i++) {
      rows.create({
        id: `i${i}`,
        text: `t${i % 7}`,
        rank: i,
        tags: ["a", `b${i % 3}`],
        steps: ["x", "y"],
        when: new Date(1e12 + i),
        done: i % 2 === 0,
      });
    }
    for (let i = 0; i < 60; i++) {
      rows.update(`i${i}`, { text: `é${i}`, tags: { add: ["z"] } });
    }
    for (let i = 60; i < 80; i++) rows.delete(`i${i}`);
  }
  return storage;
}

/** All files of a storage, as they are. */
function filesOf(storage: Storage): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const visit = (folder: string) => {
    for (const name of storage.list(folder)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const file = storage.open(path)!;
      const bytes = new Uint8Array(file.size());
      file.readAt(bytes, 0);
      file.close();
      files.set(path, bytes);
    }
    for (const name of storage.folders(folder)) {
      visit(folder === "" ? name : `${folder}/${name}`);
    }
  };
  visit("");
  return files;
}

/** Sets bytes of one page, and its checksum. */
function forge(
  sound: Uint8Array,
  page: number,
  spoils: readonly { readonly at: number; readonly byte: number }[],
): Uint8Array {
  const bytes = sound.slice();
  const view = new DataView(bytes.buffer);
  const last = bytes.length / PAGE - 1;
  const salt = view.getUint32(last * PAGE + 12, true);
  const start = page * PAGE;
  const end = start + PAGE - 4;
  for (const { at, byte } of spoils) bytes[start + at] = byte;
  const seed = page === last ? 0 : (salt + page) >>> 0;
  view.setUint32(end, crc32(bytes.subarray(start, end), seed), true);
  return bytes;
}

const spoil = fc.record({
  at: fc.oneof(fc.nat(PAGE - 5), fc.nat(600)),
  byte: fc.oneof(fc.constantFrom(0, 0x7f, 0x80, 0xff), fc.nat(255)),
});

Deno.test("whatever a checkpoint with right checksums says, reading it gives items, or an error with a code", async () => {
  const files = filesOf(await written());
  const path = [...files.keys()].find((one) => /checkpoint-\d+$/.test(one))!;
  const sound = files.get(path)!;
  const pages = sound.length / PAGE;
  const copied = (bytes: Uint8Array) =>
    memoryStorage(
      [...files].map((
        [name, own],
      ) => [name, name === path ? bytes : own.slice()]),
    );
  await readAll(copied(forge(sound, 0, [])));
  let noticed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(pages - 1),
      fc.array(spoil, { minLength: 1, maxLength: 4 }),
      async (page, spoils) => {
        try {
          await readAll(copied(forge(sound, page, spoils)));
        } catch (error) {
          ok(
            error instanceof DatabaseError,
            `${error instanceof Error ? error.stack : error}`,
          );
          // Or an item is not found, or is another one.
          if (error.code === "checkpoint-damaged") noticed++;
        }
      },
    ),
    { seed: 5, numRuns: sized(200, 3_000), endOnFailure: true },
  );
  ok(noticed > 0);
});
