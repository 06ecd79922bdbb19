import assert from "node:assert/strict";
import fc from "fast-check";
import { InexactJson, isExactNumber, parseExactJson } from "./exact_json.ts";

Deno.test("isExactNumber() takes numbers whose digits a double has", () => {
  for (
    const text of [
      ...["0", "-0", "-1", "12.50", "0.000", "1e3", "1E+3", "0e999", "0.1"],
      ...["9007199254740991", "9007199254740992", "100000000000000000000"],
      // As other programs write the double that is next to 0.1, and 2 ** 65.
      ...["0.10000000000000001", "36893488147419103000", "5e-324", "12e-1"],
    ]
  ) assert.ok(isExactNumber(text), text);
  for (
    const text of [
      ...["", "01", "+1", "1.", ".5", "0x10", "NaN", "Infinity", " 1", "1,000"],
      ...["9007199254740993", "-9007199254740993", "12345678901234567890"],
      // A double has it, and writes it with other digits at its end.
      "90071992547409936",
      ...["1e999", "-1e999", "1e-400", "3.14159265358979323846"],
      `1${"0".repeat(5_000_000)}1`,
    ]
  ) assert.ok(!isExactNumber(text), text.slice(0, 40));
});

Deno.test("isExactNumber() takes every double, with as few digits as tell it or with 17", () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(double, (value) => {
      assert.ok(isExactNumber(JSON.stringify(value)), `${value}`);
      assert.ok(isExactNumber(value.toExponential(16)), `${value}`);
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

Deno.test("isExactNumber() takes a whole number if and only if it comes back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 56n), max: 2n ** 56n }), (value) => {
      const text = String(value);
      assert.equal(isExactNumber(text), String(Number(text)) === text, text);
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

Deno.test("parseExactJson() parses what JSON.parse does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.deepEqual(parseExactJson(text), JSON.parse(text));
    }),
    { seed: 7, numRuns: 500 },
  );
  for (const text of ["", "{", "{'a':1}", "01", "[1,]"]) {
    const isPlain = (error: unknown) =>
      error instanceof SyntaxError && !(error instanceof InexactJson);
    assert.throws(() => parseExactJson(text), isPlain, text);
  }
});

Deno.test("parseExactJson() refuses what would be lost, and says where", () => {
  for (
    const [text, at, expected] of [
      ['{"a":1,"a":2}', 7, /the key "a" stands twice/],
      ['{"a":1,"\\u0061" : 2}', 7, /the key "\\u0061" stands twice/],
      ['{"__proto__":1,"__proto__":1}', 15, /stands twice/],
      ['[{"b":{"a":1,\n"a":[]}}]', 14, /stands twice/],
      ['{"":{"":0},"":0}', 11, /stands twice/],
      ['{"n": [1, 9007199254740993]}', 10, /kept as 9007199254740992/],
      ["-12345678901234567890", 0, /kept as -12345678901234567000: write/],
      ["1e400", 0, /kept as Infinity/],
    ] as const
  ) {
    assert.throws(() => parseExactJson(text), (error) => {
      assert.ok(error instanceof InexactJson, text);
      assert.match(error.message, expected);
      return error.at === at;
    }, text);
  }
});

Deno.test("parseExactJson() takes equal keys of different objects, and strings that look like either", () => {
  const text =
    '[{"a":{"a":1},"b":[{"a":2},{"a":3}]},{"a":"\\",\\"a\\":9007199254740993"}]';
  assert.deepEqual(parseExactJson(text), JSON.parse(text));
});
