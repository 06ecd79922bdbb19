import assert from "node:assert/strict";
import { z } from "zod";
import { DatabaseError, type ErrorCode } from "../base/errors.ts";
import { system } from "../base/system.ts";
import {
  type CreateInput,
  defineSchema,
  field,
  type Infer,
  type JsonValue,
  type UpdateInput,
} from "./mod.ts";
import { IdSource, parseItemId } from "./names.ts";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().int().min(0).default(0),
  tags: field.set(field.string()),
  author: field.ref("user"),
  note: field.string().max(9).optional(),
  when: field.date().optional(),
  votes: field.counter(),
  labels: field.map(field.string()),
  steps: field.list(field.enum(["a", "b"])),
  state: field.enum(["open", "closed"]).default("open"),
  extra: field.json<{ a: number; b: string[] }>().optional(),
  free: field.json().optional(),
  blob: field.bytes().optional(),
  mail: field.string().check(z.email()).optional(),
}, { indexes: [["author", "done"], ["rank"]], version: 3 });

/** Fails to compile unless both types are the very same: `any` is only itself. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(proof: Same<A, B>): void {
  assert.ok(proof);
}

interface TaskItem {
  readonly id: string;
  readonly title: string;
  readonly done: boolean;
  readonly rank: number;
  readonly tags: readonly string[];
  readonly author: string;
  readonly note: string | undefined;
  readonly when: Date | undefined;
  readonly votes: number;
  readonly labels: { readonly [key: string]: string };
  readonly steps: readonly ("a" | "b")[];
  readonly state: "open" | "closed";
  readonly extra:
    | { readonly a: number; readonly b: readonly string[] }
    | undefined;
  readonly free: JsonValue | undefined;
  readonly blob: Uint8Array | undefined;
  readonly mail: string | undefined;
}

Deno.test("Infer gives exactly the item's type, with no any in it", () => {
  type Item = Infer<typeof Task>;
  same<keyof Item, keyof TaskItem>(true);
  same<Item["id"], string>(true);
  same<Item["title"], string>(true);
  same<Item["done"], boolean>(true);
  same<Item["rank"], number>(true);
  same<Item["tags"], readonly string[]>(true);
  same<Item["author"], string>(true);
  same<Item["note"], string | undefined>(true);
  same<Item["when"], Date | undefined>(true);
  same<Item["votes"], number>(true);
  same<Item["labels"][string], string>(true);
  same<Item["steps"], readonly ("a" | "b")[]>(true);
  same<Item["state"], "open" | "closed">(true);
  same<Item["extra"], TaskItem["extra"]>(true);
  same<Item["free"], JsonValue | undefined>(true);
  same<Item["blob"], Uint8Array | undefined>(true);
  same<Item["mail"], string | undefined>(true);
  same<Item, TaskItem>(true);
});

Deno.test("CreateInput and UpdateInput ask for what is needed, and no more", () => {
  const least: CreateInput<typeof Task> = { title: "t", author: "ada" };
  const most: CreateInput<typeof Task> = {
    ...least,
    id: "x",
    tags: new Set(["a"]),
    note: undefined,
    labels: { a: "b" },
    steps: ["a"],
    extra: { a: 1, b: ["c"] },
  };
  const update: UpdateInput<typeof Task> = {
    note: undefined,
    votes: { increment: 1 },
    tags: { add: ["x"], remove: ["y"] },
    labels: { put: { a: "1" }, drop: ["b"] },
    steps: {
      insert: [{ at: 0, value: "a" }],
      move: [{ from: 2, to: 0 }],
      delete: [1],
      replace: [{ at: 0, value: "b" }],
    },
  };
  const whole: UpdateInput<typeof Task> = {
    tags: ["x"],
    steps: ["b"],
    votes: 2,
  };
  // @ts-expect-error: author is required
  const missing: CreateInput<typeof Task> = { title: "t" };
  // @ts-expect-error: a field that is not optional cannot be cleared
  const cleared: UpdateInput<typeof Task> = { title: undefined };
  // @ts-expect-error: no such option
  const wrong: UpdateInput<typeof Task> = { state: "gone" };
  // @ts-expect-error: no such field
  const unknown: UpdateInput<typeof Task> = { nope: 1 };
  // @ts-expect-error: a list takes whole values or changes
  const mixed: UpdateInput<typeof Task> = { steps: { add: ["a"] } };
  const one = { b: field.string() };
  // @ts-expect-error: indexes name fields of the schema
  const index = () => defineSchema("a", one, { indexes: [["c"]] });
  // @ts-expect-error: a set holds scalars
  const setOfJson = () => field.set(field.json<{ a: 1 }>());
  // @ts-expect-error: the validator gives a number for a text
  const checked = () => field.string().check(z.number());
  // @ts-expect-error: a default has the field's type
  const initial = () => field.number().default("0");
  const all = [most, update, whole, missing, cleared, wrong, unknown, mixed];
  assert.equal([...all, index, setOfJson, checked, initial].length, 12);
});

Deno.test("defineSchema() tells name, version, indexes and shape, all frozen", () => {
  same<typeof Task.name, "task">(true);
  assert.equal(Task.name, "task");
  assert.equal(Task.version, 3);
  assert.deepEqual(Task.indexes, [["author", "done"], ["rank"]]);
  assert.equal(Task.shape.fields[0]?.kind, "string");
  assert.equal(Task.plan.find(({ name }) => name === "author")?.target, "user");
  for (const part of [Task, Task.indexes, Task.shape, Task.shape.fields]) {
    assert.ok(Object.isFrozen(part));
  }
});

Deno.test("field builders never change, each call gives a new one", () => {
  const plain = field.number();
  const bounded = plain.min(1);
  assert.notEqual(plain, bounded);
  assert.equal(plain.definition.min, undefined);
  assert.throws(() => Object.assign(plain, { definition: {} }), TypeError);
});

function codeOf(run: () => unknown): ErrorCode | undefined {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof DatabaseError, String(error));
    return error.code;
  }
}

const text = field.string();

Deno.test("defineSchema() refuses names that are not allowed", () => {
  const names = ["", "1a", "a b", "a/b", "é", "a".repeat(65), "__proto__"];
  for (const name of names) {
    assert.equal(codeOf(() => defineSchema(name, { a: text })), "invalid-name");
    const fields = Object.fromEntries([[name, text]]);
    assert.equal(codeOf(() => defineSchema("a", fields)), "invalid-name", name);
  }
  const reserved = [
    "id",
    "constructor",
    "prototype",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "then",
    "toJSON",
    "and",
    "or",
    "not",
  ];
  for (const name of reserved) {
    const fields = Object.fromEntries([[name, text]]);
    assert.equal(codeOf(() => defineSchema("a", fields)), "invalid-name", name);
  }
});

Deno.test("defineSchema() refuses definitions that contradict themselves", () => {
  const many = Object.fromEntries(
    Array.from({ length: 257 }, (_, i) => [`f${i}`, text]),
  );
  const raw: readonly (() => unknown)[] = [
    () => defineSchema("a", many),
    () => defineSchema("a", JSON.parse('{"b":{}}')),
    () => defineSchema("a", JSON.parse('{"b":null}')),
    () => defineSchema("a", JSON.parse("[]")[0]),
    () => defineSchema("a", { b: field.enum([]) }),
    () => defineSchema("a", { b: field.enum(["\ud800"]) }),
    () => defineSchema("a", { b: field.ref("no collection") }),
    () => defineSchema("a", { b: field.number().min(2).max(1) }),
    () => defineSchema("a", { b: field.number().min(NaN) }),
    () => defineSchema("a", { b: field.list(field.date()) }),
    () => defineSchema("a", { b: field.list(field.bytes()) }),
    () => defineSchema("a", { b: field.set(field.json<string>()) }),
    // @ts-expect-error: elements have no default
    () => defineSchema("a", { b: field.list(text.default("x")) }),
    () => defineSchema("a", { b: text }, { version: -1 }),
    () => defineSchema("a", { b: text }, { version: 0.5 }),
    () => defineSchema("a", { b: text }, { indexes: [[]] }),
    () => defineSchema("a", { b: text }, { indexes: [["b", "b"]] }),
    () => defineSchema("a", { b: text }, { indexes: JSON.parse('[["c"]]') }),
    () => defineSchema("a", { b: field.json() }, { indexes: [["b"]] }),
    () => defineSchema("a", { b: field.set(text) }, { indexes: [["b"]] }),
    () => defineSchema("a", { b: text }, { indexes: JSON.parse("{}") }),
    () => defineSchema("a", { b: text }, { unique: JSON.parse('"b"') }),
    () => defineSchema("a", { b: text }, { unique: JSON.parse('["b"]') }),
    () => defineSchema("a", { b: text }, { unique: [[]] }),
    () => defineSchema("a", { b: text }, { unique: [["b", "b"]] }),
    () => defineSchema("a", { b: text }, { unique: JSON.parse('[["c"]]') }),
    () => defineSchema("a", { b: field.json() }, { unique: [["b"]] }),
    () => defineSchema("a", { b: field.set(text) }, { unique: [["b"]] }),
    () => defineSchema("a", { b: field.counter() }, { unique: [["b"]] }),
    () => defineSchema("a", { b: field.counter().min(2).max(1) }),
  ];
  for (const [i, run] of raw.entries()) {
    assert.equal(codeOf(run), "invalid-schema", `case ${i}`);
  }
});

Deno.test("defineSchema() names the field that no index can be over", () => {
  const fields = {
    picture: field.bytes(),
    extra: field.json(),
    tags: field.set(text),
    labels: field.map(text),
    steps: field.list(text),
  };
  for (const [name, { definition }] of Object.entries(fields)) {
    assert.throws(
      () => defineSchema("a", fields, { indexes: [[name]] } as object),
      {
        code: "invalid-schema",
        message:
          `Cannot define schema "a": an index cannot be over ${name}, a ${definition.kind} field.`,
      },
    );
  }
  const indexed = {
    string: text,
    number: field.number(),
    boolean: field.boolean(),
    date: field.date(),
    enum: field.enum(["x"]),
    ref: field.ref("b"),
    counter: field.counter(),
  };
  const indexes = Object.keys(indexed).map((name) => [name]);
  const schema = defineSchema("a", indexed, { indexes } as object);
  assert.deepEqual(schema.indexes, indexes);
});

Deno.test("defineSchema() says which schemas have constraints", () => {
  const text = field.string();
  const user = field.ref("user");
  const constrained = [
    defineSchema("a", { b: text, c: field.bytes() }, { unique: [["b", "c"]] }),
    defineSchema("a", { b: user.optional().exists() }),
    defineSchema("a", { b: user.exists().optional() }),
    defineSchema("a", { b: user.exists().default("x") }),
    defineSchema("a", { b: user.exists().check(() => true) }),
    defineSchema("a", { b: field.list(user.exists()) }),
    defineSchema("a", { b: field.counter().min(0) }),
    defineSchema("a", { b: field.counter().max(9) }),
  ];
  for (const [i, schema] of constrained.entries()) {
    assert.equal(schema.isConstrained, true, `case ${i}`);
  }
  const free = defineSchema("a", {
    ...{ b: user, c: field.counter(), d: field.number().min(0) },
    ...{ e: field.set(user).min(1), f: text.max(9) },
  }, { indexes: [["d"]] });
  assert.equal(free.isConstrained, false);
});

Deno.test("defineSchema() refuses a default that its own field would refuse", () => {
  const number = field.number().max(1).default(2);
  assert.equal(codeOf(() => defineSchema("a", { number })), "invalid-value");
  const word = field.string().check(z.email()).default("nope");
  assert.equal(codeOf(() => defineSchema("a", { word })), "invalid-value");
});

Deno.test("parseItemId() takes printable text of up to 256 bytes", () => {
  for (const id of ["a", "a/b", "ü".repeat(128), "x".repeat(256), "🌾"]) {
    assert.equal(parseItemId(id), id);
  }
});

Deno.test("IdSource makes ids of 20 characters that sort by time and never repeat", () => {
  let nowMs = 1_700_000_000_000;
  const ids = new IdSource({ ...system, now: () => nowMs });
  const made: string[] = [];
  for (let i = 0; i < 2_000; i++) {
    nowMs += 7;
    made.push(ids.next());
  }
  assert.equal(new Set(made).size, made.length);
  assert.deepEqual([...made].sort(), made);
  for (const id of made) assert.match(id, /^[0-9A-Za-z]{20}$/);
});
