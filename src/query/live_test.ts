import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { Item } from "../schema/patch.ts";
import { QueryEngine } from "./engine.ts";
import {
  MemorySource,
  type Task,
  task,
  taskEngine,
  taskFields,
} from "./kit_test.ts";
import type { LiveChange } from "./live.ts";
import { Query } from "./query.ts";

function ranked(count: number, columnar = false) {
  const made = taskEngine(columnar);
  made.source.write(
    ...Array.from({ length: count }, (_, n) => {
      const id = `i${String(n).padStart(4, "0")}`;
      return [id, task(id, { rank: n })] as const;
    }),
  );
  return made;
}

/** Counts how many items are looked at. */
class CountedSource extends MemorySource {
  looks = 0;

  override itemAt(ordinal: number) {
    this.looks++;
    return super.itemAt(ordinal);
  }

  override items() {
    this.looks += this.count;
    return super.items();
  }

  override column(field: string) {
    this.looks += this.size;
    return super.column(field);
  }
}

Deno.test("Live looks at what a transaction changed, however many items there are", () => {
  const looksAmong = (count: number, columnar: boolean) => {
    const source = new CountedSource(taskFields, columnar);
    const engine = new QueryEngine(source, {
      name: "task",
      fields: taskFields,
      indexes: [],
    });
    const idOf = (n: number) => `i${String(n).padStart(5, "0")}`;
    source.write(
      ...Array.from({ length: count }, (_, n) => {
        const fields = { rank: n, done: n % 2 === 0 };
        return [idOf(n), task(idOf(n), fields)] as const;
      }),
    );
    const all = new Query<Task>(engine);
    const open = all.where({ done: false }).orderBy("rank");
    const heard: number[] = [];
    const follow = (rows: { readonly length: number }) =>
      heard.push(rows.length);
    open.subscribe(({ rows }) => follow(rows));
    open.limit(10).subscribe(({ rows }) => follow(rows));
    all.where(({ rank }) => rank === 7).subscribe(({ rows }) => follow(rows));
    source.looks = 0;
    source.write(["x", task("x", { rank: 7, done: false })]);
    source.write([idOf(2), task(idOf(2), { rank: 2, done: false })]);
    source.write(["x", task("x", { rank: 8, done: false })]);
    source.write(["x", undefined]);
    return { looks: source.looks, told: heard.length };
  };
  for (const columnar of [false, true]) {
    const few = looksAmong(100, columnar);
    deepStrictEqual(looksAmong(10_000, columnar), few);
    ok(few.told >= 9 && few.looks < 100, `${few.looks} items were looked at`);
  }
});

Deno.test("Query.subscribe() keeps the identity of rows and snapshot", () => {
  const { source, engine } = ranked(5);
  const live = new Query<Task>(engine).where({ rank: { lt: 3 } }).subscribe(
    () => {},
  );
  const before = live.getSnapshot();
  ok(Object.isFrozen(before));
  source.write(["x", task("x", { rank: 9 })]);
  strictEqual(live.getSnapshot(), before);
  source.write(["y", task("y", { rank: 1 })]);
  ok(live.getSnapshot() !== before);
  strictEqual(live.rows[0], before[0]);
  live.dispose();
});

Deno.test("Query.subscribe() tells a callback that throws without harm to others", () => {
  const errors: unknown[] = [];
  const { source, engine } = taskEngine(false, {
    onError: (error) => errors.push(error),
  });
  const all = new Query<Task>(engine);
  const told: string[] = [];
  all.subscribe(() => {
    throw new Error("mine");
  });
  all.subscribe(() => told.push("second"));
  source.write(["a", task("a")]);
  deepStrictEqual(told, ["second"]);
  strictEqual(errors.length, 1);
});

Deno.test("Query.subscribe() reports a function in where that throws, and goes on", () => {
  const errors: unknown[] = [];
  const { source, engine } = taskEngine(false, {
    onError: (error) => errors.push(error),
  });
  const live = new Query<Task>(engine).where((row) => {
    if (row.rank === 13) throw new Error("unlucky");
    return true;
  }).subscribe(() => {});
  source.write(["a", task("a", { rank: 1 })], ["b", task("b", { rank: 13 })]);
  deepStrictEqual(live.rows.map((row) => row.id), ["a"]);
  strictEqual(errors.length, 1);
});

