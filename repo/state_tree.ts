/**
 * Digests of parts of the state: where two replicas differ, half-byte by
 * half-byte.
 *
 * An item's place is the hash of its name: `place = SHA-256(collection ‖ 0 ‖ id)`.
 * The digest below a prefix of half-bytes (of each byte the upper one first) is
 * `SHA-256("sheaf state 1\n" ‖ (place ‖ SHA-256(cell))*)`, places ascending, and
 * 32 zeros where there is none. What a cell says does not depend on schemas.
 *
 * The tree is built when somebody asks, from every item there is, and dropped
 * with the next change: it is for audits.
 *
 * @module
 */

import { sha256 } from "../crypto/mod.ts";
import { encodeText } from "../src/base/bytes.ts";
import { type Cell, isBlank } from "../src/schema/cell.ts";
import { cellDigestBytes } from "../src/schema/cell_codec.ts";
import type { State } from "./state.ts";
import type { Table } from "./table.ts";

const DOMAIN = encodeText("sheaf state 1\n");
const HASH_BYTES = 32;
/** A place and what is there. */
const ENTRY_BYTES = 2 * HASH_BYTES;
const FAN_OUT = 16;
const NOTHING: Uint8Array = /* @__PURE__ */ new Uint8Array(1);

/** The name of one item. */
export interface PlacedItem {
  readonly collection: string;
  readonly id: string;
}

/** The entries of cells: a cell that did not change is not hashed again. */
export type CellEntries = WeakMap<Cell, Uint8Array>;

/** The items of one state, by their places. */
export class StateTree {
  /** Entries, in ascending order of place. */
  readonly #entries: Uint8Array;
  readonly #names: readonly PlacedItem[];

  /**
   * @param state as it is now; the tree does not follow it
   * @param known entries of cells that an earlier tree had; filled
   */
  constructor(state: State, known: CellEntries = new WeakMap()) {
    const found = entriesOf(state, known);
    found.sort((a, b) => compareBytes(a.entry, b.entry));
    this.#entries = new Uint8Array(found.length * ENTRY_BYTES);
    found.forEach(({ entry }, i) => this.#entries.set(entry, i * ENTRY_BYTES));
    this.#names = found.map(({ name }) => name);
  }

  /** The digests below a prefix, one per next half-byte. */
  digests(prefix: readonly number[]): Uint8Array[] {
    const digests: Uint8Array[] = [];
    for (let next = 0; next < FAN_OUT; next++) {
      const [start, end] = this.#range([...prefix, next]);
      const entries = this.#entries.subarray(
        start * ENTRY_BYTES,
        end * ENTRY_BYTES,
      );
      digests.push(
        start === end ? new Uint8Array(HASH_BYTES) : sha256(DOMAIN, entries),
      );
    }
    return digests;
  }

  /** The items below a prefix, at most `limit`. */
  items(prefix: readonly number[], limit: number): PlacedItem[] {
    const [start, end] = this.#range(prefix);
    return this.#names.slice(start, Math.min(end, start + limit));
  }

  /** Entries whose places begin with the prefix: first and behind the last. */
  #range(prefix: readonly number[]): [number, number] {
    return [this.#search(prefix, false), this.#search(prefix, true)];
  }

  /** The first entry that is not before the prefix, or that is behind it. */
  #search(prefix: readonly number[], isBehind: boolean): number {
    let [low, high] = [0, this.#names.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, prefix);
      if (order < 0 || (isBehind && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(index: number, prefix: readonly number[]): number {
    for (let i = 0; i < prefix.length; i++) {
      const byte = this.#entries[index * ENTRY_BYTES + (i >> 1)]!;
      const half = i % 2 === 0 ? byte >> 4 : byte & 15;
      if (half !== prefix[i]) return half - prefix[i]!;
    }
    return 0;
  }
}

interface Found {
  readonly entry: Uint8Array;
  readonly name: PlacedItem;
}

function entriesOf(state: State, known: CellEntries): Found[] {
  const found: Found[] = [];
  for (const table of state.tables()) addTable(found, table, known);
  return found;
}

function addTable(found: Found[], table: Table, known: CellEntries): void {
  const collection = encodeText(table.name);
  table.load(Uint32Array.from({ length: table.size }, (_, i) => i));
  for (let ordinal = 0; ordinal < table.size; ordinal++) {
    const cell = table.cellAt(ordinal);
    if (isBlank(cell)) continue;
    let entry = known.get(cell);
    if (entry === undefined) known.set(cell, entry = entryOf(collection, cell));
    found.push({ entry, name: { collection: table.name, id: cell.id } });
  }
}

function entryOf(collection: Uint8Array, cell: Cell): Uint8Array {
  const entry = new Uint8Array(ENTRY_BYTES);
  entry.set(sha256(collection, NOTHING, encodeText(cell.id)), 0);
  entry.set(sha256(cellDigestBytes(cell)), HASH_BYTES);
  return entry;
}

/** Places are distinct, so that what follows them never decides. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < HASH_BYTES; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return 0;
}
