import { deepEqual, equal, notEqual, strictEqual } from "node:assert/strict";
import type { FieldKind } from "../schema/patch.ts";
import { count } from "./grouped_query.ts";
import { QueryEngine } from "./engine.ts";
import { MemorySource } from "./kit_test.ts";
import { itemStore } from "./store.ts";
import { Query } from "./query.ts";

interface Row {
  readonly id: string;
  readonly rank?: number;
  readonly name?: string;
  readonly at?: Date;
}

/** A collection, an engine, and a clock that moves when told. */
function place() {
  const kinds = new Map<string, FieldKind>([
    ["rank", "number"],
    ["name", "string"],
    ["at", "date"],
  ]);
  const source = new MemorySource(kinds, true);
  const timers = new Map<object, { at: number; task: () => void }>();
  let now = 0;
  const engine = new QueryEngine(source, {
    name: "thing",
    fields: kinds,
    indexes: [],
    world: {
      monotonic: () => now,
      after(delayMs, task) {
        const key = {};
        timers.set(key, { at: now + delayMs, task });
        return () => void timers.delete(key);
      },
    },
  });
  const wait = (ms: number) => {
    now += ms;
    for (const [key, { at, task }] of timers) {
      if (at <= now && timers.delete(key)) task();
    }
  };
  source.write(["a", { id: "a", rank: 1, name: "x" }]);
  return { source, engine, timers, wait, query: () => new Query<Row>(engine) };
}

Deno.test("store() is the same for equal queries while it is in use, and for no others", () => {
  const { query } = place();
  const inUse = (make: () => ReturnType<typeof query>) => {
    const store = make().store();
    store.getSnapshot();
    strictEqual(make().store(), store);
    return store;
  };
  const big = (row: Row) => row.rank! > 0;
  const stores = [
    () => query(),
    () => query().where({ rank: 1 }),
    () => query().where({ rank: 2 }),
    () => query().where({ rank: { gt: -Infinity } }),
    () => query().where({ rank: { lt: Infinity } }),
    () => query().where({ rank: { gt: Infinity } }),
    () => query().where({ name: undefined }),
    () => query().where({ name: "undefined" }),
    () => query().where({ at: new Date(5) }),
    () => query().where({ at: new Date(6) }),
    () => query().where(big),
    () => query().orderBy("rank"),
    () => query().orderBy("rank", "desc"),
    () => query().limit(1),
    () => query().offset(1),
    () => query().orderBy("rank").after({ id: "a", rank: 1 }),
  ].map(inUse);
  equal(new Set(stores).size, stores.length);
  notEqual(
    query().where((row) => row.rank! > 0).store(),
    query().where((row) => row.rank! > 0).store(),
  );
});

Deno.test("store() calls with what is now, and with each change, until that is ended", () => {
  const { source, query } = place();
  const seen: number[] = [];
  const end = query().store().subscribe((rows) => seen.push(rows.length));
  source.write(["b", { id: "b" }]);
  end();
  end();
  source.write(["c", { id: "c" }]);
  deepEqual(seen, [1, 2]);
});

Deno.test("store() follows while it is used and a while after, and begins anew when it is asked again", () => {
  const { source, engine, timers, wait, query } = place();
  const store = query().store();
  equal(engine.followers, 0); // Nobody read it yet.
  store.getSnapshot();
  const end = store.subscribe(() => {});
  const endToo = store.subscribe(() => {});
  wait(60_000);
  equal(engine.followers, 1);
  end();
  end(); // Twice is once.
  wait(60_000);
  equal(engine.followers, 1);
  endToo();
  equal(engine.followers, 1);
  store.subscribe(() => {})(); // Another view comes and goes.
  wait(1_999);
  equal(engine.followers, 1);
  wait(2);
  equal(engine.followers, 0);
  equal(engine.stores.size, 0);
  source.write(["b", { id: "b" }]);
  equal(store.getSnapshot().length, 2);
  wait(60_000);
  deepEqual([engine.followers, timers.size], [0, 0]);
});

Deno.test("store() leaves no timer when its engine ends", () => {
  const { engine, timers, query } = place();
  const store = query().store();
  const rows = store.getSnapshot();
  engine.dispose();
  equal(timers.size, 0);
  strictEqual(store.getSnapshot(), rows);
});

Deno.test("store() of an aggregate gives what the query gives", () => {
  const { source, query } = place();
  const all = () => query().aggregate({ n: count() });
  const groups = query().groupBy("name").aggregate({ n: count() });
  const seen: number[] = [];
  const end = all().store().subscribe(({ n }) => seen.push(n));
  const end2 = groups.store().subscribe((rows) => seen.push(rows.length));
  source.write(["b", { id: "b", name: "y" }]);
  deepEqual(seen, [1, 1, 2, 2]);
  strictEqual(all().store().getSnapshot(), all().store().getSnapshot());
  end();
  end2();
});

Deno.test("itemStore follows one item through its life", () => {
  const { source, engine, wait } = place();
  const store = itemStore<Row>(engine, "b");
  const seen: (string | undefined)[] = [];
  const end = store.subscribe((row) => seen.push(row?.name));
  source.write(["a", { id: "a", rank: 2 }]);
  source.write(["b", { id: "b", name: "one" }]);
  strictEqual(store.getSnapshot(), itemStore<Row>(engine, "b").getSnapshot());
  source.write(["b", { id: "b", name: "two" }], ["a", undefined]);
  source.write(["b", undefined]);
  end();
  wait(60_000);
  deepEqual(seen, [undefined, "one", "two", undefined]);
  equal(engine.followers, 0);
});

Deno.test("store() of a listener that throws does not keep others from hearing", () => {
  const kinds = new Map<string, FieldKind>();
  const source = new MemorySource(kinds, false);
  const errors: unknown[] = [];
  const engine = new QueryEngine(source, {
    name: "thing",
    fields: kinds,
    indexes: [],
    onError: (error) => errors.push(error),
  });
  const store = new Query<Row>(engine).store();
  const seen: number[] = [];
  const ends = [
    store.subscribe(() => {
      throw new Error("mine");
    }),
    store.subscribe((rows) => seen.push(rows.length)),
  ];
  source.write(["a", { id: "a" }]);
  deepEqual([errors.length, seen], [2, [0, 1]]);
  for (const end of ends) end();
});