Deno.test("Query.subscribe() delivers a write made in a callback afterwards", () => {
  const { source, engine } = taskEngine(false);
  const all = new Query<Task>(engine);
  const told: string[] = [];
  const first = all.subscribe((change) => {
    told.push(`first ${change.rows.length}`);
    if (change.rows.length === 1) {
      source.write(["b", task("b")]);
      strictEqual(first.getSnapshot().length, 2);
      strictEqual(all.count(), 2);
    }
  });
  all.subscribe((change) => told.push(`second ${change.rows.length}`));
  source.write(["a", task("a")]);
  deepStrictEqual(told, ["first 1", "second 1", "first 2", "second 2"]);
});

Deno.test("Live ends on abort and on disposal and leaves nothing behind", async () => {
  const { source, engine } = ranked(3);
  const all = new Query<Task>(engine);
  const controller = new AbortController();
  all.subscribe(() => {}, { signal: controller.signal });
  const reading = (async () => {
    const lengths: number[] = [];
    for await (const rows of all.live({ signal: controller.signal })) {
      lengths.push(rows.length);
    }
    return lengths;
  })();
  strictEqual(engine.followers, 1); // They ask the same.
  await Promise.resolve();
  source.write(["x", task("x")]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  controller.abort();
  strictEqual(engine.followers, 0);
  deepStrictEqual(await reading, [3, 4]);
  for await (const _ of all.live()) break;
  strictEqual(engine.followers, 0);
  for await (const _ of all.live({ signal: AbortSignal.abort() })) {
    throw new Error("must not give anything");
  }
  {
    using live = all.subscribe(() => {});
    strictEqual(live.rows.length, 4);
  }
  strictEqual(engine.followers, 0);
});

Deno.test("Query.live() gives a slow reader the latest rows only", async () => {
  const { source, engine } = ranked(0);
  const reader = new Query<Task>(engine).live()[Symbol.asyncIterator]();
  strictEqual((await reader.next()).value?.length, 0);
  for (let n = 0; n < 50; n++) source.write([`i${n}`, task(`i${n}`)]);
  strictEqual((await reader.next()).value?.length, 50);
  const waiting = reader.next();
  source.write(["last", task("last")]);
  strictEqual((await waiting).value?.length, 51);
  const never = reader.next();
  engine.dispose();
  strictEqual((await never).done, true);
});

Deno.test("QueryEngine.dispose() ends live results and refuses queries", () => {
  const { source, engine } = ranked(2);
  const all = new Query<Task>(engine);
  let ended = 0;
  all.subscribe(() => {}).onEnd(() => ended++);
  engine.dispose();
  strictEqual(ended, 1);
  strictEqual(source.listeners, 0);
  throws(() => all.run(), { code: "closed" });
  throws(() => all.subscribe(() => {}), { code: "closed" });
});

Deno.test("Live refills a limited window that runs dry and stays exact", () => {
  const { source, engine } = ranked(500);
  const changes: LiveChange<Task>[] = [];
  const query = new Query<Task>(engine).orderBy("rank").limit(5);
  const live = query.subscribe((change) => changes.push(change));
  for (let n = 0; n < 480; n++) {
    source.write([`i${String(n).padStart(4, "0")}`, undefined]);
    deepStrictEqual(live.rows, query.run());
  }
  strictEqual(changes.length, 480);
  for (const { added, removed } of changes) {
    strictEqual(added.length, 1);
    strictEqual(removed.length, 1);
  }
});

for (const direction of ["asc", "desc"] as const) {
  Deno.test(`Live hears as far as a window reaches that was filled again: ${direction}`, () => {
    const { source, engine } = ranked(300);
    const query = new Query<Task>(engine).orderBy("rank", direction).limit(5);
    const live = query.subscribe(() => {});
    const sign = direction === "asc" ? 1 : -1;
    for (let n = 0; n < 250; n++) {
      const [first] = query.run();
      source.write([first!.id, undefined]);
      const rank = first!.rank! + sign * 12.5;
      if (n % 3 === 0) source.write([`x${n}`, task(`x${n}`, { rank })]);
      deepStrictEqual(live.rows, query.run());
    }
  });
}

Deno.test("Live shows what comes next when much of a window leaves behind its end", () => {
  const { source, engine } = ranked(500);
  const query = new Query<Task>(engine).orderBy("rank").limit(40);
  const live = query.subscribe(() => {});
  const moved = query.run().slice(0, 10);
  source.write(
    ...moved.map(({ id }) => [id, task(id, { rank: 1_000 })] as const),
  );
  deepStrictEqual(live.rows, query.run());
  for (const { id } of query.run().slice(0, 8)) {
    source.write([id, undefined]);
    deepStrictEqual(live.rows, query.run());
  }
});

function related() {
  const users = new MemorySource(new Map([["name", "string"]]), false);
  const userEngine = new QueryEngine(users, {
    name: "user",
    fields: new Map([["name", "string"]]),
    indexes: [],
  });
  const made = taskEngine(false, {
    refs: new Map([["author", "user"]]),
    related: (name) => name === "user" ? userEngine : undefined,
  });
  const user = (id: string, name: string): [string, Item] => [
    id,
    Object.freeze({ id, name }),
  ];
  return { ...made, users, user, userEngine };
}

Deno.test("Query.include() puts related items in place of their ids", () => {
  const { source, engine, users, user } = related();
  users.write(user("u1", "Ada"));
  source.write(
    ["a", task("a", { author: "u1" })],
    ["b", task("b", { author: "gone" })],
    ["c", task("c")],
  );
  const query = new Query<Task>(engine).include({ author: true }).orderBy(
    "author",
  );
  const rows = query.run();
  deepStrictEqual(rows.map((row) => row.author?.["name"]), [
    undefined,
    undefined,
    "Ada",
  ]);
  ok(rows.every(Object.isFrozen));
  deepStrictEqual(query.after(rows[1]!).run().map((row) => row.id), ["a"]);
});

Deno.test("Live rows follow what they include, once per change", () => {
  const { source, engine, users, user, userEngine } = related();
  users.write(user("u1", "Ada"), user("u2", "Bob"));
  source.write(
    ["a", task("a", { author: "u1" })],
    ["b", task("b", { author: "u2" })],
  );
  const changes: number[][] = [];
  const live = new Query<Task>(engine).include({ author: true }).subscribe(
    (change) => changes.push(change.changed.map((row) => row.index)),
  );
  const untouched = live.rows[0];
  users.write(user("u2", "Barbara"));
  strictEqual(live.rows[1]?.author?.["name"], "Barbara");
  strictEqual(live.rows[0], untouched);
  users.write(user("u3", "Cyd"));
  users.write(["u1", undefined]);
  strictEqual(live.rows[0]?.author, undefined);
  source.write(["a", task("a", { author: "u3" })]);
  strictEqual(live.rows[0]?.author?.["name"], "Cyd");
  deepStrictEqual(changes, [[1], [0], [0]]);
  live.dispose();
  strictEqual(userEngine.followers + engine.followers, 0);
});

Deno.test("Live survives a function that throws while its window is refilled", () => {
  const errors: unknown[] = [];
  const { source, engine } = taskEngine(false, {
    onError: (error) => errors.push(error),
  });
  let isUnlucky = false;
  const live = new Query<Task>(engine).where((row) => {
    if (isUnlucky && row.rank === 40) throw new Error("unlucky");
    return true;
  }).orderBy("rank").limit(2).subscribe(() => {});
  const id = (n: number) => `i${n}`;
  for (let n = 0; n < 60; n++) {
    source.write([id(n), task(id(n), { rank: n })]);
  }
  isUnlucky = true;
  for (let n = 0; n < 39; n++) source.write([id(n), undefined]);
  deepStrictEqual(live.rows.map((row) => row.rank), [39, 41]);
  ok(errors.length > 0);
});

Deno.test("QueryEngine is right when news of a write comes after that of a later one", () => {
  const source = new MemorySource(taskFields, false);
  let isFirst = true;
  source.subscribe(() => {
    if (!isFirst) return;
    isFirst = false;
    source.write(["a", task("a", { rank: 5 })], ["b", undefined]);
  });
  const engine = new QueryEngine(source, {
    name: "task",
    fields: taskFields,
    indexes: [["rank"]],
  });
  const query = new Query<Task>(engine).orderBy("rank").limit(5);
  const changes: LiveChange<Task>[] = [];
  const live = query.subscribe((change) => changes.push(change));
  source.write(
    ["a", task("a", { rank: 1 })],
    ["b", task("b", { rank: 2 })],
    ["c", task("c", { rank: 3 })],
  );
  deepStrictEqual(query.run().map((row) => row.id), ["c", "a"]);
  deepStrictEqual(live.rows, query.run());
  strictEqual(changes.length, 2);
  deepStrictEqual(changes[1]?.added.map(({ row }) => row.id), ["c"]);
});
