import { lateRich } from "./late_rich.ts";
import { rich as code } from "./rich.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteReader, concatBytes, encodeText } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { fold } from "./merge.ts";
import { defineSchema, field } from "./mod.ts";
import { nodesOf } from "./parts.ts";
import type { Change, FieldKind, Operation, Shape, Value } from "./patch.ts";
import { countOperations, decodePatch, PatchWriter } from "./patch_codec.ts";
import { decodeCreateAt } from "./patch_parts.ts";
import { prepareCreate, prepareDelete, prepareUpdate } from "./prepare.ts";
import { engine } from "../text/engine.ts";
import { anyCharacter } from "../../tests/kit/any_text.ts";
import { sized } from "../../tests/kit/tier.ts";
import { TextState } from "./text_state.ts";
import { textField } from "./field.ts";
import { createView } from "./view.ts";

lateRich.provide(code);

const run = { seed: 11, numRuns: sized(70, 500) } as const;

const Thing = defineSchema("thing", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().optional(),
  state: field.enum(["open", "closed"]).default("open"),
  owner: field.ref("user").optional(),
  when: field.date().optional(),
  blob: field.bytes().optional(),
  extra: field.json().optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  sizes: field.set(field.number()),
  labels: field.map(field.json()),
  steps: field.list(field.string()),
  points: field.list(field.json()),
  body: textField(engine),
});
const view = createView(Thing);

const text = fc.string({ unit: anyCharacter, maxLength: 40 }).filter((s) =>
  s.isWellFormed()
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.integer(),
);
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) =>
  JSON.stringify(value).isWellFormed()
);
const option = <T>(inner: fc.Arbitrary<T>) =>
  fc.option(inner, { nil: undefined });
const key = fc.string({ maxLength: 5 });

const optional = fc.record({
  rank: option(number),
  owner: option(fc.constantFrom("ada", "bob")),
  when: option(fc.date({ noInvalidDate: true })),
  blob: option(fc.uint8Array({ maxLength: 9 })),
  extra: option(json),
});
const rich = fc.record({
  votes: fc.maxSafeInteger().map((n) => Math.trunc(n / 4)),
  tags: fc.array(text, { maxLength: 4 }),
  sizes: fc.array(number, { maxLength: 4 }),
  labels: fc.dictionary(key, json, { maxKeys: 3 }),
  steps: fc.array(text, { maxLength: 5 }),
  points: fc.array(json, { maxLength: 3 }),
  body: text,
});
const input = fc.record({
  title: text,
  done: fc.boolean(),
  state: fc.constantFrom("open", "closed"),
}).chain((scalars) =>
  fc.tuple(optional, rich).map(([a, b]) => ({ ...scalars, ...a, ...b }))
);

let count = 0;
function context() {
  count++;
  const chain = "\u0000\u0001\u00ff\u0080".repeat(10);
  return {
    newId: () => `id-${count}`,
    elementId: () => `e${count++}`,
    origin: { wall: 1e12 + count, count: 0, chain, operationsAt: -1 },
    generation: count % 3,
  };
}

/** A create, updates of what it made, and a delete. */
function story(inputs: readonly unknown[]): Operation[] {
  const operations: Operation[] = [];
  const [first, ...rest] = inputs;
  const begun = context();
  const made = prepareCreate(Thing, first, begun);
  operations.push(made);
  let cell = fold(undefined, made, begun.origin, 0, view);
  for (const next of rest) {
    const given = context();
    const op = prepareUpdate(Thing, cell, next, given);
    if (op === undefined) continue;
    operations.push(op);
    cell = fold(cell, op, given.origin, -1, view);
  }
  operations.push(prepareDelete(Thing, cell));
  return operations;
}

const stories = fc.array(input, { minLength: 1, maxLength: 4 }).map(story);
const writer = new PatchWriter();

function encode(operations: readonly Operation[]) {
  writer.begin();
  const offsets = operations.map((op) => {
    const at = writer.add(op);
    return op.what === "create" ? at : -1;
  });
  return { ...writer.finish(), offsets };
}

Deno.test("decodePatch() gives back what PatchWriter wrote", () => {
  fc.assert(
    fc.property(stories, (operations) => {
      const { payload, operationsOffset, offsets } = encode(operations);
      const back = decodePatch(payload);
      assert.deepEqual(back.operations, operations);
      assert.equal(back.operationsOffset, operationsOffset);
      assert.deepEqual(back.createOffsets, offsets);
    }),
    run,
  );
});

