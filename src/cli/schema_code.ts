/**
 * A schema as the code that defines it, ready to be saved and edited.
 *
 * @module
 */

import type { Field, FieldKind } from "./field.ts";

/** A module that default-exports the schema. */
export function schemaCode(
  collection: string,
  fields: readonly Field[],
): string {
  const lines = fields.map((field) =>
    `  ${field.name}: ${fieldCode(field)},\n`
  );
  return `${imports(fields)}\n\n` +
    `export default defineSchema(${JSON.stringify(collection)}, {\n` +
    `${lines.join("")}});\n`;
}

/** Texts have a door of their own. */
function imports(fields: readonly Field[]): string {
  return fields.some(({ kind }) => kind === "text")
    ? 'import { defineSchema } from "@sheaf/sheaf";\n' +
      'import { field } from "@sheaf/sheaf/text";'
    : 'import { defineSchema, field } from "@sheaf/sheaf";';
}

function fieldCode(field: Field): string {
  const { kind, optional } = field;
  const suffix = optional && !neverMissing.has(kind) ? ".optional()" : "";
  return `field.${kind}(${builderArgument(field)})${suffix}`;
}

function builderArgument({ name, kind, element, options }: Field): string {
  if (kind === "enum") return JSON.stringify(options ?? []);
  // Rows do not tell the collection that ids point into: the name is a guess.
  if (kind === "ref") return JSON.stringify(name);
  const isRich = kind === "set" || kind === "list" || kind === "map";
  return isRich ? `field.${element ?? "json"}()` : "";
}

/** Kinds whose missing value is the empty one. */
const neverMissing: ReadonlySet<FieldKind> = new Set([
  "counter",
  "set",
  "map",
  "list",
  "text",
]);
