import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { QueryEngine } from "./engine.ts";
import {
  MemorySource,
  type Task,
  task,
  taskFields,
  taskIndexes,
} from "./kit_test.ts";
import { Query } from "./query.ts";

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
  const byRank = new Query<Task>(engine).where({ rank: { gte: 2, lt: 12 } })
    .orderBy("rank");
  strictEqual(byRank.run().length, 9);
  deepStrictEqual(byRank.explain().index, ["rank"]);
  // As many items and ordinals as before: only hearing of it helps.
  source.write([gone.id, undefined], [back.id, back]);
  const byAuthor = new Query<Task>(engine)
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
