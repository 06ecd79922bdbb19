import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { ManualWorld, Place } from "../../tests/kit/replica_place.ts";
import { seededRandom } from "../../tests/kit/random.ts";
import { sized } from "../../tests/kit/tier.ts";
import { ByteWriter } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { decodeBatch, writeHead } from "../commit/batch.ts";
import { Feed, type FeedParts } from "./feed.ts";
import { recordKind } from "./format.ts";
import type { FeedRecord, RepositoryPort } from "../port.ts";
import { digestOf } from "../../tests/kit/digest.ts";

const CHAINS = ["a", "b"].map((name) => name.repeat(40));

interface Piece {
  readonly kind: number;
  readonly body: Uint8Array;
}

/** A batch whose commits are nothing but so many bytes. */
function piece(chain: number, first: number, count: number, size = 10): Piece {
  const writer = new ByteWriter();
  writeHead(writer, CHAINS[chain]!, first, count);
  writer.bytes(new Uint8Array(size).fill(first + 1));
  return { kind: recordKind.unsignedBatch, body: writer.copy() };
}

/** A log of pieces, and how many of its records were looked at. */
function feedOf(
  pieces: readonly Piece[],
  isCut: FeedParts["isCut"] = none,
) {
  const tally = { looked: 0 };
  const records: FeedParts["log"]["records"] = (from, to, onRecord) => {
    let at = 0;
    for (const { kind, body } of pieces) {
      const end = at + 9 + body.length;
      if (at >= from && end <= to) {
        tally.looked++;
        if (onRecord(kind, body, at + 9) === true) return end;
      }
      at = end;
    }
    return to;
  };
  let to = 0;
  for (const { body } of pieces) to += 9 + body.length;
  const stubbed = () => undefined;
  const mode = "trusted";
  const feed = new Feed({
    ...{ log: { records }, mode, isCut, stubbed },
    ...{ isOrdered: none, hasVoid: none },
  });
  return { feed, to, tally };
}

function none(): boolean {
  return false;
}

function runsOf(records: readonly FeedRecord[]): [string, number, number][] {
  return records.map(({ chain, first, count }) => [chain[0]!, first, count]);
}

Deno.test("read() joins neighbours of one chain and nothing else", () => {
  const { feed, to } = feedOf([
    { kind: recordKind.genesis, body: new Uint8Array(50) },
    piece(0, 0, 2),
    piece(0, 2, 1),
    piece(1, 0, 1),
    piece(0, 3, 4),
    piece(0, 8, 1), // not contiguous: 7 came in another batch
    piece(0, 9, 1),
  ]);
  const { records, next } = feed.read(0, to, 1000);
  deepEqual(runsOf(records), [
    ["a", 0, 3],
    ["b", 0, 1],
    ["a", 3, 4],
    ["a", 8, 2],
  ]);
  equal(next, to);
  equal(records.at(-1)!.next, to);
});

Deno.test("read() ends a batch where its asker says, between two that were sealed, and for nobody else", () => {
  const { feed, to } = feedOf([
    piece(0, 0, 2),
    piece(0, 2, 3),
    piece(0, 5, 1),
    piece(1, 0, 2),
    piece(1, 2, 1),
  ]);
  const runs = (seam?: number) => {
    const seamOf = (chain: string) => chain.startsWith("a") ? seam! : 0;
    const asked = seam === undefined ? undefined : seamOf;
    const { records, next } = feed.read(0, to, 1000, asked);
    equal(next, to);
    return runsOf(records);
  };
  const [whole, other] = [["a", 0, 6], ["b", 0, 3]];
  deepEqual(runs(), [whole, other]);
  deepEqual(runs(2), [["a", 0, 2], ["a", 2, 4], other]);
  deepEqual(runs(5), [["a", 0, 5], ["a", 5, 1], other]);
  for (const seam of [0, 1, 3, 6, 9]) deepEqual(runs(seam), [whole, other]);
  deepEqual(runs(), [whole, other]);
});

Deno.test("read() gives one record however large, and else keeps to the bytes that are asked for", () => {
  const pieces = [0, 1, 2, 3].map((n) => piece(0, n, 1, 100));
  const { feed, to } = feedOf(pieces);
  const size = pieces[0]!.body.length;
  let from = 0;
  const counts: number[] = [];
  while (from < to) {
    const { records, next } = feed.read(from, to, 2 * size + 1);
    equal(records.length, 1);
    ok(records[0]!.bytes.length <= 2 * size + 1);
    equal(records[0]!.next, next);
    counts.push(records[0]!.count);
    from = next;
  }
  deepEqual(counts, [2, 2]);
  equal(feed.read(0, to, 1).records[0]!.count, 1);
});

Deno.test("read() answers one question once, also where its answer is cut", () => {
  const { feed, to } = feedOf([0, 1, 2, 3].map((n) => piece(0, n, 1, 100)));
  const first = feed.read(0, to, 150);
  ok(first.next < to);
  equal(feed.read(0, to, 150), first);
  notEqual(feed.read(0, to, 300), first);
});

