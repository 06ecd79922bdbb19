/**
 * The server under work: many writes in flight, a busy app, many who only wait,
 * and a lost disk.
 *
 * @module
 */

import { memoryStorage, openDatabase } from "../../mod.ts";
import { itemAt } from "../harness/items.ts";
import { Client, ItemSchema } from "./client.ts";
import { type Stage, withPair } from "./place.ts";
import { ClientProcess, differenceBetween, startServer } from "./process.ts";
import { type RowName, rowOfSamples, type SyncRow } from "./row.ts";

const IN_FLIGHT = 64;

/** Table 2: single-item commits, 64 in flight, each durable on the server. */
export async function sustained(stage: Stage): Promise<SyncRow[]> {
  const server = await startServer(stage);
  const a = await Client.open(stage, "a", server.rootKey);
  try {
    await a.connect(server.url);
    const samples: number[] = [];
    let next = 0;
    const lane = async (until: number): Promise<void> => {
      while (performance.now() < until) {
        const start = performance.now();
        await a.items.create(itemAt(next++)).synced;
        samples.push(performance.now() - start);
      }
    };
    const lanes = (ms: number): Promise<void[]> => {
      const until = performance.now() + ms;
      return Promise.all(Array.from({ length: IN_FLIGHT }, () => lane(until)));
    };
    await lanes(500);
    samples.length = 0;
    const start = performance.now();
    await lanes(stage.isQuick ? 500 : 5_000);
    const seconds = (performance.now() - start) / 1_000;
    const { commits } = await server.figures();
    const wrong = commits < next
      ? `The server has ${commits} of ${next}`
      : undefined;
    const isHeld = stage.mode === "default";
    const common = { suite: "table 2", mode: stage.mode, wrong } as const;
    return [
      rowOfSamples({
        ...common,
        operation: "single commits, 64 in flight, durable on the server",
        unit: "writes/s",
        goals: isHeld ? [{ figure: "median", value: 10_000 }] : [],
      }, [samples.length / seconds]),
      rowOfSamples({
        ...common,
        operation: "single commits, 64 in flight: each",
        unit: "ms",
        goals: isHeld ? [{ figure: "p99", value: 50 }] : [],
      }, samples),
    ];
  } finally {
    await a.close();
    await server.stop();
  }
}

/** Table 2: memory of the server with 100,000 items, and of a client that got them. */
export async function memory(stage: Stage): Promise<SyncRow[]> {
  const size = stage.isQuick ? 10_000 : 100_000;
  const server = await startServer(stage);
  try {
    const a = await ClientProcess.start(stage, "a", server.rootKey);
    await a.do("connect", server.url);
    await a.do("fill", size);
    await a.stop();
    const b = await ClientProcess.start(stage, "b", server.rootKey);
    await b.do("get", server.url, size);
    await b.do("readAll");
    const clientBytes = await b.do("memory");
    await b.stop();
    const { rssBytes } = await server.figures(true);
    const row = (who: string, bytes: number, goal: number): SyncRow =>
      rowOfSamples({
        suite: "table 2",
        operation: `memory of the ${who} after ${
          size.toLocaleString("en")
        } items`,
        mode: stage.mode,
        unit: "MB",
        size,
        goals: [{ figure: "median", value: goal }],
      }, [bytes / 1e6]);
    return [
      row("client's process", clientBytes, 200),
      row("server's process", rssBytes, 150),
    ];
  } finally {
    await server.stop();
  }
}

/** Table 2: what a connection costs the server while nothing happens on it. */
export async function idleConnections(stage: Stage): Promise<SyncRow[]> {
  const count = stage.isQuick ? 100 : 1_000;
  const server = await startServer(stage);
  const before = (await server.figures(true)).rssBytes;
  const databases = [];
  try {
    for (let i = 0; i < count; i++) {
      const db = await openDatabase({
        storage: memoryStorage(),
        mode: stage.mode,
        rootKey: server.rootKey,
        schemas: [ItemSchema],
      });
      databases.push(db);
      const repository = await db.repository("bench");
      db.connect(server.url, { session: { anonymous: true } });
      await repository.sync.ready;
    }
    const after = (await server.figures(true)).rssBytes;
    const name: RowName = {
      suite: "table 2",
      operation: `${
        count.toLocaleString("en")
      } idle connections: server memory, each`,
      mode: stage.mode,
      unit: "KB",
      goals: [{ figure: "median", value: 45 }],
    };
    return [rowOfSamples(name, [(after - before) / count / 1e3])];
  } finally {
    for (const db of databases) await db.close();
    await server.stop();
  }
}

/** Table 2: the server's disk is gone; clients bring everything back. */
export async function wipedServer(stage: Stage): Promise<SyncRow[]> {
  const size = stage.isQuick ? 5_000 : 100_000;
  const server = await startServer(stage);
  const a = await ClientProcess.start(stage, "a", server.rootKey);
  const b = await ClientProcess.start(stage, "b", server.rootKey);
  try {
    await a.do("connect", server.url);
    await a.do("write", 0, size, 64);
    await a.do("live");
    await b.do("get", server.url, size);
    await b.do("isProved", size);
    const expected = await a.do("commits");
    await server.kill();
    await Deno.remove(`${stage.folder}/server`, { recursive: true });
    const fresh = await startServer(stage, server.port);
    const start = performance.now();
    for (const client of [a, b]) await client.do("retry");
    let { commits, isRestoring } = await fresh.figures();
    while (commits < expected || isRestoring) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      ({ commits, isRestoring } = await fresh.figures());
    }
    const ms = performance.now() - start;
    await Promise.all([a.do("live"), b.do("live")]);
    const name: RowName = {
      suite: "table 2",
      operation: `wiped server restored by two clients, ${
        size.toLocaleString("en")
      } commits, told to try at once: proved complete`,
      mode: stage.mode,
      unit: "ms",
      goals: [{ figure: "median", value: 10_000 }],
      wrong: await differenceBetween(a, b),
    };
    await fresh.stop();
    return [rowOfSamples(name, [ms])];
  } finally {
    await a.stop();
    await b.stop();
  }
}

/** The distributed set: 10 workers a node, 200 keys each, 5 rounds of churn, then reads. */
export async function busyApp(stage: Stage): Promise<SyncRow[]> {
  const [workers, keys, rounds] = stage.isQuick ? [2, 50, 2] : [10, 200, 5];
  const total = 2 * workers * keys;
  const writes = total * (rounds + 1);
  return await withPair(stage, async ({ a, b, size }) => {
    const commits = await a.do("commits") + writes;
    const start = performance.now();
    await Promise.all([a, b].map(async (one, side) => {
      const first = size + side * workers * keys;
      await one.do("churn", { first, workers, keys, rounds });
      await one.do("hasCommits", commits);
    }));
    const ms = performance.now() - start;
    const readMs = await Promise.all([a, b].map((one) => one.do("readAll")));
    const common = {
      suite: "distributed",
      mode: stage.mode,
      unit: "ms",
      size,
      wrong: await differenceBetween(a, b),
    } as const;
    return [
      rowOfSamples({
        ...common,
        operation: `busy app, ${
          writes.toLocaleString("en")
        } durable writes, until equal`,
      }, [ms]),
      rowOfSamples({
        ...common,
        operation: "busy app: then every item read",
      }, readMs),
    ];
  });
}
