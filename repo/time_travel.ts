/**
 * Time travel: the state of a repository at a commit or a moment.
 *
 * A commit's state is the fold of its ancestors and itself. A moment's state is
 * the fold of all commits up to that wall clock; since every commit's clock is
 * after its parents', that set has no holes either.
 *
 * @module
 */

import type { Origin } from "../src/schema/cell.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { payloadOf } from "./batch.ts";
import type { Position } from "./commit.ts";
import type { CommitReader } from "./commit_reader.ts";
import { State, type ViewOf } from "./state.ts";
import type { VersionVector } from "./version_vector.ts";

/** Which commits belong to a picture of the past. */
export type Includes = (chain: string, number: number, wall: number) => boolean;

/** The commits up to a wall clock, inclusive. */
export function upTo(wallMs: number): Includes {
  return (_chain, _number, wall) => wall <= wallMs;
}

/** A commit and all its ancestors. */
export function ancestry(reader: CommitReader, position: Position): Includes {
  const vector = ancestorsOf(reader, position);
  return (chain, number) => number < (vector.get(chain) ?? 0);
}

/** The version vector of a commit: its ancestors and itself. */
export function ancestorsOf(
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

/** Folds the chosen commits into a state of its own. */
export function stateOf(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
): State {
  const state = new State(viewOf);
  reader.each(({ batch, address, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const { wall, count, payloadAt } = batch.commits[i]!;
      if (!includes(batch.chain, batch.first + i, wall)) continue;
      const patch = decodePatch(payloadOf(batch, batch.commits[i]!));
      const operationsAt = address + payloadAt + patch.operationsOffset;
      const origin: Origin = { wall, count, chain: batch.chain, operationsAt };
      state.fold(patch.operations, patch.createOffsets, origin);
    }
  });
  return state;
}
