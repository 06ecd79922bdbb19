/**
 * What the index finds is what reading the whole log gives, whatever happened to
 * it: the scan that pages still run is the judge.
 */

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { itemHistory } from "../src/db/history.ts";
import { Editor } from "../src/db/editor.ts";
import { field } from "../src/schema/field.ts";
import { IdSource } from "../src/schema/names.ts";
import { defineSchema } from "../src/schema/schema.ts";
import { AuthorPlace, Leaf, refusedAt } from "../tests/kit/author_place.ts";
import { seededRandom } from "../tests/kit/mod.ts";
import { steadyWorld } from "../tests/kit/small_database.ts";
import { sized } from "../tests/kit/tier.ts";
import { hashId } from "./checkpoint/layout.ts";
import type { CommitReader, LoggedBatch } from "./commit_reader.ts";
import type { Mode } from "./genesis.ts";
import { ItemTouches } from "./item_touches.ts";
import type { Log } from "./log.ts";
import type { Transaction } from "./transaction.ts";

const IDS = ["a", "b", "ab", "c", "é"];

function touchesOf({ replica }: AuthorPlace): ItemTouches {
  const { touches } = replica.commits;
  ok(touches !== undefined);
  return touches;
}

/** History as reading all of the log gives it. */
function scanned({ replica }: AuthorPlace, id: string) {
  const { touches } = replica.commits;
  replica.commits.touches = undefined;
  try {
    return itemHistory(replica, { collection: Leaf.name, id });
  } finally {
    replica.commits.touches = touches;
  }
}

function indexed({ replica }: AuthorPlace, id: string) {
  return itemHistory(replica, { collection: Leaf.name, id });
}

/** Indexes of logs that had a hole of gigabytes where they ended when first looked at. */
const wide = new WeakMap<CommitReader, ItemTouches>();

function wideOf({ replica: { commits, loaded: { log } } }: AuthorPlace) {
  const known = wide.get(commits);
  if (known !== undefined) return known;
  const { end: split } = log;
  let hole = 0;
  const far = (address: number) => address < split ? address : address + hole;
  const near = (address: number) => address <= split ? address : address - hole;
  const farLog: Pick<Log, "end" | "readAt" | "records"> = {
    get end() {
      return far(log.end);
    },
    readAt: (target, address) => log.readAt(target, near(address)),
    records: (from, to, take) => log.records(near(from), near(to), take),
  };
  const farCommits: Pick<CommitReader, "each" | "isVoid"> = {
    each(visit, from = 0, to = far(log.end)) {
      const moved = ({ address, ...logged }: LoggedBatch) =>
        visit({ ...logged, address: far(address) });
      commits.each(moved, near(from), near(to));
    },
    isVoid: (chain, number, address) =>
      commits.isVoid(chain, number, near(address)),
  };
  const touches = new ItemTouches(farCommits as CommitReader, farLog as Log);
  touches.of({ collection: Leaf.name, id: "a" });
  hole = 2 ** 40;
  wide.set(commits, touches);
  return touches;
}

function check(place: AuthorPlace, what: string): number {
  place.replica.flush();
  let found = 0;
  for (const id of [...IDS, "bulk-7", "bulk-290", "nobody"]) {
    const expected = scanned(place, id);
    deepEqual(indexed(place, id), expected, `${what}: ${id}`);
    const item = { collection: Leaf.name, id };
    deepEqual(
      wideOf(place).of(item),
      touchesOf(place).of(item),
      `${what}: ${id}, wide`,
    );
    found += expected.length;
  }
  return found;
}

/** What a newer version of the app writes. */
const NewerLeaf = defineSchema("leaf", {
  title: field.string().default(""),
  owner: field.string().default("nobody"),
  votes: field.counter(),
}, { version: 2 });

/** Changes some fields of each kind that merges in its own way. */
function changeRandom(
  tx: Transaction,
  { editor }: AuthorPlace,
  id: string,
  random: () => number,
): void {
  const below = (end: number) => Math.floor(random() * end);
  const { steps = [] } = editor.get(tx, id) as { steps?: string[] };
  const value = `${below(9)}`;
  editor.update(tx, id, {
    rank: below(3),
    votes: { increment: below(5) - 2 },
    tags: random() < 0.5 ? { add: [value] } : { remove: [value] },
    notes: { [value]: `note ${below(9)}` },
    steps: steps.length > 3
      ? { move: [{ from: 0, to: 2 }], delete: [below(steps.length)] }
      : { insert: [{ at: below(steps.length + 1), value }] },
    body: `${value} é`.repeat(below(40)),
  });
}

