/**
 * A schema as the code that defines it, ready to be saved and edited.
 *
 * @module
 */

import type { Field, FieldKind } from "./store.ts";

/** A module that default-exports the schema. */
export function schemaCode(
  collection: string,
  fields: readonly Field[],
): string {
  const lines = fields.map((field) =>
    `  ${field.name}: ${fieldCode(field)},\n`
  );
  return `import { defineSchema, field } from "@sheaf/sheaf";\n\n` +
    `export default defineSchema(${JSON.stringify(collection)}, {\n` +
    `${lines.join("")}});\n`;
}

function fieldCode({ kind, element, optional }: Field): string {
  const suffix = optional && !neverMissing.has(kind) ? ".optional()" : "";
  if (kind === "set" || kind === "list" || kind === "map") {
    return `field.${kind}(field.${element ?? "json"}())${suffix}`;
  }
  return `field.${kind}()${suffix}`;
}

/** Kinds whose missing value is the empty one. */
const neverMissing: ReadonlySet<FieldKind> = new Set([
  "counter",
  "set",
  "map",
  "list",
]);
