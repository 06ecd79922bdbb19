import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { count, sum } from "./grouped_query.ts";
import { taskEngine, taskFields } from "./kit_test.ts";
import { parseWhere } from "./parse_where.ts";
import { Query } from "./query.ts";

const fields = new Map([...taskFields, ["id", "string"] as const]);

function isInvalid(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "invalid-query";
}

function nested(depth: number): unknown {
  let where: unknown = { done: true };
  for (let i = 0; i < depth; i++) where = { not: where };
  return where;
}

function negated(depth: number): unknown {
  let value: unknown = "ada";
  for (let i = 0; i < depth; i++) value = { not: value };
  return { author: value };
}

const bad: Record<string, unknown> = {
  "no object": 5,
  "null": null,
  "a list": [],
  "a date": new Date(0),
  "an unknown field": { colour: "red" },
  "an unknown operator": { rank: { near: 3 } },
  "an empty operator object": { rank: {} },
  "a polluted prototype": JSON.parse('{"__proto__": {"rank": 1}}'),
  "a polluted operator": JSON.parse('{"rank": {"__proto__": 1}}'),
  "constructor as a field": { constructor: "x" },
  "NaN": { rank: NaN },
  "NaN in a range": { rank: { gt: NaN } },
  "an invalid date": { when: new Date(NaN) },
  "a string for a number": { rank: "3" },
  "a number for a date": { when: 5 },
  "null as a value": { author: null },
  "a symbol": { author: Symbol("x") },
  "a function as a value": { author: () => "x" },
  "a prefix of a number": { rank: { prefix: "1" } },
  "a range of a set": { tags: { gt: "a" } },
  "a range to nowhere": { rank: { gt: undefined } },
  "in without a list": { rank: { in: 3 } },
  "equality with a set": { tags: ["a"] },
  "contains on a number": { rank: { contains: 1 } },
  "a map's key that is none": { labels: { contains: 3 } },
  "or without a list": { or: { done: true } },
  "and with a value in it": { and: [3] },
  "conditions too deep": nested(limits.queryDepthMax + 2),
  "operators too deep": negated(limits.queryDepthMax + 2),
  "too many conditions": {
    or: Array.from({ length: limits.conditionsMax + 1 }, () => ({ rank: 1 })),
  },
  "too many conditions over several lists": {
    and: [1, 2, 3].map(() => ({
      or: Array.from({ length: 500 }, () => ({ rank: 1 })),
    })),
  },
  "too many values": {
    rank: { in: Array.from({ length: limits.elementsMax + 1 }, () => 1) },
  },
};

for (const [name, where] of Object.entries(bad)) {
  Deno.test(`parseWhere() refuses ${name}`, () => {
    throws(() => parseWhere(where, fields), isInvalid);
  });
}

Deno.test("parseWhere() reads every property once", () => {
  let reads = 0;
  const where = {
    get rank() {
      reads++;
      return reads === 1 ? 3 : "changed";
    },
  };
  deepStrictEqual(parseWhere(where, fields), [
    { what: "equal", field: "rank", kind: "number", key: 3 },
  ]);
  strictEqual(reads, 1);
});

Deno.test("parseWhere() keeps nothing of what the caller may change", () => {
  const { source, engine } = taskEngine(false);
  source.write(["a", Object.freeze({ id: "a", author: "ada" })]);
  const wanted = ["ada"];
  const query = new Query<{ id: string; author: string }>(engine)
    .where({ author: { in: wanted } });
  wanted[0] = "bob";
  strictEqual(query.count(), 1);
});

Deno.test("parseWhere() takes an object without a prototype", () => {
  const where = Object.assign(Object.create(null), { rank: 1 });
  ok(parseWhere(where, fields).length === 1);
});

Deno.test("Query refuses bad orders, limits, cursors, includes and groups", () => {
  const { engine } = taskEngine(false);
  // deno-lint-ignore no-explicit-any -- plain JavaScript may call it like this
  const query: any = new Query(engine);
  const calls: (() => unknown)[] = [
    () => query.orderBy("colour"),
    () => query.orderBy("tags"),
    () => query.orderBy("rank", "down"),
    () => query.limit(-1),
    () => query.limit(1.5),
    () => query.limit(NaN),
    () => query.offset("3"),
    () => query.after(5),
    () => query.after({}),
    () => query.after("garbage").run(),
    () => query.after("").run(),
    () => query.after("AAAAAAAA").run(),
    () => query.orderBy("rank").after(query.cursor({ id: "a" })).run(),
    () => query.cursor({ rank: 1 }),
    () => query.include({ author: true }),
    () => query.groupBy(),
    () => query.groupBy("tags"),
    () => query.groupBy("author").aggregate({ n: 5 }),
    () => query.groupBy("author").aggregate({ author: count() }),
    () => query.aggregate({ n: sum("title") }),
    () => query.aggregate({ n: { what: "median", field: "rank" } }),
    () => query.aggregate({ n: { ...count(), what: "median" } }),
    () => query.aggregate({ n: count(), m: 5 }),
    () => query.aggregate({}),
    () => query.groupBy("author").aggregate({}),
  ];
  for (const call of calls) throws(call, isInvalid, String(call));
});

Deno.test("Query.after() refuses a cursor with any character changed", () => {
  const { source, engine } = taskEngine(false);
  source.write(["a", Object.freeze({ id: "a", rank: 1 })]);
  const query = new Query<{ id: string; rank: number }>(engine).orderBy("rank");
  const cursor = query.cursor(query.first()!);
  for (let at = 0; at < cursor.length; at++) {
    const other = cursor[at] === "A" ? "B" : "A";
    const damaged = cursor.slice(0, at) + other + cursor.slice(at + 1);
    throws(() => query.after(damaged).run(), isInvalid);
  }
});
