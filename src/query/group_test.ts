import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { Item, Value } from "../schema/patch.ts";
import { avg, count, max, min, sum } from "./aggregates.ts";
import { ExactSum } from "./exact_sum.ts";
import { type Task, task, taskEngine } from "./kit_test.ts";
import { compareValues } from "./value.ts";

const seed = 11;
const amount = fc.constantFrom(0, -0, 1, 2.5, -7, 1e16, 1, -1e16, 0.1, 1e-20);
const id = fc.integer({ min: 0, max: 20 }).map((n) => `i${n}`);
const fields = fc.record({
  author: fc.option(fc.constantFrom("ada", "bob", "", "1"), { nil: undefined }),
  done: fc.option(fc.boolean(), { nil: undefined }),
  rank: fc.option(amount, { nil: undefined }),
  when: fc.option(fc.constantFrom(0, 5, 9).map((ms) => new Date(ms)), {
    nil: undefined,
  }),
});
const steps = fc.array(
  fc.array(fc.tuple(id, fc.option(fields, { nil: undefined, freq: 4 })), {
    minLength: 1,
    maxLength: 8,
  }),
  { minLength: 1, maxLength: 10 },
);

/** The exact sum in integers of 2^-1074, rounded by going through text. */
function exactSum(values: readonly number[]): number {
  const sum = new ExactSum();
  for (const value of [...values].sort((a, b) => a - b)) sum.add(value);
  return sum.value;
}

function naiveGroups(items: readonly Item[], by: readonly string[]): unknown[] {
  const groups: { values: Value[]; items: Item[] }[] = [];
  for (const item of items) {
    const values = by.map((field) => item[field] === 0 ? 0 : item[field]);
    const same = groups.find((group) =>
      group.values.every((v, at) => compareValues(v, values[at]) === 0)
    );
    if (same === undefined) groups.push({ values, items: [item] });
    else same.items.push(item);
  }
  groups.sort((a, b) => {
    const differences = a.values.map((v, at) => compareValues(v, b.values[at]));
    return differences.find((found) => found !== 0) ?? 0;
  });
  return groups.map((group) => {
    const ranks = group.items.map((item) => item["rank"])
      .filter((rank) => typeof rank === "number").sort((a, b) => a - b);
    const whens = group.items.map((item) => item["when"])
      .filter((when) => when instanceof Date).sort(compareValues);
    const total = exactSum(ranks);
    return {
      ...Object.fromEntries(by.map((field, at) => [field, group.values[at]])),
      n: group.items.length,
      total,
      mean: ranks.length === 0 ? undefined : total / ranks.length,
      least: ranks[0] === 0 ? 0 : ranks[0],
      last: whens.at(-1),
    };
  });
}

const spec = {
  n: count(),
  total: sum("rank"),
  mean: avg("rank"),
  least: min("rank"),
  last: max("when"),
} as const;

Deno.test("groupBy().aggregate() equals grouping by hand, once and live", () => {
  fc.assert(
    fc.property(
      steps,
      fc.subarray(["author", "done", "when"] as const, { minLength: 1 }),
      fc.constantFrom(Infinity, 3),
      (writes, by, limit) => {
        const { source, engine } = taskEngine(false);
        const all = engine.query<Task>().where({ done: { not: true } });
        const base = limit === Infinity
          ? all
          : all.orderBy("rank").limit(limit);
        const query = base.groupBy(...by).aggregate(spec);
        const changes: unknown[] = [];
        const live = query.subscribe((change) => {
          changes.push(change.rows);
        });
        for (const step of writes) {
          const before = live.getSnapshot();
          source.write(
            ...new Map(step.map(([key, values]) => [
              key,
              values && task(key, values),
            ])),
          );
          const naive = naiveGroups(base.run(), by);
          deepStrictEqual(query.run().map((row) => ({ ...row })), naive);
          deepStrictEqual(live.rows.map((row) => ({ ...row })), naive);
          const told = changes.splice(0);
          strictEqual(told.length, live.getSnapshot() === before ? 0 : 1);
        }
        live.dispose();
        strictEqual(engine.followers, 0);
      },
    ),
    { seed, numRuns: 400 },
  );
});

Deno.test("aggregate() over all gives one row, of no items too", async () => {
  const { source, engine } = taskEngine(true);
  const query = engine.query<Task>().aggregate(spec);
  deepStrictEqual({ ...await query }, {
    n: 0,
    total: 0,
    mean: undefined,
    least: undefined,
    last: undefined,
  });
  const live = query.subscribe(() => {});
  source.write(["a", task("a", { rank: 2 })], ["b", task("b", { rank: 4 })]);
  strictEqual(query.run().mean, 3);
  strictEqual(live.rows[0]?.total, 6);
  ok(Object.isFrozen(query.run()));
});

Deno.test("ExactSum does not depend on order and can take numbers away", () => {
  const number = fc.double({ noNaN: true, min: -1e300, max: 1e300 });
  fc.assert(
    fc.property(fc.array(number, { maxLength: 30 }), (values) => {
      const up = new ExactSum();
      const down = new ExactSum();
      for (const value of values) up.add(value);
      for (const value of values.toReversed()) down.add(value);
      strictEqual(up.value, down.value);
      for (const value of values) up.subtract(value);
      strictEqual(up.value, 0);
    }),
    { seed },
  );
  const tenth = new ExactSum();
  for (let i = 0; i < 10; i++) tenth.add(0.1);
  strictEqual(tenth.value, 1);
  for (const value of [1e16, 1, -1e16]) tenth.add(value);
  strictEqual(tenth.value, 2);
  tenth.add(Infinity);
  strictEqual(tenth.value, Infinity);
  tenth.subtract(Infinity);
  strictEqual(tenth.value, 2);
});
