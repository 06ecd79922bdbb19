import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { sized } from "../../tests/kit/tier.ts";
import { OrderedMap } from "./ordered_map.ts";

const byNumber = (a: number, b: number) => a - b;

function entriesOf(map: ReadonlyMap<number, string>) {
  return [...map].sort(([a], [b]) => a - b);
}

const step = fc.tuple(fc.boolean(), fc.nat(300), fc.string({ maxLength: 2 }));

Deno.test("OrderedMap does what a Map does, in order, and leaves old ones as they were", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(300), fc.string())),
      fc.array(step, { maxLength: 400 }),
      fc.nat(300),
      (begin, steps, from) => {
        let map = OrderedMap.of(byNumber, begin);
        const model = new Map(begin);
        const first = [map, entriesOf(model)] as const;
        for (const [isRemoved, key, value] of steps) {
          map = isRemoved ? map.without(key) : map.with(key, value);
          if (isRemoved) model.delete(key);
          else model.set(key, value);
          equal(map.size, model.size);
          equal(map.get(key), model.get(key));
        }
        const all = entriesOf(model);
        deepEqual([...map.entries()], all);
        deepEqual([...map.keys()], all.map(([key]) => key));
        deepEqual(
          [...map.entries(from)],
          all.filter(([key]) => key >= from),
        );
        deepEqual([...first[0].entries()], first[1]);
      },
    ),
    { seed: 11, numRuns: sized(100, 1_000) },
  );
});

Deno.test("OrderedMap compares few keys for one change of many, in whatever order they came", () => {
  let compared = 0;
  const counted = (a: number, b: number) => (compared++, a - b);
  const size = 60_000;
  const ascending = Array.from({ length: size }, (_, i) => i);
  const orders = [ascending, ascending.toReversed()];
  for (const order of orders) {
    let map = OrderedMap.of<number, number>(counted);
    for (const key of order) map = map.with(key, key);
    equal(map.size, size);
    compared = 0;
    map.with(size / 2 + 0.5, 0).without(7);
    ok(compared < 200, `${compared} comparisons`);
    for (const key of ascending) map = map.without(key);
    deepEqual([...map.entries()], []);
  }
});
