import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { z } from "zod";
import { DatabaseError, type ErrorCode } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Cell, Origin } from "./cell.ts";
import { fold } from "./merge.ts";
import { defineSchema, field } from "./mod.ts";
import { prepareCreate, prepareDelete, prepareUpdate } from "./prepare.ts";
import { copyForReader } from "./reader.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Thing = defineSchema("thing", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().min(-10).max(1e15).default(0),
  size: field.number().int().optional(),
  state: field.enum(["open", "closed"]).default("open"),
  owner: field.ref("user").optional(),
  when: field.date().optional(),
  blob: field.bytes().max(8).optional(),
  extra: field.json().optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  labels: field.map(field.number()),
  steps: field.list(field.string()),
});
const view = createView(Thing);

let clock = 1_000;
let elements = 0;
function context() {
  const origin: Origin = {
    wall: clock++,
    count: 0,
    chain: "c".repeat(40),
    operationsAt: -1,
  };
  return {
    newId: () => "made",
    elementId: () => `e${elements++}`,
    origin,
    generation: 0,
  };
}

function create(input: unknown): Cell {
  const made = context();
  const op = prepareCreate(Thing, input, made);
  return fold(undefined, op, made.origin, 0, view);
}

function update(cell: Cell, input: unknown): Cell {
  const made = context();
  const op = prepareUpdate(Thing, cell, input, made);
  return op === undefined ? cell : fold(cell, op, made.origin, -1, view);
}

function refusal(run: () => unknown): DatabaseError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof DatabaseError, String(error));
    return error;
  }
  assert.fail("nothing was thrown");
}

const nest = (depth: number): unknown => depth === 0 ? 1 : [nest(depth - 1)];
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const big = "x".repeat(limits.valueBytesMax + 1);

const refused: readonly (readonly [string, object, ErrorCode])[] = [
  ["a missing field", { title: undefined }, "invalid-value"],
  ["null for text", { title: null }, "invalid-value"],
  ["a String object", { title: new String("x") }, "invalid-value"],
  ["a lone surrogate", { title: "\ud800" }, "invalid-value"],
  ["text over its limit", { title: big }, "value-too-large"],
  ["wide text over its limit", {
    title: "€".repeat(limits.valueBytesMax / 2),
  }, "value-too-large"],
  ["an unknown field", { nope: 1 }, "unknown-field"],
  ["an unknown undefined field", { nope: undefined }, "unknown-field"],
  ["an own __proto__", JSON.parse('{"__proto__":{"a":1}}'), "unknown-field"],
  ["an own constructor", { constructor: 1 }, "unknown-field"],
  ["NaN", { rank: NaN }, "invalid-value"],
  ["Infinity", { rank: Infinity }, "invalid-value"],
  ["a number below min", { rank: -11 }, "invalid-value"],
  ["a number above max", { rank: 2e15 }, "invalid-value"],
  ["a text for a number", { rank: "1" }, "invalid-value"],
  ["a bigint", { rank: 1n }, "invalid-value"],
  ["a fraction for int()", { size: 0.5 }, "invalid-value"],
  ["a number for a boolean", { done: 1 }, "invalid-value"],
  ["a word outside an enum", { state: "gone" }, "invalid-value"],
  ["an enum's prototype word", { state: "toString" }, "invalid-value"],
  ["an empty ref", { owner: "" }, "invalid-value"],
  ["a ref over its limit", { owner: "x".repeat(257) }, "invalid-value"],
  ["an invalid Date", { when: new Date(NaN) }, "invalid-value"],
  ["a date as text", { when: "2026-01-01" }, "invalid-value"],
  ["bytes as an array", { blob: [1, 2] }, "invalid-value"],
  ["too many bytes", { blob: new Uint8Array(9) }, "invalid-value"],
  ["deep JSON", { extra: nest(limits.jsonDepthMax + 1) }, "invalid-value"],
  ["cyclic JSON", { extra: cyclic }, "invalid-value"],
  ["undefined inside JSON", { extra: { a: undefined } }, "invalid-value"],
  ["a hole inside JSON", { extra: Array(2) }, "invalid-value"],
  ["NaN inside JSON", { extra: [NaN] }, "invalid-value"],
  ["a function inside JSON", { extra: { a() {} } }, "invalid-value"],
  ["a Date inside JSON", { extra: { at: new Date() } }, "invalid-value"],
  ["a Map as JSON", { extra: new Map() }, "invalid-value"],
  ["a surrogate key in JSON", { extra: { "\udc00": 1 } }, "invalid-value"],
  ["JSON over its limit", { extra: [big] }, "value-too-large"],
  ["half a vote", { votes: 0.5 }, "invalid-value"],
  ["a text as a set", { tags: "abc" }, "invalid-value"],
  ["a number inside a set of text", { tags: ["a", 1] }, "invalid-value"],
  ["a hole inside a set", { tags: Array(1) }, "invalid-value"],
  ["an array as a map", { labels: [1] }, "invalid-value"],
  ["a Map as a map", { labels: new Map() }, "invalid-value"],
  ["text inside a map of numbers", { labels: { a: "b" } }, "invalid-value"],
  ["a long map key", { labels: { ["k".repeat(2_000)]: 1 } }, "value-too-large"],
  ["a hole inside a list", { steps: Array(1) }, "invalid-value"],
  ["a set as a list", { steps: new Set(["a"]) }, "invalid-value"],
  ["a list over its limit", {
    steps: Array(limits.elementsMax + 1).fill("a"),
  }, "value-too-large"],
  ["an empty id", { id: "" }, "invalid-id"],
  ["a number as id", { id: 5 }, "invalid-id"],
  ["an id with a line break", { id: "a\nb" }, "invalid-id"],
  ["an id with a lone surrogate", { id: "\ud800" }, "invalid-id"],
  ["an id over its limit", { id: "é".repeat(129) }, "invalid-id"],
];

