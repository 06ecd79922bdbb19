import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { lateIndexes } from "./late_indexes.ts";
import { indexes } from "./indexes.ts";
import { type Task, task, taskEngine } from "./kit_test.ts";
import { Query } from "./query.ts";

function filled(columnar: boolean, count = 1_000) {
  const hints: string[] = [];
  let now = 0;
  const made = taskEngine(columnar, {
    indexes: [["author", "done"], ["author", "rank"], ["rank"]],
    onSlow: (message) => hints.push(message),
    world: { monotonic: () => now += 20 },
  });
  made.source.write(
    ...Array.from({ length: count }, (_, n) => {
      const id = `i${n}`;
      const fields = {
        author: `user${n % 100}`,
        rank: n % 50,
        done: n % 2 === 0,
        title: `t${n % 10}`,
      };
      return [id, task(id, fields)] as const;
    }),
  );
  return { ...made, hints, all: new Query<Task>(made.engine) };
}

Deno.test("Query.explain() names the index and the entries it read", () => {
  const { all } = filled(false);
  const told = all.where({ author: "user7" }).explain();
  deepStrictEqual(told.index?.[0], "author");
  strictEqual(told.rowsScanned, 10);
  strictEqual(told.rowsReturned, 10);
  deepStrictEqual(told.conditions, ['author = "user7"']);
  match(told.plan, /^index author/);
  strictEqual(told.hint, undefined);
});

Deno.test("a query is answered by a scan until what indexes take is loaded", () => {
  lateIndexes.provide(undefined);
  const { all } = filled(false, 2_000);
  const query = all.where({ author: "user7" }).orderBy("rank");
  const told = query.explain();
  deepStrictEqual([told.index, told.rowsReturned], [undefined, 20]);
  const rows = query.run();
  lateIndexes.provide(indexes);
  deepStrictEqual(query.explain().index?.[0], "author");
  deepStrictEqual(query.run(), rows);
});

Deno.test("Query.explain() shows that order and limit stop early", () => {
  const { all } = filled(false);
  const query = all.where({ author: "user7" }).orderBy("rank", "desc").limit(3);
  const told = query.explain();
  deepStrictEqual(told.index, ["author", "rank"]);
  strictEqual(told.rowsScanned, 3);
  const some = all.where({ done: true }).orderBy("rank", "desc").limit(3)
    .explain();
  deepStrictEqual(some.index, ["rank"]);
  ok(some.rowsScanned < 50);
});

Deno.test("Query.after() goes on in an index from where the row stands, either way", () => {
  const { all } = filled(false);
  const rows = all.where({ author: "user7" }).run();
  strictEqual(rows.length, 10);
  for (const way of ["asc", "desc"] as const) {
    const ordered = all.where({ author: "user7" }).orderBy("rank", way);
    const ids = ordered.run().map(({ id }) => id);
    const page = ordered.limit(3).after(ordered.run()[3]!);
    deepStrictEqual(page.run().map(({ id }) => id), ids.slice(4, 7));
    deepStrictEqual(page.explain().index, ["author", "rank"]);
    ok(page.explain().rowsScanned <= 10);
  }
});

Deno.test("Query.explain() says when an ordered index was read in vain", () => {
  const { all } = filled(false);
  const told = all.where({ title: "none" }).orderBy("rank").limit(3).explain();
  match(told.plan, /^scan/);
  strictEqual(told.rowsScanned, 1_000 + 63 + 1);
});

for (const columnar of [true, false]) {
  Deno.test(`Query.explain() tells a scan ${columnar ? "of columns" : "of items"} and the index that would help`, () => {
    const { all } = filled(columnar);
    const told = all.where({ title: "t3" }).explain();
    strictEqual(told.rowsScanned, 1_000);
    strictEqual(told.rowsReturned, 100);
    strictEqual(
      told.hint,
      "an index on [title] would read 100 rows instead of 1000",
    );
    match(told.plan, columnar ? /columns/ : /items/);
  });
}

Deno.test("Query.explain() looks ids up", () => {
  const { all } = filled(false);
  const told = all.where({ id: { in: ["i1", "i2", "none"] } }).explain();
  strictEqual(told.plan, "id lookup");
  strictEqual(told.rowsScanned, 3);
  strictEqual(told.rowsReturned, 2);
});

Deno.test("Ranges of ids and pages in their order read no more than they give", () => {
  const { all, source } = filled(false);
  const ids = Array.from({ length: 1_000 }, (_, n) => `i${n}`).sort();
  const from = all.where({ id: { gte: "i5" } });
  const range = from.orderBy("id").limit(7);
  const at = ids.findIndex((id) => id >= "i5");
  deepStrictEqual(range.run().map(({ id }) => id), ids.slice(at, at + 7));
  strictEqual(range.explain().rowsScanned, 7);
  match(range.explain().plan, /^index id, in order up/);
  const same = from.limit(7).explain();
  deepStrictEqual([same.index, same.rowsScanned], [["id"], 7]);

  const down = from.orderBy("id", "desc").limit(3);
  const last = ids.toReversed();
  deepStrictEqual(down.run().map(({ id }) => id), last.slice(0, 3));
  deepStrictEqual(
    down.after(down.run()[2]!).run().map(({ id }) => id),
    last.slice(3, 6),
  );
  strictEqual(down.explain().rowsScanned, 3);

  const begun = all.where({ id: { prefix: "i99" } });
  deepStrictEqual(begun.run().length, 11);
  strictEqual(begun.explain().rowsScanned, 11);

  const page = all.limit(4).after(all.limit(4).run()[3]!);
  deepStrictEqual(page.run().map(({ id }) => id), ids.slice(4, 8));
  strictEqual(page.explain().rowsScanned, 4);
  source.write(["i5", undefined], ["i5a", task("i5a")]);
  deepStrictEqual(range.run().slice(0, 2).map(({ id }) => id), ["i50", "i500"]);
  deepStrictEqual(
    all.where({ id: { gt: "i599", lt: "i6" } }).run().map(({ id }) => id),
    ["i5a"],
  );
});

Deno.test("QueryEngine hints once at the index that a slow query lacks", () => {
  const { all, hints } = filled(false);
  all.where({ title: "t3" }).run();
  all.where({ title: "t4" }).run();
  strictEqual(hints.length, 1);
  match(hints[0]!, /an index on \[title\] would help/);
});

Deno.test("Query.explain() shows values as they were written", () => {
  const { all } = filled(false, 3);
  const told = all.where({
    done: false,
    when: { gte: new Date(0) },
    blob: new Uint8Array(3),
    rank: { gt: 1, lte: 5 },
  }).explain();
  deepStrictEqual(told.conditions, [
    "done = false",
    "when >= 1970-01-01T00:00:00.000Z",
    "blob = 3 bytes",
    "rank > 1 and rank <= 5",
  ]);
});
