/**
 * The kv suite finds wrong answers, asks for what was ordered, and measures
 * what it says.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Order, Stage } from "../harness/suite.ts";
import { isSame, keyOf, type Value, valueOf } from "./entries.ts";
import { Model } from "./model.ts";
import { suite } from "./mod.ts";
import { operationsOf, parts, tables } from "./rows.ts";
import { budgetOf, firstWriteBudgetOf, runTask } from "./run.ts";
import { measureScans } from "./scan.ts";
import {
  type Done,
  endOf,
  type Listed,
  noExpiry,
  type Store,
} from "./store.ts";
import { type Budget, type Step, type Steps, timeSteps } from "./timing.ts";

const order: Order = {
  sizes: [],
  engines: [],
  filter: "",
  isQuick: true,
  addresses: {},
};
const budget: Budget = {
  ms: 1_000,
  warmMs: 0,
  warmOperations: 0,
  operationsMax: 320,
  operationsMin: 0,
};
const bytes = 200;

/** The slow, plain and right store; parts of it are broken in the tests. */
class MapStore implements Store {
  readonly durability = "memory";
  readonly expiry = "none";
  readonly entries = new Map<string, unknown>();

  get(key: string): unknown {
    return this.entries.get(key);
  }

  exists(key: string): boolean {
    return this.entries.has(key);
  }

  set(key: string, value: Value): Done {
    this.entries.set(key, value);
    return undefined;
  }

  setExpiring(): Done {
    return noExpiry();
  }

  delete(key: string): Done {
    this.entries.delete(key);
    return undefined;
  }

  load(entries: readonly { key: string; value: Value }[]): Done {
    for (const { key, value } of entries) this.entries.set(key, value);
    return undefined;
  }

  list(prefix: string): readonly Listed[] {
    return this.keys(prefix).map((key) => ({ key, value: this.get(key) }));
  }

  keys(prefix: string): readonly string[] {
    const end = endOf(prefix);
    return [...this.entries.keys()]
      .filter((key) => key >= prefix && key < end).sort();
  }

  close(): Done {
    return undefined;
  }
}

/** What the suite says of a store that gets its reads, writes and deletes. */
async function verdictOf(
  store: Store,
  inFlight: number,
): Promise<string | undefined> {
  const model = new Model(store, 400, bytes);
  await model.load();
  let wrong: string | undefined;
  const all = [
    model.gets,
    model.asks,
    model.sets,
    model.mixed,
    model.gets,
    model.deletes,
  ];
  for (const steps of all) {
    wrong ??= (await timeSteps(steps, inFlight, budget)).wrong;
  }
  return wrong ?? await model.verify(store, 2_000);
}

Deno.test("a store that is right is found right, one at a time and in flight", async () => {
  assert.equal(await verdictOf(new MapStore(), 1), undefined);
  assert.equal(await verdictOf(new MapStore(), 16), undefined);
});

Deno.test("a write that others see only when it is acknowledged is right too", async () => {
  class LateStore extends MapStore {
    override async set(key: string, value: Value): Promise<void> {
      await Promise.resolve();
      super.set(key, value);
    }
  }
  assert.equal(await verdictOf(new LateStore(), 16), undefined);
});

Deno.test("lost, stale, changed and returning entries are found", async () => {
  let writes = 0;
  class Lossy extends MapStore {
    override set(key: string, value: Value): Done {
      return ++writes % 50 === 0 ? undefined : super.set(key, value);
    }
  }
  class Stale extends MapStore {
    override set(key: string, value: Value): Done {
      return this.exists(key) ? undefined : super.set(key, value);
    }
  }
  class Changed extends MapStore {
    override get(key: string): unknown {
      const value = super.get(key);
      return typeof value === "object" ? { ...value, more: 1 } : value;
    }
  }
  class Returning extends MapStore {
    override delete(): Done {
      return undefined;
    }
  }
  class Credulous extends MapStore {
    override exists(): boolean {
      return true;
    }
  }
  for (const broken of [Lossy, Stale, Changed, Returning, Credulous]) {
    for (const inFlight of [1, 16]) {
      const verdict = await verdictOf(new broken(), inFlight);
      assert.notEqual(verdict, undefined, `${broken.name}, ${inFlight}`);
    }
  }
});