for (const [name, input, code] of refused) {
  Deno.test(`prepareCreate() refuses ${name}`, () => {
    const whole = { title: "t" };
    for (const key of Object.keys(input)) {
      Object.defineProperty(whole, key, {
        value: Reflect.get(input, key),
        enumerable: true,
        configurable: true,
      });
    }
    const error = refusal(() => create(whole));
    assert.equal(error.code, code, error.message);
    assert.ok(error.message.length < 400, "messages stay short");
    const [key] = Object.keys(input);
    if (key !== "id") assert.ok(error.message.includes(`thing.${key}`));
  });
}

Deno.test("prepareCreate() refuses what is no object of fields", () => {
  for (const input of [undefined, null, 5, "x", [], () => 1]) {
    assert.equal(refusal(() => create(input)).code, "invalid-value");
  }
});

Deno.test("prepareCreate() fills in defaults and keeps one order of fields", () => {
  const { item } = create({ votes: 3, title: "t" });
  assert.deepEqual(Object.keys(item!), ["id", ...Object.keys(Thing.fields)]);
  assert.equal(item!.id, "made");
  assert.equal(item!.done, false);
  assert.equal(item!.votes, 3);
  assert.deepEqual(item!.tags, []);
});

Deno.test("prepareCreate() copies and freezes all that it is given", () => {
  const extra = { deep: [{ a: 1 }] };
  const when = new Date(5);
  const blob = new Uint8Array([1]);
  const steps = ["a"];
  const labels = { a: 1 };
  const cell = create({ title: "t", extra, when, blob, steps, labels });
  extra.deep[0]!.a = 2;
  when.setTime(9);
  blob[0] = 9;
  steps[0] = "b";
  labels.a = 2;
  const item = cell.item!;
  assert.deepEqual(item.extra, { deep: [{ a: 1 }] });
  assert.deepEqual(item.when, new Date(5));
  assert.deepEqual(item.blob, new Uint8Array([1]));
  assert.deepEqual(item.steps, ["a"]);
  assert.deepEqual({ ...Object(item.labels) }, { a: 1 });
  for (const value of [item, item.extra, item.steps, item.labels, item.tags]) {
    assert.ok(Object.isFrozen(value));
  }
});

Deno.test("prepareCreate() reads each property once", () => {
  let reads = 0;
  const tricky = {
    title: "t",
    get rank() {
      return reads++ === 0 ? 1 : "not a number";
    },
  };
  assert.equal(create(tricky).item!.rank, 1);
  assert.equal(reads, 1);
});

Deno.test("prepareCreate() ignores what an input only inherits", () => {
  const input = Object.assign(Object.create({ rank: 5, nope: 1 }), {
    title: "t",
  });
  assert.equal(create(input).item!.rank, 0);
  class Draft {
    title = "mine";
    get nope() {
      return 1;
    }
  }
  assert.equal(create(new Draft()).item!.title, "mine");
});

