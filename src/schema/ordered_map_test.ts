import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { sized } from "../../tests/kit/tier.ts";
import { OrderedMap } from "./ordered_map.ts";

const byNumber = (a: number, b: number) => a - b;

function entriesOf(map: ReadonlyMap<number, string>) {
  return [...map].sort(([a], [b]) => a - b);
}

const step = fc.tuple(
  fc.constantFrom("with", "with", "with", "without", "range", "all"),
  fc.nat(300),
  fc.string({ maxLength: 2 }),
  fc.array(fc.tuple(fc.nat(300), fc.option(fc.string(), { nil: undefined }))),
);

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
        for (const [what, key, value, changes] of steps) {
          if (what === "with") {
            map = map.with(key, value);
            model.set(key, value);
          } else if (what === "all") {
            map = map.withAll(changes);
            for (const [key, value] of changes) {
              if (value === undefined) model.delete(key);
              else model.set(key, value);
            }
          } else {
            const last = what === "range" ? key + 40 : key;
            map = last > key ? map.withoutRange(key, last) : map.without(key);
            for (let i = key; i <= last; i++) model.delete(i);
          }
          equal(map.size, model.size);
          equal(map.get(key), model.get(key));
          const floor = Math.max(...[...model.keys()].filter((i) => i <= key));
          deepEqual(
            map.floor(key),
            floor < 0 ? undefined : [floor, model.get(floor)],
          );
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
    compared = 0;
    equal(map.withoutRange(10, size - 11).size, 20);
    ok(compared < 200, `${compared} comparisons of a range`);
    for (const key of ascending) map = map.without(key);
    deepEqual([...map.entries()], []);
  }
});

Deno.test("OrderedMap makes few nodes for many changes at once, and none for no change", () => {
  let compared = 0;
  const counted = (a: number, b: number) => (compared++, a - b);
  const changes = Array.from({ length: 60_000 }, (_, i) => [i, i] as const);
  const map = OrderedMap.of(counted, changes);
  ok(compared < 2 * changes.length, `${compared} comparisons`);
  const nodesOf = ({ root }: typeof map) => {
    const nodes = new Set([root]);
    for (const { children = [] } of nodes) {
      children.forEach((n) => nodes.add(n));
    }
    return nodes;
  };
  const before = nodesOf(map);
  ok(before.size < changes.length / 20, `${before.size} nodes`);
  const near = changes.slice(30_000, 30_500);
  for (const value of [-1, undefined]) {
    const after = map.withAll(near.map(([key]) => [key, value]));
    const made = [...nodesOf(after)].filter((node) => !before.has(node));
    ok(made.length < 50, `${made.length} nodes`);
  }
  equal(map.withAll([[-1, undefined], [0.5, undefined]]), map);
  equal(map.without(70_000), map);
  deepEqual([...map.withAll(changes.map(([key]) => [key, undefined]))], []);
});

Deno.test("OrderedMap weighs what is in it, where values have weights", () => {
  const byWeight = OrderedMap.of(byNumber, [], (weight: number) => weight);
  let map = byWeight;
  for (let i = 1; i <= 1_000; i++) map = map.with(i, i);
  equal(map.size, 500_500);
  equal(map.with(1_000, 1).without(1).size, 499_500);
  equal(map.withoutRange(101, 2_000).size, 5_050);
});
