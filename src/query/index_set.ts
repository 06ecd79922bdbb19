/**
 * The declared indexes of a collection, built when they pay off.
 *
 * A small collection's index is built the first time a query wants it, a large
 * one's the second time: a cold first question is answered by a scan instead.
 * Where building must not hold the thread up, it is done in slices, and scans
 * answer meanwhile. A built index follows every change; one that met a value which does not fit
 * its field's kind is given up, as queries over mixed values need a scan.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import type { Fields } from "./condition.ts";
import { IdTable } from "./id_table.ts";
import { OrderedIndex } from "./ordered_index.ts";
import type { Source } from "./source.ts";
import { isOrderable } from "./value.ts";

/** The index that nobody declares and every collection has, once it is asked for. */
const ofIds: readonly string[] = ["id"];

/** Below this many items building takes no longer than a scan or two. */
const smallCount = 4_096;

/** One slice of building, in milliseconds. */
const sliceMs = 4;
/** So many answers by scans have cost more than what is left to build. */
const scansMax = 256;

/** When slices are run. */
export interface Slices {
  /** Runs a task when the thread is free. */
  readonly later: (task: () => void) => void;
  readonly monotonic: () => number;
}

/** An index on its way. */
interface Building {
  readonly index: OrderedIndex;
  readonly steps: Iterator<void>;
  /** What changed meanwhile. */
  readonly changed: Set<number>;
}

/** A declared index. */
export interface DeclaredIndex {
  readonly fields: readonly string[];
}

interface Slot extends DeclaredIndex {
  built: OrderedIndex | undefined;
  building: Building | undefined;
  wants: number;
  givenUp: boolean;
}

/** All indexes of one collection. */
export class IndexSet {
  /** Changes whenever an index comes or goes: cached plans are stale then. */
  epoch = 0;
  readonly #slots: readonly Slot[];
  readonly #source: Source;
  readonly #fields: Fields;
  readonly #ids: IdTable;
  readonly #onBuilt: () => void;
  readonly #slices: Slices | undefined;
  #isClosed = false;

  /**
   * @param onBuilt runs when there is an index to keep up to date
   * @param slices how large ones are built; at once, when absent
   */
  constructor(
    indexes: readonly (readonly string[])[],
    fields: Fields,
    source: Source,
    onBuilt: () => void,
    slices?: Slices,
  ) {
    this.#onBuilt = onBuilt;
    this.#slices = slices;
    for (const index of indexes) check(index, fields);
    this.#slots = [...indexes, ofIds].map((index) => ({
      fields: [...index],
      built: undefined,
      building: undefined,
      wants: 0,
      givenUp: false,
    }));
    this.#source = source;
    this.#fields = fields;
    this.#ids = new IdTable(source);
  }

  /** What was declared, and that of the ids. */
  get declared(): readonly DeclaredIndex[] {
    return this.#slots;
  }

  /** The index, if it is there or worth building now. */
  want(declared: DeclaredIndex): OrderedIndex | undefined {
    const slot = this.#slots.find((one) => one === declared);
    if (slot === undefined || slot.givenUp) return undefined;
    if (slot.built !== undefined) return slot.built;
    slot.wants++;
    // Ordering the ids reads no item: it takes less than the first scan would.
    const isLarge = slot.fields[0] !== "id" && this.#source.count > smallCount;
    if (slot.wants < 2 && isLarge) return undefined;
    const slices = isLarge ? this.#slices : undefined;
    const { building } = slot;
    const isDue = slices === undefined || slot.wants > scansMax;
    if (building === undefined) {
      // One after the other: with half of them there, plans would be poor.
      if (slices && this.#slots.some((one) => one.building)) return undefined;
      const index = this.#begin(slot, slices !== undefined);
      if (slices === undefined) this.#finish(slot, index);
      else this.#plan(slot, slices);
    } else if (isDue) {
      while (building.steps.next().done !== true);
      this.#end(slot, building);
    }
    return slot.built;
  }

  #begin(slot: Slot, isLater: boolean): OrderedIndex {
    const { fields } = slot;
    const index = new OrderedIndex(
      fields,
      this.#fields,
      this.#source,
      isLater,
      this.#ids,
      isLater ? undefined : this.#tailOf(fields),
    );
    if (!isLater) return index;
    slot.building = { index, steps: index.build(), changed: new Set() };
    this.#onBuilt(); // Changes are heard from now on.
    return index;
  }

  /** The built index of most of the last of these fields: it has sorted them already. */
  #tailOf(fields: readonly string[]): OrderedIndex | undefined {
    for (let from = 1; from < fields.length; from++) {
      const tail = fields.slice(from);
      const slot = this.#slots.find((one) =>
        one.built !== undefined && one.fields.length === tail.length &&
        tail.every((field, at) => one.fields[at] === field)
      );
      if (slot !== undefined) return slot.built;
    }
    return undefined;
  }

  #plan(slot: Slot, slices: Slices): void {
    slices.later(() => {
      const { building } = slot;
      if (building === undefined || this.#isClosed) return;
      const start = slices.monotonic();
      while (building.steps.next().done !== true) {
        if (slices.monotonic() - start < sliceMs) continue;
        return this.#plan(slot, slices);
      }
      this.#end(slot, building);
    });
  }

  /** All steps were taken: what changed meanwhile is told. */
  #end(slot: Slot, { index, changed }: Building): void {
    slot.building = undefined;
    for (const ordinal of changed) {
      if (!index.broken) index.update(ordinal, this.#source.itemAt(ordinal));
    }
    this.#finish(slot, index);
  }

  #finish(slot: Slot, index: OrderedIndex): void {
    this.epoch++;
    if (index.broken) slot.givenUp = true;
    else {
      slot.built = index;
      this.#onBuilt();
    }
    // The ids' own index is seldom asked for.
    const isDone = this.#slots.every(({ fields, built, givenUp }) =>
      built !== undefined || givenUp || fields[0] === "id"
    );
    // After a broken one nobody may be listening.
    if (isDone || index.broken) this.#ids.forget();
  }

  /** Builds no more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Takes the new state of these ordinals into every built index. */
  update(ordinals: readonly number[]): void {
    this.#ids.forget();
    const items = ordinals.map((ordinal) => this.#source.itemAt(ordinal));
    for (let i = 0; i < this.#slots.length; i++) {
      const slot = this.#slots[i]!;
      const { building } = slot;
      if (building) { for (const one of ordinals) building.changed.add(one); }
      if (slot.built === undefined) continue;
      slot.built.updateAll(ordinals, items);
      if (slot.built.broken) this.#giveUp(slot);
    }
  }

  #giveUp(slot: Slot): void {
    slot.built = undefined;
    slot.givenUp = true;
    this.epoch++;
  }
}

function check(index: readonly string[], fields: Fields): void {
  for (const field of index) {
    const kind = fields.get(field);
    if (kind !== undefined && isOrderable(kind)) continue;
    throw new DatabaseError(
      "invalid-schema",
      `Cannot index '${field}': it is no field with an order`,
    );
  }
}
