/**
 * Two clients that were away, and come back.
 *
 * @module
 */

import { type Stage, withPair } from "./place.ts";
import { differenceBetween } from "./process.ts";
import { Proxy } from "./proxy.ts";
import { type RowName, rowOfSamples, type SyncRow } from "./row.ts";

const EDITS = 1_000;
const PARTED_WRITES = 2_000;

/** Table 2: 1,000 offline edits on each of two clients, until equal. */
export async function offlineEdits(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async ({ a, b, server, size }) => {
    using proxy = new Proxy(server.port);
    const both = [a, b];
    const times: number[] = [];
    const counts: { up: number; down: number }[] = [];
    let wrong: string | undefined;
    for (let round = 0; round < (stage.isQuick ? 2 : 12); round++) {
      await Promise.all(both.map((one) => one.do("leave")));
      const commits = await a.do("commits") + 2 * EDITS;
      for (const [side, one] of both.entries()) {
        await one.do("edit", { edits: EDITS, size, round, side });
      }
      proxy.reset();
      // Every other round through the proxy, to count; it costs time of its own.
      const isCounted = round % 2 === 1;
      const url = isCounted ? `ws://127.0.0.1:${proxy.port}` : server.url;
      const start = performance.now();
      await Promise.all(both.map(async (one) => {
        await one.do("connect", url);
        await one.do("hasCommits", commits);
      }));
      if (!isCounted) times.push(performance.now() - start);
      else counts.push({ up: proxy.up / 2, down: proxy.down / 2 });
      wrong ??= await differenceBetween(a, b);
    }
    const row = (
      operation: string,
      unit: RowName["unit"],
      samples: number[],
      goal: number,
    ): SyncRow =>
      rowOfSamples({
        suite: "table 2",
        operation: `1,000 offline edits each of two clients: ${operation}`,
        mode: stage.mode,
        unit,
        size,
        goals: [{ figure: "median", value: goal }],
        wrong,
      }, samples);
    return [
      row("reconnect until equal", "ms", times, 70),
      row("sent, an edit", "B", counts.map(({ up }) => up / EDITS), 100),
      row(
        "received, an edit",
        "B",
        counts.map(({ down }) => down / EDITS),
        100,
      ),
    ];
  });
}

/** The distributed set: both write 5,000 items at once, until both have all. */
export async function concurrentWrites(stage: Stage): Promise<SyncRow[]> {
  const each = stage.isQuick ? 500 : 5_000;
  return await withPair(stage, async ({ a, b, size }) => {
    const all = size + 2 * each;
    const start = performance.now();
    await Promise.all([a, b].map(async (one, side) => {
      const from = size + side * each;
      await one.do("write", from, from + each, 16);
      await one.do("has", all);
    }));
    const ms = performance.now() - start;
    await Promise.all([a.do("live"), b.do("live")]);
    const name: RowName = {
      suite: "distributed",
      operation: `two nodes write ${
        each.toLocaleString("en")
      } each, until both have all`,
      mode: stage.mode,
      unit: "ms",
      size,
      wrong: await differenceBetween(a, b),
    };
    return [rowOfSamples(name, [ms])];
  });
}

/** The distributed set: deletes on one side, until the other has none of them. */
export async function deletes(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async ({ a, b, size }) => {
    const rows: SyncRow[] = [];
    let at = 0;
    for (const count of [size / 10, size / 2]) {
      const start = performance.now();
      await Promise.all([
        a.do("remove", at, at + count),
        b.do("has", size - at - count),
      ]);
      const ms = performance.now() - start;
      at += count;
      const name: RowName = {
        suite: "distributed",
        operation: `${
          count.toLocaleString("en")
        } deletes, until the other node has them`,
        mode: stage.mode,
        unit: "ms",
        size,
        wrong: await differenceBetween(a, b),
      };
      rows.push(rowOfSamples(name, [ms]));
    }
    return rows;
  });
}

/**
 * The distributed set: parted, 2,000 writes, healed; nothing may leak meanwhile.
 * Once the client finds by itself that the wire is there again, which its
 * back-off delays, and once it is told to try at once.
 */
export async function partition(stage: Stage): Promise<SyncRow[]> {
  const partedMs = stage.isQuick ? 1_000 : 5_000;
  return await withPair(stage, async ({ a, b, server, size }) => {
    using proxy = new Proxy(server.port);
    await b.do("leave");
    await b.do("connect", `ws://127.0.0.1:${proxy.port}`);
    let count = size;
    let wrong: string | undefined;
    const part = async (isTold: boolean): Promise<number> => {
      proxy.cut();
      const healed = new Promise((resolve) => setTimeout(resolve, partedMs));
      await a.do("write", count, count + PARTED_WRITES, 64);
      await a.do("live");
      await healed;
      const leaked = (await b.do("content")).count - count;
      if (leaked !== 0) wrong ??= `${leaked} items leaked while parted`;
      count += PARTED_WRITES;
      const start = performance.now();
      proxy.heal();
      if (isTold) await b.do("retry");
      await b.do("has", count);
      const ms = performance.now() - start;
      wrong ??= await differenceBetween(a, b);
      return ms;
    };
    const rows: [string, number[]][] = [
      ["healed: until equal, with what is left of its back-off", []],
      ["healed and told to try at once: until equal", []],
    ];
    for (let round = 0; round < (stage.isQuick ? 1 : 3); round++) {
      for (const [told, [, samples]] of rows.entries()) {
        samples.push(await part(told === 1));
      }
    }
    return rows.map(([what, samples]) =>
      rowOfSamples({
        suite: "distributed",
        operation: `parted for ${
          partedMs / 1_000
        } s, 2,000 writes meanwhile, ${what}`,
        mode: stage.mode,
        unit: "ms",
        size,
        wrong,
      }, samples)
    );
  });
}
