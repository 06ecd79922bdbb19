import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { parseQuery } from "./query_text.ts";

Deno.test("parseQuery() reads a query as code says it", () => {
  const text =
    `.where({ done: false, rank: { gte: -2.5e1, "lt": 9 }, by: { in: ['a"\\'', "\\u0041"] } })
    .where({ note: undefined, at: { gt: new Date("2026-11-24") }, or: [{ a: null }, { b: true }] })
    .orderBy(["rank", 'title'], "desc",).limit(20).offset(0).after("x")`;
  deepEqual(parseQuery(text), [
    {
      method: "where",
      given: [{
        done: false,
        rank: { gte: -25, lt: 9 },
        by: { in: [`a"'`, "A"] },
      }],
    },
    {
      method: "where",
      given: [{
        note: undefined,
        at: { gt: new Date("2026-11-24") },
        or: [{ a: null }, { b: true }],
      }],
    },
    { method: "orderBy", given: [["rank", "title"], "desc"] },
    { method: "limit", given: [20] },
    { method: "offset", given: [0] },
    { method: "after", given: ["x"] },
  ]);
  deepEqual(parseQuery("  "), []);
});

Deno.test("parseQuery() says what it expects, and where", () => {
  const refused: readonly [string, RegExp][] = [
    ["delete()", /one of where, .* at 1, where delete is/],
    ["where({ a: 1 }", /"," at the end/],
    ["where({ a: b })", /a string, a number.* at 12, where b is/],
    ["where((x) => x)", /a string/],
    ["where({ a: `x` })", /a string/],
    ["where({ a: - })", /a string/],
    ["where({ a: 'x })", /a string/],
    ["where({ a: '\\x' })", /escapes/],
    ["where({ a: new Map() })", /"Date"/],
    ["limit(1) limit(2)", /"\." at 10/],
    [`where(${"[".repeat(100)}`, /less nesting/],
    ["where()".padEnd(20_000), /at most 10000 characters/],
  ];
  for (const [text, message] of refused) {
    throws(() => parseQuery(text), { name: "SyntaxError", message }, text);
  }
});

Deno.test("parseQuery() takes a name such as __proto__ for a name", () => {
  const [call] = parseQuery(
    'where({ __proto__: { admin: true }, "constructor": 1 })',
  );
  const where = call!.given[0] as Record<string, unknown>;
  deepEqual(Object.keys(where), ["__proto__", "constructor"]);
  equal(where["admin"], undefined);
});

Deno.test("parseQuery() reads any JSON, and throws nothing but SyntaxError", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const [call] = parseQuery(`where(${JSON.stringify(value)})`);
    deepEqual(JSON.stringify(call!.given), JSON.stringify([value]));
  }));
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => {
    try {
      parseQuery(`where({ ${a}: ${b} })`);
    } catch (error) {
      equal((error as Error).name, "SyntaxError");
    }
  }));
});
