import assert from "node:assert/strict";
import fc from "fast-check";
import { sized } from "../../tests/kit/tier.ts";
import { copyJson, parseJson } from "./json.ts";

function complain(why: string): never {
  throw new SyntaxError(why);
}

/** What a call gives, or that it gives nothing. */
function outcome(call: () => unknown): unknown {
  try {
    return { gives: call() };
  } catch (error) {
    assert.ok(error instanceof SyntaxError);
    return "malformed";
  }
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

Deno.test("parseJson() gives what a checked copy would, frozen all the way down", () => {
  const leaf = fc.constantFrom("-0", "1e400", '"\\ud800"', "null", '"a"', "1");
  const { text } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("text"), { maxLength: 3 }).map((all) => `[${all}]`),
      fc.dictionary(
        fc.constantFrom("a", "2", "__proto__", "\\udc00"),
        tie("text"),
      )
        .map((all) =>
          `{${Object.entries(all).map(([key, one]) => `"${key}":${one}`)}}`
        ),
    ),
  }));
  const deep = fc.integer({ min: 60, max: 68 }).map((depth) =>
    "[".repeat(depth) + "]".repeat(depth)
  );
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: text }, deep), (text) => {
      const parsed = outcome(() => parseJson(text));
      assert.deepEqual(
        parsed,
        outcome(() => copyJson(JSON.parse(text), complain)),
      );
      assert.ok(isFrozen(parsed) || isFrozen(Object.values(parsed!)[0]));
    }),
    { seed: 5, numRuns: sized(300, 3_000) },
  );
});