Deno.test("PatchWriter writes the same bytes for what it decoded", () => {
  fc.assert(
    fc.property(stories, (operations) => {
      const { payload } = encode(operations);
      const again = encode(decodePatch(payload).operations);
      assert.deepEqual(again.payload, payload);
    }),
    run,
  );
});

Deno.test("decodeCreateAt() reads single rows as a view shows them", () => {
  fc.assert(
    fc.property(fc.array(input, { minLength: 1, maxLength: 5 }), (inputs) => {
      const ops = inputs.map((one) => prepareCreate(Thing, one, context()));
      const { payload, operationsOffset, offsets } = encode(ops);
      const { shape } = decodePatch(payload).operations[0]!;
      const reader = new ByteReader(payload);
      for (const [i, op] of ops.entries()) {
        reader.at = operationsOffset + offsets[i]!;
        const row = decodeCreateAt(reader, shape, view);
        assert.deepEqual(row.item, op.item);
        assert.ok(Object.isFrozen(row.item));
        assert.equal(row.generation, op.generation);
      }
    }),
    run,
  );
});

Deno.test("decodeCreateAt() shows an older row with the reader's defaults", () => {
  const Old = defineSchema("thing", { title: field.string() });
  const op = prepareCreate(Old, { title: "old" }, context());
  const { payload, operationsOffset } = encode([op]);
  const { shape } = decodePatch(payload).operations[0]!;
  const reader = new ByteReader(payload, operationsOffset);
  const { item } = decodeCreateAt(reader, shape, view);
  assert.deepEqual(Object.keys(item), ["id", ...Object.keys(Thing.fields)]);
  assert.equal(item.state, "open");
  assert.deepEqual(item.steps, []);
});

/** Either it is refused, or it is what a writer makes of what it says. */
function expectSyntaxErrorOrPatch(bytes: Uint8Array): void {
  let patch;
  try {
    patch = decodePatch(bytes);
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return;
  }
  assert.deepEqual(encode(patch.operations).payload, bytes);
}

Deno.test("decodePatch() meets garbage with nothing but SyntaxError, and takes one form of what is said", () => {
  const damage = fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(stories, damage, fc.nat(2_000), (operations, damages, cut) => {
      const bytes = encode(operations).payload.slice();
      expectSyntaxErrorOrPatch(bytes.subarray(0, cut % bytes.length));
      for (const [at, byte] of damages) bytes[at % bytes.length] = byte;
      expectSyntaxErrorOrPatch(bytes);
    }),
    { ...run, numRuns: sized(300, 3_000) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expectSyntaxErrorOrPatch(bytes);
      expectSyntaxErrorOrPatch(concatBytes(Uint8Array.of(1, 0), bytes));
    }),
    { ...run, numRuns: sized(300, 3_000) },
  );
});

Deno.test("decodePatch() refuses every cut of a patch", () => {
  const bytes = encode(story([{ title: "t", tags: ["a"] }])).payload;
  for (let end = 0; end < bytes.length; end++) {
    assert.throws(() => decodePatch(bytes.subarray(0, end)), SyntaxError);
  }
});

/** A patch with one create of one field, its value as given. */
function patchOf(kind: number, value: readonly number[], name = "a") {
  const nameBytes = encodeText(name);
  return concatBytes(
    Uint8Array.of(1, 1, 2, 0x63, 1, 1, nameBytes.length * 2),
    nameBytes,
    Uint8Array.of(kind, 1, 0, 0, 2, 0x69, ...value),
  );
}

Deno.test("decodePatch() takes the least patch that the tests of bad ones begin with", () => {
  const [op] = decodePatch(patchOf(1, [6, 2, 0x78])).operations;
  assert.ok(op?.what === "create");
  assert.deepEqual({ ...op.item }, { id: "i", a: "x" });
});

const double = (value: number) => [
  ...new Uint8Array(new Float64Array([value]).buffer),
];

