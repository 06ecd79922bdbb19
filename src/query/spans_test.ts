import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { sized } from "../../tests/kit/tier.ts";
import { everything, type Spanned, Spans } from "./spans.ts";
import { compareKeys, type Key } from "./value.ts";

const key: fc.Arbitrary<Key> = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(-Infinity, Infinity),
  fc.integer({ min: 0, max: 12 }),
);
const span = fc.record({
  low: key,
  high: fc.oneof(fc.constant(null), key),
});
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ span }) },
  fc.record({ drop: fc.nat() }),
);

Deno.test("Spans.visit() visits whom a look at all of them finds, whoever came and went", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60, size: "max" }),
      fc.array(key, { minLength: 1 }),
      (steps, keys) => {
        const spans = new Spans<number>();
        const list: Spanned<number>[] = [];
        for (const [at, one] of steps.entries()) {
          if ("span" in one) list.push(spans.add(one.span, at));
          else if (list.length > 0) {
            spans.delete(list.splice(one.drop % list.length, 1)[0]!);
          }
        }
        equal(spans.isEmpty, list.length === 0);
        const has = ({ low, high }: Spanned<number>, one: Key) =>
          compareKeys(low, one) <= 0 &&
          (high === null || compareKeys(one, high) <= 0);
        for (const one of [...keys, null]) {
          const found: number[] = [];
          spans.visit(one, (owner) => found.push(owner));
          const wanted = one === null
            ? list
            : list.filter((each) => has(each, one));
          deepEqual(
            found.sort((a, b) => a - b),
            wanted.map(({ owner }) => owner),
          );
        }
      },
    ),
    { seed: 20_261_123, numRuns: sized(500, 5_000) },
  );
});

/** A number that tells each time that it is compared. */
class Counted {
  static looks = 0;
  readonly #value: number;

  constructor(value: number) {
    this.#value = value;
  }

  valueOf(): number {
    Counted.looks++;
    return this.#value;
  }
}

for (
  const [name, lowOf] of Object.entries(
    {
      "upwards": (n) => n,
      "downwards": (n) => 20_000 - n,
      "all from one": () => 0,
      "in strides": (n) => n * 7_919 % 20_000,
    } satisfies Record<string, (n: number) => number>,
  )
) {
  Deno.test(`Spans.visit() looks at few of many that came ${name}`, () => {
    const spans = new Spans<number>();
    for (let n = 0; n < 20_000; n++) {
      const low = lowOf(n);
      spans.add({ low, high: name === "all from one" ? n : low + 1 }, n);
    }
    Counted.looks = 0;
    const probe = new Counted(19_998.5) as unknown as number;
    let found = 0;
    spans.visit(probe, () => found++);
    equal(found, 1);
    equal(Counted.looks < 300, true, `${Counted.looks} looks`);
    Counted.looks = 0;
    spans.visit(new Counted(20_001.5) as unknown as number, () => found++);
    equal(Counted.looks < 10, true, `${Counted.looks} looks`);
    spans.add(everything, -1);
    spans.visit(undefined, (owner) => found += owner);
    equal(found, 0);
  });
}
