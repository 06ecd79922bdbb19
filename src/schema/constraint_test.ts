import { deepEqual, equal, notEqual } from "node:assert/strict";
import {
  constraintsOf,
  excessOf,
  namedIn,
  tupleKey,
  valueIn,
} from "./constraint.ts";
import { type AnyField, field } from "./field.ts";
import type { Item, Value } from "./patch.ts";
import { defineSchema } from "./schema.ts";

/** The key of a tuple whose fields are of the kinds that the values have. */
function keyOf(fields: { readonly a?: Value; readonly b?: Value }) {
  const { a = "", b = "" } = fields;
  const schema = defineSchema("pair", {
    a: fieldFor(a),
    b: b === "" || b === "b" ? field.string().default("b") : fieldFor(b),
  });
  const cell = { item: { id: "x", ...fields } as Item };
  return tupleKey(["a", "b"].map((field) => valueIn(schema, cell, field)));
}

function fieldFor(value: Value): AnyField {
  if (value instanceof Date) return field.date();
  if (value instanceof Uint8Array) return field.bytes();
  if (typeof value === "number") return field.number();
  if (typeof value === "boolean") return field.boolean();
  return typeof value === "string" ? field.string() : field.json();
}

Deno.test("tupleKey() is another one for each value, and each type of values", () => {
  const values: Value[] = [
    ...["", "a", "A", "á", "a\u0301", "1", "true", "null", "s", "1:s"],
    ...[0, 1, 0.1, -1, 1e21, Infinity, true, false],
    ...[new Date(1), new Date(0), new Uint8Array([1]), new Uint8Array()],
    ...[["a"], ["a", ""], { a: "a" }, {}],
  ];
  const keys = values.flatMap((a) => values.map((b) => keyOf({ a, b })));
  equal(new Set(keys).size, values.length ** 2);
});

Deno.test("tupleKey() is the same for equal values", () => {
  const pairs: [Value, Value][] = [
    [0, -0],
    [NaN, NaN],
    [new Date(7), new Date(7)],
    [new Date(NaN), new Date(NaN)],
    [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
  ];
  for (const [one, other] of pairs) {
    equal(keyOf({ a: one }), keyOf({ a: other }), String(one));
  }
  notEqual(keyOf({ a: 7 }), keyOf({ a: new Date(7) }));
});

Deno.test("tupleKey() knows nothing of items with an absent value, and fills in what a writer did not know", () => {
  for (const a of [undefined, null]) equal(keyOf({ a }), undefined);
  equal(keyOf({}), undefined);
  equal(keyOf({ a: "x" }), keyOf({ a: "x", b: "b" }));
  equal(keyOf({ a: "x", b: undefined }), undefined);
});

Deno.test("namedIn() gives every value once, of whatever a writer put there", () => {
  const cases: [Value, readonly Value[]][] = [
    [undefined, []],
    [null, []],
    ["u1", ["u1"]],
    [["u1", "u2", "u1"], ["u1", "u2"]],
    [{ a: "u1", b: "u1", c: 7 }, ["u1", 7]],
    [7, [7]],
    [new Date(7), [new Date(7)]],
    [new Uint8Array(2), [new Uint8Array(2)]],
  ];
  for (const [value, named] of cases) deepEqual(namedIn(value), named);
});

Deno.test("excessOf() says how far a sum is out of bounds", () => {
  const bound = { name: "", field: "", min: 0, max: 9 };
  const sums: [Value, number][] = [
    ...[[0, 0], [9, 0], [-1, 1], [12, 3]] as const,
    ...[[NaN, Infinity], ["5", Infinity], [undefined, Infinity]] as const,
  ].map(([sum, excess]): [Value, number] => [sum, excess]);
  for (const [sum, excess] of sums) {
    equal(excessOf(bound, sum), excess, String(sum));
  }
});

Deno.test("constraintsOf() names what a schema says", () => {
  const Post = defineSchema("post", {
    slug: field.string(),
    author: field.ref("user").exists(),
    readers: field.map(field.ref("user").exists()),
    other: field.ref("user"),
    left: field.counter().min(0),
    stars: field.number().min(0),
  }, { unique: [["slug"], ["author", "slug"]] });
  const { uniques, references, bounds } = constraintsOf(Post);
  deepEqual([...uniques, ...references, ...bounds].map(({ name }) => name), [
    ...["post.unique(slug)", "post.unique(author, slug)"],
    ...["post.author.exists()", "post.readers.exists()", "post.left"],
  ]);
});
