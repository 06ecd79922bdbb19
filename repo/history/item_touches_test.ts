/**
 * What the index finds is what reading the whole log gives, whatever happened to
 * it: the scan that pages still run is the judge.
 */

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { type CommitSummary, itemHistory } from "../../src/db/history.ts";
import { Editor } from "../../src/db/editor.ts";
import { field } from "../../src/schema/field.ts";
import { IdSource } from "../../src/schema/names.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { AuthorPlace, Leaf, refusedAt } from "../../tests/kit/author_place.ts";
import { seededRandom } from "../../tests/kit/mod.ts";
import { steadyWorld } from "../../tests/kit/small_database.ts";
import { filesOf, withFile } from "../../tests/kit/images.ts";
import { limits } from "../../src/base/limits.ts";
import { sized } from "../../tests/kit/tier.ts";
import { hashId, PAGE, TOUCHES_AT } from "../checkpoint/layout.ts";
import type { Position } from "../commit/commit.ts";
import { CommitPages } from "./commit_pages.ts";
import type { CommitReader } from "./commit_reader.ts";
import type { Mode } from "../commit/genesis.ts";
import { ItemTouches } from "./item_touches.ts";
import type { Log } from "../log/log.ts";
import { ancestry, cellOf, stateOf, upTo } from "./time_travel.ts";
import type { Includes } from "./logged_commits.ts";
import type { Transaction } from "../write/transaction.ts";
import { digestOf } from "../../tests/kit/digest.ts";

const IDS = ["a", "b", "ab", "c", "é"];

function touchesOf({ replica }: AuthorPlace): ItemTouches {
  const { touches } = replica.commits;
  ok(touches !== undefined);
  return touches;
}

/** What reading all of the log gives. */
function scanning<T>({ replica }: AuthorPlace, read: () => T): T {
  const { touches } = replica.commits;
  replica.commits.touches = undefined;
  try {
    return read();
  } finally {
    replica.commits.touches = touches;
  }
}

function scanned(place: AuthorPlace, id: string) {
  return scanning(place, () => indexed(place, id));
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
    records: (from, to, take) =>
      far(
        log.records(
          near(from),
          near(to),
          (kind, body, at) => take(kind, body, far(at)),
        ),
      ),
  };
  const farCommits: Pick<CommitReader, "isVoid"> = {
    isVoid: (chain, number, address) =>
      commits.isVoid(chain, number, near(address)),
  };
  const touches = new ItemTouches(farCommits, farLog as Log);
  touches.of({ collection: Leaf.name, id: "a" });
  hole = 2 ** 40;
  wide.set(commits, touches);
  return touches;
}

/** A history that is turned page by page, the newest one first. */
function turned({ replica }: AuthorPlace, id: string, limit: number) {
  const item = { collection: Leaf.name, id };
  const all: CommitSummary[] = [];
  for (let page = itemHistory(replica, item, { limit }); page.length > 0;) {
    ok(page.length <= limit);
    all.unshift(...page);
    page = itemHistory(replica, item, { limit, before: all[0]!.commit });
  }
  return all;
}

/** Which commits a commit had seen, and what each item was then. */
function past(
  { replica, editor }: AuthorPlace,
  includes: Includes,
  to?: number,
) {
  const { commits, graph } = replica;
  const seen = [...graph.vector()].map(([chain, length]) =>
    Array.from({ length }, (_, number) => includes(chain, number, 0)).join()
  );
  const items = IDS.map((id) => {
    const name = { collection: Leaf.name, id };
    return cellOf(commits, () => editor.table.view, includes, name, to)?.item;
  });
  return { seen, items };
}

function checkPast(
  place: AuthorPlace,
  position: Position,
  what: string,
): boolean {
  const { commits, loaded: { log } } = place.replica;
  const at = () => past(place, ancestry(commits, position));
  const before = scanning(place, at);
  deepEqual(at(), before, what);
  const includes = ancestry(commits, position);
  deepEqual(past(place, includes, log.end), before, `${what}, up to now`);
  const whole = () => stateOf(commits, () => place.editor.table.view, includes);
  const state = whole();
  const items = IDS.map((id) => state.cellOf(Leaf.name, id)?.item);
  deepEqual(items, before.items, `${what}, all of it`);
  const judge = digestOf(scanning(place, whole));
  deepEqual(digestOf(state), judge, `${what}, its cells`);
  return checkRecent(place, includes, what);
}

