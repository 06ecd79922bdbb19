import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { QueryEngine } from "./engine.ts";
import {
  MemorySource,
  type Task,
  task,
  taskFields,
  taskIndexes,
} from "./kit_test.ts";
import { sortByIdSteps } from "./sort_ids.ts";
import { compareText } from "./value.ts";

const count = 20_000;
const none: (() => void)[] = [];

function itemOf(n: number, rank = n * 7919 % count) {
  return task(`item-${n * 31 % count}`, { author: `a${n % 5}`, rank });
}

/** A large collection whose indexes are built when `slices` are run. */
function open(columnar: boolean) {
  const source = new MemorySource(taskFields, columnar);
  source.write(...Array.from({ length: count }, (_, n) => {
    const item = itemOf(n);
    return [item.id, item] as const;
  }));
  const slices = [...none];
  let now = 0;
  const engine = new QueryEngine(source, {
    name: "task",
    fields: taskFields,
    indexes: taskIndexes,
    later: (task) => void slices.push(task),
    world: { monotonic: () => now++ },
  });
  return { source, slices, engine };
}

for (const columnar of [true, false]) {
  Deno.test(`IndexSet builds a large index in slices while all goes on (${columnar ? "with" : "without"} columns)`, () => {
    const { source, slices, engine } = open(columnar);
    const query = engine.query<Task>().where({ author: "a1" }).orderBy("rank")
      .limit(30);
    const expected = () =>
      source.items().filter(({ author }) => author === "a1")
        .sort((a, b) =>
          Number(a["rank"]) - Number(b["rank"]) || compareText(a.id, b.id)
        )
        .slice(0, 30).map(({ id }) => id);
    const ids = () => query.run().map(({ id }) => id);
    deepStrictEqual(ids(), expected());
    strictEqual(slices.length, 0, "a first question is answered by a scan");
    ids();
    strictEqual(query.explain().index, undefined);
    let runs = 0;
    for (
      let slice = slices.shift();
      slice !== undefined;
      slice = slices.shift()
    ) {
      slice();
      const old = itemOf(runs);
      source.write(
        [old.id, itemOf(runs, -runs)],
        [itemOf(count - 1 - runs).id, undefined],
        [
          `new-${runs}`,
          task(`new-${runs}`, { author: "a1", rank: -0.5 - runs }),
        ],
      );
      if (runs++ % 4 === 0) deepStrictEqual(ids(), expected());
    }
    // One index after the other: whoever asks on gets the next one.
    for (let round = 0; round < 3; round++) {
      deepStrictEqual(ids(), expected());
      while (slices.length > 0) slices.shift()!();
    }
    ok(runs > 5, `${runs} slices`);
    deepStrictEqual(query.explain().index, ["author", "rank"]);
    deepStrictEqual(ids(), expected());
    engine.dispose();
  });
}

Deno.test("IndexSet builds at once what has been asked for too often, and nothing more when closed", () => {
  const { slices, engine } = open(true);
  const query = engine.query<Task>().where({ rank: { gte: 5, lt: 9 } });
  for (let i = 0; i < 300; i++) query.run();
  deepStrictEqual(query.explain().index, ["rank"]);
  strictEqual(slices.length, 1, "what was planned finds nothing to do");
  slices.shift()!();
  const other = engine.query<Task>().where({ when: { gte: new Date(0) } });
  for (let i = 0; i < 3; i++) other.run();
  engine.dispose();
  slices.shift()!();
  strictEqual(slices.length, 0);
});

Deno.test("sortByIdSteps() sorts as comparing does, over many runs", () => {
  const ids = Array.from({ length: 50_000 }, (_, n) => `i${n * 7919 % 50_000}`);
  const steps = sortByIdSteps(ids, (id) => id);
  let step = steps.next();
  let count = 0;
  for (; step.done !== true; step = steps.next()) count++;
  ok(count > 24, `${count} steps: a whole merge is one of them`);
  deepStrictEqual(step.value, [...ids].sort(compareText));
  deepStrictEqual(sortByIdSteps<string>([], (id) => id).next().value, []);
});
