import assert from "node:assert/strict";
import fc from "fast-check";
import { splicesOf } from "./splices.ts";

function apply(text: string, splices: ReturnType<typeof splicesOf>): string {
  let after = text;
  for (const { at, delete: length, insert } of splices.toReversed()) {
    after = after.slice(0, at) + insert + after.slice(at + length);
  }
  return after;
}

const words = fc.array(fc.constantFrom("a", "b", "ab", "😀", "😁", "é", " "), {
  maxLength: 30,
}).map((all) => all.join(""));

Deno.test("splicesOf() makes one text the other, and never cuts a character in two", () => {
  fc.assert(
    fc.property(words, words, fc.nat(40), (before, after, end) => {
      const splices = splicesOf(before, after, Math.min(end, after.length));
      assert.equal(apply(before, splices), after);
      let last = 0;
      for (const { at, delete: length, insert } of splices) {
        assert.ok(at >= last);
        assert.ok(insert.isWellFormed());
        assert.ok(before.slice(at, at + length).isWellFormed());
        last = at + length;
      }
    }),
    { seed: 3, numRuns: 5_000 },
  );
});

Deno.test("splicesOf() changes as little as can be", () => {
  const cases: [string, string, number][] = [
    ["The quick fox", "A quick brown fox", 2],
    ["same", "same", 0],
    ["", "new", 1],
    ["old", "", 1],
    ["one two three four", "one 2 three 4", 4],
  ];
  for (const [before, after, most] of cases) {
    const splices = splicesOf(before, after);
    assert.ok(splices.length <= most, `${before} -> ${after}`);
    const changed = splices.reduce(
      (sum, { delete: length, insert }) => sum + length + insert.length,
      0,
    );
    assert.ok(changed <= 12, `${before} -> ${after}: ${changed}`);
  }
});

Deno.test("splicesOf() takes the cursor's word for where a repeated letter was typed", () => {
  const [first] = splicesOf("aaa", "aaaa", 1);
  assert.deepEqual(first, { at: 0, delete: 0, insert: "a" });
  const [last] = splicesOf("aaa", "aaaa", 4);
  assert.deepEqual(last, { at: 3, delete: 0, insert: "a" });
});

Deno.test("splicesOf() replaces as a whole what differs too much", () => {
  const [before, after] = ["a", "b"].map((letter) => letter.repeat(5_000));
  const splices = splicesOf(`<${before}>`, `<${after}>`);
  assert.deepEqual(splices, [{ at: 1, delete: 5_000, insert: after }]);
});
