/**
 * Touches: which operations concern an item, and where in the log they stand.
 *
 * Sixteen bytes an item by ordinal; only items that were written more than once
 * have lists, one a chain, so that a look costs by chains and not by writes.
 * Never reads the log: its owner feeds it in the log's order.
 *
 * Architecture invariant: derived data is disposable (law 5).
 *
 * @module
 */

import { placeBefore, type Vector } from "./ancestry.ts";
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

/** What one chain did to an item, in its order. */
interface ChainTouches {
  readonly chain: number;
  readonly numbers: number[];
  readonly addresses: number[];
}

const CHAIN_STEP = 2 ** 32;
const CAPACITY_FIRST = 64;
/** Instead of a first touch: there is a list. */
const LISTED = -1;

/** The touches of one table. */
class TableTouches {
  /** By ordinal: chain and number of the only touch in one, + 1; 0 is none. */
  #firsts = new Float64Array(CAPACITY_FIRST);
  #addresses = new Float64Array(CAPACITY_FIRST);
  readonly #lists = new Map<number, ChainTouches[]>();

  add(ordinal: number, touch: Touch): void {
    if (ordinal >= this.#firsts.length) this.#grow(ordinal + 1);
    if (this.#firsts[ordinal] === 0) {
      this.#firsts[ordinal] = touch.chain * CHAIN_STEP + touch.number + 1;
      this.#addresses[ordinal] = touch.address;
      return;
    }
    const lists = this.of(ordinal);
    if (this.#firsts[ordinal] !== LISTED) {
      this.#firsts[ordinal] = LISTED;
      this.#lists.set(ordinal, lists);
    }
    let list = lists.find(({ chain }) => chain === touch.chain);
    if (list === undefined) {
      list = { chain: touch.chain, numbers: [], addresses: [] };
      lists.push(list);
    }
    list.numbers.push(touch.number);
    list.addresses.push(touch.address);
  }

  #grow(length: number): void {
    const capacity = Math.max(length, this.#firsts.length * 2);
    const [firsts, addresses] = [this.#firsts, this.#addresses];
    this.#firsts = new Float64Array(capacity);
    this.#firsts.set(firsts);
    this.#addresses = new Float64Array(capacity);
    this.#addresses.set(addresses);
  }

  /** The touches of an item by chain. */
  of(ordinal: number): ChainTouches[] {
    const first = this.#firsts[ordinal] ?? 0;
    if (first === 0) return [];
    if (first === LISTED) return this.#lists.get(ordinal)!;
    const { chain, number } = unpacked(first);
    const addresses = [this.#addresses[ordinal]!];
    return [{ chain, numbers: [number], addresses }];
  }

  /** Is every touch of an item among the commits that `vector` names? */
  isSeen(ordinal: number, vector: Vector): boolean {
    const first = this.#firsts[ordinal] ?? 0;
    if (first === 0) return true;
    if (first === LISTED) {
      return this.#lists.get(ordinal)!.every(({ chain, numbers }) =>
        numbers[numbers.length - 1]! < (vector[chain] ?? 0)
      );
    }
    const { chain, number } = unpacked(first);
    return number < (vector[chain] ?? 0);
  }
}

function unpacked(packed: number): { chain: number; number: number } {
  const chain = Math.floor((packed - 1) / CHAIN_STEP);
  return { chain, number: packed - 1 - chain * CHAIN_STEP };
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

  /** Is every touch of an item among the commits that `vector` names? */
  isSeen(table: Table, ordinal: number, vector: Vector): boolean {
    return this.#tables.get(table)?.isSeen(ordinal, vector) ?? true;
  }

  /**
   * Calls `visit` for each touch of an item among the commits that `to` names
   * and `from` does not; chain by chain, each in its order.
   */
  between(
    table: Table,
    ordinal: number,
    from: Vector | undefined,
    to: Vector,
    visit: (touch: Touch) => void,
  ): void {
    for (const list of this.#tables.get(table)?.of(ordinal) ?? []) {
      const { chain, numbers, addresses } = list;
      let at = placeBefore(numbers, from?.[chain] ?? 0) + 1;
      for (const end = to[chain] ?? 0; at < numbers.length; at++) {
        const number = numbers[at]!;
        if (number >= end) break;
        visit({ chain, number, address: addresses[at]! });
      }
    }
  }
}
