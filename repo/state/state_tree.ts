/**
 * Digests of parts of the state: where two replicas differ, half-byte by
 * half-byte, and which of its parts a root vouches for.
 *
 * The {@linkcode MerkleTree} is made when somebody first asks, of every item there
 * is, and follows the state from then on: it is for audits. What a cell says does
 * not depend on schemas. All of it is done in slices, whoever asks for it; an
 * answer is of the state as it was in one of them.
 */

import { limits } from "../../src/base/limits.ts";
import { isBlank } from "../../src/schema/cell.ts";
import { cellDigestBytes } from "../../src/schema/cell_digest.ts";
import type { Sliced } from "../port.ts";
import { leafDigest, MerkleTree, placeOf } from "./merkle_tree.ts";
import type { ItemName, State } from "./state.ts";
import type { Kept, Table } from "./table.ts";
import { getOrMake } from "../../src/base/collections.ts";

export class StateTree {
  readonly #state: State;
  readonly #unread = new Map<Table, Unread>();
  readonly #tree = new MerkleTree();

  constructor(state: State) {
    this.#state = state;
  }

  /** The digests below a prefix, one per next half-byte. */
  *digests(prefix: readonly number[]): Sliced<Uint8Array[]> {
    for (;;) {
      yield* this.#update();
      const most = limits.auditDigestsPerSlice;
      const digests = this.#tree.digests(prefix, most);
      if (digests !== undefined) return digests;
      yield;
    }
  }

  *items(prefix: readonly number[], limit: number): Sliced<ItemName[]> {
    yield* this.#update();
    const items: ItemName[] = [];
    for (const { collection, id } of this.#tree.leaves(prefix)) {
      if (items.length >= limit) break;
      items.push({ collection, id });
    }
    return items;
  }

  /** Takes in all that is new. */
  *#update(): Sliced<void> {
    while (!this.#readSome()) yield;
  }

  /** Takes in as much as one slice may; true when nothing is left. */
  #readSome(): boolean {
    let left: number = limits.auditItemsPerSlice;
    for (const table of this.#state.tables()) {
      const unread = getOrMake(this.#unread, table, () => new Unread(table));
      unread.load(left);
      for (let next = unread.first; next !== undefined; next = unread.first) {
        if (left <= 0) return false;
        left -= this.#read(table, next);
        unread.shift();
      }
    }
    return true;
  }

  /** Takes in one item; as how many it counts. */
  #read(table: Table, ordinal: number): number {
    const cell = table.cellAt(ordinal);
    const name = { collection: table.name, id: cell.id };
    const place = placeOf(name);
    if (isBlank(cell)) {
      this.#tree.set(place, undefined);
      return 1;
    }
    const said = cellDigestBytes(cell);
    this.#tree.set(place, { ...name, place, digest: leafDigest(said) });
    return 1 + Math.floor(said.length / limits.auditItemBytes);
  }
}

/** What of a table a tree has not taken in: all of it at first, then what is put. */
class Unread implements Kept {
  readonly #table: Table;
  /** From here to the end nothing was ever read. */
  #next = 0;
  readonly #end: number;
  readonly #changed: number[] = [];
  readonly #isChanged = new Set<number>();

  constructor(table: Table) {
    this.#table = table;
    this.#end = table.size;
    table.keep(this);
  }

  set(ordinal: number): void {
    const isAhead = ordinal >= this.#next && ordinal < this.#end;
    if (isAhead || this.#isChanged.has(ordinal)) return;
    this.#isChanged.add(ordinal);
    this.#changed.push(ordinal);
  }

  /** Its next items are about to be read. */
  load(count: number): void {
    const length = Math.min(count, this.#end - this.#next);
    const ordinals = Uint32Array.from({ length }, (_, i) => this.#next + i);
    if (length > 0) this.#table.load(ordinals);
  }

  get first(): number | undefined {
    return this.#next < this.#end ? this.#next : this.#changed.at(-1);
  }

  /** The first one was read. */
  shift(): void {
    if (this.#next < this.#end) this.#next++;
    else this.#isChanged.delete(this.#changed.pop()!);
  }
}
