import assert from "node:assert/strict";
import { drive } from "./drive.ts";
import { keyOf } from "./generators.ts";
import { Model } from "./model.ts";
import { type FieldName, type Fields, fieldsOf, valueOf } from "./records.ts";
import { rowsOf, thin } from "./rows.ts";
import { runAll } from "./runs.ts";
import { suite } from "./mod.ts";
import type { Done, Found, Soon, Store } from "./store.ts";
import { operationsOf, workloads } from "./workloads.ts";
import { cpuSecondsIn, peakBytesIn } from "./cost.ts";

const records = 200;

/** An engine that is right: a map. Its writes are acknowledged `inTurns` later. */
class MapStore implements Store {
  readonly durability = "memory";
  readonly others = [];
  readonly map = new Map<string, Fields>();
  readonly isLate: boolean;
  inFlight = 0;
  inFlightMost = 0;

  constructor(isLate = false) {
    this.isLate = isLate;
    for (let index = 0; index < records; index++) {
      this.map.set(keyOf(index), fieldsOf(index));
    }
  }

  read(key: string): Soon<Fields | undefined> {
    return this.map.get(key);
  }

  scan(key: string, count: number): Soon<readonly Found[]> {
    return [...this.map].filter(([one]) => one >= key)
      .sort(([a], [b]) => a < b ? -1 : 1).slice(0, count)
      .map(([key, fields]) => ({ key, fields }));
  }

  update(key: string, field: FieldName, value: string): Done {
    const fields = this.map.get(key);
    if (fields === undefined) throw new RangeError(`There is no ${key}`);
    return this.insert(key, { ...fields, [field]: value });
  }

  insert(key: string, fields: Fields): Done {
    this.map.set(key, fields);
    this.inFlightMost = Math.max(this.inFlightMost, ++this.inFlight);
    if (!this.isLate) return void this.inFlight--;
    return new Promise<void>((resolve) => {
      setTimeout(() => {
        this.inFlight--;
        resolve();
      }, 0);
    });
  }

  load(found: readonly Found[]): void {
    for (const { key, fields } of found) this.map.set(key, fields);
  }

  close(): void {}
}

async function wrongOf(store: Store): Promise<(string | undefined)[]> {
  const model = new Model(records);
  const options = { store, model, workloads, inFlight: 8, operations: 500 };
  const runs = await runAll(options);
  return [...runs.map(({ wrong }) => wrong), await model.verify(store)]
    .filter((wrong) => wrong !== undefined);
}

Deno.test("All workloads find nothing wrong with an engine that is right, at once or late", async () => {
  assert.deepEqual(await wrongOf(new MapStore()), []);
  const late = new MapStore(true);
  assert.deepEqual(await wrongOf(late), []);
  assert.equal(late.inFlightMost, 8);
});

Deno.test("What is inserted and not acknowledged may be missing, however many came later", async () => {
  class Hiding extends MapStore {
    #inserts = 0;
    misses = 0;
    override read(key: string): Soon<Fields | undefined> {
      const found = super.read(key);
      if (found === undefined) this.misses++;
      return found;
    }
    override async insert(key: string, fields: Fields): Promise<void> {
      const isFirst = !this.map.has(key) && ++this.#inserts % 10 === 1;
      // Others have done much by then.
      for (let turn = isFirst ? 20 : 1; turn > 0; turn--) {
        await new Promise((resolve) => setTimeout(resolve));
      }
      this.map.set(key, fields);
    }
  }
  const store = new Hiding();
  const model = new Model(records);
  const runs = await runAll({
    store,
    model,
    workloads: workloads.filter(({ name }) => name === "D"),
    inFlight: 8,
    operations: 2_000,
  });
  assert.deepEqual(runs.map(({ wrong }) => wrong), [
    undefined,
  ]);
  assert.ok(store.misses > 0, "a read came too early");
});

