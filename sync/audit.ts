/**
 * Audits: where two replicas differ that should not.
 *
 * First the commits: summaries name the chains that differ, and a search over
 * ids finds the first number. Where the commits are the same, digests of the
 * merged state are followed down by half-bytes to the items.
 *
 * Architecture invariant: an audit asks a bounded number of questions of
 * bounded size, whatever the other side answers (law 10).
 */

import type { RepositoryPort, Sliced } from "../repo/port.ts";
import { readText } from "../src/base/layout.ts";
import { ByteReader, ByteWriter, equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { AuditQuery } from "./message.ts";
import { type ChainEnd, cutSummary, readSummary } from "./summary.ts";

/** Commits that differ: numbers `[from, to)` of a chain. */
export interface CommitRange {
  /** Name of the chain: 40 characters, one a byte. */
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  /** "missing": not here; "extra": not there; "different": other commits under these numbers, or void on one side alone. */
  readonly how: "missing" | "extra" | "different";
}

/** An item by name. */
export interface AuditItem {
  readonly collection: string;
  readonly id: string;
}

/** What an audit found. */
export interface AuditReport {
  /** Same commits and, where both sides fold them, same state. */
  readonly equal: boolean;
  /** Does the other side fold no items, so that commits alone were compared? */
  readonly isOfCommits?: boolean;
  readonly commits: readonly CommitRange[];
  /** Items whose merged state differs though the commits are the same. */
  readonly items: readonly AuditItem[];
  /** Is there more than the report names, or could one side not say all of it now? */
  readonly isPartial: boolean;
}

/**
 * Asks questions and finds out; the answers are what {@linkcode answerAudit}
 * gave. Where it asks nothing it has work of its own: it goes on in another turn.
 */
export type AuditRun = Asking<AuditReport>;

type Asking<T> = Generator<AuditQuery | void, T, Uint8Array>;

const HASH = 32;
const NOTHING = new Uint8Array();
const WIDTH = 16;
const DEPTH_MAX = 64;
/** Questions of one audit: findings, each as deep as a hash. */
const QUESTIONS_MAX = limits.auditFindingsMax * 8;

/** Answers a question of an audit. */
export function* answerAudit(
  port: RepositoryPort,
  query: AuditQuery,
): Sliced<Uint8Array> {
  const writer = new ByteWriter(256);
  switch (query.ask) {
    case "summary":
      writeSummaryAnswer(writer, port);
      break;
    case "ids":
      for (const id of (yield* port.idsAt(query.chain, query.numbers)) ?? []) {
        writer.bytes(id);
      }
      break;
    case "state":
      if (port.isFolded && query.prefix.length < DEPTH_MAX) {
        for (const digest of yield* port.stateDigests(query.prefix)) {
          writer.bytes(digest);
        }
      }
      break;
    case "items":
      if (!port.isFolded) break;
      for (const item of yield* itemsOf(port, query.prefix)) {
        writer.text(item.collection);
        writer.text(item.id);
      }
  }
  return writer.copy();
}

/** Nothing when not everything here may be shared now. */
function writeSummaryAnswer(writer: ByteWriter, port: RepositoryPort): void {
  const summary = port.summary();
  if (summary === undefined) return;
  const { chains, bytes } = cutSummary(summary, limits.summaryBytesMax);
  writer.bytes(port.digestOf(summary));
  writer.varint(chains);
  writer.bytes(bytes);
}

function itemsOf(
  port: RepositoryPort,
  prefix: readonly number[],
): Sliced<AuditItem[]> {
  return port.itemsBelow(prefix, limits.auditFindingsMax);
}

/** Compares a repository with a peer's. */
export function* audit(port: RepositoryPort): AuditRun {
  const theirs = readSummaryAnswer(yield { ask: "summary" });
  const summary = port.summary();
  if (theirs === undefined || summary === undefined) {
    return { equal: false, commits: [], items: [], isPartial: true };
  }
  const { chains, isPartial } = theirs;
  const commits: CommitRange[] = [];
  for (const pair of differing(readSummary(summary), chains, isPartial)) {
    if (commits.length >= limits.auditFindingsMax) break;
    commits.push(...yield* rangeOf(port, pair));
  }
  const isFull = isPartial || commits.length >= limits.auditFindingsMax;
  if (
    commits.length > 0 || !equalBytes(port.digestOf(summary), theirs.digest)
  ) {
    return { equal: false, commits, items: [], isPartial: isFull };
  }
  const items = yield* differingItems(port);
  if (items === undefined) {
    const isOfCommits = true;
    return { equal: true, commits, items: [], isPartial: false, isOfCommits };
  }
  if (items.length > 0) {
    const last = readSummaryAnswer(yield { ask: "summary" });
    const isOfOneState = last !== undefined &&
      equalBytes(last.digest, theirs.digest) &&
      equalBytes(port.summary() ?? NOTHING, summary);
    // Commits came meanwhile: nobody knows which answers knew them.
    if (!isOfOneState) {
      return { equal: false, commits, items: [], isPartial: true };
    }
  }
  return {
    equal: items.length === 0,
    commits,
    items,
    isPartial: items.length >= limits.auditFindingsMax,
  };
}

interface Pair {
  readonly chain: string;
  readonly ours: ChainEnd | undefined;
  readonly theirs: ChainEnd | undefined;
}

function readSummaryAnswer(
  answer: Uint8Array,
):
  | { digest: Uint8Array; chains: Map<string, ChainEnd>; isPartial: boolean }
  | undefined {
  if (answer.length === 0) return undefined;
  const reader = new ByteReader(answer);
  const digest = reader.take(HASH);
  const total = reader.varint();
  const chains = readSummary(reader.take(reader.end - reader.at));
  return { digest, chains, isPartial: chains.size < total };
}

/** Chains that end in different ways; behind the last one of a cut summary nothing is said. */
function differing(
  ours: ReadonlyMap<string, ChainEnd>,
  theirs: ReadonlyMap<string, ChainEnd>,
  isPartial: boolean,
): Pair[] {
  const last = [...theirs.keys()].at(-1) ?? "";
  const pairs: Pair[] = [];
  for (const chain of new Set([...ours.keys(), ...theirs.keys()])) {
    if (isPartial && chain > last) continue;
    const pair = { chain, ours: ours.get(chain), theirs: theirs.get(chain) };
    const isSame = pair.ours?.count === pair.theirs?.count &&
      equalBytes(pair.ours!.id, pair.theirs!.id) &&
      voidsOfOne(pair, pair.ours!.count).length === 0;
    if (!isSame) pairs.push(pair);
  }
  return pairs;
}

function* rangeOf(
  port: RepositoryPort,
  { chain, ours, theirs }: Pair,
): Asking<CommitRange[]> {
  const here = ours?.count ?? 0;
  const there = theirs?.count ?? 0;
  const both = Math.min(here, there);
  const same = yield* firstDifference(port, chain, both);
  const ranges: CommitRange[] = [];
  for (const [from, to] of voidsOfOne({ ours, theirs }, same)) {
    if (ranges.length >= limits.auditFindingsMax) break;
    ranges.push({ chain, from, to, how: "different" });
  }
  if (same < both) {
    ranges.push({ chain, from: same, to: both, how: "different" });
  }
  if (here > both) ranges.push({ chain, from: both, to: here, how: "extra" });
  if (there > both) {
    ranges.push({ chain, from: both, to: there, how: "missing" });
  }
  return ranges;
}

/** Commits before `end` that say nothing on one side, and something on the other. */
function voidsOfOne(
  { ours, theirs }: Pick<Pair, "ours" | "theirs">,
  end: number,
): [first: number, end: number][] {
  const edgesOf = (one?: ChainEnd) => new Set([...one?.voids ?? []].flat());
  const edges = edgesOf(ours).symmetricDifference(edgesOf(theirs));
  const bounds = [...edges].sort((a, b) => a - b).map((one) =>
    Math.min(one, end)
  );
  const ranges: [number, number][] = [];
  for (let i = 0; i < bounds.length; i += 2) {
    if (bounds[i]! < end) ranges.push([bounds[i]!, bounds[i + 1]!]);
  }
  return ranges;
}

/** How many commits from the start are the same: ids are chained, so one search finds it. */
function* firstDifference(
  port: RepositoryPort,
  chain: string,
  both: number,
): Asking<number> {
  let same = 0;
  let differs = both;
  while (same < differs) {
    const numbers = spread(same, differs);
    const answer = yield { ask: "ids", chain, numbers };
    const ours = (yield* port.idsAt(chain, numbers)) ?? [];
    const at = numbers.findIndex((_, i) =>
      ours[i] === undefined ||
      !equalBytes(ours[i], answer.subarray(i * HASH, (i + 1) * HASH))
    );
    if (at < 0) return differs;
    const before = at === 0 ? same : numbers[at - 1]! + 1;
    differs = numbers[at]!;
    same = before;
  }
  return same;
}

/** At most 16 numbers of `[from, to)`, ascending, the last one among them. */
function spread(from: number, to: number): number[] {
  const count = Math.min(WIDTH, to - from);
  return Array.from(
    { length: count },
    (_, i) => from + Math.floor(((i + 1) * (to - from)) / count) - 1,
  );
}

/** Follows digests of the state down to the items; `undefined` where a relay answers, which has no state. */
function* differingItems(
  port: RepositoryPort,
): Asking<AuditItem[] | undefined> {
  const found = new Map<string, AuditItem>();
  const prefixes: number[][] = [[]];
  let questions = 0;
  while (
    prefixes.length > 0 && found.size < limits.auditFindingsMax &&
    questions++ < QUESTIONS_MAX
  ) {
    const prefix = prefixes.pop()!;
    const answer = yield { ask: "state", prefix };
    if (answer.length === 0) return undefined;
    const ours = yield* port.stateDigests(prefix);
    for (let half = 0; half < WIDTH; half++) {
      const theirs = answer.subarray(half * HASH, (half + 1) * HASH);
      if (equalBytes(ours[half]!, theirs)) continue;
      const below = [...prefix, half];
      const isMany = (yield* port.itemsBelow(below, 2)).length > 1;
      if (isMany && below.length < DEPTH_MAX) prefixes.push(below);
      else yield* nameItems(port, below, found);
    }
  }
  return [...found.values()].slice(0, limits.auditFindingsMax);
}

function* nameItems(
  port: RepositoryPort,
  prefix: readonly number[],
  found: Map<string, AuditItem>,
): Asking<void> {
  const reader = new ByteReader(yield { ask: "items", prefix });
  const items = yield* itemsOf(port, prefix);
  while (!reader.done && items.length < 2 * limits.auditFindingsMax) {
    const collection = readText(reader, limits.wireTextBytesMax);
    items.push({ collection, id: readText(reader, limits.idBytesMax) });
  }
  for (const item of items) found.set(`${item.collection}\n${item.id}`, item);
}
