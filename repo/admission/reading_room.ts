/**
 * How much rules may read of large fields for the commits of one batch.
 *
 * A set, map, list or text of many parts is put together for each commit that
 * changed it, where a rule reads it: that may be much, and the commit small.
 */

import { limits } from "../../src/base/limits.ts";
import type { RichState } from "../../src/schema/rich_state.ts";
import type { Room } from "../../src/schema/rule_look_ups.ts";

/** To put a piece of a text in its order takes as long as so many parts of a set. */
const PARTS_PER_RUN = 16;
const CHARACTERS_PER_PART = 16;

/** What a rule has read is put together. */
const known = /* @__PURE__ */ new WeakSet<RichState>();

export class ReadingRoom implements Room {
  readonly #partsMax: number;
  parts = 0;

  /** @param partsMax for one batch */
  constructor(partsMax: number = limits.ruleReadPartsMax) {
    this.#partsMax = partsMax;
  }

  get isFull(): boolean {
    return this.parts > this.#partsMax;
  }

  read(state: RichState): void {
    if (!state.isShownLater || known.has(state)) return;
    this.parts += partsOf(state);
    if (this.isFull) throw new Error("it reads too much");
    known.add(state);
  }
}

function partsOf(state: Exclude<RichState, { readonly merge: "counter" }>) {
  if (state.merge !== "text") return state.size;
  let parts = state.length / CHARACTERS_PER_PART;
  for (const [, { runs }] of state.units.entries()) {
    parts += runs.size * PARTS_PER_RUN;
  }
  return parts;
}
