/**
 * Time travel: the state of a repository at a commit or a moment.
 *
 * A commit's state is the fold of its ancestors and itself. A moment's state is
 * the fold of all commits up to that wall clock; since every commit's clock is
 * after its parents', that set has no holes either.
 *
 * Architecture invariant: same commits, same past, whatever the order of arrival
 * (law 4).
 */

import { decodeAscii } from "../../src/base/bytes.ts";
import type { Cell } from "../../src/schema/cell.ts";
import type { Operation } from "../../src/schema/patch.ts";
import { type Batch, type BatchCommit, decodeCommit } from "../commit/batch.ts";
import type { Position } from "../commit/commit.ts";
import type { CommitReader } from "./commit_reader.ts";
import type { Includes } from "./logged_commits.ts";
import { type ItemName, onlyOf, State, type ViewOf } from "../state/state.ts";
import type { VersionVector } from "../commit/version_vector.ts";

/** The commits up to a wall clock, inclusive. */
export function upTo(wallMs: number): Includes {
  return (_chain, _number, wall) => wall <= wallMs;
}

/** A commit and all its ancestors. */
export function ancestry(reader: CommitReader, position: Position): Includes {
  const vector = reader.touches?.ancestorsOf(position) ??
    ancestorsOf(reader, position);
  const includes = (chain: string, number: number) =>
    number < (vector.get(chain) ?? 0);
  let count = 0;
  for (const length of vector.values()) count += length;
  return Object.assign(includes, { count });
}

/** The version vector of a commit: its ancestors and itself. */
function ancestorsOf(
  reader: CommitReader,
  position: Position,
): VersionVector {
  const seen: (Position & { readonly parents: readonly Position[] })[] = [];
  eachChosen(reader, ({ chain, first, commits }, i) => {
    const { parents } = commits[i]!;
    if (parents.length > 0) seen.push({ chain, number: first + i, parents });
  });
  const vector = new Map([[position.chain, position.number + 1]]);
  // Parents stand before their children in the log: backwards, one pass is enough.
  for (const { chain, number, parents } of seen.reverse()) {
    if (number >= (vector.get(chain) ?? 0)) continue;
    for (const parent of parents) {
      const known = vector.get(parent.chain) ?? 0;
      vector.set(parent.chain, Math.max(known, parent.number + 1));
    }
  }
  return vector;
}

/** Visits the chosen commits in the log's order, of those that it held when it ended at `to`. */
export function eachChosen(
  reader: CommitReader,
  visit: (batch: Batch, index: number, address: number) => void,
  includes: Includes = () => true,
  to?: number,
): void {
  let left = includes.count ?? Infinity;
  reader.each(
    ({ batch, address, from }) => {
      for (let i = from; i < batch.commits.length; i++) {
        const { wall } = batch.commits[i]!;
        if (!includes(batch.chain, batch.first + i, wall)) continue;
        visit(batch, i, address);
        left--;
      }
      return left === 0;
    },
    0,
    to,
    to,
  );
}

/** Searching a commit's text for more ids than this costs more than decoding it. */
const IDS_SEARCHED_MAX = 16;

/** May a commit concern some items? A look at its bytes that spares decoding most others. */
export function mentions(
  items: readonly ItemName[],
): (bytes: Uint8Array, commit: BatchCommit) => boolean {
  const isSearched = items.length <= IDS_SEARCHED_MAX &&
    items.every(({ id }) => /^[\x20-\x7e]*$/.test(id));
  if (!isSearched) return () => true;
  return (bytes, { payloadAt, end }) => {
    const text = decodeAscii(bytes, payloadAt, end);
    return items.some(({ id }) => text.includes(id));
  };
}

/** An item as the chosen commits made it, of those that the log held when it ended at `to`. */
export function cellOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  name: ItemName,
  to?: number,
): Cell | undefined {
  return cellsOf(reader, viewOf, includes, [name], to)[0];
}

/** As {@linkcode cellOf} of many items, each named once. */
export function cellsOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  names: readonly ItemName[],
  to?: number,
): (Cell | undefined)[] {
  const { touches } = reader;
  if (touches !== undefined) {
    return names.map((name) =>
      touches.cellOf(name, viewOf(name.collection), includes, to)
    );
  }
  const state = scannedStateOf(reader, viewOf, includes, to, names);
  return names.map(({ collection, id }) => state.cellOf(collection, id));
}

/** Folds the chosen commits into a state of its own, of those that the log held when it ended at `to`. */
export function stateOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  to?: number,
): State {
  return reader.touches?.stateOf(reader, viewOf, includes, to) ??
    scannedStateOf(reader, viewOf, includes, to);
}

/** @param names nothing else is folded */
function scannedStateOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  to: number | undefined,
  names?: readonly ItemName[],
): State {
  const state = new State(viewOf);
  // A collection's name has no space in it.
  const keys = new Set(
    names?.map(({ collection, id }) => `${collection} ${id}`),
  );
  const isMeant = ({ id, shape }: Operation) =>
    keys.has(`${shape.collection} ${id}`);
  const isMentioned = names && mentions(names);
  const take = (batch: Batch, i: number, address: number) => {
    if (isMentioned?.(batch.bytes, batch.commits[i]!) === false) return;
    const { patch, origin } = decodeCommit(batch, i, address);
    state.fold(names === undefined ? patch : onlyOf(patch, isMeant), origin);
  };
  eachChosen(reader, take, includes, to);
  return state;
}
