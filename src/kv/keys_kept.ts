/**
 * Which entries are there, in order of their keys, and when they expire: made
 * when it is first asked for, kept up to date by every transaction afterwards,
 * whoever wrote it.
 *
 * What expired is swept when somebody looks, or by the timer of who waits for it
 * (`watch.ts`). A clock that was set back makes it begin anew: what is there is
 * asked of the clock, never of what was swept.
 *
 * Architecture invariant: derived data is disposable (law 5): sweeping writes no
 * commit, so replicas cannot differ by it and nobody's write is lost to it.
 */

import type { Table } from "../../repo/mod.ts";
import type { World } from "../base/world.ts";
import { sortById } from "../query/sort_ids.ts";
import type { Item } from "../schema/patch.ts";
import type { ItemChange } from "../schema/source.ts";
import { expiryOf, hasValue, isThere, lasts } from "./entry.ts";
import { KeyIndex } from "./key_index.ts";

export interface KeptChange {
  readonly key: string;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
  readonly why: "set" | "deleted" | "expired";
}

export class KeysKept {
  /** Their keys in order; only after {@linkcode sweep} is it of this moment. */
  readonly keys: KeyIndex = new KeyIndex();
  readonly #table: Table;
  readonly #world: Pick<World, "now">;
  readonly #moments = new Moments();
  #isKept = new Uint8Array(0);
  /** The latest moment at which something was found expired. */
  #sweptAt = -Infinity;

  constructor(table: Table, world: Pick<World, "now">) {
    this.#table = table;
    this.#world = world;
    this.#fill();
  }

  get next(): number {
    return this.#moments.next;
  }

  /** From ids and the one column that tells who is there: no item is made. */
  #fill(): void {
    const now = this.#world.now();
    const { size } = this.#table;
    this.#isKept = new Uint8Array(size);
    this.#sweptAt = -Infinity;
    while (this.#moments.shift() !== undefined);
    const found: number[] = [];
    const keys = new Array<string>(size);
    const keyOf = (ordinal: number) => keys[ordinal]!;
    const expiryAt = this.#expiries();
    const ids = this.#table.ids();
    for (let ordinal = 0, at = 0; ordinal < size; ordinal++) {
      if (!this.#table.isLive(ordinal)) continue;
      keys[ordinal] = ids[at++]!;
      const expiresAt = expiryAt(ordinal);
      if (lasts(expiresAt, now)) {
        found.push(ordinal);
        this.#isKept[ordinal] = 1;
        this.#moments.set(ordinal, expiresAt);
      } else if (lasts(expiresAt, -Infinity)) this.#sweptAt = now;
    }
    sortById(found, keyOf);
    this.keys.fill(found.map(keyOf), found);
  }

  /** How to tell when a live entry ends: by the column, where all writers wrote numbers. */
  #expiries(): (ordinal: number) => number | undefined {
    const table = this.#table;
    const column = table.column("expiresAt");
    if (column?.kind === "number" && column.type === "number") {
      const { values } = column;
      return (ordinal) => {
        const value = values[ordinal]!;
        return value === value ? value : undefined;
      };
    }
    const { size } = table;
    table.load(Uint32Array.from({ length: size }, (_, ordinal) => ordinal));
    return (ordinal) => expiryOf(table.itemAt(ordinal)!);
  }