Deno.test("prepareCreate() stores a __proto__ key inside JSON and maps as data", () => {
  const item = create({
    title: "t",
    extra: JSON.parse('{"__proto__":{"polluted":true}}'),
    labels: JSON.parse('{"__proto__":1}'),
  }).item!;
  assert.equal(Object.getPrototypeOf(item.extra), Object.prototype);
  assert.ok(Object.hasOwn(Object(item.extra), "__proto__"));
  assert.equal(Object.getPrototypeOf(item.labels), null);
  assert.equal(Reflect.get(Object(item.labels), "__proto__"), 1);
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

Deno.test("prepareCreate() makes a set of distinct values in ascending order", () => {
  const tags = new Set(["b", "a"]);
  assert.deepEqual(create({ title: "t", tags }).item!.tags, ["a", "b"]);
  const doubled = create({ title: "t", tags: ["b", "a", "b", "a"] });
  assert.deepEqual(doubled.item!.tags, ["a", "b"]);
});

Deno.test("prepareCreate() turns negative zero into zero", () => {
  const item = create({ title: "t", rank: -0, extra: [-0], votes: -0 }).item!;
  assert.ok(Object.is(item.rank, 0));
  assert.ok(Object.is(item.votes, 0));
  assert.ok(Array.isArray(item.extra) && Object.is(item.extra[0], 0));
});

Deno.test("prepareUpdate() carries only what changes", () => {
  const cell = create({ title: "t", extra: { a: [1] }, when: new Date(3) });
  const same = { title: "t", extra: { a: [1] }, when: new Date(3), id: "made" };
  assert.equal(prepareUpdate(Thing, cell, same, context()), undefined);
  const op = prepareUpdate(Thing, cell, { ...same, title: "u" }, context());
  assert.deepEqual(op?.changes.map(({ field }) => field.name), ["title"]);
});

Deno.test("prepareUpdate() clears an optional field, and no other", () => {
  const cell = create({ title: "t", size: 5 });
  assert.equal(update(cell, { size: undefined }).item!.size, undefined);
  for (const input of [{ title: undefined }, { done: undefined }]) {
    assert.equal(refusal(() => update(cell, input)).code, "invalid-value");
  }
});

Deno.test("prepareUpdate() refuses another id and unknown fields", () => {
  const cell = create({ title: "t" });
  assert.equal(refusal(() => update(cell, { id: "x" })).code, "invalid-id");
  assert.equal(refusal(() => update(cell, { x: 1 })).code, "unknown-field");
});

Deno.test("prepareUpdate() takes explicit changes of rich fields", () => {
  const before = create({
    title: "t",
    votes: 2,
    tags: ["a", "b"],
    labels: { x: 1, y: 2 },
    steps: ["a", "b", "c"],
  });
  const { item } = update(before, {
    votes: { increment: -5 },
    tags: { add: ["c"], remove: ["a", "nothing"] },
    labels: { put: { z: 3 }, drop: ["x"] },
    steps: {
      replace: [{ at: 1, value: "B" }],
      delete: [0],
      move: [{ from: 1, to: 0 }],
      insert: [{ at: 2, value: "end" }, { at: 0, value: "start" }],
    },
  });
  assert.equal(item!.votes, -3);
  assert.deepEqual(item!.tags, ["b", "c"]);
  assert.deepEqual({ ...Object(item!.labels) }, { y: 2, z: 3 });
  assert.deepEqual(item!.steps, ["start", "c", "B", "end"]);
});

Deno.test("prepareUpdate() refuses explicit changes that make no sense", () => {
  const cell = create({ title: "t", steps: ["a"] });
  const bad: readonly object[] = [
    { votes: { increment: 0.5 } },
    { votes: { increment: "1" } },
    { tags: { add: 5 } },
    { tags: { add: [5] } },
    { tags: { wrong: [] } },
    { labels: { drop: 5 } },
    { labels: { drop: [5] } },
    { labels: { put: { a: "b" } } },
    { steps: { insert: [{ at: 2, value: "x" }] } },
    { steps: { insert: [{ at: -1, value: "x" }] } },
    { steps: { insert: [{ at: 0.5, value: "x" }] } },
    { steps: { insert: [{ at: 0 }] } },
    { steps: { insert: [null] } },
    { steps: { insert: {} } },
    { steps: { delete: [1] } },
    { steps: { move: [{ from: 0, to: 1 }] } },
    { steps: { replace: [{ at: 1, value: "x" }] } },
    { steps: { replace: [{ at: 0, value: 5 }] } },
    { steps: undefined },
  ];
  for (const input of bad) {
    const error = refusal(() => update(cell, input));
    assert.equal(error.code, "invalid-value", JSON.stringify(input));
  }
});

Deno.test("prepareUpdate() lets a set, a map and a list grow to their limit, and no further", () => {
  const full = Array.from({ length: limits.elementsMax }, (_, i) => `${i}`);
  const cell = create({ title: "full", tags: full, steps: full });
  const code = (input: unknown) => refusal(() => update(cell, input)).code;
  assert.equal(code({ tags: { add: ["one more"] } }), "value-too-large");
  assert.equal(code({ tags: [...full, "one more"] }), "value-too-large");
  assert.equal(code({ steps: [...full, "one more"] }), "value-too-large");
  const counts = Object.fromEntries(
    [...full, "one more"].map((key) => [key, 1]),
  );
  assert.equal(code({ labels: counts }), "value-too-large");
  const swapped = update(cell, { tags: { add: ["new"], remove: ["0"] } });
  assert.equal((swapped.item!["tags"] as string[]).length, full.length);
});

Deno.test("prepareUpdate() reaches any wanted set, map, list and count", () => {
  const word = fc.constantFrom("a", "b", "c", "d");
  const state = fc.record({
    tags: fc.uniqueArray(word),
    labels: fc.dictionary(word, fc.nat(2)),
    steps: fc.array(word, { maxLength: 8 }),
    votes: fc.integer(),
  });
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 6 }), (states) => {
      let cell = create({ title: "t" });
      for (const wanted of states) {
        cell = update(cell, wanted);
        const item = cell.item!;
        assert.deepEqual(item.tags, [...wanted.tags].sort());
        assert.deepEqual({ ...Object(item.labels) }, { ...wanted.labels });
        assert.deepEqual(item.steps, wanted.steps);
        assert.equal(item.votes, wanted.votes);
      }
    }),
    { seed: 3, numRuns: 500 },
  );
});

