/**
 * Digests of parts of the state: where two replicas differ, half-byte by
 * half-byte.
 *
 * An item's place is the hash of its name: `place = SHA-256(collection ‖ 0 ‖ id)`.
 * The digest below a prefix of half-bytes (of each byte the upper one first) is
 * `SHA-256("sheaf state 1\n" ‖ (place ‖ SHA-256(cell))*)`, places ascending, and
 * 32 zeros where there is none. What a cell says does not depend on schemas.
 *
 * The tree is made when somebody first asks, of every item there is, and follows
 * the state from then on: it is for audits. All of it is done in slices, whoever
 * asks for it; an answer is of the state as it was in one of them.
 *
 * @module
 */

import { createSha256, type Sha256, sha256 } from "../../crypto/sha256.ts";
import { encodeText } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { isBlank } from "../../src/schema/cell.ts";
import { cellDigestBytes } from "../../src/schema/cell_digest.ts";
import { compareText, OrderedMap } from "../../src/schema/ordered_map.ts";
import { nameOf } from "../commit/commit.ts";
import type { Sliced } from "../port.ts";
import type { ItemName, State } from "./state.ts";
import type { Kept, Table } from "./table.ts";
import { getOrMake } from "../../src/base/collections.ts";

const DOMAIN = encodeText("sheaf state 1\n");
const HASH_BYTES = 32;
const FAN_OUT = 16;
const NOTHING: Uint8Array = /* @__PURE__ */ new Uint8Array(1);

/** An item, its place, and the hash of its cell. */
interface Entry extends ItemName {
  readonly bytes: Uint8Array;
}

/** The items of one state, by their places. */
export class StateTree {
  readonly #state: State;
  readonly #unread = new Map<Table, Unread>();
  /** By place: one character a byte. */
  #entries = OrderedMap.of<string, Entry>(compareText);

  constructor(state: State) {
    this.#state = state;
  }

  /** The digests below a prefix, one per next half-byte. */
  *digests(prefix: readonly number[]): Sliced<Uint8Array[]> {
    yield* this.#update();
    const hashes: (Sha256 | undefined)[] = new Array(FAN_OUT).fill(undefined);
    let count = 0;
    for (const [place, { bytes }] of this.#entries.entries(startOf(prefix))) {
      if (!isBelow(place, prefix)) break;
      const half = halfByteAt(place, prefix.length);
      let digest = hashes[half];
      if (digest === undefined) {
        hashes[half] = digest = createSha256();
        digest.update(DOMAIN);
      }
      digest.update(bytes);
      if (++count % limits.auditDigestsPerSlice === 0) yield;
    }
    return hashes.map((hash) => hash?.digest() ?? new Uint8Array(HASH_BYTES));
  }

  /** The items below a prefix, at most `limit`. */
  *items(prefix: readonly number[], limit: number): Sliced<ItemName[]> {
    yield* this.#update();
    const items: ItemName[] = [];
    for (const [place, entry] of this.#entries.entries(startOf(prefix))) {
      if (items.length >= limit || !isBelow(place, prefix)) break;
      const { collection, id } = entry;
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
    const { name: collection } = table;
    const { id } = cell;
    const bytes = new Uint8Array(2 * HASH_BYTES);
    bytes.set(sha256(encodeText(collection), NOTHING, encodeText(id)));
    const place = nameOf(bytes, 0, HASH_BYTES);
    if (isBlank(cell)) {
      this.#entries = this.#entries.without(place);
      return 1;
    }
    const said = cellDigestBytes(cell);
    bytes.set(sha256(said), HASH_BYTES);
    this.#entries = this.#entries.with(place, { collection, id, bytes });
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

  /** The ordinal to be read next; `undefined` when nothing is left. */
  get first(): number | undefined {
    return this.#next < this.#end ? this.#next : this.#changed.at(-1);
  }

  /** The first one was read. */
  shift(): void {
    if (this.#next < this.#end) this.#next++;
    else this.#isChanged.delete(this.#changed.pop()!);
  }
}

/** Before all places that begin with the prefix, and behind all others before them. */
function startOf(prefix: readonly number[]): string {
  let start = "";
  for (let i = 0; i < prefix.length; i += 2) {
    start += String.fromCharCode(prefix[i]! << 4 | (prefix[i + 1] ?? 0));
  }
  return start;
}

function isBelow(place: string, prefix: readonly number[]): boolean {
  for (let i = 0; i < prefix.length; i++) {
    if (halfByteAt(place, i) !== prefix[i]) return false;
  }
  return true;
}

/** Of each byte the upper half comes first. */
function halfByteAt(place: string, at: number): number {
  const byte = place.charCodeAt(at >> 1);
  return at % 2 === 0 ? byte >> 4 : byte & 15;
}
