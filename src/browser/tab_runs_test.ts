import { deepEqual } from "node:assert/strict";
import type { OwnRecord } from "../../repo/mod.ts";
import { limits } from "../base/limits.ts";
import { runsOf } from "./tab_repository.ts";
import { recordKind } from "../../repo/mod.ts";

const MAX = limits.tabRecordsBytesSoft;

/** Sizes of the records in each run. */
function runs(...sizes: number[]): number[][] {
  const records = sizes.map((size): OwnRecord => ({
    kind: recordKind.unsignedBatch,
    bytes: new Uint8Array(size),
  }));
  return [...runsOf(records)].map((run) =>
    run.map(({ bytes }) => bytes.length)
  );
}

Deno.test("runsOf() fills messages up to their size, and no further", () => {
  deepEqual(runs(), []);
  deepEqual(runs(1, 2, 3), [[1, 2, 3]]);
  deepEqual(runs(1, MAX - 1, 1), [[1, MAX - 1], [1]]);
  deepEqual(runs(1, MAX, 2, 3), [[1], [MAX], [2, 3]]);
  const half = Math.floor(MAX / 2);
  deepEqual(runs(half, half, half, half, 9), [[half, half], [half, half], [9]]);
});

Deno.test("runsOf() gives a record that is larger than a message one of its own", () => {
  deepEqual(runs(MAX + 1, 1), [[MAX + 1], [1]]);
  deepEqual(runs(1, MAX + 1), [[1], [MAX + 1]]);
});