  /** Takes away what has expired by now, and tells of it. */
  sweep(tell?: (change: KeptChange) => void): void {
    if (this.#moments.size === 0 && this.#sweptAt === -Infinity) return;
    const now = this.#world.now();
    if (now < this.#sweptAt) return this.#fill();
    while (this.#moments.next <= now) {
      this.#sweptAt = now;
      const ordinal = this.#moments.shift()!;
      const key = this.#table.idAt(ordinal);
      this.#drop(ordinal, key);
      if (tell === undefined) continue;
      const before = this.#table.itemAt(ordinal);
      tell({ key, before, after: undefined, why: "expired" });
    }
  }

  /** Takes what a transaction did, after it was put; tells what it means for entries. */
  absorb(
    changes: readonly ItemChange[],
    tell?: (change: KeptChange) => void,
  ): void {
    const now = this.#world.now();
    for (const { ordinal, before } of changes) {
      const key = this.#table.idAt(ordinal);
      this.#expire(ordinal, key, before, now, tell);
      this.#absorb(ordinal, key, before, now, tell);
    }
  }

  /** What was written over may have expired before, and not been swept. */
  #expire(
    ordinal: number,
    key: string,
    before: Item | undefined,
    now: number,
    tell?: (change: KeptChange) => void,
  ): void {
    const moment = this.#moments.get(ordinal);
    if (moment === undefined || moment > now) return;
    this.#moments.set(ordinal, undefined);
    this.#drop(ordinal, key);
    tell?.({ key, before, after: undefined, why: "expired" });
  }

  #absorb(
    ordinal: number,
    key: string,
    known: Item | undefined,
    now: number,
    tell?: (change: KeptChange) => void,
  ): void {
    const wasKept = this.#isKept[ordinal] === 1;
    const before = wasKept ? known : undefined;
    // What is true now, rather than what was told: news may come late.
    const item = this.#table.itemAt(ordinal);
    if (isThere(item, now)) {
      this.#moments.set(ordinal, expiryOf(item));
      if (!wasKept) this.#keep(ordinal, key);
      tell?.({ key, before, after: item, why: "set" });
      return;
    }
    // Written as expired: it may yet be there when the clock is set back.
    if (isThere(item, -Infinity)) this.#sweptAt = Math.max(this.#sweptAt, now);
    this.#moments.set(ordinal, undefined);
    if (!wasKept) return;
    this.#drop(ordinal, key);
    const why = item !== undefined && hasValue(item) ? "expired" : "deleted";
    tell?.({ key, before, after: undefined, why });
  }

  #keep(ordinal: number, key: string): void {
    if (ordinal >= this.#isKept.length) {
      const grown = new Uint8Array(Math.max(64, ordinal * 2));
      grown.set(this.#isKept);
      this.#isKept = grown;
    }
    this.#isKept[ordinal] = 1;
    this.keys.add(key, ordinal);
  }

  #drop(ordinal: number, key: string): void {
    this.#isKept[ordinal] = 0;
    this.keys.remove(key);
  }
}

/** Ordinals by their moment, the earliest first. */
export class Moments {
  readonly #moments: number[] = [];
  readonly #ordinals: number[] = [];
  readonly #places = new Map<number, number>();

  get size(): number {
    return this.#ordinals.length;
  }

  get next(): number {
    return this.#moments[0] ?? Infinity;
  }

  get(ordinal: number): number | undefined {
    const place = this.#places.get(ordinal);
    return place === undefined ? undefined : this.#moments[place];
  }

  /** Gives an ordinal its moment; none where it is `undefined`. */
  set(ordinal: number, moment: number | undefined): void {
    const place = this.#places.get(ordinal);
    if (moment === undefined) {
      if (place !== undefined) this.#removeAt(place);
      return;
    }
    if (place === undefined) this.#raise(this.size, moment, ordinal);
    else this.#settle(place, moment, ordinal);
  }

  /** Takes the ordinal of the earliest moment away, and says which it was. */
  shift(): number | undefined {
    const ordinal = this.#ordinals[0];
    if (ordinal !== undefined) this.#removeAt(0);
    return ordinal;
  }

  #removeAt(place: number): void {
    this.#places.delete(this.#ordinals[place]!);
    const moment = this.#moments.pop()!;
    const ordinal = this.#ordinals.pop()!;
    if (place < this.size) this.#settle(place, moment, ordinal);
  }

  /** Puts an ordinal into the heap where a gap is at `place`. */
  #settle(place: number, moment: number, ordinal: number): void {
    const above = this.#moments[(place - 1) >>> 1];
    if (place > 0 && moment < above!) this.#raise(place, moment, ordinal);
    else this.#sink(place, moment, ordinal);
  }

  #raise(place: number, moment: number, ordinal: number): void {
    let at = place;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (this.#moments[above]! <= moment) break;
      this.#put(at, this.#moments[above]!, this.#ordinals[above]!);
      at = above;
    }
    this.#put(at, moment, ordinal);
  }

  #sink(place: number, moment: number, ordinal: number): void {
    const { size } = this;
    let at = place;
    for (let below = 2 * at + 1; below < size; below = 2 * at + 1) {
      const right = below + 1;
      if (right < size && this.#moments[right]! < this.#moments[below]!) {
        below = right;
      }
      if (this.#moments[below]! >= moment) break;
      this.#put(at, this.#moments[below]!, this.#ordinals[below]!);
      at = below;
    }
    this.#put(at, moment, ordinal);
  }

  #put(at: number, moment: number, ordinal: number): void {
    this.#moments[at] = moment;
    this.#ordinals[at] = ordinal;
    this.#places.set(ordinal, at);
  }
}
