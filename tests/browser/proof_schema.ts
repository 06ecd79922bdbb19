/**
 * What the proofs write.
 *
 * @module
 */

import { defineSchema, field } from "../../src/schema/mod.ts";

/** One of a run's items; the one that is called as its run counts the others. */
export const Item = defineSchema("item", {
  run: field.string(),
  n: field.number(),
  text: field.string(),
  count: field.counter(),
});
