import assert from "node:assert/strict";
import fc from "fast-check";
import { RowReader } from "./importer.ts";
import { Inference, schemaCode } from "./infer.ts";
import type { Field } from "./field.ts";

type Values = { readonly [field: string]: unknown };

function inferred(
  rows: readonly Values[],
  isText: boolean,
  stored: readonly Field[] = [],
): Inference {
  const inference = new Inference(isText, stored);
  rows.forEach((values, i) => inference.add({ line: i + 1, values }));
  return inference;
}

/** `name kind` or `name kind?` of each field. */
function shown(fields: readonly Field[]): string[] {
  return fields.map(({ name, kind, element, optional }) => {
    const inner = element === undefined ? "" : `(${element})`;
    return `${name} ${kind}${inner}${optional ? "?" : ""}`;
  });
}

Deno.test("Inference finds kinds of CSV cells only when every cell fits", () => {
  const rows = [
    { n: "1", zip: "007", d: "2026-11-20", b: "true", j: "[1]", mix: "1" },
    { n: "-2.5e3", zip: "12", d: "2026-11-20T10:00Z", b: "FALSE", j: "{}" },
    { n: "0", zip: "3", d: "2024-02-29", b: "true", j: "[]", mix: "x" },
    { n: "5", zip: "1", d: "2024-02-28", b: "true", j: "[]", none: undefined },
  ];
  assert.deepEqual(shown(inferred(rows, true).fields()), [
    "n number",
    "zip string",
    "d date",
    "b boolean",
    "j json",
    "mix string?",
    "none string?",
  ]);
});

Deno.test("Inference leaves as text what would lose digits or keys, and long whole numbers", () => {
  const rows = [{
    big: "100000000000000000000",
    exponent: "1e20",
    pi: "3.14159265358979323846",
    twice: '{"a":1,"a":2}',
    deep: "[9007199254740993]",
    once: '{"a":1}',
  }];
  assert.deepEqual(shown(inferred(rows, true).fields()), [
    "big string",
    "exponent number",
    "pi string",
    "twice string",
    "deep string",
    "once json",
  ]);
});

Deno.test("Inference takes JSON values as they are and strings for dates only", () => {
  const rows = [
    { n: 1, s: "1", d: "2026-11-20", b: true, j: [1], mix: 1, gone: null },
    { n: 2, s: "2", d: "2026-11-21", b: false, j: {}, mix: "x" },
  ];
  assert.deepEqual(shown(inferred(rows, false).fields()), [
    "n number",
    "s string",
    "d date",
    "b boolean",
    "j json",
    "mix json",
    "gone string?",
  ]);
});

Deno.test("Inference keeps a string field that has one bad date", () => {
  const rows = [{ d: "2026-11-20" }, { d: "2026-02-30" }];
  assert.deepEqual(shown(inferred(rows, false).fields()), ["d string"]);
  assert.deepEqual(shown(inferred(rows, true).fields()), ["d string"]);
});

Deno.test("Inference reads a quoted empty cell of a number column as missing", () => {
  const fields = inferred([{ n: "1" }, { n: "" }], true).fields();
  assert.deepEqual(shown(fields), ["n number?"]);
  const reader = new RowReader(fields, "id", true);
  assert.deepEqual(reader.read({ line: 1, values: { n: "" } }).values, {});
});

Deno.test("Inference lets the kinds of stored fields win", () => {
  const stored: Field[] = [
    { name: "tags", kind: "set", optional: false },
    { name: "votes", kind: "counter", optional: false },
    { name: "state", kind: "enum", optional: false },
    { name: "none", kind: "set", optional: false },
    { name: "old", kind: "number", optional: false },
  ];
  const rows = [
    { votes: "3", tags: '["a"]', more: "x", state: "open", none: "[]" },
    { votes: "4", tags: "[]", more: "y", state: "closed", none: "[]" },
  ];
  const fields = inferred(rows, true, stored).fields();
  assert.deepEqual(shown(fields), [
    "votes counter",
    "tags set(string)",
    "more string",
    "state enum",
    "none set(string)",
    "old number?",
  ]);
  const state = fields.find((field) => field.name === "state");
  assert.deepEqual(state?.options, ["open", "closed"]);
});

Deno.test("Inference names fields so that a schema takes them", () => {
  const rows = [{ "First name": "a", "2nd": "b", then: "c", "Größe": "d" }];
  assert.deepEqual(shown(inferred(rows, true).fields()), [
    "First_name string",
    "f_2nd string",
    "f_then string",
    "Gro_e string",
  ]);
});

Deno.test("Inference refuses two names that would be one field", () => {
  const inference = inferred([{ "a b": "1", "a-b": "2" }], true);
  assert.throws(() => inference.fields(), /"a b" and "a-b" would both be/);
});