Deno.test("prepareUpdate() lets elements keep their identity", () => {
  const cell = create({ title: "t", steps: ["a", "b", "c", "d"] });
  const changes = (steps: readonly string[]) =>
    prepareUpdate(Thing, cell, { steps }, context())!.changes.map((c) => {
      const { change } = c;
      if (change.what === "move") return `move ${change.moves.length}`;
      if (change.what === "insert") return `insert ${change.elements.length}`;
      if (change.what === "delete") return `delete ${change.elements.length}`;
      return change.what === "replace" ? `replace ${change.values.length}` : "";
    });
  assert.deepEqual(changes(["a", "b", "X", "d"]), ["replace 1"]);
  assert.deepEqual(changes(["a", "b", "c", "d", "e"]), ["insert 1"]);
  assert.deepEqual(changes(["a", "c", "d"]), ["delete 1"]);
  assert.deepEqual(changes(["d", "a", "b", "c"]), ["move 1"]);
});

Deno.test("prepareUpdate() spreads a list anew before its positions grow too long", () => {
  let cell = create({ title: "t", steps: ["first", "last"] });
  for (let i = 0; i < 2_000; i++) {
    cell = update(cell, { steps: { insert: [{ at: 1, value: `${i}` }] } });
    if (i % 8 === 0) cell = update(cell, { steps: { delete: [2] } });
  }
  const steps = cell.item!.steps;
  assert.ok(Array.isArray(steps));
  assert.equal(steps.length, 2_002 - 250);
  assert.equal(steps[0], "first");
  assert.equal(steps[1], "1999");
});

Deno.test("prepareUpdate() removes and adds a value again within one commit", () => {
  const made = context();
  const apply = (cell: Cell, tags: object) =>
    fold(
      cell,
      prepareUpdate(Thing, cell, { tags }, made)!,
      made.origin,
      -1,
      view,
    );
  const op = prepareCreate(Thing, { title: "t", tags: ["a"] }, made);
  const first = fold(undefined, op, made.origin, 0, view);
  const without = apply(first, { remove: ["a"] });
  assert.deepEqual(without.item!.tags, []);
  assert.deepEqual(apply(without, { add: ["a"] }).item!.tags, ["a"]);
});

