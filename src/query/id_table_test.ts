import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { QueryEngine } from "./engine.ts";
import { IdTable } from "./id_table.ts";
import {
  MemorySource,
  type Task,
  task,
  taskFields,
  taskIndexes,
} from "./kit_test.ts";
import { compareText } from "./value.ts";

function taskOf(n: number) {
  return task(`t${n * 37 % 200}`, { author: `a${n % 3}`, rank: n });
}

function sourceOf(count: number): MemorySource {
  const source = new MemorySource(taskFields, false);
  source.write(...Array.from({ length: count }, (_, n) => {
    const item = taskOf(n);
    return [item.id, item] as const;
  }));
  return source;
}

Deno.test("an index that is built after writes knows them, though another was built before", () => {
  const source = sourceOf(200);
  const [gone, back] = [taskOf(3), taskOf(10)];
  source.write([back.id, undefined]);
  const engine = new QueryEngine(source, {
    name: "task",
    fields: taskFields,
    indexes: taskIndexes,
  });
  const byRank = engine.query<Task>().where({ rank: { gte: 2, lt: 12 } })
    .orderBy("rank");
  strictEqual(byRank.run().length, 9);
  deepStrictEqual(byRank.explain().index, ["rank"]);
  // As many items and ordinals as before: only hearing of it helps.
  source.write([gone.id, undefined], [back.id, back]);
  const byAuthor = engine.query<Task>()
    .where({ author: "a1", rank: { gte: 2, lt: 12 } }).orderBy("rank");
  const found = byAuthor.run().map(({ id }) => id);
  deepStrictEqual(byAuthor.explain().index, ["author", "rank"]);
  deepStrictEqual(found, [4, 7, 10].map((n) => taskOf(n).id));
  deepStrictEqual(
    byRank.run().map(({ id }) => id),
    [2, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => taskOf(n).id),
  );
  engine.dispose();
});

Deno.test("IdTable.order() looks at no item again while nothing changed", () => {
  const source = sourceOf(200);
  const ids = new IdTable(source);
  ids.grow(source.size);
  deepStrictEqual([...ids.order(source.size, false)], [undefined]);
  source.isLive = source.itemAt = () => {
    throw new Error("It looks at the items again");
  };
  deepStrictEqual([...ids.order(source.size, false)], []);
});

Deno.test("IdTable.order() is by id, again the same, and the caller's own", () => {
  const source = sourceOf(200);
  const ids = new IdTable(source);
  ids.grow(source.size);
  const order = () => {
    const steps = ids.order(source.size, false);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  };
  const first = order();
  const names = first.map((ordinal) => source.idAt(ordinal));
  deepStrictEqual(names, names.toSorted(compareText));
  first.reverse();
  const second = order();
  deepStrictEqual(second, first.toReversed());
  second.reverse();
  deepStrictEqual(order(), first.toReversed());
  source.write([taskOf(5).id, undefined]);
  strictEqual(order().length, 199, "another count is another order");
});
