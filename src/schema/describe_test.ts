import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import assert from "node:assert/strict";
import { fold } from "./merge.ts";
import { describeOperation, diffItems } from "./describe.ts";
import { defineSchema, field } from "./mod.ts";
import { prepareCreate, prepareDelete, prepareUpdate } from "./prepare.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Task = defineSchema("task", {
  title: field.string(),
  when: field.date().optional(),
  tags: field.set(field.string()),
});
const context = {
  newId: () => "task-1",
  elementId: () => "e",
  origin: { wall: 1, count: 0, chain: "c".repeat(40), operationsAt: -1 },
  generation: 0,
};
const when = new Date(5);
const create = prepareCreate(Task, { title: "a", when }, context);
const cell = fold(undefined, create, context.origin, 0, createView(Task));

Deno.test("describeOperation() names the fields that an operation writes", () => {
  assert.deepEqual(describeOperation(create), {
    what: "create",
    fields: [
      { name: "title", change: { what: "set", value: "a" } },
      { name: "when", change: { what: "set", value: when } },
      { name: "tags", change: { what: "set", value: [] } },
    ],
  });
  const update = prepareUpdate(Task, cell, { tags: ["x"] }, context);
  assert.deepEqual(describeOperation(update!), {
    what: "update",
    fields: [{ name: "tags", change: { what: "add", values: ["x"] } }],
  });
  const end = describeOperation(prepareDelete(Task, cell));
  assert.deepEqual(end, { what: "delete", fields: [] });
});

Deno.test("describeOperation() hands out dates that nobody else holds", () => {
  const { change } = describeOperation(create).fields[1]!;
  assert.ok(change.what === "set" && change.value instanceof Date);
  change.value.setTime(9);
  assert.deepEqual(create.item.when, when);
});

Deno.test("diffItems() names what differs between two states", () => {
  const before = cell.item;
  const after = { ...cell.item!, title: "b", when: new Date(5) };
  assert.deepEqual(diffItems(before, after), [
    { name: "title", before: "a", after: "b" },
  ]);
  assert.deepEqual(diffItems(undefined, undefined), []);
  assert.deepEqual(diffItems(before, undefined).map(({ name }) => name), [
    "title",
    "when",
    "tags",
  ]);
});