Deno.test("read() joins no more commits than one seal may cover", () => {
  const most = limits.batchCommitsMax;
  const { feed, to } = feedOf([
    piece(0, 0, most - 1),
    piece(0, most - 1, 1),
    piece(0, most, 1),
  ]);
  deepEqual(runsOf(feed.read(0, to, 1000).records), [
    ["a", 0, most],
    ["a", most, 1],
  ]);
});

Deno.test("read() leaves out what was cut, and what never travels", () => {
  const isVoid = (_: string, number: number) => number >= 1;
  const { feed, to } = feedOf([
    piece(0, 0, 1),
    { kind: recordKind.cut, body: new Uint8Array(5) },
    { kind: recordKind.certificate, body: new Uint8Array(5) },
    piece(0, 1, 3),
  ], isVoid);
  const { records, next } = feed.read(0, to, 1000);
  deepEqual(runsOf(records), [["a", 0, 1]]);
  equal(next, to, "nobody reads it again");
});

Deno.test("followers at one place share one reading", () => {
  const { feed, to, tally } = feedOf([0, 1, 2].map((n) => piece(0, n, 1)));
  const first = feed.read(0, to, 1000);
  equal(tally.looked, 3);
  for (const bytesMax of [1000, 2000, 500]) {
    equal(feed.read(0, to, bytesMax), first);
  }
  equal(tally.looked, 3);
  ok(feed.read(0, to, 60).next < to, "with less room it is another answer");
  const again = feed.read(0, to, 1000);
  feed.forget();
  notEqual(feed.read(0, to, 1000), again, "what was cut is asked anew");
});

/** What a peer that follows a port from the beginning is given. */
function* follow(
  port: RepositoryPort,
  bytesMax: () => number,
): Generator<FeedRecord> {
  for (let from = 0; from < port.shareable;) {
    const { records, next } = port.read(from, bytesMax());
    ok(next > from, "reading goes on");
    ok(port.isStart(next));
    yield* records;
    from = next;
  }
}

interface Story {
  readonly places: Place[];
  readonly next: () => number;
}

/** Three replicas that write and tell each other, a few records at a time. */
async function story(seed: number): Promise<Story> {
  const next = seededRandom(seed);
  const pick = (count: number) => Math.floor(next() * count);
  const places = await Promise.all([1, 2, 3].map((seed) => {
    const world = new ManualWorld(seed);
    world.time += pick(1000);
    return Place.open({ seed, world });
  }));
  const cursors = places.map(() => places.map(() => 0));
  for (let step = 0; step < 40; step++) {
    const [from, to] = [pick(3), pick(3)];
    const source = places[from]!;
    if (from === to) {
      for (let i = pick(4); i >= 0; i--) {
        await source.write(`n${pick(5)}`, `${step}`);
      }
      continue;
    }
    for (let i = pick(3); i >= 0; i--) {
      const at = cursors[to]![from]!;
      const { records, next } = source.replica.port().read(at, 1);
      cursors[to]![from] = next;
      places[to]!.replica.receive(records);
    }
    await places[to]!.replica.durable();
  }
  return { places, next };
}

function receive(target: Place, records: Iterable<FeedRecord>): string[] {
  return [...records].flatMap((record) =>
    target.replica.receive([record]).map(({ verdict }) => verdict.verdict)
  );
}

Deno.test("what is joined is admitted as the single batches would be, whoever named the middle of a run", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const { places, next } = await story(seed);
      for (const source of places) {
        const port = source.replica.port();
        const joined = await Place.open({ seed: 9 });
        const single = await Place.open({ seed: 9 });
        for (const target of [joined, single]) {
          receive(target, port.credentials());
        }
        const random = () => 1 + Math.floor(next() * 3000);
        const one = [...follow(port, () => 1)];
        const many = [...follow(port, random)];
        ok(many.length <= one.length);
        for (const { bytes, kind, first, count, chain } of many) {
          if (kind !== recordKind.signedBatch) continue;
          const batch = decodeBatch(bytes, true);
          deepEqual(
            [batch.chain, batch.first, batch.commits.length],
            [chain, first, count],
          );
        }
        const verdicts = [receive(joined, many), receive(single, one)];
        for (const verdict of verdicts.flat()) {
          ok(verdict === "admit" || verdict === "known", verdict);
        }
        for (const target of [joined, single]) {
          deepEqual(
            target.replica.graph.summary(),
            source.replica.graph.summary(),
          );
          deepEqual(
            digestOf(target.replica.state),
            digestOf(source.replica.state),
          );
        }
      }
    }),
    { numRuns: sized(10, 250), seed: 11 },
  );
});

Deno.test("isStart() knows the starts of records, and nothing between them or behind the end", async () => {
  const { places: [ada] } = await story(3);
  const port = ada!.replica.port();
  const starts = new Set([0, port.shareable]);
  for (const { next } of follow(port, () => 1)) starts.add(next);
  const { log } = ada!.replica.loaded;
  log.records(0, log.end, (_, body, at) => {
    starts.add(at - 9).add(at + body.length);
  });
  for (let at = 64; at <= port.shareable + 2; at++) {
    equal(port.isStart(at), starts.has(at), `at ${at}`);
  }
  for (const none of [-1, 0.5, NaN, Infinity]) equal(port.isStart(none), false);
});
