/**
 * How long a write takes from one client to the screen of another.
 *
 * @module
 */

import { type Pair, type Stage, withPair } from "./place.ts";
import { type Goal, type RowName, rowOfSamples, type SyncRow } from "./row.ts";
import { wireFloor } from "./wire_floor.ts";

/** As long as that of any item. */
const BODY = "x".repeat(120);
const SIZES = [64, 256, 1_024, 2_048, 4_096, 16_384, 65_536, 102_400];

/** Table 2, first row: a write on A, until a live query on B has moved. */
export async function propagation(stage: Stage): Promise<SyncRow[]> {
  const { mode, folder, isQuick } = stage;
  const goals: Goal[] = mode === "fast"
    ? [{ figure: "median", value: 0.3 }]
    : [{ figure: "median", value: 0.8 }, { figure: "p99", value: 5 }];
  const floor = await wireFloor(folder, 300, mode !== "fast");
  return await withPair(stage, async ({ a, b, size }) => {
    await b.do("answerTrips");
    const name: RowName = {
      suite: "table 2",
      operation:
        "write on A visible in a live query on B: half of there and back",
      mode,
      unit: "ms",
      size,
      goals: mode === "trusted" ? [] : goals,
      floor,
    };
    const samples = await a.do("trips", 0, isQuick ? 100 : 1_000, BODY);
    return [rowOfSamples(name, samples)];
  });
}

/** The distributed set: the same by the size of the value. */
export async function propagationBySize(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async (pair) => {
    await pair.b.do("answerTrips");
    const rows: SyncRow[] = [];
    for (const [at, bytes] of SIZES.entries()) {
      rows.push(await tripsOfSize(stage, pair, bytes, at * 1_000));
    }
    return rows;
  });
}

async function tripsOfSize(
  { mode, folder, isQuick }: Stage,
  { a, size }: Pair,
  bytes: number,
  first: number,
): Promise<SyncRow> {
  const count = isQuick ? 20 : 200;
  const name: RowName = {
    suite: "distributed",
    operation: `replication of a value of ${bytes} B`,
    mode,
    unit: "ms",
    size,
    // The trap: a frame of 1 to 60 KB must not wait 44 ms for a delayed acknowledgement.
    goals: bytes <= 16_384 ? [{ figure: "p99", value: 20 }] : [],
    floor: await wireFloor(folder, bytes, mode !== "fast"),
  };
  const samples = await a.do("trips", first, count, "x".repeat(bytes));
  return rowOfSamples(name, samples);
}