const malformed: readonly (readonly [string, number, readonly number[]])[] = [
  ["text in a number field", 2, [6, 2, 0x78]],
  ["text in a JSON field", 7, [6, 2, 0x78]],
  ["a number in a text field", 1, [3, 5]],
  ["a boolean in a date field", 4, [2]],
  ["JSON in a bytes field", 5, [9, 2, 0x31]],
  ["an absent counter", 16, [0]],
  ["an absent set", 17, [0]],
  ["a date in a boolean field", 3, [8, ...double(5)]],
  ["an array in a text field", 1, [10, 0]],
  ["an unknown type", 1, [12]],
  ["NaN", 2, [5, ...double(NaN)]],
  ["Infinity", 2, [5, ...double(Infinity)]],
  ["negative zero", 2, [5, ...double(-0)]],
  ["a whole number as a double", 2, [5, ...double(7)]],
  ["a negative number over 53 bits", 2, [
    4,
    ...Array(7).fill(0xff),
    0x0f,
  ]],
  ["a double in a counter", 16, [5, ...double(0.5)]],
  ["half a millisecond", 4, [8, ...double(0.5)]],
  ["a date out of range", 4, [8, ...double(8.65e15)]],
  ["text that is not UTF-8", 1, [6, 3, 0xff]],
  ["wide bytes flagged as ASCII", 1, [6, 2, 0xe9]],
  ["ASCII flagged as wide", 1, [6, 3, 0x78]],
  ["text longer than the bytes", 1, [6, 200, 1, 0x78]],
  ["a set out of order", 17, [10, 2, 3, 2, 3, 1]],
  ["a set with a repeated value", 17, [10, 2, 3, 1, 3, 1]],
  ["JSON in a set", 17, [10, 1, 9, 4, 0x7b, 0x7d]],
  ["an absent element", 19, [10, 1, 0]],
  ["a date in a list", 19, [10, 1, 8, ...double(5)]],
  ["a scalar as JSON in a list", 19, [10, 1, 9, 2, 0x31]],
  ["a count over the bytes", 19, [10, 0xff, 0xff, 3]],
  ["map keys out of order", 18, [11, 2, 2, 0x62, 3, 1, 2, 0x61, 3, 1]],
  ["a map key twice", 18, [11, 2, 2, 0x61, 3, 1, 2, 0x61, 3, 1]],
  ["JSON that is none", 7, [9, 2, 0x7b]],
  ["a huge number in JSON", 7, [9, 10, ...encodeText("1e999")]],
  ["a lone surrogate in JSON", 7, [9, 16, ...encodeText('"\\ud800"')]],
  ["bytes after the last operation", 1, [6, 2, 0x78, 0]],
  ["an absent text", 24, [0]],
  ["a number for a text", 24, [3, 1]],
  ["an unknown kind", 99, [6, 2, 0x78]],
];

for (const [name, kind, value] of malformed) {
  Deno.test(`decodePatch() refuses ${name}`, () => {
    assert.throws(() => decodePatch(patchOf(kind, value)), SyntaxError);
  });
}

Deno.test("decodePatch() refuses JSON nested deeper than the limit", () => {
  for (const depth of [limits.jsonDepthMax + 1, 100_000]) {
    const op: Operation = {
      what: "create",
      shape: {
        collection: "c",
        version: 1,
        fields: [{ name: "a", kind: "json" }],
      },
      id: "i",
      generation: 0,
      item: { id: "i", a: 1 },
    };
    const text = "[".repeat(depth) + "]".repeat(depth);
    const { payload } = encode([op]);
    const head = payload.subarray(0, payload.length - 3);
    const length = Uint8Array.from(varint(text.length * 2));
    const bytes = concatBytes(head, Uint8Array.of(9), length, encodeText(text));
    assert.throws(() => decodePatch(bytes), SyntaxError);
  }
});

function varint(value: number): number[] {
  return value < 128
    ? [value]
    : [value % 128 | 128, ...varint(Math.floor(value / 128))];
}

Deno.test("decodePatch() refuses names that our own schemas may not have", () => {
  for (const name of ["id", "__proto__", "constructor", "then", "1a", ""]) {
    const bytes = patchOf(1, [6, 2, 0x78], name);
    assert.throws(() => decodePatch(bytes), SyntaxError, name);
  }
});