Deno.test("Of writes of one field at the same time any may be the last, and none from before", async () => {
  const model = new Model(1);
  const holds = (version: number) =>
    model.verify({
      read: (key) =>
        key === keyOf(0)
          ? { ...fieldsOf(0), field0: valueOf(0, 0, version) }
          : undefined,
      scan: () => [],
    });
  const [first, second] = [model.ask(0, 0), model.ask(0, 0)];
  assert.equal(model.before(0)[0], 0);
  model.acknowledge(0, 0);
  assert.equal(model.before(0)[0], first);
  model.acknowledge(0, 0);
  assert.equal(await holds(first), undefined);
  assert.equal(await holds(second), undefined);
  assert.match(await holds(0) ?? "", /is no version from 1 to 2/);
  const third = model.ask(0, 0);
  assert.equal(model.before(0)[0], first);
  model.acknowledge(0, 0);
  assert.equal(await holds(third), undefined);
  assert.match(await holds(second) ?? "", /is no version from 3 to 3/);
});

Deno.test("An engine that loses an update is found out", async () => {
  class Forgetful extends MapStore {
    #updates = 0;
    override update(key: string, field: FieldName, value: string): Done {
      if (++this.#updates !== 100) return super.update(key, field, value);
    }
  }
  const wrong = await wrongOf(new Forgetful());
  assert.match(wrong.at(-1) ?? "", /is no version from/);
});

Deno.test("An engine that answers with what was overwritten is found out", async () => {
  class Stale extends MapStore {
    readonly #first = new Map(this.map);
    override read(key: string): Soon<Fields | undefined> {
      return this.#first.get(key) ?? super.read(key);
    }
  }
  assert.match((await wrongOf(new Stale()))[0] ?? "", /is no version from/);
});

Deno.test("An engine that misses a record is found out, at once", async () => {
  class Lossy extends MapStore {
    override read(key: string): Soon<Fields | undefined> {
      return key === keyOf(7) ? undefined : super.read(key);
    }
  }
  assert.match((await wrongOf(new Lossy()))[0] ?? "", /is missing/);
});

for (
  const [what, spoil, says] of [
    ["skips a record", (all: Found[]) => all.toSpliced(1, 1), /skipped/],
    ["ends too soon", (all: Found[]) => all.slice(0, 1), /only/],
    ["gives too many", (all: Found[]) => [...all, ...all, ...all], /a scan/],
    ["has no order", (all: Found[]) => all.toReversed(), /order|skipped/],
  ] as const
) {
  Deno.test(`An engine whose scan ${what} is found out`, async () => {
    class Spoilt extends MapStore {
      override async scan(key: string, count: number) {
        return spoil([...await super.scan(key, count)]);
      }
    }
    const wrong = await wrongOf(new Spoilt());
    assert.match(wrong[0] ?? "", says);
  });
}

Deno.test("drive() runs each operation once, and no later insert than it must", async () => {
  const model = new Model(records);
  const store = new MapStore();
  const workload = workloads.find(({ name }) => name === "D");
  assert.ok(workload !== undefined);
  const operations = operationsOf({
    workload,
    records,
    count: 500,
    lag: 1,
    seed: 1,
  });
  model.reserve(operations.recordsAfter);
  const all = await drive({ store, model, operations, inFlight: 1 });
  assert.equal(all.operations, 500);
  const samples = [...all.latencies.values()];
  assert.equal(samples.reduce((sum, one) => sum + one.length, 0), 500);
  assert.equal(model.records, store.map.size);
  assert.ok(all.cpuSeconds === undefined || all.cpuSeconds >= 0);
});

Deno.test("suite.run() runs as many operations of each workload as were ordered", async () => {
  const order = {
    sizes: [1_000],
    engines: ["sqlite-off"],
    filter: "YCSB ",
    isQuick: true,
    addresses: {},
    operations: 300,
  };
  const asked = suite.cases(order);
  assert.deepEqual(asked.map(({ name }) => name), [
    "YCSB, ABCFD, 1 in flight, 1000",
    "YCSB, E, 1 in flight, 1000",
    "YCSB, ABCFD, 64 in flight, 1000",
    "YCSB, E, 64 in flight, 1000",
  ]);
  for (const spec of asked.slice(0, 2)) {
    const folder = Deno.makeTempDirSync();
    try {
      const stage = { folder, isQuick: true, addresses: {}, peers: "" };
      const outcomes = await suite.run(spec, stage);
      const counts = Map.groupBy(
        outcomes.filter(({ unit }) => unit === "ms"),
        ({ table }) => table,
      );
      const of = spec.name.includes("E") ? 1 : 5;
      assert.deepEqual(
        [...counts.values()].map((rows) =>
          rows.reduce((sum, { samples }) => sum + samples.length, 0)
        ),
        Array.from({ length: of }, () => 300),
      );
      assert.deepEqual(outcomes.filter(({ wrong }) => wrong !== undefined), []);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  }
});

Deno.test("runAll() reads nothing before the first operation, and no more than was asked for", async () => {
  class Counting extends MapStore {
    reads = 0;
    override read(key: string): Soon<Fields | undefined> {
      this.reads++;
      return super.read(key);
    }
  }
  const store = new Counting();
  const model = new Model(records);
  const only = workloads.filter(({ name }) => name === "C");
  const options = { store, model, workloads: only, inFlight: 8 };
  const [run] = await runAll({ ...options, operations: 150 });
  assert.deepEqual([run?.operations, store.reads], [150, 150]);
});

Deno.test("cases() has a race in the process and one through a server, and heeds sizes, engines and filter", () => {
  const order = {
    sizes: [],
    engines: [],
    filter: "",
    isQuick: false,
    addresses: {},
  };
  const all = suite.cases(order);
  // Two loads with 1 and with 64 in flight.
  assert.deepEqual(new Set(all.map(({ name }) => name)).size, 2 * 4);
  assert.equal(all.length, 4 * (8 + 4));
  assert.ok(all.every(({ repetitions }) => repetitions >= 3));
  const keys = new Set(all.map(({ name, engine }) => `${name} ${engine}`));
  assert.equal(keys.size, all.length);
  const large = suite.cases({ ...order, sizes: [1_000_000] });
  assert.ok(large.every(({ size }) => size === 1_000_000));
  const some = suite.cases({ ...order, engines: ["lmdb"], filter: "YCSB E" });
  assert.deepEqual(
    some.map(({ engine, params }) => [engine, params["inFlight"]]),
    [["lmdb", 1], ["lmdb-nosync", 1], ["lmdb", 64], ["lmdb-nosync", 64]],
  );
  assert.ok(some.every(({ params }) => params["workloads"] === "E"));
  assert.deepEqual(suite.cases({ ...order, filter: "YCSB Z" }), []);
  const scans = suite.cases({ ...order, filter: "server, 64 in flight scan" });
  assert.deepEqual(
    scans.map(({ params }) => [params["workloads"], params["inFlight"]]).at(0),
    ["E", 64],
  );
});

Deno.test("rowsOf() names the rate and each kind of operation; thin() keeps least, greatest and shape", () => {
  assert.deepEqual(rowsOf("E"), [
    "all operations",
    "insert",
    "scan of 1 to 100",
  ]);
  const values = Float64Array.from({ length: 50_000 }, (_, at) => 50_000 - at);
  const thinned = thin(values);
  assert.equal(thinned.length, 3_000);
  assert.deepEqual([thinned[0], thinned.at(-1)], [1, 50_000]);
  assert.ok(Math.abs(thinned[1_500]! - 25_000) < 20);
  assert.deepEqual(thin(Float64Array.of(3)), [3]);
});

Deno.test("cpuSecondsIn() and peakBytesIn() read what Linux writes, odd names included", () => {
  const stat =
    "12 (a) b (c) S 1 12 12 0 -1 4194304 100 0 0 0 250 50 9 9 20 0 1 0 5 5 5";
  assert.equal(cpuSecondsIn(stat), 3);
  assert.equal(peakBytesIn("Name:\tx\nVmHWM:\t    2048 kB\n"), 2_097_152);
});