Deno.test("Inference refuses more names than a schema has fields at the first of them", () => {
  const names = Array.from({ length: 258 }, (_, i) => `n${i}`);
  const valuesOf = (names: readonly string[]): Values =>
    Object.fromEntries(names.map((name) => [name, 1]));
  const rows = [valuesOf(names.slice(0, 200)), valuesOf(names.slice(200, 257))];
  const inference = inferred(rows, false);
  assert.equal(inference.fields().length, 257);
  assert.throws(
    () => inference.add({ line: 3, values: valuesOf(names) }),
    /over 257 different names; a schema has at most 256 fields/,
  );
});

Deno.test("RowReader reads JSON values of any kind back unchanged", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: fc.jsonValue(), b: fc.jsonValue() }), {
        minLength: 1,
      }),
      (generated) => {
        const rows: Values[] = JSON.parse(JSON.stringify(generated));
        const reader = new RowReader(
          inferred(rows, false).fields(),
          "id",
          false,
        );
        rows.forEach((values, i) => {
          const read = reader.read({ line: i, values }).values;
          for (const name of ["a", "b"]) {
            const value = read[name];
            const back = value instanceof Date
              ? value.getTime()
              : value ?? null;
            const before = value instanceof Date
              ? new Date(String(values[name])).getTime()
              : values[name];
            assert.deepEqual(back, before);
          }
        });
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

Deno.test("RowReader says which field cannot be read and why", () => {
  const fields: Field[] = [
    { name: "n", kind: "number", optional: false },
    { name: "tags", kind: "set", optional: false, element: "string" },
    { name: "data", kind: "bytes", optional: false },
  ];
  const reader = new RowReader(fields, "id", true);
  const read = (values: Values) => () => reader.read({ line: 1, values });
  assert.throws(read({ n: "x" }), /field "n" is a number, found "x"/);
  assert.throws(read({ tags: "a,b" }), /"tags" is a set \(a JSON array\)/);
  assert.throws(read({ data: "?" }), /"data" is bytes \(base64\)/);
  assert.throws(read({ other: "1" }), /no field "other"/);
  assert.deepEqual(
    reader.read({ line: 1, values: { tags: '["a"]', data: "AQL/", id: "x" } }),
    { id: "x", values: { tags: ["a"], data: new Uint8Array([1, 2, 255]) } },
  );
});

Deno.test("RowReader refuses what would lose digits, keys or a field", () => {
  const fields: Field[] = [
    { name: "n", kind: "number", optional: true },
    { name: "j", kind: "json", optional: true },
    { name: "tags", kind: "list", optional: true, element: "number" },
    { name: "first_name", kind: "string", optional: true },
  ];
  const read = (values: Values, isText = true) => () =>
    new RowReader(fields, "id", isText).read({ line: 1, values });
  assert.throws(read({ n: "9007199254740993" }), /"n" is a number/);
  assert.throws(read({ j: "9007199254740993" }), /kept as 9007199254740992/);
  assert.throws(read({ j: '{"a":1,"a":2}' }), /the key "a" stands twice/);
  assert.throws(read({ tags: "[9007199254740993]" }), /kept as/);
  assert.throws(
    read({ "first name": "Ada", first_name: "Eva" }),
    /field "first_name" stands twice/,
  );
  const large = 2 ** 65;
  assert.deepEqual(read({ n: large }, false)().values, { n: large });
  assert.deepEqual(read({ n: String(large) })().values, { n: large });
  assert.throws(read({ id: large }, false), /field "id" holds no id/);
  assert.throws(read({ first_name: large }, false), /"first_name" is a string/);
});

Deno.test("RowReader takes the id from the field that was named", () => {
  const fields: Field[] = [{ name: "code", kind: "number", optional: false }];
  const reader = new RowReader(fields, "code", false);
  assert.deepEqual(reader.read({ line: 1, values: { code: 7 } }), {
    id: "7",
    values: { code: 7 },
  });
  assert.throws(
    () => reader.read({ line: 1, values: {} }),
    /"code" holds no id/,
  );
});

Deno.test("schemaCode() prints a module that defines the fields", () => {
  const code = schemaCode("city", [
    { name: "name", kind: "string", optional: false },
    { name: "lat", kind: "number", optional: true },
    { name: "tags", kind: "set", optional: true, element: "string" },
    { name: "size", kind: "enum", optional: false, options: ["s", "m"] },
    { name: "author", kind: "ref", optional: true },
  ]);
  assert.equal(
    code,
    `import { defineSchema, field } from "@sheaf/sheaf";

export default defineSchema("city", {
  name: field.string(),
  lat: field.number().optional(),
  tags: field.set(field.string()),
  size: field.enum(["s","m"]),
  author: field.ref("author").optional(),
});
`,
  );
});
