/**
 * Ancestry: which commits a commit had seen, as version vectors.
 *
 * Chains are numbered here and vectors are flat arrays by that number. Kept in
 * memory are the parents of all commits that name any, and vectors of some of
 * them, the newest ones first; what is not kept is found again by walking back.
 *
 * Architecture invariant: derived data is disposable (law 5); vectors that are
 * kept are bounded by `ancestryBytesMax` (law 10).
 *
 * @module
 */

import { assert } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Position } from "./commit.ts";

/** By chain number: how many of its commits; shorter ones end in zeros. */
export type Vector = Uint32Array;

/** A commit's chain and number in one: exact up to 2^21 chains. */
const CHAIN_STEP = 2 ** 32;

/** What a vector takes besides its numbers, about. */
const VECTOR_BYTES = 128;

/** Commits of one chain that name parents. */
interface ChainParents {
  /** Their numbers, ascending. */
  readonly numbers: number[];
  /** Their parents, as chain number × 2^32 + number. */
  readonly parents: (readonly number[])[];
  /** Of some of them the vector is kept: their places in `numbers`, ascending. */
  readonly places: number[];
  /** The vectors, in the same order. */
  readonly vectors: Vector[];
}

/** Who had seen what. */
export class Ancestry {
  readonly #ordinals = new Map<string, number>();
  readonly #chains: ChainParents[] = [];
  /** Chains in the order in which vectors of them were kept. */
  readonly #queue: number[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax bytes of vectors that are kept */
  constructor(bytesMax: number = limits.ancestryBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** The number of a chain, given when it is first asked for. */
  ordinalOf(chain: string): number {
    let ordinal = this.#ordinals.get(chain);
    if (ordinal === undefined) {
      const empty = { numbers: [], parents: [], places: [], vectors: [] };
      ordinal = this.#chains.push(empty) - 1;
      this.#ordinals.set(chain, ordinal);
    }
    return ordinal;
  }

  /** Notes the parents of a commit that names any; once for each, in the log's order. */
  add(chain: string, number: number, parents: readonly Position[]): void {
    const { numbers, parents: all } = this.#chains[this.ordinalOf(chain)]!;
    if (number <= (numbers.at(-1) ?? -1)) return;
    numbers.push(number);
    all.push(
      parents.map(({ chain, number }) =>
        this.ordinalOf(chain) * CHAIN_STEP + number
      ),
    );
  }

  /** A vector that begins with the first `count` commits of a chain and all that they had seen. */
  vectorOf(chain: string, count: number): Vector {
    // A chain that is not known gets no number: anybody can name one.
    if (count === 0) return new Uint32Array(this.#chains.length);
    const vector = new Uint32Array(this.#chains.length + 1);
    return this.#merge(vector, this.ordinalOf(chain), count);
  }

  /** What a commit has seen that names these parents too: a new vector. */
  withParents(vector: Vector, parents: readonly Position[]): Vector {
    let merged = vector;
    for (const { chain, number } of parents) {
      const ordinal = this.ordinalOf(chain);
      if ((merged[ordinal] ?? 0) > number) continue;
      if (merged === vector) merged = grown(vector, this.#chains.length);
      merged = this.#merge(merged, ordinal, number + 1);
    }
    return merged;
  }

  /** Merges what the first `count` commits of a chain had seen into a vector of the caller's own. */
  #merge(target: Vector, chain: number, count: number): Vector {
    const vector = target.length > chain
      ? target
      : grown(target, this.#chains.length);
    if (count > vector[chain]!) vector[chain] = count;
    const place = placeBefore(this.#chains[chain]!.numbers, count);
    if (place < 0) return vector;
    const seen = this.#vectorAt(chain, place);
    const merged = vector.length < seen.length
      ? grown(vector, seen.length)
      : vector;
    raise(merged, seen);
    return merged;
  }

  /** What the commit at a place of a chain had seen, and it itself. */
  #vectorAt(chain: number, place: number): Vector {
    const { places, vectors } = this.#chains[chain]!;
    const at = placeBefore(places, place + 1);
    if (at >= 0 && places[at] === place) return vectors[at]!;
    const vector = this.#walk(chain, place);
    this.#keep(chain, place, vector);
    return vector;
  }

  /** Walks back from a commit to commits whose vectors are kept, or to the beginning. */
  #walk(chain: number, place: number): Vector {
    const result = new Uint32Array(this.#chains.length);
    /** Up to here everything that was seen is in `result`. */
    const closed = new Uint32Array(this.#chains.length);
    result[chain] = this.#chains[chain]!.numbers[place]! + 1;
    const open = [chain];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [from, to] = [closed[next]!, result[next]!];
      if (from >= to) continue;
      closed[next] = to;
      const { numbers, parents, places, vectors } = this.#chains[next]!;
      const last = placeBefore(numbers, to);
      let first = placeBefore(numbers, from) + 1;
      const at = placeBefore(places, last + 1);
      if (at >= 0 && places[at]! >= first) {
        raise(result, vectors[at]!);
        raise(closed, vectors[at]!);
        first = places[at]! + 1;
      }
      for (let i = first; i <= last; i++) {
        for (const parent of parents[i]!) {
          const of = Math.floor(parent / CHAIN_STEP);
          const count = parent % CHAIN_STEP + 1;
          if (count <= result[of]!) continue;
          result[of] = count;
          open.push(of);
        }
      }
    }
    return result;
  }

  #keep(chain: number, place: number, vector: Vector): void {
    const { places, vectors } = this.#chains[chain]!;
    const at = placeBefore(places, place) + 1;
    places.splice(at, 0, place);
    vectors.splice(at, 0, vector);
    this.#queue.push(chain);
    this.#bytes += vector.byteLength + VECTOR_BYTES;
    while (this.#bytes > this.#bytesMax) this.#drop();
  }

  #drop(): void {
    const chain = this.#queue.shift();
    assert(
      chain !== undefined,
      "every vector that is kept stands in the queue",
    );
    const { places, vectors } = this.#chains[chain]!;
    places.shift();
    this.#bytes -= vectors.shift()!.byteLength + VECTOR_BYTES;
  }
}

/** The place of the last number below `limit`; -1 when there is none. */
export function placeBefore(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function grown(vector: Vector, length: number): Vector {
  const copy = new Uint32Array(Math.max(vector.length, length));
  copy.set(vector);
  return copy;
}

function raise(target: Vector, by: Vector): void {
  for (let i = 0; i < by.length; i++) {
    if (by[i]! > target[i]!) target[i] = by[i]!;
  }
}