Deno.test("decodePatch() keeps a __proto__ key in maps and JSON as data", () => {
  const proto = encodeText("__proto__");
  const map = patchOf(18, [11, 1, 18, ...proto, 3, 1]);
  const [op] = decodePatch(map).operations;
  assert.ok(op?.what === "create");
  assert.equal(Object.getPrototypeOf(op.item.a), null);
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

Deno.test("decodePatch() gives writers of equal shapes one Shape object", () => {
  const bytes = patchOf(1, [6, 2, 0x78]);
  const first = decodePatch(bytes).operations[0]?.shape;
  const second = decodePatch(bytes.slice()).operations[0]?.shape;
  assert.equal(first, second);
});

Deno.test("PatchWriter refuses an item over its limit and goes on without it", () => {
  const fields = ["a", "b", "c"].map((name) =>
    ({ name, kind: "string" }) as const
  );
  const shape: Shape = { collection: "c", version: 1, fields };
  const big = "x".repeat(limits.valueBytesMax - 10);
  const small = { id: "i", a: "1", b: "2", c: "3" };
  const create = (item: typeof small): Operation => ({
    what: "create",
    shape,
    id: "i",
    generation: 0,
    item,
  });
  writer.begin();
  writer.add(create(small));
  const { length } = writer;
  assert.throws(
    () => writer.add(create({ id: "i", a: big, b: big, c: big })),
    (error) =>
      error instanceof DatabaseError && error.code === "value-too-large",
  );
  assert.equal(writer.length, length);
  assert.equal(decodePatch(writer.finish().payload).operations.length, 1);
});

Deno.test("decodePatch() counts the nodes that a writer counts, and never more than bytes", () => {
  fc.assert(
    fc.property(fc.array(stories, { maxLength: 3 }), (all) => {
      const operations = all.flat();
      const { payload } = encode(operations);
      const room = { left: 0 };
      const count = () => {
        room.left = payload.length;
        return decodePatch(payload, room).operations;
      };
      const read = count();
      const before = operations.reduce((sum, one) => sum + nodesOf(one), 0);
      assert.equal(read.reduce((sum, one) => sum + nodesOf(one), 0), before);
      assert.ok(room.left >= 0);
      assert.equal(countOperations(payload), operations.length);
    }),
    run,
  );
});

/** A create of one JSON value. */
function createOf(json: Value): Operation {
  const fields = [{ name: "j", kind: "json" }] as const;
  const shape = { collection: "c", version: 1, fields };
  const item = { id: "i", j: json };
  return { what: "create", shape, id: "i", generation: 0, item };
}

Deno.test("nodesOf() counts what takes the most memory for its bytes as that", () => {
  const fieldsOf = (kind: FieldKind, count = 1) =>
    Array.from({ length: count }, (_, i) => ({ name: `f${i}`, kind }));
  const shapeOf = (kind: FieldKind, count?: number): Shape => ({
    collection: "c",
    version: 1,
    fields: fieldsOf(kind, count),
  });
  const update = (kind: FieldKind, change: Change): Operation => {
    const shape = shapeOf(kind);
    const changes = [{ field: shape.fields[0]!, change }];
    return { what: "update", shape, id: "i", generation: 0, changes };
  };
  const wide = shapeOf("boolean", limits.fieldsMax);
  const item = { id: "i" };
  const tag = { wall: 1, count: 0, chain: "c".repeat(40) };
  const run = { clock: 0, length: 1, left: undefined, right: undefined };
  const clients = new Map(
    [1, 2].map((client) => [client, {
      runs: [{ ...run, text: "a" }],
      gone: [{ clock: 1, length: 1 }],
    }]),
  );
  const counted: readonly (readonly [Operation, nodes: number])[] = [
    [{ what: "delete", shape: wide, id: "i", generation: 0 }, 1],
    [{ what: "create", shape: wide, id: "i", generation: 0, item }, 2 + 16],
    [update("counter", { what: "increment", amount: 1 }), 1 + 2],
    [update("set", { what: "add", values: ["a"] }), 1 + 3 + 1],
    [
      update("set", { what: "remove", values: [{ value: 1, tags: [tag] }] }),
      1 + 3 + 2 + 1,
    ],
    [update("map", { what: "put", entries: [["k", [1]]] }), 1 + 3 + 2],
    [
      update("text", { what: "edit", text: new TextState(clients) }),
      1 + 3 + 2 * (2 + 2 + 1),
    ],
  ];
  for (const [operation, nodes] of counted) {
    assert.equal(nodesOf(operation), nodes);
    assert.ok(encode([operation]).payload.length >= nodes);
  }
});

Deno.test("decodePatch() stops where there is no room for more", () => {
  const one = createOf([[1, 2], { a: null }]);
  assert.equal(nodesOf(one), 2 + 1 + 3 + 3);
  const { payload } = encode([one, one, one]);
  for (
    const [left, count] of [[2 + 27, 3], [2 + 26, 3], [2 + 17, 2]] as const
  ) {
    const room = { left };
    assert.equal(decodePatch(payload, room).operations.length, count);
    assert.equal(room.left < 0, left < 29);
  }
});

Deno.test("PatchWriter refuses what no gate would decode, and goes on without it", () => {
  const list = new Array(1_300_000).fill(0);
  writer.begin();
  for (let i = 0; i < 3; i++) writer.add(createOf(list));
  assert.throws(
    () => writer.add(createOf(list)),
    (error) =>
      error instanceof DatabaseError && error.code === "value-too-large",
  );
  writer.add(createOf([0]));
  const room = { left: limits.nodesMax };
  const { operations } = decodePatch(writer.finish().payload, room);
  assert.deepEqual([operations.length, room.left >= 0], [4, true]);
});