Deno.test("prepareDelete() ends the item's generation", () => {
  const cell = create({ title: "t" });
  const op = prepareDelete(Thing, cell);
  assert.equal(fold(cell, op, context().origin, -1, view).item, undefined);
});

Deno.test("copyForReader() hands out dates and bytes that nobody else holds", () => {
  assert.ok(createView(Thing).hasMutableValues);
  const cell = create({
    title: "t",
    when: new Date(5),
    blob: new Uint8Array([1]),
  });
  const copy = copyForReader(cell.item!, createView(Thing));
  assert.ok(copy.when instanceof Date && copy.blob instanceof Uint8Array);
  copy.when.setTime(9);
  copy.blob[0] = 9;
  assert.ok(Object.isFrozen(copy));
  assert.deepEqual(cell.item!.when, new Date(5));
  assert.deepEqual(cell.item!.blob, new Uint8Array([1]));
  const plain = create({ title: "t" }).item!;
  assert.equal(copyForReader(plain, createView(Thing)), plain);
  assert.ok(
    !createView(defineSchema("plain", { a: field.json() })).hasMutableValues,
  );
});

Deno.test("hasMutableValues of a view knows fields that only other writers have", () => {
  const Plain = defineSchema("thing", { title: field.string() });
  const readers = createView(Plain);
  assert.ok(!readers.hasMutableValues);
  const made = context();
  const when = new Date(5);
  const op = prepareCreate(Thing, { title: "t", when }, made);
  const { item } = fold(undefined, op, made.origin, 0, readers);
  assert.ok(readers.hasMutableValues);
  const copy = copyForReader(item!, readers);
  assert.ok(copy.when instanceof Date);
  copy.when.setTime(9);
  assert.deepEqual(item!.when, when);
});

Deno.test("prepareUpdate() refuses a count too far away for one increment", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const cell = create({ title: "t", votes: -most });
  assert.equal(
    refusal(() => update(cell, { votes: most })).code,
    "invalid-value",
  );
  assert.equal(update(cell, { votes: 0 }).item!.votes, 0);
});

Deno.test("prepareUpdate() refuses to write a field that others made another kind of", () => {
  const Other = defineSchema("thing", { title: field.list(field.string()) });
  const made = context();
  const op = prepareCreate(Other, { title: ["a"] }, made);
  const cell = fold(undefined, op, made.origin, 0, view);
  assert.equal(
    refusal(() => update(cell, { title: "t" })).code,
    "invalid-schema",
  );
});

const Checked = defineSchema("checked", {
  mail: field.string().check(z.email()),
  even: field.number().check((n) => n % 2 === 0 || "an even number").default(2),
  trimmed: field.string().check(z.string().trim()).optional(),
  few: field.set(field.string().max(3)).max(2).min(1),
});

function check(input: object) {
  return prepareCreate(
    Checked,
    { mail: "a@b.co", few: ["a"], ...input },
    context(),
  ).item;
}

Deno.test("prepareCreate() asks zod and functions", () => {
  assert.match(refusal(() => check({ mail: "nope" })).message, /checked\.mail/);
  assert.match(refusal(() => check({ even: 3 })).message, /an even number/);
  assert.equal(check({ trimmed: "  x " }).trimmed, "x");
  assert.equal(refusal(() => check({ few: [] })).code, "invalid-value");
  assert.equal(refusal(() => check({ few: undefined })).code, "invalid-value");
  assert.equal(refusal(() => check({ few: ["long"] })).code, "invalid-value");
  assert.equal(
    refusal(() => check({ few: ["a", "b", "c"] })).code,
    "invalid-value",
  );
});

Deno.test("prepareCreate() refuses a validator that answers later", () => {
  const Later = defineSchema("later", {
    a: field.string().check(z.string().refine(() => Promise.resolve(true))),
  });
  const error = refusal(() => prepareCreate(Later, { a: "x" }, context()));
  assert.equal(error.code, "invalid-schema");
});

Deno.test("prepareCreate() refuses what a validator turns a value into when it does not fit", () => {
  const Odd = defineSchema("odd", {
    a: field.string().check({
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (): { value: string } => JSON.parse('{"value":5}'),
      },
    }),
  });
  const error = refusal(() => prepareCreate(Odd, { a: "x" }, context()));
  assert.equal(error.code, "invalid-value");
});
