/**
 * The declared indexes of a collection, built when they pay off.
 *
 * A small collection's index is built the first time a query wants it, a large
 * one's the second time: a cold first question is answered by a scan instead.
 * A built index follows every change; one that met a value which does not fit
 * its field's kind is given up, as queries over mixed values need a scan.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import type { Item } from "../schema/patch.ts";
import type { Fields } from "./condition.ts";
import { OrderedIndex } from "./ordered_index.ts";
import type { Source } from "./source.ts";
import { isOrderable } from "./value.ts";

/** Below this many items building takes no longer than a scan or two. */
const smallCount = 4_096;

/** A declared index. */
export interface DeclaredIndex {
  readonly fields: readonly string[];
}

interface Slot extends DeclaredIndex {
  built: OrderedIndex | undefined;
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
  readonly #onBuilt: () => void;

  /** @param onBuilt runs when there is an index to keep up to date */
  constructor(
    indexes: readonly (readonly string[])[],
    fields: Fields,
    source: Source,
    onBuilt: () => void,
  ) {
    this.#onBuilt = onBuilt;
    for (const index of indexes) check(index, fields);
    this.#slots = indexes.map((index) => ({
      fields: [...index],
      built: undefined,
      wants: 0,
      givenUp: false,
    }));
    this.#source = source;
    this.#fields = fields;
  }

  /** What was declared. */
  get declared(): readonly DeclaredIndex[] {
    return this.#slots;
  }

  /** The index, if it is there or worth building now. */
  want(declared: DeclaredIndex): OrderedIndex | undefined {
    const slot = this.#slots.find((one) => one === declared);
    if (slot === undefined || slot.givenUp) return undefined;
    if (slot.built !== undefined) return slot.built;
    slot.wants++;
    if (slot.wants < 2 && this.#source.count > smallCount) return undefined;
    const index = new OrderedIndex(slot.fields, this.#fields, this.#source);
    this.epoch++;
    if (index.broken) slot.givenUp = true;
    else {
      slot.built = index;
      this.#onBuilt();
    }
    return slot.built;
  }

  /** Takes an item's new state into every built index. */
  update(ordinal: number, item: Item | undefined): void {
    for (let i = 0; i < this.#slots.length; i++) {
      const slot = this.#slots[i]!;
      if (slot.built === undefined) continue;
      slot.built.update(ordinal, item);
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
