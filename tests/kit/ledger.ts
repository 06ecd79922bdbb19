/**
 * What a process that will be killed writes: see `writer.ts`.
 *
 * @module
 */

import { defineSchema, field, type Mode } from "../../mod.ts";

/** One step of a round. */
export const Entry = defineSchema("entry", {
  round: field.number(),
  number: field.number(),
  text: field.string(),
}, { indexes: [["round", "number"]] });

/** The last transaction of a round. */
export const Sum = defineSchema("sum", { last: field.number() });

/** Reads a mode from a command line. */
export function toMode(text: string | undefined): Mode {
  if (text === "default" || text === "trusted" || text === "fast") return text;
  throw new SyntaxError(`No mode: ${text}`);
}
