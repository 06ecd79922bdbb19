import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import { sortByNumber } from "./radix.ts";

const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, Infinity, -Infinity, 2 ** 53, -1e-308, 5e-324),
);

Deno.test("sortByNumber() sorts like a stable sort by comparison", () => {
  fc.assert(
    fc.property(
      fc.array(number, { maxLength: 300 }),
      fc.infiniteStream(fc.nat()),
      (list, dice) => {
        const numbers = Float64Array.from(list);
        const order = Array.from(list.keys());
        for (let i = order.length - 1; i > 0; i--) {
          const j = dice.next().value % (i + 1);
          [order[i], order[j]] = [order[j]!, order[i]!];
        }
        const expected = order.toSorted((a, b) => {
          const [x, y] = [numbers[a]!, numbers[b]!];
          return x < y ? -1 : x > y ? 1 : 0;
        });
        const ordinals = Uint32Array.from(order);
        const keys = numbers.slice();
        for (const [i, one] of order.entries()) keys[i] = numbers[one]!;
        for (const _ of sortByNumber(ordinals, keys));
        deepEqual([...ordinals], expected);
        deepEqual(keys, Float64Array.from(expected, (one) => numbers[one]!));
      },
    ),
    { seed: 3, numRuns: 300 },
  );
});
