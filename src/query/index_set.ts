/**
 * The declared indexes of a collection, built when they pay off.
 *
 * A small collection's index is built the first time a query wants it, a large
 * one's from the second time on: a cold first question is answered by a scan
 * instead. A large one is built in slices, one index after the other, when the
 * thread is free; where it never is, who asks runs one now and then. Scans answer
 * meanwhile. A built index follows every change; one that met a value which does
 * not fit its field's kind is given up, as queries over mixed values need a scan.
 */

import type { World } from "../base/world.ts";
import type { Fields } from "./condition.ts";
import { IdTable } from "./key_table.ts";
import { chooseIndex, type IndexOption } from "./index_plan.ts";
import { OrderedIndex } from "./ordered_index.ts";
import type { IndexPlan, Request } from "./plan.ts";
import type { Source } from "../schema/source.ts";

/** The index that nobody declares and every collection has, once it is asked for. */
const ofIds: readonly string[] = ["id"];

/** Below this many items building takes no longer than a scan or two. */
const smallCount = 4_096;

/** One slice of building, in milliseconds. */
const sliceMs = 4;
/** Who asks runs a slice when there was none for so long. */
const sliceEveryMs = 8;

/** The clock and the timer of slices. */
export type Slices = Pick<World, "monotonic" | "after">;

interface Building {
  readonly index: OrderedIndex;
  readonly steps: Iterator<void, void>;
  /** What changed meanwhile. */
  readonly changed: Set<number>;
}

interface Slot extends IndexOption {
  built: OrderedIndex | undefined;
  building: Building | undefined;
  wants: number;
  givenUp: boolean;
}

export class IndexSet {
  /** Changes whenever an index comes or goes: cached plans are stale then. */
  epoch = 0;
  readonly #slots: readonly Slot[];
  readonly #source: Source;
  readonly #fields: Fields;
  readonly #ids: IdTable;
  readonly #onBuilt: () => void;
  readonly #slices: Slices | undefined;
  /** The one that is built in slices. */
  #current: Slot | undefined;
  #cancel: (() => void) | undefined;
  #lastSlice = -Infinity;

  /** @param onBuilt runs when there is an index to keep up to date */
  constructor(
    indexes: readonly (readonly string[])[],
    fields: Fields,
    source: Source,
    onBuilt: () => void,
    slices?: Slices,
  ) {
    this.#onBuilt = onBuilt;
    this.#slices = slices;
    this.#slots = [...indexes, ofIds].map((index) => {
      const slot: Slot = {
        fields: [...index],
        want: () => this.#want(slot),
        built: undefined,
        building: undefined,
        wants: 0,
        givenUp: false,
      };
      return slot;
    });
    this.#source = source;
    this.#fields = fields;
    this.#ids = new IdTable(source);
  }

  /** The index that answers a request best; `undefined` where a scan does. */
  plan(request: Request): IndexPlan | undefined {
    return chooseIndex(request, this.#slots, this.#source.count);
  }

  #want(slot: Slot): OrderedIndex | undefined {
    if (slot.givenUp) return undefined;
    if (slot.built !== undefined) return slot.built;
    slot.wants++;
    const isLarge = this.#source.count > smallCount;
    // Ordering the ids reads no item: it takes less than the first scan would.
    if (slot.wants < 2 && isLarge && slot.fields[0] !== "id") return undefined;
    const slices = isLarge ? this.#slices : undefined;
    if (slices !== undefined) this.#help(slot, slices);
    else {
      slot.building ??= this.#begin(slot);
      this.#run(slot, () => false);
    }
    return slot.built;
  }

  /** Begins, unless another is on its way: with half of them there, plans would be poor. */
  #help(slot: Slot, slices: Slices): void {
    if (this.#current === undefined) {
      this.#current = slot;
      slot.building = this.#begin(slot);
      this.#plan(slices);
    }
    const idleMs = slices.monotonic() - this.#lastSlice;
    if (idleMs >= sliceEveryMs) this.#slice(this.#current, slices);
  }

  #begin({ fields }: Slot): Building {
    const index = new OrderedIndex(
      fields,
      this.#fields,
      this.#source,
      this.#ids,
    );
    const changed = new Set<number>();
    this.#onBuilt(); // Changes are heard from now on.
    return { index, steps: this.#steps(index, changed), changed };
  }

  /** Builds, and then tells what changed meanwhile. */
  *#steps(index: OrderedIndex, changed: Set<number>): Generator<void> {
    yield* index.build();
    for (const ordinal of changed) {
      if (index.broken) return;
      changed.delete(ordinal); // It may change again before the last step.
      index.update(ordinal, this.#source.itemAt(ordinal));
      yield;
    }
  }

  #plan(slices: Slices): void {
    this.#cancel = slices.after(0, () => {
      if (this.#current !== undefined) this.#slice(this.#current, slices);
      if (this.#current !== undefined) this.#plan(slices);
    });
  }

  #slice(slot: Slot, slices: Slices): void {
    const start = slices.monotonic();
    this.#run(slot, () => {
      this.#lastSlice = slices.monotonic();
      return this.#lastSlice - start >= sliceMs;
    });
  }

  /** Takes steps until all are taken, or enough for now. */
  #run(slot: Slot, isEnough: () => boolean): void {
    const { index, steps } = slot.building!;
    try {
      while (steps.next().done !== true) if (isEnough()) return;
    } catch {
      index.broken = true; // What cannot be read, a scan tells who asks for it.
    }
    if (slot === this.#current) this.close();
    slot.building = undefined;
    this.epoch++;
    if (index.broken) slot.givenUp = true;
    else {
      slot.built = index;
      // Ids are in order as soon as they are read, which they must be anyway.
      const isKept = slot.fields[0] !== ofIds[0];
      if (isKept) this.#source.keepOrder?.(slot.fields, () => index.order());
    }
  }

  /** Builds no more of what is on its way. */
  close(): void {
    this.#cancel?.();
    this.#current = this.#cancel = undefined;
  }

  /** Takes the new state of these ordinals into every built index. */
  update(ordinals: readonly number[]): void {
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
    this.#source.keepOrder?.(slot.fields, undefined);
    this.epoch++;
  }
}
