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
import { fold } from "../../src/schema/merge.ts";
import type { Item, Operation } from "../../src/schema/patch.ts";
import { type BatchCommit, decodeCommit } from "../commit/batch.ts";
import type { Position } from "../commit/commit.ts";
import type { CommitReader } from "./commit_reader.ts";
import type { Includes } from "./logged_commits.ts";
import type { View } from "../../src/schema/view.ts";
import { type ItemName, State, type ViewOf } from "../state/state.ts";
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
  const seen: {
    chain: string;
    number: number;
    parents: readonly Position[];
  }[] = [];
  reader.each(({ batch, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const { parents } = batch.commits[i]!;
      if (parents.length === 0) continue;
      seen.push({ chain: batch.chain, number: batch.first + i, parents });
    }
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

export function concerns(
  { collection, id }: ItemName,
): (operation: Operation) => boolean {
  return (operation) =>
    operation.id === id && operation.shape.collection === collection;
}

/** May a commit concern the item? A look at its bytes that spares decoding most others. */
export function mentions(
  { id }: ItemName,
): (bytes: Uint8Array, commit: BatchCommit) => boolean {
  if (!/^[\x20-\x7e]*$/.test(id)) return () => true;
  return (bytes, { payloadAt, end }) =>
    decodeAscii(bytes, payloadAt, end).includes(id);
}

export function itemOf(
  ...asked: Parameters<typeof cellOf>
): Item | undefined {
  return cellOf(...asked)?.item;
}

/** As {@linkcode itemOf}; only commits that the log held when it ended at `to`. */
export function cellOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  name: ItemName,
  to?: number,
): Cell | undefined {
  const view = viewOf(name.collection);
  const { touches } = reader;
  return touches === undefined
    ? scannedCellOf(reader, view, includes, name, to)
    : touches.cellOf(name, view, includes, to);
}

function scannedCellOf(
  reader: CommitReader,
  view: View,
  includes: Includes,
  name: ItemName,
  to: number | undefined,
): Cell | undefined {
  const [isMentioned, isMeant] = [mentions(name), concerns(name)];
  let cell: Cell | undefined;
  reader.each(
    ({ batch, address, from }) => {
      for (let i = from; i < batch.commits.length; i++) {
        const commit = batch.commits[i]!;
        if (!includes(batch.chain, batch.first + i, commit.wall)) continue;
        if (!isMentioned(batch.bytes, commit)) continue;
        const { patch, origin } = decodeCommit(batch, i, address);
        for (const operation of patch.operations.filter(isMeant)) {
          cell = fold(cell, operation, origin, -1, view);
        }
      }
    },
    0,
    to,
    to,
  );
  return cell;
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

function scannedStateOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  to: number | undefined,
): State {
  const state = new State(viewOf);
  let left = includes.count ?? Infinity;
  reader.each(
    ({ batch, address, from }) => {
      for (let i = from; i < batch.commits.length; i++) {
        const commit = batch.commits[i]!;
        if (!includes(batch.chain, batch.first + i, commit.wall)) continue;
        const { patch, origin } = decodeCommit(batch, i, address);
        state.fold(patch, origin);
        left--;
      }
      return left === 0;
    },
    0,
    to,
    to,
  );
  return state;
}