/** One random transaction: now and then of hundreds of items, or over a window's bytes. */
function writeRandom(place: AuthorPlace, random: () => number): void {
  const below = (end: number) => Math.floor(random() * end);
  const newer = new Editor(
    NewerLeaf,
    place.editor.table,
    new IdSource(steadyWorld(below(1_000))),
  );
  place.write((tx, leaves) => {
    if (random() < 0.1) {
      for (let i = 0; i < 300; i++) {
        leaves.upsert(tx, { id: `bulk-${i}`, title: "bulk" });
      }
    }
    for (let left = below(4); left > 0; left--) {
      const id = IDS[below(IDS.length)]!;
      const title = "t".repeat(random() < 0.2 ? below(20_000) : below(20));
      const isThere = leaves.get(tx, id) !== undefined;
      if (isThere && random() < 0.3) leaves.delete(tx, id);
      else if (isThere && random() < 0.5) changeRandom(tx, place, id, random);
      else if (random() < 0.2) newer.upsert(tx, { id, owner: title });
      else leaves.upsert(tx, { id, title });
    }
  });
}

async function run(seed: number, mode: Mode): Promise<number> {
  const random = seededRandom(seed);
  let place = await AuthorPlace.open({ mode, seed: 1 });
  const other = await AuthorPlace.open({ mode, seed: 2 });
  /** What the other device has: nobody refuses that any more. */
  const told = new Map<string, number>();
  let found = 0;
  for (let step = 0; step < 12; step++) {
    for (let i = Math.floor(random() * 6); i >= 0; i--) {
      writeRandom(place, random);
      if (random() < 0.3) place.replica.flush();
    }
    const dice = random();
    if (dice < 0.25) {
      await place.tell(other);
      for (const [chain, count] of place.replica.graph.vector()) {
        told.set(chain, count);
      }
      writeRandom(other, random);
      await other.tell(place);
    } else if (dice < 0.65) {
      withdrawSome(place, other, told, random);
    } else if (dice < 0.75) {
      const [entry] = place.replica.refusals();
      if (entry !== undefined) place.replica.retry(entry);
    } else if (dice < 0.85) {
      if (random() < 0.5) await place.replica.checkpoint();
      if (random() < 0.5) await place.replica.close();
      else await place.replica.durable();
      place = await place.reopened();
    }
    const what = `seed ${seed}, ${mode}, step ${step}`;
    if (random() < 0.7) found += check(place, what);
  }
  return found + check(place, `seed ${seed}, ${mode}, end`) +
    check(other, `seed ${seed}, ${mode}, the other`);
}

function withdrawSome(
  { replica }: AuthorPlace,
  other: AuthorPlace,
  told: ReadonlyMap<string, number>,
  random: () => number,
): void {
  replica.flush();
  for (const [chain, count] of replica.graph.vector()) {
    const safe = Math.max(
      told.get(chain) ?? 0,
      other.replica.graph.lengthOf(chain),
    );
    if (safe >= count) continue;
    const from = safe + Math.floor(random() * (count - safe));
    const refused = [];
    for (let number = from; number < count; number++) {
      if (random() < 0.4) refused.push(refusedAt(number));
    }
    replica.withdraw(chain, from, refused);
    return;
  }
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`an item's history in a ${mode} repository is what the whole log says of it`, async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 ** 30 }),
        async (seed) => void (found += await run(seed, mode)),
      ),
      { numRuns: sized(2, 60), seed: 11, endOnFailure: true },
    );
    ok(found > sized(200, 1_000), `${found} commits were compared`);
  });
}

Deno.test("what was withdrawn is gone from a history that was shown before, and comes back with who has it", async () => {
  const place = await AuthorPlace.open();
  place.put("a", "one");
  const { chain, length } = place.last;
  place.put("a", "two");
  place.replica.flush();
  equal(indexed(place, "a").length, 2);
  const peer = await place.peer();
  place.replica.withdraw(chain, length, [refusedAt(length)]);
  equal(indexed(place, "a").length, 1);
  await peer.tell(place);
  equal(indexed(place, "a").length, 2);
  check(place, "came back");
});

Deno.test("ids whose hashes are the same have histories of their own", async () => {
  // The first two of "item-0", "item-1" and so on.
  const [one, two] = ["item-101546", "item-1510040"];
  const seed = hashId(Leaf.name, 0x5eaf);
  equal(hashId(one, seed), hashId(two, seed));
  const place = await AuthorPlace.open();
  place.put(one, "first");
  place.put(two, "second");
  place.write((tx, leaves) => {
    leaves.upsert(tx, { id: two, title: "both" });
    leaves.upsert(tx, { id: one, title: "both" });
  });
  place.replica.flush();
  for (const id of [one, two]) {
    deepEqual(indexed(place, id), scanned(place, id));
    deepEqual(indexed(place, id).map(({ number }) => number).length, 2);
  }
});

