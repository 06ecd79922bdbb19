import assert from "node:assert/strict";
import type { Outcome } from "../harness/suite.ts";
import { denoPlace } from "./deno_place.ts";
import { type Part, rowNames, rows, steps, tables } from "./rows.ts";
import { type PartOrder, type Place, runPart } from "./part.ts";
import type { PlayerStore } from "./store.ts";

const memories = ["sheaf-fast-memory", "sqlite-memory"];

function orderOf(part: Part): PartOrder {
  return { part, size: 600, singles: 600, isQuick: true };
}

async function runWith(
  engine: string,
  part: Part,
  change: (store: PlayerStore) => void = () => {},
): Promise<Outcome[]> {
  const place = await denoPlace(engine, "", part);
  const changed: Place = {
    ...place,
    async open() {
      const store = await place.open();
      change(store);
      return store;
    },
  };
  return await runPart(changed, orderOf(part));
}

for (const engine of memories) {
  for (const part of ["single", "batch", "versions"] as const) {
    Deno.test(`${engine} gives each row of the part ${part}, all of them right`, async () => {
      const outcomes = await runWith(engine, part);
      assert.deepEqual(outcomes.filter(({ wrong }) => wrong !== undefined), []);
      const given = outcomes.map(({ table, operation }) =>
        `${table} ${operation}`
      );
      // The greatest memory is the suite's to say, when the process is over.
      const wanted = rowNames(part)
        .map(({ table, operation }) => `${table} ${operation}`)
        .filter((name) => name !== `${tables.memory} ${rows.peak}`);
      assert.deepEqual(given.toSorted(), wanted.toSorted());
      for (const { samples } of outcomes) assert.ok(samples.length > 0);
    });
  }
}

function wrongRows(outcomes: readonly Outcome[]): string[] {
  return outcomes.filter(({ wrong }) => wrong !== undefined)
    .map(({ operation }) => operation ?? "");
}

Deno.test("a store that forgets an update is wrong in updates, saves and tasks", async () => {
  const outcomes = await runWith("sqlite-memory", "batch", (store) => {
    store.updateMany = () => undefined;
    store.update = () => undefined;
  });
  const wrong = wrongRows(outcomes);
  assert.ok(wrong.includes(steps.crud[0]));
  assert.ok(wrong.includes(steps.update[0]));
  assert.ok(wrong.includes("save one"));
  assert.ok(wrong.includes(rows.list));
  assert.ok(!wrong.includes(steps.insert[0]));
});

Deno.test("a store that keeps what was deleted is wrong in deletes", async () => {
  const outcomes = await runWith("sqlite-memory", "single", (store) => {
    store.remove = () => undefined;
  });
  const wrong = wrongRows(outcomes);
  assert.ok(wrong.includes(steps.remove[1]));
  assert.ok(wrong.includes(steps.crud[1]));
});

Deno.test("a store that leaves a row out is wrong in each question, one that counts too few in counts", async () => {
  const outcomes = await runWith("sqlite-memory", "batch", (store) => {
    const { ask, countOf } = store;
    store.ask = (asked) => ask.call(store, asked).slice(1);
    store.countOf = (asked) => countOf.call(store, asked) - 1;
  });
  const questions = outcomes.filter(({ table }) => table === tables.queries);
  assert.equal(wrongRows(questions).length, 27);
  assert.ok(wrongRows(outcomes).includes("count the active of a world"));
  assert.ok(wrongRows(outcomes).includes(rows.asks));
});

Deno.test("saveAll is measured, and a store that saves too few is wrong in it alone", async () => {
  const row = rowNames("batch").find(({ operation }) =>
    /saveAll/.test(operation)
  );
  const outcomes = await runWith("sheaf-fast-memory", "batch", (store) => {
    const { saveAll } = store;
    store.saveAll = (players) => saveAll.call(store, players.slice(1));
  });
  assert.deepEqual(wrongRows(outcomes), [row?.operation]);
});

Deno.test("a store that forgets old versions is wrong in versions", async () => {
  const outcomes = await runWith("sqlite-memory", "versions", (store) => {
    const { scoresOf } = store;
    store.scoresOf = (id) => scoresOf.call(store, id).slice(-9);
  });
  assert.deepEqual(wrongRows(outcomes), ["read 10 versions of one"]);
});
