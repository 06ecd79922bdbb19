import assert from "node:assert/strict";
import fc from "fast-check";
import { isPosition, positionAt, positionBetween } from "./position.ts";

const run = { seed: 7, numRuns: 300 } as const;

Deno.test("positionAt() ascends and is always a position", () => {
  let last = "";
  for (const i of [0, 1, 61, 62, 63, 3905, 3906, 65_535, 1_000_000]) {
    const position = positionAt(i);
    assert.ok(isPosition(position));
    assert.ok(position > last, `${position} follows ${last}`);
    last = position;
  }
});

Deno.test("positionBetween() finds room between any two neighbours, at both ends too", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 120 }), (choices) => {
      const all: string[] = [];
      for (const choice of choices) {
        const at = choice % (all.length + 1);
        const made = positionBetween(all[at - 1], all[at]);
        assert.ok(isPosition(made), made);
        assert.ok(at === 0 || all[at - 1]! < made);
        assert.ok(at === all.length || made < all[at]!);
        all.splice(at, 0, made);
      }
    }),
    run,
  );
});

Deno.test("positionBetween() finds room next to the very ends", () => {
  const least = "A" + "0".repeat(26);
  const greatest = "z".repeat(27);
  assert.ok(!isPosition(least));
  let low = `${least}V`;
  for (let i = 0; i < 50; i++) {
    const made = positionBetween(undefined, low);
    assert.ok(made < low && isPosition(made));
    low = made;
  }
  let high = greatest;
  for (let i = 0; i < 50; i++) {
    const made = positionBetween(high, undefined);
    assert.ok(made > high && isPosition(made));
    high = made;
  }
  const second = "A" + "0".repeat(25) + "1";
  const first = positionBetween(undefined, second);
  assert.ok(first < second && isPosition(first));
});

Deno.test("positionBetween() stays short for appends and prepends", () => {
  let end = "a0";
  let start = "a0";
  for (let i = 0; i < 20_000; i++) {
    end = positionBetween(end, undefined);
    start = positionBetween(undefined, start);
  }
  assert.ok(end.length <= 5 && start.length <= 5);
});

Deno.test("isPosition() refuses what has no room before it", () => {
  for (const text of ["", "0", "a", "a0-", "a00", "b1", "a0V0", "é"]) {
    assert.ok(!isPosition(text), text);
  }
});