Deno.test("a scan that misses, adds, misorders or changes an entry is found", async () => {
  const asked = ["list 100", "keys 100"];
  const wrongOf = async (store: Store) =>
    (await measureScans(store, [100], asked, budget)).map(({ wrong }) => wrong);
  assert.deepEqual(await wrongOf(new MapStore()), [undefined, undefined]);
  class Short extends MapStore {
    override keys(prefix: string): readonly string[] {
      return super.keys(prefix).slice(1);
    }
  }
  class Unsorted extends MapStore {
    override keys(prefix: string): readonly string[] {
      return super.keys(prefix).toReversed();
    }
  }
  for (const broken of [Short, Unsorted]) {
    const found = await wrongOf(new broken());
    assert.ok(found.every((wrong) => wrong !== undefined), broken.name);
  }
  class Mixed extends MapStore {
    override list(prefix: string): readonly Listed[] {
      const keys = this.keys(prefix);
      return keys.map((key) => ({ key, value: this.get(keys[1] ?? key) }));
    }
  }
  const [list, keys] = await wrongOf(new Mixed());
  assert.match(list ?? "", /another/);
  assert.equal(keys, undefined);
});

Deno.test("in flight, an operation is timed from when its wave was asked for", async () => {
  const busy = (): Step => ({
    kind: "busy",
    run: () => {
      const until = performance.now() + 2;
      while (performance.now() < until);
      return undefined;
    },
    check: () => undefined,
  });
  const some = { ...budget, operationsMax: 4 };
  const waves = await timeSteps(steps(busy, 5), 4, some);
  const times = waves.samples.get("busy") ?? [];
  assert.equal(times.length, 4);
  for (const [at, ms] of times.entries()) assert.ok(ms >= 2 * (at + 1));
  const began = performance.now();
  const singles = await timeSteps(steps(busy, 5), 1, some);
  const tookMs = performance.now() - began;
  // Alone, none waits for those before it: together they take no more than there was.
  const alone = singles.samples.get("busy") ?? [];
  assert.equal(alone.length, 4);
  assert.ok(alone.every((ms) => ms >= 2));
  const allMs = alone.reduce((all, ms) => all + ms, 0);
  assert.ok(allMs <= tookMs, `${allMs} of ${tookMs}`);
});

/** `count` operations and no more; a warm-up takes one. */
function steps(make: () => Step, count: number): Steps {
  let left = count;
  return () => left-- > 0 ? make() : undefined;
}

Deno.test("warming up ends after enough operations or time, and leaves a short row most of its own", async () => {
  let ran = 0;
  const steps: Steps = () => ({
    kind: "one",
    run: () => ran++,
    check: () => undefined,
  });
  const long = { ...budget, warmMs: 60_000, warmOperations: 70 };
  assert.equal((await timeSteps(steps, 1, long)).count, 320);
  assert.equal(ran, 390);
  ran = 0;
  await timeSteps(steps, 1, { ...long, warmOperations: 1_000 });
  assert.equal(ran, 320 + 80);
  ran = 0;
  await timeSteps(steps, 1, { ...long, warmMs: 0 });
  assert.equal(ran, 320);
});

Deno.test("the first row that writes warms up for longer, whichever engine it is of", () => {
  for (const isQuick of [true, false]) {
    const [first, later] = [firstWriteBudgetOf(isQuick), budgetOf(isQuick)];
    assert.ok(first.warmMs >= later.warmMs * 4);
    assert.equal(first.ms, later.ms);
    assert.equal(first.operationsMax, later.operationsMax);
  }
});

