import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { anyCharacter } from "../../tests/kit/any_text.ts";
import { sized } from "../../tests/kit/tier.ts";
import { sortById } from "./sort_ids.ts";
import { compareText } from "./value.ts";

Deno.test("sortById() sorts any ids as comparing them one by one does", () => {
  const plain = fc.stringMatching(/^[a-c0-1]{0,9}$/);
  const prefixed = plain.map((id) => `item-${id}`);
  const odd = fc.string({ unit: anyCharacter, maxLength: 8 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uniqueArray(plain, { minLength: 30, maxLength: 200, size: "max" }),
        fc.uniqueArray(prefixed, {
          minLength: 30,
          maxLength: 200,
          size: "max",
        }),
        fc.uniqueArray(fc.oneof(plain, odd), { maxLength: 200, size: "max" }),
      ),
      (ids) => {
        const expected = [...ids].sort(compareText);
        deepStrictEqual(sortById([...ids], (id) => id), expected);
      },
    ),
    { seed: 4, numRuns: sized(100, 300) },
  );
});

Deno.test("sortById() orders an id before those that go on behind it", () => {
  const ids: string[] = [];
  for (const head of "abcdefgh") {
    ids.push(
      `${head}\u0000`,
      `${head}\u0001`,
      `${head}`,
      `${head}\u0000\u0000`,
      `${head}\u0001a`,
    );
  }
  const expected = ids.toSorted(compareText);
  deepStrictEqual(sortById([...ids].reverse(), (id) => id), expected);
  deepStrictEqual(sortById([...ids], (id) => id), expected);
});
