import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { Item, Value } from "../schema/patch.ts";
import { avg, count, max, min, sum } from "./grouped_query.ts";
import { ExactSum } from "./exact_sum.ts";
import { type Task, task, taskEngine } from "./kit_test.ts";
import { compareValues } from "./value.ts";
import { Query } from "./query.ts";

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

/** The exact sum, added from the least up. */
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
        const all = new Query<Task>(engine).where({ done: { not: true } });
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
  const query = new Query<Task>(engine).aggregate(spec);
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

const extremes = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.tuple(fc.constantFrom(1, -1), fc.integer({ min: -1074, max: 1023 }))
    .map(([sign, power]) => sign * 2 ** power),
  fc.constantFrom(1e308, -1e308, Number.MAX_VALUE, -Number.MAX_VALUE),
  fc.constantFrom(2 ** 970, -(2 ** 970), 2 ** 970 - 2 ** 917, 2 ** -1074),
  fc.constantFrom(0, -0, 1, 0.1, -0.1, 1e16, -1e16),
);

/** A finite number in units of 2^-1074, found by doubling. */
function unitsOf(value: number): bigint {
  let whole = value;
  let doublings = 0;
  for (; !Number.isInteger(whole); doublings++) whole *= 2;
  return BigInt(whole) << BigInt(1074 - doublings);
}

const units = new Float64Array(1);
const bits = new BigInt64Array(units.buffer);

/** Half way from a positive number to the next one, in units of 2^-1075. */
function halfAbove(value: number): bigint {
  if (value === Number.MAX_VALUE) return (2n ** 1024n - 2n ** 970n) << 1075n;
  units[0] = value;
  bits[0]! += 1n;
  return unitsOf(value) + unitsOf(units[0]);
}

/** Whether no other number is nearer to a total in units of 2^-1074. */
function isNearest(value: number, total: bigint): boolean {
  if (total < 0n) return isNearest(-value, -total);
  if (value === Infinity) return total * 2n >= halfAbove(Number.MAX_VALUE);
  if (!(value >= 0)) return false;
  const above = halfAbove(value);
  units[0] = value;
  const isEven = bits[0]! % 2n === 0n;
  bits[0]! -= 1n;
  const below = value === 0 ? -1n : halfAbove(units[0]);
  return isEven
    ? total * 2n >= below && total * 2n <= above
    : total * 2n > below && total * 2n < above;
}

Deno.test("sum() and avg() are exact in every history, once and live", () => {
  const values = fc.option(extremes, { nil: undefined, freq: 4 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(id, values), { minLength: 1, maxLength: 60 }),
      (writes) => {
        const { source, engine } = taskEngine(true);
        const query = new Query<Task>(engine).aggregate({
          total: sum("rank"),
          mean: avg("rank"),
        });
        const live = query.subscribe(() => {});
        const ranks = new Map<string, number>();
        for (const [key, rank] of writes) {
          source.write([key, rank === undefined ? rank : task(key, { rank })]);
          if (rank === undefined) ranks.delete(key);
          else ranks.set(key, rank);
          const { total, mean } = live.rows[0]!;
          const exact = [...ranks.values()].map(unitsOf)
            .reduce((a, b) => a + b, 0n);
          ok(isNearest(total, exact), `${total} of ${[...ranks.values()]}`);
          strictEqual(mean, ranks.size === 0 ? undefined : total / ranks.size);
          deepStrictEqual({ ...query.run() }, { total, mean });
        }
      },
    ),
    { seed, numRuns: 600 },
  );
});

Deno.test("sum() comes back from an overflow", () => {
  const { source, engine } = taskEngine(true);
  const live = new Query<Task>(engine).aggregate({ total: sum("rank") })
    .subscribe(() => {});
  const totals = (["a", "b"] as const).map((key) => {
    source.write([key, task(key, { rank: 1e308 })]);
    return live.rows[0]?.total;
  });
  source.write(["a", undefined], ["b", task("b", { rank: 5 })]);
  deepStrictEqual([...totals, live.rows[0]?.total], [1e308, Infinity, 5]);
});

Deno.test("ExactSum keeps infinite numbers apart", () => {
  const total = new ExactSum();
  for (let i = 0; i < 10; i++) total.add(0.1);
  total.add(Infinity);
  strictEqual(total.value, Infinity);
  total.add(-Infinity);
  strictEqual(total.value, NaN);
  total.subtract(Infinity);
  strictEqual(total.value, -Infinity);
  total.subtract(-Infinity);
  strictEqual(total.value, 1);
});

Deno.test("live groups of a part behind an offset hear of what leaves before it", () => {
  const { source, engine } = taskEngine(false);
  const put = (id: string, author: string, rank: number): [string, Item] => [
    id,
    task(id, { author, rank }),
  ];
  source.write(put("a", "ada", 1), put("b", "ada", 2), put("c", "ada", 3));
  const query = new Query<Task>(engine).where({ author: "ada" }).orderBy("rank")
    .offset(1).groupBy("author").aggregate({ n: count(), least: min("rank") });
  const live = query.subscribe(() => {});
  for (const change of [put("a", "bob", 1), ["b", undefined]] as const) {
    source.write(change as [string, Item | undefined]);
    deepStrictEqual(live.rows, query.run());
  }
  deepStrictEqual(live.rows, []);
});
