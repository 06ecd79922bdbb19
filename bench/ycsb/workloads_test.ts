import assert from "node:assert/strict";
import { sized } from "../../tests/kit/tier.ts";
import {
  type Action,
  actions,
  type Operations,
  operationsOf,
  scanMax,
  type Workload,
  workloads,
} from "./workloads.ts";

const records = 5_000;
const count = sized(30_000, 100_000);
const lag = 64;

function named(name: string): Workload {
  const found = workloads.find((one) => one.name === name);
  assert.ok(found !== undefined);
  return found;
}

function stream(name: string, seed = 1): Operations {
  return operationsOf({ workload: named(name), records, count, lag, seed });
}

function shareOf(found: Operations, action: Action): number {
  const code = actions.indexOf(action);
  return found.actions.filter((one) => one === code).length / count;
}

const published: Readonly<Record<string, Partial<Record<Action, number>>>> = {
  A: { read: 0.5, update: 0.5 },
  B: { read: 0.95, update: 0.05 },
  C: { read: 1 },
  D: { read: 0.95, insert: 0.05 },
  E: { scan: 0.95, insert: 0.05 },
  F: { read: 0.5, modify: 0.5 },
};

for (const [name, shares] of Object.entries(published)) {
  Deno.test(`workload ${name} has the published shares of operations`, () => {
    const found = stream(name);
    for (const action of actions) {
      const off = Math.abs(shareOf(found, action) - (shares[action] ?? 0));
      assert.ok(off < 0.005, `${action} is ${off} off`);
    }
  });
}

Deno.test("operationsOf() gives the same operations for the same seed, others for another", () => {
  assert.deepEqual(stream("E"), stream("E"));
  assert.notDeepEqual(stream("E").records, stream("E", 2).records);
});

Deno.test("inserts are numbered on from the records, and nothing asks for one that may be on its way", () => {
  const insert = actions.indexOf("insert");
  for (const name of ["D", "E"]) {
    const found = stream(name);
    let next = records;
    for (let at = 0; at < count; at++) {
      const record = found.records[at]!;
      if (found.actions[at] === insert) assert.equal(record, next++);
      else assert.ok(record < Math.max(records, next - lag));
    }
    assert.equal(found.recordsAfter, next);
    const isNewAskedFor = found.records.some((record, at) =>
      record >= records && found.actions[at] !== insert
    );
    assert.ok(isNewAskedFor, "inserted records are asked for later");
  }
});

Deno.test("workload D reads the newest records most", () => {
  const found = stream("D");
  const read = actions.indexOf("read");
  let recent = 0;
  let reads = 0;
  let known = records;
  for (let at = 0; at < count; at++) {
    if (found.actions[at] !== read) known++;
    else {
      reads++;
      if (found.records[at]! >= known - lag - 100) recent++;
    }
  }
  // Of zipfian draws from some thousands more than half are among the first hundred.
  assert.ok(recent / reads > 0.5, `${recent / reads}`);
});

Deno.test("scans are 1 to 100 records long, every length as often", () => {
  const found = stream("E");
  const scan = actions.indexOf("scan");
  const lengths = new Array<number>(scanMax + 1).fill(0);
  let scans = 0;
  for (let at = 0; at < count; at++) {
    if (found.actions[at] !== scan) continue;
    lengths[found.details[at]!]!++;
    scans++;
  }
  assert.equal(lengths[0], 0);
  for (const times of lengths.slice(1)) {
    assert.ok(Math.abs(times / (scans / scanMax) - 1) < 0.2, `${times}`);
  }
});

Deno.test("updates write each of the ten fields as often", () => {
  const found = stream("A");
  const fields = new Array<number>(10).fill(0);
  const update = actions.indexOf("update");
  for (let at = 0; at < count; at++) {
    if (found.actions[at] === update) fields[found.details[at]!]!++;
  }
  for (const times of fields) {
    assert.ok(Math.abs(times / (count / 20) - 1) < 0.1, `${times}`);
  }
});
