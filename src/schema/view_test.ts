import { deepEqual, equal, notEqual } from "node:assert/strict";
import { field } from "./field.ts";
import type { Shape } from "./patch.ts";
import { defineSchema } from "./schema.ts";
import { createView } from "./view.ts";

const Note = defineSchema("note", {
  title: field.string(),
  rank: field.number().default(3),
});

const fields = [
  { name: "title", kind: "string" },
  { name: "rank", kind: "number" },
] as const;

Deno.test("View.show() hands out an item itself where its writer had the reader's fields, and a copy where not", () => {
  const shape: Shape = { collection: "note", version: 1, fields };
  const item = Object.freeze({ id: "n", title: "a", rank: 1 });
  equal(createView(Note).show(shape, item), item, "copies cost memory");

  const before: Shape = { ...shape, fields: fields.slice(0, 1) };
  const old = Object.freeze({ id: "n", title: "a" });
  const shown = createView(Note).show(before, old);
  notEqual(shown, old);
  deepEqual({ ...shown }, { id: "n", title: "a", rank: 3 });
});
