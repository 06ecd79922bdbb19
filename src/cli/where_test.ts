import assert from "node:assert/strict";
import type { Field } from "./field.ts";
import { parseOrderBy, parseWhere } from "./commands/query.ts";

const fields: Field[] = [
  { name: "rank", kind: "number", optional: false },
  { name: "title", kind: "string", optional: false },
  { name: "when", kind: "date", optional: true },
  { name: "data", kind: "bytes", optional: true },
];

Deno.test("parseWhere() keeps operators and nesting", () => {
  const text =
    '{"rank":{"gte":3,"lt":9},"or":[{"title":{"prefix":"Sh"}},{"not":{"id":"x"}}]}';
  assert.deepEqual(parseWhere(text, fields), JSON.parse(text));
});

Deno.test("parseWhere() reads dates, bytes and null by the field's kind", () => {
  assert.deepEqual(
    parseWhere(
      '{"when":{"gte":"2026-01-01"},"data":"AQL/","title":null}',
      fields,
    ),
    {
      when: { gte: new Date("2026-01-01") },
      data: new Uint8Array([1, 2, 255]),
      title: undefined,
    },
  );
});

Deno.test("parseWhere() says what is wrong with a condition", () => {
  const parse = (text: string) => () => parseWhere(text, fields);
  assert.throws(parse("{rank:3}"), /--where is not JSON/);
  assert.throws(parse('{"when":"yesterday"}'), /"when" is a date/);
  assert.throws(parse('{"data":"?"}'), /holds bytes/);
  const deep = '{"not":'.repeat(100) + "{}" + "}".repeat(100);
  assert.throws(parse(deep), /nested too deeply/);
});

Deno.test("parseOrderBy() reads fields with and without a direction", () => {
  assert.deepEqual(parseOrderBy("rank:desc, title"), [
    ["rank", "desc"],
    ["title", "asc"],
  ]);
  assert.deepEqual(parseOrderBy("rank:down"), [["rank:down", "asc"]]);
});
