import assert from "node:assert/strict";
import { type Item, itemsBetween } from "../harness/items.ts";
import type { CaseSpec, Order, Stage } from "../harness/suite.ts";
import { casesOf, rows, type Work } from "./cases.ts";
import { wrongAll, wrongWith } from "./check.ts";
import { entries, type Entry, entryOf } from "./engines.ts";
import { perTransaction as denoKvItems } from "./engines/deno_kv.ts";
import { perTransaction as rxdbItems } from "./engines/rxdb.ts";
import { insert } from "./insert.ts";
import { suite } from "./mod.ts";
import { readBoth } from "./read.ts";
import { bytesIn, lineOf } from "./space.ts";
import { ownName, type Store } from "./store.ts";

const order: Order = {
  sizes: [],
  engines: [],
  filter: "",
  isQuick: true,
  addresses: {},
};

async function onStage<T>(work: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = Deno.makeTempDirSync();
  try {
    return await work({ folder, isQuick: true, addresses: {}, peers: folder });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function specOf(engine: string, work: Work, size = 400): CaseSpec {
  const spec = casesOf({ ...order, sizes: [size] }).find((spec) =>
    spec.engine === engine && spec.params["work"] === work
  );
  assert.ok(spec !== undefined);
  return spec;
}

/** A store in memory, which `spoil` makes lie. */
function liar(spoil: Partial<Store> = {}): Store {
  const items = new Map<string, Item>();
  return {
    insert: (item) => void items.set(item.id, item),
    insertMany: (many) => many.forEach((item) => items.set(item.id, item)),
    get: (id) => items.get(id),
    all: () => [...items.values()],
    close: () => {},
    ...spoil,
  };
}

function entryFor(make: () => Store): Entry {
  return {
    name: "liar",
    durability: "memory",
    isKept: false,
    isServer: false,
    isSlow: false,
    load: () => Promise.resolve(() => ({ open: make })),
  };
}

Deno.test("cases are named once for each engine, and each engine has all of them", () => {
  const specs = suite.cases(order);
  const names = new Set(specs.map(({ name, engine }) => `${name} ${engine}`));
  assert.equal(names.size, specs.length);
  assert.equal(specs.length, entries.length * 3);
  assert.ok(specs.every(({ size }) => size === 1_000));
});

Deno.test("everybody takes part in every work of a whole run, and who is slow beside Sheaf and SQLite of its durability", () => {
  const specs = suite.cases({ ...order, isQuick: false });
  assert.ok(specs.every(({ repetitions }) => repetitions >= 3));
  const keys = new Set(specs.map(({ name, engine }) => `${name} ${engine}`));
  assert.equal(keys.size, specs.length);
  for (const { name } of entries) {
    const done = specs.filter(({ engine }) => engine === name)
      .map(({ params }) => params["work"]);
    assert.deepEqual([...new Set(done)].sort(), ["all", "hundreds", "one"]);
  }
  const small = specs.filter(({ size }) => size < 20_000);
  assert.deepEqual(
    small.map(({ name, engine }) => `${name} ${engine}`),
    [
      "sheaf-default",
      "sheaf-fast",
      "sqlite-full",
      "sqlite-off",
      "rxdb",
      "pouchdb",
      "automerge",
    ].map((engine) => `all 5000 ${engine}`),
  );
});

Deno.test("the row of all in one transaction names who makes several of it, and of how many", () => {
  const { all } = rows;
  for (const { name, perTransactionMax: most } of entries) {
    assert.equal(all.includes(`${name}: `), most !== undefined);
  }
  assert.match(all, new RegExp(`deno-kv: ${denoKvItems} in each`));
  assert.match(all, new RegExp(`rxdb: ${rxdbItems} in each`));
});

Deno.test("an order chooses sizes, engines by a part of the name, and works by a row they give", () => {
  const specs = casesOf({
    ...order,
    sizes: [300, 5_000],
    engines: ["sheaf-fast", "level"],
    filter: "peak",
  });
  assert.deepEqual(
    specs.map(({ engine, size }) => `${engine} ${size}`),
    [300, 5_000].flatMap((size) =>
      ["sheaf-fast", "level", "level-sync"].map((name) => `${name} ${size}`)
    ),
  );
  assert.ok(specs.every(({ params }) => params["work"] === "all"));
});

Deno.test("a size that is too small or no whole number is refused", () => {
  for (const size of [0, 299, 400.5, NaN]) {
    assert.throws(() => casesOf({ ...order, sizes: [size] }), RangeError);
  }
});

Deno.test("a work or an engine that does not exist is refused by its name", () => {
  const spec = specOf("sqlite-off", "one");
  assert.throws(() => entryOf("oracle"), /oracle/);
  assert.throws(
    () => suite.run({ ...spec, params: { work: "juggle" } }, {} as Stage),
    /juggle/,
  );
});

Deno.test("SQLite's rows are those of the cases, whole and right", async () => {
  await onStage(async (stage) => {
    const outcomes = await suite.run(specOf("sqlite-off", "all"), stage);
    assert.deepEqual(
      outcomes.map(({ operation, wrong }) => [operation, wrong]),
      [
        undefined,
        rows.coldEvery,
        rows.first,
        rows.byId,
        rows.every,
        rows.resident,
        rows.peak,
        rows.disk,
      ]
        .map((operation) => [operation, undefined]),
    );
    for (const { samples } of outcomes) {
      assert.ok(samples.length > 0 && samples.every((value) => value > 0));
    }
  });
});

Deno.test("Sheaf's items are there after its folder was closed and opened", async () => {
  await onStage(async (stage) => {
    const outcomes = await suite.run(specOf("sheaf-fast", "hundreds"), stage);
    assert.equal(outcomes[0]?.wrong, undefined);
    assert.ok((outcomes[0]?.samples.length ?? 0) > 0);
  });
});

Deno.test("a server without an address is skipped with a line that says so", async () => {
  await onStage(async (stage) => {
    for (const engine of ["postgres", "redis"]) {
      await assert.rejects(
        () => suite.run(specOf(engine, "one"), stage),
        { name: "NotHere", message: new RegExp(`--${engine}`) },
      );
    }
  });
});

Deno.test("an engine that loses, changes or doubles an item is shown as wrong", async () => {
  const [one] = itemsBetween(0, 1);
  assert.ok(one !== undefined);
  const lies: ((all: readonly Item[]) => readonly Item[])[] = [
    (all) => all.slice(1),
    (all) => [...all, one],
    (all) => [one, one, ...all.slice(2)],
    (all) => all.map((item) => ({ ...item, done: !item.done })),
    (all) => all.map((item) => ({ ...item, tags: item.tags.slice(1) })),
  ];
  for (const lie of lies) {
    const items = itemsBetween(0, 400);
    const entry = entryFor(() => liar({ all: () => lie(items) }));
    for (const work of ["one", "hundreds", "all"] as const) {
      const spec = specOf("rxdb-memory", work);
      const [outcome] = await onStage((stage) =>
        insert(spec, entry, work, { ...stage })
      );
      assert.notEqual(outcome?.wrong, undefined, `${work} ${lie}`);
    }
  }
});

Deno.test("an engine that answers with another item by id is shown as wrong", async () => {
  const [other] = itemsBetween(7, 8);
  const store = liar({ get: () => other });
  await store.insertMany(itemsBetween(0, 400));
  const [byId, every] = await readBoth(store, 400, true);
  assert.match(byId?.wrong ?? "", /by id/);
  assert.equal(every?.wrong, undefined);
  assert.notEqual(await wrongWith(store, 400), undefined);
});

Deno.test("an honest engine is not shown as wrong, whatever the order of its answers", async () => {
  const store = liar();
  await store.insertMany(itemsBetween(0, 400).reverse());
  const outcomes = await readBoth(store, 400, true);
  assert.ok(outcomes.every(({ wrong }) => wrong === undefined));
  assert.equal(await wrongWith(store, 400), undefined);
  assert.equal(wrongAll(itemsBetween(0, 3), 3), undefined);
});

Deno.test("bytes on disk are those of all files below the folder", () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.mkdirSync(`${folder}/deep/er`, { recursive: true });
    Deno.writeFileSync(`${folder}/a`, new Uint8Array(100_000).fill(1));
    Deno.writeFileSync(`${folder}/deep/er/b`, new Uint8Array(50_000).fill(1));
    const bytes = bytesIn(folder);
    // Blocks may be larger than what is in them, never much.
    assert.ok(bytes >= 140_000 && bytes <= 200_000, String(bytes));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a line of /proc/self/status is read in bytes", () => {
  const status = "VmPeak:\t  900 kB\nVmHWM:\t   81920 kB\nVmRSS:\t   512 kB\n";
  assert.equal(lineOf(status, "VmHWM"), 81_920 * 1_024);
  assert.equal(lineOf(status, "VmSwap"), undefined);
});

Deno.test("a name on a server is of letters and digits, whatever the folder is called", () => {
  assert.equal(ownName("/tmp/a b'; DROP TABLE-x_9"), "tmpabdroptablex9");
  assert.ok(ownName("x".repeat(500)).length <= 40);
});