/** Is what is made from the present what the log says, where it is? */
function checkRecent(
  place: AuthorPlace,
  includes: Includes,
  what: string,
): boolean {
  const { replica, editor } = place;
  const { commits, graph, loaded: { log }, state: present } = replica;
  const viewOf = () => editor.table.view;
  const recent = commits.touches?.recentPast({
    ...{ commits, viewOf, includes, present },
    known: graph.commits,
    to: log.end,
    end: log.end,
  });
  if (recent === undefined) return false;
  const judge = scanning(place, () => stateOf(commits, viewOf, includes));
  deepEqual(digestOf(recent), digestOf(judge), `${what}, from the present`);
  return true;
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
    const commits = touchesOf(place).of(item);
    const limit = 1 + found % 4;
    deepEqual(turned(place, id, limit), expected, `${what}: ${id}, in pages`);
    deepEqual(
      scanning(place, () => turned(place, id, limit)),
      expected,
      `${what}: ${id}, in scanned pages`,
    );
    const one = commits[found % commits.length];
    if (one !== undefined && id.length > 1) checkPast(place, one, what);
  }
  checkPages(place, 1 + found % 7);
  return found;
}

/** Pages of all commits are what the whole log says, wherever a page begins. */
function checkPages({ replica: { commits } }: AuthorPlace, limit: number) {
  const all: Position[] = [];
  commits.each(({ batch, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      all.push({ chain: batch.chain, number: batch.first + i });
    }
  });
  const pages = new CommitPages(commits, 64);
  const page = (limit: number, before?: Position) => {
    const found: Position[] = [];
    pages.each(limit, before, ({ batch: { chain, first } }, i) => {
      found.push({ chain, number: first + i });
    });
    return found;
  };
  const turned: Position[] = [];
  do turned.unshift(...page(limit, turned[0])); while (
    turned.length < all.length && turned.length > 0
  );
  deepEqual(turned, all, "pages of all commits");
  const middle = all.length >> 1;
  deepEqual(
    page(3, all[middle]),
    all.slice(Math.max(0, middle - 3), middle),
  );
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
      voidSome(place, other, told, random);
    } else if (dice < 0.75) {
      const [entry] = place.replica.refusals();
      if (entry !== undefined) place.replica.retry(entry);
    } else if (dice < 0.85) {
      if (random() < 0.7) await place.replica.checkpoint();
      const goesOn = random() < 0.4;
      if (random() < 0.5 && !goesOn) await place.replica.close();
      else await place.replica.durable();
      if (!goesOn) place = await place.reopened();
    }
    const what = `seed ${seed}, ${mode}, step ${step}`;
    if (random() < 0.7) found += check(place, what);
  }
  return found + check(place, `seed ${seed}, ${mode}, end`) +
    check(other, `seed ${seed}, ${mode}, the other`);
}

