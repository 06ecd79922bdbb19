import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import assert from "node:assert/strict";
import { engine } from "../text/engine.ts";
import { textField } from "./field.ts";
import { fold } from "./merge.ts";
import { defineSchema, field } from "./mod.ts";
import { prepareCreate, prepareUpdate } from "./prepare.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Note = defineSchema("note", {
  title: field.string().default(""),
  body: textField(engine).max(10),
});
const view = createView(Note);
const origin = { wall: 1, count: 0, chain: "a".repeat(40), operationsAt: -1 };
let ids = 0;
const context = {
  newId: () => "n",
  elementId: () => `e${ids++}`,
  origin,
  generation: 0,
};
const create = prepareCreate(Note, { body: "one" }, context);
const cell = fold(undefined, create, origin, 0, view);

Deno.test("prepareUpdate() names no other field where it only edits one text", () => {
  const only = prepareUpdate(Note, cell, { body: "one two" }, context)!;
  assert.deepEqual(only.shape.fields.map(({ name }) => name), ["body"]);
  const again = prepareUpdate(Note, cell, { body: "two" }, context)!;
  assert.equal(again.shape, only.shape);
  const both = { body: "one two", title: "x" };
  assert.equal(prepareUpdate(Note, cell, both, context)!.shape, Note.shape);
});

Deno.test("prepareUpdate() changes nothing where a text stays as it is", () => {
  for (const body of ["one", { splice: [] }]) {
    assert.equal(prepareUpdate(Note, cell, { body }, context), undefined);
  }
});

Deno.test("prepareUpdate() asks bounds about the text as it will be", () => {
  const insert = "x".repeat(8);
  const splice = [{ at: 3, insert }];
  assert.throws(
    () => prepareUpdate(Note, cell, { body: { splice } }, context),
    { code: "invalid-value" },
  );
});