Deno.test("an index takes nothing before it is asked, and eight and a little an operation and five a commit then", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 3_000; i++) place.put(`item-${i % 700}`, `${i}`);
  place.replica.flush();
  ok(touchesOf(place).bytes < 100);
  equal(indexed(place, "item-5").length, 5);
  ok(touchesOf(place).bytes <= 3_000 * 15, `${touchesOf(place).bytes} bytes`);
  const single = touchesOf(place).bytes;
  place.write((tx, leaves) => {
    for (let i = 0; i < 3_000; i++) leaves.upsert(tx, { id: `bulk-${i}` });
  });
  place.replica.flush();
  equal(indexed(place, "bulk-2999").length, 1);
  const { bytes } = touchesOf(place);
  const most = 6_000 * 9.5 + 3_001 * 5;
  ok(bytes <= most, `${bytes} bytes, ${single} before the bulk`);
  place.put("bulk-2999", "again");
  place.replica.flush();
  equal(indexed(place, "bulk-2999").length, 2);
  check(place, "after a bulk");
});

/** Counts reads of the log; one of its records is a thousand. */
function countReads({ replica: { loaded: { log } } }: AuthorPlace) {
  const counted = { reads: 0 };
  const { readAt, records } = log;
  log.readAt = (...from) => (counted.reads++, readAt.apply(log, from));
  log.records = (...from) => (counted.reads += 1_000, records.apply(log, from));
  return counted;
}

Deno.test("a history reads a few of the log's bytes, not all of them, and none when asked again", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 2_000; i++) {
    place.put(`item-${i % 500}`, `${i}`.repeat(50));
  }
  place.replica.flush();
  indexed(place, "item-1");
  const counted = countReads(place);
  const first = indexed(place, "item-250");
  equal(first.length, 4);
  ok(counted.reads > 0 && counted.reads <= 12, `${counted.reads} reads`);
  const { reads } = counted;
  deepEqual(indexed(place, "item-250"), first);
  equal(counted.reads, reads, "what was read is kept");
});

Deno.test("what is kept of the log is let go of again, and never more than a little", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 1_000; i++) place.put(`item-${i}`, "t".repeat(3_000));
  place.replica.flush();
  const counted = countReads(place);
  for (let turn = 0; turn < 2; turn++) {
    counted.reads = 0;
    for (let i = 0; i < 1_000; i += 10) {
      equal(indexed(place, `item-${i}`).length, 1);
    }
    ok(counted.reads >= 100, `${counted.reads} reads in turn ${turn}`);
  }
});

Deno.test("a write behind what was read last is in the next history", async () => {
  const place = await AuthorPlace.open();
  place.put("a", "0");
  for (let i = 1; i < 100; i++) {
    place.replica.flush();
    equal(indexed(place, "a").length, i);
    place.put("a", `${i}`);
  }
  check(place, "one after the other");
});

Deno.test("a read that failed leaves nothing behind", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 200; i++) place.put(`item-${i}`, "t".repeat(3_000));
  place.replica.flush();
  const { log } = place.replica.loaded;
  const { readAt } = log;
  const isThere = (i: number) =>
    equal(indexed(place, `item-${i}`).length, 1, `item-${i}`);
  for (let i = 1; i < 200; i++) {
    isThere(i);
    log.readAt = (target) => {
      target.fill(0x41);
      throw new RangeError("Cannot read");
    };
    throws(() => isThere(1 + (i + 100) % 199), RangeError);
    log.readAt = readAt;
    isThere(Math.max(0, i - i % 40)); // Now and then it is what was kept longest.
  }
  check(place, "after failed reads");
});

/** Writes over the log's first "damaged" behind its back. */
function overwrite({ storage, replica }: AuthorPlace, text: Uint8Array): void {
  const { folder } = replica.loaded;
  for (const file of storage.list(folder)) {
    if (!file.startsWith("log-")) continue;
    const opened = storage.open(`${folder}/${file}`);
    ok(opened !== undefined);
    const bytes = new Uint8Array(opened.size());
    opened.readAt(bytes, 0);
    const at = new TextDecoder("latin1").decode(bytes).indexOf("damaged");
    ok(at > 0);
    opened.writeAt(text, at);
  }
}

for (
  const [what, bytes] of [
    ["names another item", new TextEncoder().encode("dAmaged")],
    ["is no operation", new Uint8Array(7).fill(0xff)],
  ] as const
) {
  Deno.test(`a damaged commit that ${what} is said to be damaged`, async () => {
    const place = await AuthorPlace.open({ mode: "fast" });
    place.put("far", "f".repeat(10_000));
    place.put("damaged", "one");
    place.put("damaged", "two");
    place.replica.flush();
    equal(indexed(place, "far").length, 1);
    overwrite(place, bytes);
    throws(() => indexed(place, "damaged"), { code: "log-damaged" });
  });
}
