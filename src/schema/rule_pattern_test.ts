/** Patterns of repository names, and those that no name can reach. */

import { equal } from "node:assert/strict";
import fc from "fast-check";
import { limits } from "../base/limits.ts";
import {
  isNeverAsked,
  matchPattern,
  parsePattern,
  type RulePattern,
} from "./rule_pattern.ts";

/** Words of patterns, and one that stands in none. */
const WORDS = ["a", "b"];
const FRESH = "z";

/** Every name of up to so many segments. */
function namesUpTo(size: number): string[] {
  let longest = [""];
  const names: string[] = [];
  for (let i = 0; i < size; i++) {
    longest = longest.flatMap((start) =>
      [...WORDS, FRESH].map((word) => start === "" ? word : `${start}/${word}`)
    );
    names.push(...longest);
  }
  return names;
}

const names = namesUpTo(limits.nameSegmentsMax - 2);

/** A pattern over few words, so that many overlap. */
const pattern = fc.tuple(
  fc.array(fc.constantFrom(...WORDS, "{}"), { maxLength: 4 }),
  fc.boolean(),
).filter(([segments, hasRest]) => hasRest || segments.length > 0)
  .map(([segments, hasRest]) => {
    const named = segments.map((word, i) => word === "{}" ? `{p${i}}` : word);
    return parsePattern([...named, ...hasRest ? ["**"] : []].join("/"));
  });

/** Tries all names. */
function isNeverTheFirst(
  last: RulePattern,
  earlier: readonly RulePattern[],
): boolean {
  return !names.some((name) =>
    matchPattern(last, name) !== undefined &&
    earlier.every((other) => matchPattern(other, name) === undefined)
  );
}

Deno.test("isNeverAsked() says what trying all names says", () => {
  fc.assert(
    fc.property(
      fc.array(pattern, { maxLength: 5 }),
      pattern,
      (earlier, last) => {
        equal(isNeverAsked(last, earlier), isNeverTheFirst(last, earlier));
      },
    ),
    { seed: 7, numRuns: 500 },
  );
});

Deno.test("isNeverAsked() knows how long a name may be", () => {
  const longest = "{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}";
  const rest = parsePattern("{a}/{b}/{c}/{d}/{e}/{f}/{g}/**");
  equal(isNeverAsked(rest, [parsePattern(longest)]), true);
  equal(isNeverAsked(parsePattern("**"), [parsePattern(longest)]), false);
});
