/**
 * How long a write takes from one client to the screen of another.
 *
 * @module
 */

import { idOf, itemAt } from "../harness/items.ts";
import {
  Client,
  type ServerProcess,
  type Stage,
  startServer,
} from "./place.ts";
import { type Goal, type RowName, rowOfSamples, type SyncRow } from "./row.ts";
import { wireFloor } from "./wire_floor.ts";

const SIZES = [64, 256, 1_024, 2_048, 4_096, 16_384, 65_536, 102_400];

/** Two connected clients on one server; what is started is stopped. */
export async function withPair<T>(
  stage: Stage,
  run: (a: Client, b: Client, server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = await startServer(stage);
  const a = await Client.open(stage, "a", server.hello.rootKey);
  const b = await Client.open(stage, "b", server.hello.rootKey);
  try {
    await a.connect(server.url);
    await b.connect(server.url);
    return await run(a, b, server);
  } finally {
    await a.db.close();
    await b.db.close();
    await server.stop();
  }
}

/** Table 2, first row: a write on A, until a live query on B has moved. */
export async function propagation(stage: Stage): Promise<SyncRow[]> {
  const goals: Goal[] = stage.mode === "fast"
    ? [{ figure: "median", value: 0.3 }]
    : [{ figure: "median", value: 0.8 }, { figure: "p99", value: 5 }];
  const floor = await wireFloor(stage.folder, 300, stage.mode !== "fast");
  const name: RowName = {
    suite: "table 2",
    operation: "write on A visible in a live query on B",
    mode: stage.mode,
    unit: "ms",
    goals: stage.mode === "trusted" ? [] : goals,
    floor,
  };
  return await withPair(stage, async (a, b) => [
    rowOfSamples(
      name,
      await trips(a, b, stage.isQuick ? 100 : 1_000, undefined),
    ),
  ]);
}

/** The distributed set: the same by the size of the value. */
export async function propagationBySize(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async (a, b) => {
    const rows: SyncRow[] = [];
    for (const size of SIZES) {
      const samples = await trips(a, b, stage.isQuick ? 20 : 200, size);
      const name: RowName = {
        suite: "distributed",
        operation: `replication of a value of ${size} B`,
        mode: stage.mode,
        unit: "ms",
        // The trap: a frame of 1 to 60 KB must not wait 44 ms for a delayed acknowledgement.
        goals: size <= 16_384 ? [{ figure: "p99", value: 20 }] : [],
        floor: await wireFloor(stage.folder, size, stage.mode !== "fast"),
      };
      rows.push(rowOfSamples(name, samples));
    }
    return rows;
  });
}

let written = 0;

async function trips(
  a: Client,
  b: Client,
  count: number,
  bodyBytes: number | undefined,
): Promise<number[]> {
  const body = bodyBytes === undefined ? undefined : "x".repeat(bodyBytes);
  const samples: number[] = [];
  let arrived: (() => void) | undefined;
  let awaited = "";
  using _live = b.items.where({ author: "live" }).orderBy("rank", "desc").limit(
    50,
  ).subscribe(({ rows }) => {
    if (rows.some(({ id }) => id === awaited)) arrived?.();
  });
  const warm = Math.ceil(count / 5);
  for (let i = 0; i < count + warm; i++) {
    const index = 10_000_000 + written++;
    awaited = idOf(index);
    const seen = new Promise<void>((resolve) => arrived = resolve);
    const start = performance.now();
    const item = { ...itemAt(index), author: "live", rank: index };
    const write = a.items.create(body === undefined ? item : { ...item, body });
    await seen;
    if (i >= warm) samples.push(performance.now() - start);
    await write.synced;
  }
  return samples;
}
