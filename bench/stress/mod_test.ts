import assert from "node:assert/strict";
import type { Order } from "../harness/suite.ts";
import { engines } from "./engines.ts";
import { suite } from "./mod.ts";
import { rowNames } from "./rows.ts";

const order: Order = {
  sizes: [],
  engines: [],
  filter: "",
  isQuick: false,
  addresses: {},
};

Deno.test("cases are unique by name and engine, and each is repeated thrice at least", () => {
  const specs = suite.cases(order);
  const keys = new Set(specs.map(({ name, engine }) => `${name} ${engine}`));
  assert.equal(keys.size, specs.length);
  for (const { repetitions } of specs) assert.ok(repetitions >= 3);
  assert.deepEqual([...new Set(specs.map(({ size }) => size))], [
    1_000,
    10_000,
    100_000,
  ]);
});

Deno.test("a whole run has every engine somewhere, the curve at each size, and Sheaf never without a rival", () => {
  const specs = suite.cases(order);
  for (const { name } of engines) {
    assert.ok(specs.some(({ engine }) => engine === name), name);
  }
  for (const size of [1_000, 10_000, 100_000]) {
    for (const part of ["batch", "versions"]) {
      const of = specs.filter(({ name }) => name === `${part}, ${size}`)
        .map(({ engine }) => engine);
      assert.ok(of.includes("sheaf-default") && of.includes("sqlite-full"));
      assert.equal(of.includes("sheaf-fast"), of.includes("sqlite-off"));
      assert.equal(
        of.includes("sheaf-fast-memory"),
        of.includes("sqlite-memory"),
      );
    }
  }
  assert.ok(specs.length * 3 <= 120, `${specs.length * 3} turns`);
});

Deno.test("a race of one name has the same work for every engine", () => {
  const work = new Map<string, unknown>();
  for (const { name, size, params, engine } of suite.cases(order)) {
    // Browsers make fewer writes one at a time, and race only each other.
    const place = engine.endsWith("opfs") || engine.endsWith("indexeddb");
    const key = `${name} ${place}`;
    const known = work.get(key);
    if (known === undefined) work.set(key, { size, params });
    else assert.deepEqual({ size, params }, known);
  }
});

Deno.test("engines, sizes and the names of rows choose among the cases", () => {
  const of = (changes: Partial<Order>) => suite.cases({ ...order, ...changes });
  const full = of({ engines: ["sqlite-full"], sizes: [2_000] });
  assert.deepEqual(full.map(({ name, engine }) => [name, engine]), [
    ["single, 2000", "sqlite-full"],
    ["batch, 2000", "sqlite-full"],
    ["versions, 2000", "sqlite-full"],
  ]);
  const queries = of({ filter: "world, top 20", isQuick: true });
  assert.ok(queries.length > 0);
  assert.ok(queries.every(({ name }) => name.startsWith("batch")));
  assert.deepEqual(of({ filter: "no such row" }), []);
  assert.ok(
    rowNames("batch").some(({ operation }) => operation === "world, top 20"),
  );
  const pages = of({ filter: "in chromium" });
  assert.ok(pages.length > 0);
  assert.ok(pages.every(({ engine }) => /opfs|indexeddb/.test(engine)));
});

Deno.test("a size without rows for every question is refused, and one past all players", () => {
  for (const size of [10, 2 ** 20]) {
    assert.throws(() => suite.cases({ ...order, sizes: [size] }), RangeError);
  }
});

Deno.test("a filter leaves only the rows that it names", async () => {
  const [spec] = suite.cases({
    ...order,
    sizes: [500],
    engines: ["sqlite-memory"],
    filter: "count all",
  });
  assert.ok(spec !== undefined);
  const folder = Deno.makeTempDirSync();
  try {
    const stage = { folder, isQuick: true, addresses: {}, peers: "" };
    const outcomes = await suite.run(spec, stage);
    assert.deepEqual(outcomes.map(({ operation }) => operation), ["count all"]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
