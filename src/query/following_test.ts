import { deepEqual, equal, notEqual, ok, throws } from "node:assert/strict";
import { count } from "./grouped_query.ts";
import type { QueryEngine } from "./engine.ts";
import { type MemorySource, type Task, task, taskEngine } from "./kit_test.ts";
import type { LiveChange } from "./live.ts";
import { Query } from "./query.ts";

/** Counts looks at items: each live result looks at what it is told of. */
function looksAt(source: MemorySource): () => number {
  let looks = 0;
  const itemAt = source.itemAt.bind(source);
  source.itemAt = (ordinal) => (looks++, itemAt(ordinal));
  return () => looks;
}

const shapes: Record<string, (all: Query<Task>) => Query<Task>> = {
  "a range": (all) => all.where({ rank: { gte: 3 } }),
  "a window": (all) => all.where({ done: false }).orderBy("rank").limit(5),
  "a function": (all) => all.where(isOpen),
};

function isOpen({ done }: Task): boolean {
  return done === false;
}

for (const [name, ask] of Object.entries(shapes)) {
  Deno.test(`equal subscriptions are worked out once: ${name}`, () => {
    const looksOf = (subscribers: number) => {
      const { source, engine } = taskEngine(false);
      const told: number[] = [];
      for (let n = 0; n < subscribers; n++) {
        ask(new Query<Task>(engine)).subscribe(() => told.push(n));
      }
      equal(engine.followers, 1);
      const looks = looksAt(source);
      source.write(["a", task("a", { rank: 4, done: false })]);
      source.write(["a", task("a", { rank: 5, done: false })]);
      const each = Array.from({ length: subscribers }, (_, n) => n);
      deepEqual(told, [...each, ...each]);
      return looks();
    };
    equal(looksOf(1_000), looksOf(1));
  });
}

Deno.test("equal subscriptions to groups, and loops over them, are worked out once", async () => {
  const { source, engine } = taskEngine(false);
  const groups = () =>
    new Query<Task>(engine).groupBy("author").aggregate({ n: count() });
  using first = groups().subscribe(() => {});
  using second = groups().subscribe(() => {});
  const loop = groups().live()[Symbol.asyncIterator]();
  equal(engine.followers, 1);
  source.write(["a", task("a", { author: "ada" })]);
  equal(first.rows, second.rows);
  deepEqual((await loop.next()).value, [{ author: "ada", n: 1 }]);
  await loop.return!();
  using total = new Query<Task>(engine).aggregate({ n: count() }).subscribe(
    () => {},
  );
  deepEqual([engine.followers, total.rows], [2, [{ n: 1 }]]);
});

Deno.test("questions are equal however their conditions are put, and no others", () => {
  const { engine } = taskEngine(false);
  const all = new Query<Task>(engine);
  const followersOf = (queries: readonly Query<Task>[]) => {
    const lives = queries.map((query) => query.subscribe(() => {}));
    const { followers } = engine;
    for (const live of lives) live.dispose();
    equal(engine.followers + engine.results.size, 0);
    return followers;
  };
  const [a, b] = [{ author: "ada" }, { rank: { gt: 1 } }];
  const same = [
    [all.where({ ...a, ...b }), all.where({ ...b, ...a })],
    [all.where(a).where(b), all.where({ and: [b, a] }), all.where(b).where(a)],
    [all.where({ or: [a, b] }), all.where({ or: [b, a, b] })],
    [
      all.where({ author: { in: ["x", "y"] } }),
      all.where({ author: { in: ["y", "x", "y"] } }),
    ],
    [all.where({ rank: 0 }), all.where({ rank: -0 })],
    [all.where(isOpen), all.where(isOpen)],
    [all.orderBy("rank"), all.orderBy("rank").orderBy("id")],
  ];
  for (const queries of same) equal(followersOf(queries), 1);
  const others = [
    all,
    all.where(a),
    all.where({ ...a, ...b }),
    all.where({ or: [a, b] }),
    all.where({ not: a }),
    all.where({ author: undefined }),
    all.where({ author: { in: [] } }),
    all.where({ author: { in: ["ada", "bob"] } }),
    all.where(isOpen),
    all.where((row) => isOpen(row)),
    all.where({ rank: { gt: Infinity } }),
    all.where({ rank: { gt: -Infinity } }),
    all.where({ tags: { contains: "1970-01-01T00:00:00.000Z" } }),
    all.where({ tags: { contains: date as unknown as string } }),
    all.limit(1),
    all.offset(1),
    all.orderBy("rank"),
    all.orderBy("rank", "desc"),
    all.orderBy(["rank", "author"]),
    all.orderBy(["author", "rank"]),
    all.orderBy("when").after(task("x", { when: date }) as unknown as Task),
    all.orderBy("when").after(
      task("x", { when: date.toISOString() }) as unknown as Task,
    ),
  ];
  equal(followersOf(others), others.length);
});

