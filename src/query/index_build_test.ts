import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { QueryEngine } from "./engine.ts";
import {
  MemorySource,
  type Task,
  task,
  taskFields,
  taskIndexes,
} from "./kit_test.ts";
import { IdTable } from "./key_table.ts";
import { OrderedIndex } from "./ordered_index.ts";
import { stepSize } from "../base/steps.ts";
import { compareText } from "./value.ts";
import { Query } from "./query.ts";

const count = 20_000;
const kinds = new Map([...taskFields, ["id", "string" as const]]);
function itemOf(n: number, rank = n * 7919 % count) {
  return task(`item-${n * 31 % count}`, { author: `a${n % 5}`, rank });
}

/** A large collection whose indexes are built when `slices` are run. */
function open(columnar: boolean, item = (n: number) => itemOf(n)) {
  const source = new MemorySource(taskFields, columnar);
  source.write(...Array.from({ length: count }, (_, n) => {
    const one = item(n);
    return [one.id, one] as const;
  }));
  const slices: (() => void)[] = [];
  let now = 0;
  const engine = new QueryEngine(source, {
    name: "task",
    fields: taskFields,
    indexes: taskIndexes,
    world: {
      monotonic: () => now++,
      after(_, task) {
        slices.push(task);
        return () => void slices.splice(slices.indexOf(task), 1);
      },
    },
  });
  return { source, slices, engine, pass: (ms: number) => now += ms };
}

for (const columnar of [true, false]) {
  Deno.test(`IndexSet builds a large index in slices while all goes on (${columnar ? "with" : "without"} columns)`, () => {
    const { source, slices, engine } = open(columnar);
    const query = new Query<Task>(engine).where({ author: "a1" }).orderBy(
      "rank",
    )
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

Deno.test("IndexSet takes the ids of what ties in their source's order", () => {
  const { source, engine, pass } = open(
    true,
    (n) => task(itemOf(n).id, { author: `a${n % 1_000}` }),
  );
  const query = new Query<Task>(engine).where({ author: "a1" });
  let [last, back] = [-1, 0];
  const { idAt } = source;
  source.idAt = (ordinal) => {
    if (ordinal < last) back++;
    last = ordinal;
    return idAt.call(source, ordinal);
  };
  while (query.explain().index === undefined) {
    query.run();
    pass(1);
  }
  ok(last > 0, "ids were asked for");
  ok(back < count / 64, `${back} times an id before the last one`);
  engine.dispose();
});

Deno.test("IndexSet has who asks run slices where the thread is never free", () => {
  const { engine, pass, slices } = open(true);
  const query = new Query<Task>(engine).where({ rank: { gte: 5, lt: 9 } });
  let asked = 0;
  while (query.explain().index === undefined) {
    query.run();
    pass(1);
    ok(++asked < 2_000);
  }
  ok(asked > 10, `${asked}`);
  strictEqual(slices.length, 0, "nothing is left to do");
  engine.dispose();
});

Deno.test("IndexSet builds nothing more, and leaves no timer, when closed", () => {
  const { engine, slices } = open(true);
  const query = new Query<Task>(engine).where({ rank: { gte: 5, lt: 9 } });
  for (let i = 0; i < 3; i++) query.run();
  strictEqual(slices.length, 1);
  engine.dispose();
  strictEqual(slices.length, 0);
});

Deno.test("IndexSet leaves it to scans to tell of what cannot be read", () => {
  const { source, engine, slices } = open(false);
  const query = new Query<Task>(engine).where({ rank: { gte: 5, lt: 9 } });
  const expected = query.run();
  const { itemAt, items } = source;
  source.itemAt = source.items = () => {
    throw new Error("damaged");
  };
  throws(() => query.run(), /damaged/);
  while (slices.length > 0) slices.shift()!();
  Object.assign(source, { itemAt, items });
  deepStrictEqual(query.run(), expected);
  strictEqual(query.explain().index, undefined);
  engine.dispose();
});

for (
  const fields of [["author", "done"], ["done"], ["rank"], ["title"], ["id"]]
) {
  Deno.test(`OrderedIndex.build() on ${fields} looks at few ids and items a step, and as often at each of many`, () => {
    const looks = [20_000, 80_000].map((size) => {
      const source = new MemorySource(taskFields, fields[0] !== "title");
      source.write(...Array.from({ length: size }, (_, n) => {
        const id = `item-${n * 7919 % size}`;
        return [
          id,
          task(id, {
            author: `a${n % 5}`,
            done: n % 3 === 0,
            rank: n >> 3,
            title: `https://example.com/${n % 7}/${n % 1_000}`,
          }),
        ] as const;
      }));
      let looks = 0;
      for (const name of ["idAt", "isLive", "itemAt"] as const) {
        const look = source[name].bind(source);
        Object.assign(source, { [name]: (at: number) => (looks++, look(at)) });
      }
      const index = new OrderedIndex(
        fields,
        kinds,
        source,
        new IdTable(source),
      );
      let [total, steps] = [0, 0];
      for (const _ of index.build()) {
        ok(looks <= 2 * stepSize, `${looks} in one step`);
        total += looks;
        looks = 0;
        steps++;
      }
      strictEqual(index.count, size);
      return { total, steps };
    });
    const [few, many] = looks as [typeof looks[0], typeof looks[0]];
    const ratio = many!.total / few!.total;
    ok(ratio < 6, `${few!.total} looks, ${many!.total}`);
    ok(many!.steps > 3 * few!.steps, `${few!.steps} steps, ${many!.steps}`);
  });
}