function voidSome(
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
    replica.refuse(chain, refused);
    if (random() < 0.4) replica.cut([{ chain, from: safe }]);
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

Deno.test("what was cut is gone from a history that was shown before, and comes back with who has it", async () => {
  const place = await AuthorPlace.open();
  place.put("a", "one");
  const { chain, length } = place.last;
  place.put("a", "two");
  place.replica.flush();
  equal(indexed(place, "a").length, 2);
  const peer = await place.peer();
  place.replica.refuse(chain, [refusedAt(length)]);
  equal(indexed(place, "a").length, 1);
  place.replica.cut([{ chain, from: length }], "fork");
  await peer.tell(place);
  equal(indexed(place, "a").length, 2);
  check(place, "came back");
});

Deno.test("a picture of the past stays what it was, whatever is refused, comes or is checkpointed after it", async () => {
  let place = await AuthorPlace.open();
  place.put("a", "one");
  const { chain, length } = place.last;
  place.put("a", "two");
  place.put("b", "three");
  place.replica.flush();
  const { log } = place.replica.loaded;
  const to = log.end;
  const points = [
    ancestry(place.replica.commits, { chain, number: length + 1 }),
    upTo(1e15),
  ];
  const pictures = () =>
    points.flatMap((includes) => {
      const { commits } = place.replica;
      const viewOf = () => place.editor.table.view;
      const state = stateOf(commits, viewOf, includes, to);
      const all = IDS.map((id) => state.cellOf(Leaf.name, id)?.item);
      const { items } = past(place, includes, to);
      deepEqual(items, all);
      deepEqual(scanning(place, () => past(place, includes, to).items), all);
      return all.map((item) => item?.title);
    });
  const expected = pictures();
  deepEqual(expected.slice(0, 2), ["two", "three"]);
  const peer = await place.peer();
  place.replica.refuse(chain, [refusedAt(length)]);
  deepEqual(pictures(), expected, "refused");
  await peer.tell(place);
  place.put("a", "four");
  place.replica.flush();
  deepEqual(pictures(), expected, "come again");
  await place.replica.checkpoint();
  deepEqual(pictures(), expected, "checkpointed");
  await place.replica.close();
  place = await place.reopened();
  deepEqual(pictures(), expected, "opened again");
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

Deno.test("a page before a commit that was in none yet is found in a few steps", async () => {
  const [place, other] = await Promise.all(
    [1, 2].map((seed) => AuthorPlace.open({ mode: "trusted", seed })),
  ) as [AuthorPlace, AuthorPlace];
  for (let round = 0; round < 40; round++) {
    for (const [one, peer] of [[place, other], [other, place]] as const) {
      for (let i = 0; i < 50; i++) {
        one.put("a", `${round} ${i} ${"x".repeat(300)}`);
      }
      await one.tell(peer);
    }
  }
  const { touches } = place.replica.commits;
  const all = touches!.of({ collection: "leaf", id: "a" });
  equal(all.length, 4_000);
  const counted = countReads(place);
  for (const at of [3_999, 2_020, 2_019, 57, 1]) {
    await place.replica.checkpoint();
    const page = touches!.page(
      { collection: "leaf", id: "a" },
      { limit: 3, before: all[at]! },
    );
    const [first, end] = [Math.max(0, at - 3), at];
    deepEqual(page, all.slice(first, end));
  }
  ok(counted.reads < 150, `${counted.reads} reads`);
  for (const { replica } of [place, other]) await replica.close();
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

/** A repository of a few thousand commits that a checkpoint covers, as it is found by the next process. */
async function covered(): Promise<AuthorPlace> {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 4_000; i++) {
    place.put(`item-${i % 1_000}`, `${i}`.repeat(9));
  }
  const other = await place.peer();
  other.put("item-5", "theirs");
  await other.tell(place);
  place.put("item-5", "ours");
  await place.replica.close();
  return await place.reopened();
}

Deno.test("the first history of a process reads a few of the log's bytes, where a checkpoint covers it", async () => {
  const place = await covered();
  const counted = countReads(place);
  equal(indexed(place, "item-250").length, 4);
  const [first, , , , theirs, ours] = indexed(place, "item-5");
  ok(counted.reads > 0 && counted.reads < 40, `${counted.reads} reads`);
  equal(ours!.parents[0], theirs!.commit);
  const { chain, number } = touchesOf(place).of({
    collection: Leaf.name,
    id: "item-5",
  })[5]!;
  counted.reads = 0;
  const includes = ancestry(place.replica.commits, { chain, number });
  equal(counted.reads, 0, "whom it had seen stands in the checkpoint");
  equal(includes.count, 4_002);
  check(place, "over a checkpoint");
  equal(first!.number, 5);
});

Deno.test("what is written behind a checkpoint is let go of by the next one, and found in it", async () => {
  const place = await covered();
  for (let i = 0; i < 3_000; i++) place.put(`item-${i % 500}`, `again ${i}`);
  place.replica.flush();
  equal(indexed(place, "item-250").length, 10);
  ok(touchesOf(place).bytes > 3_000 * 8);
  await place.replica.checkpoint();
  ok(touchesOf(place).bytes < 100, `${touchesOf(place).bytes} bytes`);
  const counted = countReads(place);
  equal(indexed(place, "item-251").length, 10);
  ok(counted.reads < 40, `${counted.reads} reads`);
  deepEqual(indexed(place, "item-251"), scanned(place, "item-251"));
  place.put("item-251", "behind it");
  check(place, "behind the second one");
  equal(indexed(place, "item-251").length, 11);
});

Deno.test("a long log is noted while it grows, so that who asks does not wait", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 60; i++) {
    for (let k = 0; k < 20; k++) place.put(`item-${k}`, `${i}`.padEnd(4_000));
    await place.replica.durable();
  }
  const { log } = place.replica.loaded;
  ok(log.end > 4_000_000);
  let bytes = 0;
  const { records } = log;
  log.records = (from, to, take) =>
    records.call(log, from, to, (kind, body, at) => {
      bytes += body.length;
      return take(kind, body, at);
    });
  equal(indexed(place, "item-7").length, 60);
  ok(bytes < 1_500_000, `${bytes} bytes are read when somebody asks`);
});

Deno.test("a checkpoint that says nothing of items, or what cannot be read, has the same histories", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  for (let i = 0; i < 60; i++) {
    place.write((tx, leaves) => {
      for (let k = 0; k < 1_000; k++) {
        const id = `item-${(1_000 * i + k) % 20_000}`;
        leaves.upsert(tx, { id, title: `${i}` });
      }
    });
  }
  place.replica.flush();
  const expected = scanned(place, "item-77");
  equal(expected.length, 3);
  const { touches } = place.replica.commits;
  place.replica.commits.touches = undefined; // As in a page, or an older version.
  await place.replica.checkpoint();
  const silent = await place.reopened();
  deepEqual(indexed(silent, "item-77"), expected);
  place.replica.commits.touches = touches;
  place.put("item-1", "more");
  await place.replica.checkpoint();
  const files = filesOf(place.storage);
  const [name, bytes] = files.find(([name]) => name.includes("checkpoint-"))!;
  ok(bytes.length > limits.checkpointCheckedBytesMax, "it is read on demand");
  const last = new DataView(bytes.buffer, bytes.length - PAGE);
  const directory = last.getUint32(TOUCHES_AT, true);
  let rebuilt = 0;
  for (let page = directory - 20; page <= directory; page++) {
    const bad = bytes.slice();
    bad[page * PAGE + 9]! ^= 1;
    const hurt = await place.reopened({ files: withFile(files, name, bad) });
    deepEqual(indexed(hurt, "item-77"), expected, `page ${page}`);
    equal(indexed(hurt, "item-19999").length, 3);
    if (touchesOf(hurt).bytes > 60_000 * 8) rebuilt++;
  }
  ok(rebuilt > 1, `${rebuilt} times the log was read instead`);
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

Deno.test("a state of a short while ago is made from the present, and is what the log says", async () => {
  const random = seededRandom(5);
  let place = await AuthorPlace.open({ mode: "trusted", seed: 1 });
  const other = await AuthorPlace.open({ mode: "trusted", seed: 2 });
  let made = 0;
  for (let i = 0; i < 300; i++) place.put(`item-${i}`, `${i}`);
  for (let step = 0; step < 12; step++) {
    for (let i = 0; i < 12; i++) writeRandom(place, random);
    await place.tell(other);
    for (let i = 0; i < 4; i++) writeRandom(other, random);
    await other.tell(place);
    if (step % 4 === 1) await place.replica.checkpoint();
    if (step % 4 === 3) {
      await place.replica.close();
      place = await place.reopened();
    }
    place.replica.flush();
    const { graph, commits } = place.replica;
    for (const { name: chain, length } of graph.chains()) {
      for (const back of [1, 2, 5, 13]) {
        const number = length - back;
        if (number < 0) continue;
        const includes = ancestry(commits, { chain, number });
        if (checkRecent(place, includes, `step ${step}, ${number}`)) made++;
      }
    }
  }
  ok(made > 20, `${made} of them were made from the present`);
});