const date = new Date(0);

Deno.test("each of equal subscriptions ends for itself, and keeps its rows then", () => {
  const { source, engine } = taskEngine(false);
  const told: string[] = [];
  const stop = new AbortController();
  const ask = (name: string, signal?: AbortSignal) =>
    new Query<Task>(engine).where({ rank: { gt: 1 } }).subscribe(
      ({ rows }) => told.push(`${name} ${rows.length}`),
      { ...signal && { signal } },
    );
  const [first, second] = [ask("first"), ask("second", stop.signal)];
  const third = ask("third");
  let ends = 0;
  second.onEnd(() => ends++);
  source.write(["a", task("a", { rank: 2 })]);
  const before = second.rows;
  stop.abort();
  first.dispose();
  source.write(["b", task("b", { rank: 3 })]);
  deepEqual(told, ["first 1", "second 1", "third 1", "third 2"]);
  equal(second.rows, before);
  deepEqual([first.rows.length, third.rows.length, ends], [1, 2, 1]);
  throws(() => third.onChange("none" as never), { code: "invalid-option" });
  third.dispose();
  equal(engine.followers + engine.results.size, 0);
  equal(ask("aborted", stop.signal).rows.length, 2);
  equal(engine.followers + engine.results.size, 0);
  const last = ask("last");
  notEqual(last.rows, third.rows);
  let ended = 0;
  last.onEnd(() => ended++);
  engine.dispose();
  deepEqual([ended, engine.results.size], [1, 0]);
});

Deno.test("who subscribes in a callback has the rows of now, and hears of what comes next", () => {
  const { source, engine } = taskEngine(false);
  const told: string[] = [];
  const ask = (name: string) =>
    new Query<Task>(engine).orderBy("rank").subscribe(({ rows }) => {
      told.push(`${name} ${rows.length}`);
      if (name === "first" && rows.length === 1) {
        equal(ask("late").rows, rows);
      }
    });
  ask("first");
  source.write(["a", task("a")]);
  deepEqual(told.splice(0), ["first 1"]);
  source.write(["b", task("b")]);
  deepEqual(told, ["first 2", "late 2"]);
});

Deno.test("a subscriber cannot change what the next one is told", () => {
  const { source, engine } = taskEngine(false);
  const all = new Query<Task>(engine);
  const asked = [all, all.groupBy("author").aggregate({ n: count() })];
  for (const query of asked as readonly Query<Task>[]) {
    const changes: LiveChange<Task>[] = [];
    for (let n = 0; n < 2; n++) query.subscribe((one) => changes.push(one));
    source.write([`t${query === all}`, task(`t${query === all}`)]);
    ok(changes.length >= 2);
    for (const { added, removed, moved, changed, rows } of changes) {
      for (const list of [added, removed, moved, changed, rows]) {
        ok(Object.isFrozen(list) && list.every(Object.isFrozen));
      }
    }
    ok(changes.every(Object.isFrozen));
  }
});

Deno.test("callbacks of one transaction come in the order of their subscriptions, whom they share with or not", () => {
  const { source, engine } = taskEngine(false);
  const told: string[] = [];
  const follow = (name: string, ask: (engine: QueryEngine) => Query<Task>) =>
    ask(engine).subscribe(() => told.push(name));
  const all = (one: QueryEngine) => new Query<Task>(one);
  const ranked = (one: QueryEngine) => all(one).where({ rank: { gt: 1 } });
  for (const name of ["1", "4"]) follow(`all ${name}`, all);
  for (const name of ["2", "3"]) follow(`ranked ${name}`, ranked);
  follow("all 5", all);
  source.write(["a", task("a", { rank: 2 })]);
  deepEqual(told, ["all 1", "all 4", "ranked 2", "ranked 3", "all 5"]);
});
