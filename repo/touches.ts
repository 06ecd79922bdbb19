/**
 * Touches: which operations concern an item, and where in the log they stand.
 *
 * Sixteen bytes an item by ordinal; only items that were written more than once
 * have lists. Never reads the log: its owner feeds it in the log's order.
 *
 * Architecture invariant: derived data is disposable (law 5).
 *
 * @module
 */

import type { Table } from "./table.ts";

/** One operation on an item. */
export interface Touch {
  /** Number of its chain in the ancestry. */
  readonly chain: number;
  /** Number of its commit in the chain. */
  readonly number: number;
  /** Log address of the operation. */
  readonly address: number;
}

const CHAIN_STEP = 2 ** 32;
const CAPACITY_FIRST = 64;

/** The touches of one table. */
class TableTouches {
  /** By ordinal: chain and number of the first touch in one, + 1; 0 is none. */
  #firsts = new Float64Array(CAPACITY_FIRST);
  #addresses = new Float64Array(CAPACITY_FIRST);
  /** By ordinal: the others, two numbers each. */
  readonly #others = new Map<number, number[]>();

  add(ordinal: number, { chain, number, address }: Touch): void {
    if (ordinal >= this.#firsts.length) this.#grow(ordinal + 1);
    const packed = chain * CHAIN_STEP + number + 1;
    if (this.#firsts[ordinal] === 0) {
      this.#firsts[ordinal] = packed;
      this.#addresses[ordinal] = address;
      return;
    }
    const others = this.#others.get(ordinal);
    if (others === undefined) this.#others.set(ordinal, [packed, address]);
    else others.push(packed, address);
  }

  #grow(length: number): void {
    const capacity = Math.max(length, this.#firsts.length * 2);
    const [firsts, addresses] = [this.#firsts, this.#addresses];
    this.#firsts = new Float64Array(capacity);
    this.#firsts.set(firsts);
    this.#addresses = new Float64Array(capacity);
    this.#addresses.set(addresses);
  }

  /** Calls `visit` for each touch in the log's order until it says true; says whether it did. */
  some(
    ordinal: number,
    visit: (chain: number, number: number, address: number) => boolean,
  ): boolean {
    const first = this.#firsts[ordinal] ?? 0;
    if (first === 0) return false;
    if (visitPacked(first, this.#addresses[ordinal]!, visit)) return true;
    const others = this.#others.get(ordinal);
    if (others === undefined) return false;
    for (let i = 0; i < others.length; i += 2) {
      if (visitPacked(others[i]!, others[i + 1]!, visit)) return true;
    }
    return false;
  }
}

function visitPacked(
  packed: number,
  address: number,
  visit: (chain: number, number: number, address: number) => boolean,
): boolean {
  const chain = Math.floor((packed - 1) / CHAIN_STEP);
  return visit(chain, packed - 1 - chain * CHAIN_STEP, address);
}

/** The touches of all tables. */
export class Touches {
  readonly #tables = new Map<Table, TableTouches>();

  /** Notes an operation on the item of an ordinal. */
  add(table: Table, ordinal: number, touch: Touch): void {
    let touches = this.#tables.get(table);
    if (touches === undefined) {
      this.#tables.set(table, touches = new TableTouches());
    }
    touches.add(ordinal, touch);
  }

  /** Calls `visit` for each touch of an item in the log's order until it says true; says whether it did. */
  some(
    table: Table,
    ordinal: number,
    visit: (chain: number, number: number, address: number) => boolean,
  ): boolean {
    return this.#tables.get(table)?.some(ordinal, visit) ?? false;
  }
}
