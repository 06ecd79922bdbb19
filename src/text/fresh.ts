/**
 * What one state of a text has that an earlier one had not: found in proportion
 * to that, because states share what stays.
 */

import type { Node, OrderedMap } from "../schema/ordered_map.ts";
import { endOf } from "../schema/span_set.ts";
import {
  cut,
  isSameId,
  noUnits,
  type TextClient,
  type TextRun,
  type TextState,
  type Units,
} from "../schema/text_state.ts";

/**
 * What came into an earlier state to make it this one, by client, deleted units
 * maybe again; `undefined` where it is anything but the next units of clients.
 */
export function freshIn(
  state: TextState,
  before: TextState,
): ReadonlyMap<number, TextClient> | undefined {
  const fresh = new Map<number, TextClient>();
  for (const client of before.units.keys()) {
    if (!state.units.has(client)) return undefined;
  }
  for (const [client, units] of state.units.entries()) {
    const known = before.units.get(client) ?? noUnits;
    if (known === units) continue;
    const next = nextOf(client, units, known);
    if (next === undefined) return undefined;
    fresh.set(client, next);
  }
  return fresh;
}

/** Is one text surely the same as another? Two that came by other ways may be the same, too. */
export function isSurelySame(a: TextState, b: TextState): boolean {
  if (a === b) return true;
  const fresh = freshIn(a, b);
  return fresh !== undefined &&
    Array.from(fresh).every(([client, { runs, gone }]) =>
      runs.length === 0 &&
      gone.every((span) => b.units.get(client)?.deleted.covers(span) === true)
    );
}

/** What came behind what was known of a client; `undefined` where that is another now, or units lack. */
function nextOf(
  client: number,
  { runs, deleted }: Units,
  known: Units,
): TextClient | undefined {
  for (const [clock, was] of entriesBeside(known.runs, runs)) {
    const run = runs.get(clock);
    if (run === undefined || !beginsWith(run, was)) return undefined;
  }
  for (const [, span] of entriesBeside(known.deleted.spans, deleted.spans)) {
    if (!deleted.covers(span)) return undefined;
  }
  const last = known.runs.floor(Infinity)?.[1];
  let end = last === undefined ? 0 : endOf(last);
  const next: TextRun[] = [];
  for (const [clock, run] of entriesBeside(runs, known.runs)) {
    const from = clock + (known.runs.get(clock)?.length ?? 0);
    if (from === endOf(run)) continue;
    if (from !== end) return undefined;
    end = endOf(run);
    next.push(cut(client, run, from, end));
  }
  const gone = entriesBeside(deleted.spans, known.deleted.spans);
  return { runs: next, gone: Array.from(gone, ([, span]) => span) };
}

/** Are these units of another run, and maybe more behind them? */
function beginsWith(run: TextRun, { left, right, text, length }: TextRun) {
  return run.length >= length && isSameId(run.left, left) &&
    isSameId(run.right, right) &&
    (text === undefined
      ? run.text === undefined
      : run.text?.startsWith(text) === true);
}

/** The entries in nodes that another map does not share: what is not in that one is among them. */
function* entriesBeside<K, V>(
  ours: OrderedMap<K, V>,
  theirs: OrderedMap<K, V>,
): Generator<readonly [K, V]> {
  for (const { keys, values } of leavesBeside(ours.root, theirs.root)) {
    for (const [i, key] of keys.entries()) yield [key, values[i]!];
  }
}

/** The leaves of a tree that another one does not share. */
function leavesBeside<K, V>(
  ours: Node<K, V>,
  theirs: Node<K, V>,
): readonly Node<K, V>[] {
  let [all, known] = [[ours], [theirs]];
  for (let more = heightOf(ours) - heightOf(theirs); more !== 0;) {
    if (more > 0) [all, more] = [childrenOf(all), more - 1];
    else [known, more] = [childrenOf(known), more + 1];
  }
  for (;;) {
    const [here, there] = [new Set(all), new Set(known)];
    all = all.filter((node) => !there.has(node));
    if (all[0]?.children === undefined) return all;
    all = childrenOf(all);
    known = childrenOf(known.filter((node) => !here.has(node)));
  }
}

function childrenOf<K, V>(nodes: readonly Node<K, V>[]): Node<K, V>[] {
  return nodes.flatMap(({ children }) => children!);
}

function heightOf<K, V>({ children }: Node<K, V>): number {
  return children === undefined ? 0 : 1 + heightOf(children[0]!);
}