Deno.test("cases are as ordered: by engine, by row, by address", () => {
  const all = suite.cases(order);
  const names = all.map(({ name, engine }) => `${name} ${engine}`);
  assert.equal(new Set(names).size, all.length);
  assert.deepEqual(suite.cases({ ...order, filter: "no such" }), []);
  assert.ok(!all.some(({ engine }) => engine === "redis"));
  const addresses = { redis: "redis://127.0.0.1" };
  const served = suite.cases({ ...order, addresses });
  assert.ok(served.some(({ engine }) => engine === "redis"));
  const one = suite.cases({ ...order, engines: ["lmdb"], filter: "keys 1" });
  assert.deepEqual(
    one.map(({ engine, params }) => [engine, params["asked"]]),
    [["lmdb", "keys 100|keys 1,000"], [
      "lmdb-nosync",
      "keys 100|keys 1,000",
    ]],
  );
  assert.ok(
    suite.cases({ ...order, isQuick: false })
      .every(({ repetitions }) => repetitions >= 3),
  );
  assert.ok(
    suite.cases(order).every(({ repetitions }) => repetitions === 2),
    "the gate wants to know a spread",
  );
  assert.throws(() => suite.cases({ ...order, sizes: [3] }), RangeError);
});

Deno.test("every part gives exactly its rows, and nothing wrong, for Sheaf and SQLite", async () => {
  for (const engine of ["sheaf-fast", "sqlite-off"]) {
    // The parts that have rows of their own kind are enough for the second.
    const isOwn = engine === "sheaf-fast";
    const specs = suite.cases({ ...order, sizes: [200], engines: [engine] });
    assert.equal(specs.length, parts.length);
    for (const spec of specs) {
      const part = parts.find((part) => part === spec.params["part"]);
      assert.ok(part !== undefined && tables[part] === spec.table);
      if (!isOwn && part !== "single" && part !== "expiring") continue;
      const folder = Deno.makeTempDirSync();
      const stage: Stage = { folder, isQuick: true, addresses: {}, peers: "" };
      try {
        if (part === "expiring" && engine === "sqlite-off") {
          await assert.rejects(suite.run(spec, stage), /no expiry of its own/);
          continue;
        }
        const outcomes = await suite.run(spec, stage);
        assert.deepEqual(
          outcomes.map(({ operation }) => operation),
          operationsOf(part, true),
        );
        for (const { operation, wrong, samples } of outcomes) {
          assert.equal(wrong, undefined, `${engine}, ${operation}`);
          assert.ok(samples.length > 0, `${engine}, ${operation}`);
        }
      } finally {
        Deno.removeSync(folder, { recursive: true });
      }
    }
  }
});

Deno.test("what is not there after reopening makes every write of it wrong", async () => {
  for (const isLosing of [false, true]) {
    const first = new MapStore();
    const open = () => {
      const store = new MapStore();
      // As on a disk, the second has what the first had; or not quite.
      for (const [key, value] of first.entries) store.entries.set(key, value);
      if (isLosing) store.entries.delete(keyOf(0));
      if (first.entries.size === 0) {
        return Promise.resolve({
          all: [first],
          close: () => Promise.resolve(),
        });
      }
      return Promise.resolve({ all: [store], close: () => Promise.resolve() });
    };
    const task = {
      part: "single" as const,
      engine: "sqlite-off" as const,
      size: 200,
      stage: { folder: "", isQuick: true, addresses: {}, peers: "" },
      asked: ["get", "set"],
    };
    const [get, set] = await runTask(task, open);
    assert.equal(get?.wrong, undefined);
    assert.equal(set?.wrong !== undefined, isLosing);
  }
});

Deno.test("values are of the wished size, and told from all others", () => {
  for (const size of [100, 1_000, 100_000]) {
    const length = JSON.stringify(valueOf(1_234, 5, size)).length;
    assert.ok(Math.abs(length - size) < size / 5, `${length}`);
  }
  const value = valueOf(3, 1, bytes);
  assert.ok(isSame({ ...value }, value));
  assert.ok(!isSame({ ...value, isOpen: !value.isOpen }, value));
  assert.ok(!isSame(valueOf(3, 2, bytes), value));
  assert.ok(!isSame(undefined, value) && !isSame("text", value));
  assert.equal(new Set([1, 2, 3, 1].map(keyOf)).size, 3);
});
