import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type Task, task, taskEngine } from "./kit_test.ts";
import { Query } from "./query.ts";

function ids(rows: Iterable<{ readonly id: string }>): string[] {
  return Array.from(rows, (row) => row.id);
}

/** The ids of rows that come in no promised order. */
function found(rows: Iterable<{ readonly id: string }>): string[] {
  return ids(rows).sort();
}

for (const columnar of [true, false]) {
  const { source, engine } = taskEngine(columnar);
  source.write(
    ["c", task("c", { author: "ada", rank: 3, done: false, title: "Ship" })],
    ["a", task("a", { author: "bob", rank: 1, done: true, title: "Shop" })],
    ["b", task("b", { author: "ada", rank: 1, done: true, title: "Sheaf" })],
    ["d", task("d", { author: undefined, rank: 2, title: "Other" })],
  );
  const all = new Query<Task>(engine);
  const kind = columnar ? "with columns" : "without columns";

  Deno.test(`Query gives rows by conditions, order and limit ${kind}`, () => {
    deepStrictEqual(found(all), ["a", "b", "c", "d"]);
    deepStrictEqual(found(all.where({ author: "ada" })), ["b", "c"]);
    deepStrictEqual(found(all.where({ author: undefined })), ["d"]);
    deepStrictEqual(found(all.where({ author: { not: "ada" } })), ["a", "d"]);
    deepStrictEqual(found(all.where({ rank: { gte: 2 } })), ["c", "d"]);
    deepStrictEqual(found(all.where({ title: { prefix: "Sh" } })), [
      "a",
      "b",
      "c",
    ]);
    deepStrictEqual(ids(all.orderBy("rank")), ["a", "b", "d", "c"]);
    deepStrictEqual(ids(all.orderBy("rank", "desc")), ["c", "d", "a", "b"]);
    deepStrictEqual(ids(all.orderBy("rank").limit(2).offset(1)), ["b", "d"]);
    deepStrictEqual(found(all.where({ id: { in: ["d", "a", "x"] } })), [
      "a",
      "d",
    ]);
    deepStrictEqual(found(all.where((row) => row.rank === 1)), ["a", "b"]);
    deepStrictEqual(
      found(all.where({ or: [{ author: "bob" }, { rank: 3 }] })),
      ["a", "c"],
    );
    deepStrictEqual(ids(all.orderBy("id")), ["a", "b", "c", "d"]);
    deepStrictEqual(ids(all.limit(3)), ["a", "b", "c"]);
    strictEqual(all.where({ author: "ada" }).count(), 2);
    strictEqual(all.where({ author: "ada" }).limit(1).count(), 1);
    strictEqual(all.orderBy("rank", "desc").first()?.id, "c");
  });
}
