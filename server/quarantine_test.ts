import { deepEqual, equal } from "node:assert/strict";
import { memoryStorage, openDatabase } from "../mod.ts";
import { limits } from "../src/base/limits.ts";
import { bookSchemas, openBooks } from "./books.ts";
import { Quarantine, type RefusedBatch } from "./quarantine.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";

const batch: RefusedBatch = {
  repository: "team/a",
  chain: "ab".repeat(40),
  first: 3,
  count: 2,
  user: "ann",
  reason: "stolen",
  signed: true,
  bytes: new Uint8Array([1, 2, 3]),
};

Deno.test("Quarantine keeps a batch once, shows it without its bytes, over a restart, and drops it", async () => {
  const storage = memoryStorage();
  {
    await using db = await openDatabase({ storage, schemas: bookSchemas });
    const quarantine = new Quarantine(await openBooks(db), () => 5);
    equal(quarantine.keep(batch), true);
    equal(quarantine.keep(batch), true);
    deepEqual([quarantine.size, quarantine.bytes], [1, 3]);
  }
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const quarantine = new Quarantine(await openBooks(db), () => 9);
  const [entry] = quarantine.list();
  const { signed: _, ...shown } = batch;
  deepEqual(entry, { ...shown, id: entry!.id, at: new Date(5), bytes: 3 });
  deepEqual(quarantine.get(entry!.id)?.bytes, batch.bytes);
  equal(quarantine.bytes, 3);
  equal(await quarantine.drop(entry!.id), true);
  equal(await quarantine.drop(entry!.id), false);
  deepEqual([quarantine.size, quarantine.bytes], [0, 0]);
});

Deno.test("Quarantine has so much room for one session, and for a batch", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: bookSchemas,
  });
  const quarantine = new Quarantine(await openBooks(db), () => 5);
  const large = new Uint8Array(limits.quarantineEntryBytesMax + 1);
  equal(quarantine.keep({ ...batch, bytes: large }), false);
  for (let i = 0; i < limits.quarantineSessionMax; i++) {
    const bytes = new Uint8Array([i, i >> 8, 7]);
    equal(quarantine.keep({ ...batch, bytes }), true);
  }
  equal(quarantine.keep(batch), false);
  const other = { ...batch, chain: "cd".repeat(40) };
  equal(quarantine.keep(other), true);
});

Deno.test("Quarantine has room for so many batches of all sessions", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: bookSchemas,
  });
  const books = await openBooks(db);
  const at = new Date(5);
  books.quarantine.createMany(
    Array.from({ length: limits.quarantineEntriesMax - 1 }, (_, i) => {
      const session = i.toString(16).padStart(64, "0");
      return { ...batch, chain: session + "ab".repeat(8), at };
    }),
  );
  const quarantine = new Quarantine(books, () => 5);
  equal(quarantine.keep(batch), true);
  equal(quarantine.size, limits.quarantineEntriesMax);
  const bytes = new Uint8Array([4, 5, 6]);
  equal(quarantine.keep({ ...batch, chain: "cd".repeat(40), bytes }), false);
});

Deno.test("Quarantine has room for so many bytes of all sessions", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: bookSchemas,
  });
  const books = await openBooks(db);
  // Bytes that nobody looks at take no memory; a book would copy them.
  const large = {
    ...batch,
    id: "large",
    at: new Date(5),
    chain: "cd".repeat(40),
    bytes: new Uint8Array(limits.quarantineBytesMax - 3),
  };
  const full = withAnswers(books.quarantine, { all: () => [large] });
  const quarantine = new Quarantine({ ...books, quarantine: full }, () => 5);
  equal(quarantine.keep({ ...batch, bytes: new Uint8Array(4) }), false);
  equal(quarantine.keep(batch), true, "what fits exactly");
  equal(quarantine.bytes, limits.quarantineBytesMax);
  const one = { ...batch, bytes: new Uint8Array(1) };
  equal(quarantine.keep(one), false);
  const own = { ...large, chain: batch.chain };
  const bytes = new Uint8Array(limits.quarantineSessionBytesMax - 3);
  const greedy = withAnswers(books.quarantine, {
    all: () => [{ ...own, bytes }],
  });
  const shared = new Quarantine({ ...books, quarantine: greedy }, () => 5);
  const more = { ...batch, first: 900, bytes: new Uint8Array(4) };
  equal(shared.keep(more), false, "its session has its share");
  equal(shared.keep({ ...more, chain: large.chain }), true);
});
