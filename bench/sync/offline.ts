/**
 * Two clients that were away, and come back.
 *
 * @module
 */

import { idOf, itemsBetween } from "../harness/items.ts";
import { fill } from "./catch_up.ts";
import { type Client, differenceBetween, type Stage } from "./place.ts";
import { withPair } from "./propagation.ts";
import { Proxy } from "./proxy.ts";
import { type RowName, rowOfSamples, type SyncRow } from "./row.ts";

const EDITS = 1_000;

/** Table 2: 1,000 offline edits on each of two clients in 10,000 items, until equal. */
export async function offlineEdits(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async (a, b, server) => {
    using proxy = new Proxy(server.port);
    await fill(a, 10_000);
    await b.until(() => b.items.count() === 10_000);
    const times: number[] = [];
    const counts: { up: number; down: number; turns: number }[] = [];
    let wrong: string | undefined;
    for (let round = 0; round < (stage.isQuick ? 2 : 12); round++) {
      await Promise.all([a.leave(), b.leave()]);
      await editAlone(a, round, 0);
      await editAlone(b, round, 1);
      proxy.reset();
      // Every other round through the proxy, to count; it costs time of its own.
      const isCounted = round % 2 === 1;
      const start = performance.now();
      await meet(a, b, isCounted ? `ws://127.0.0.1:${proxy.port}` : server.url);
      if (isCounted) {
        counts.push({
          up: proxy.up / 2,
          down: proxy.down / 2,
          turns: proxy.turns / 2,
        });
      } else times.push(performance.now() - start);
      wrong ??= differenceBetween(a, b);
    }
    const row = (
      operation: string,
      unit: RowName["unit"],
      samples: number[],
      goal?: number,
    ): SyncRow =>
      rowOfSamples({
        suite: "table 2",
        operation: `1,000 offline edits each of two clients: ${operation}`,
        mode: stage.mode,
        unit,
        goals: goal === undefined ? [] : [{ figure: "median", value: goal }],
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

async function editAlone(
  { items }: Client,
  round: number,
  side: number,
): Promise<void> {
  for (let i = 0; i < EDITS; i++) {
    const index = (i * 7_919 + side * 3_571 + round * 101) % 10_000;
    await items.update(idOf(index), {
      done: i % 2 === 0,
      rank: 1_000_000 * (round * 2 + side + 1) + i,
    });
  }
}

async function meet(a: Client, b: Client, url: string): Promise<void> {
  const total = (): number => a.repository.status().commits;
  await Promise.all([a.connect(url), b.connect(url)]);
  await Promise.all(
    [a, b].map((one) =>
      one.until(() =>
        a.repository.status().commits === b.repository.status().commits &&
        total() > 0
      )
    ),
  );
}

/** The distributed set: both write 5,000 items at once, until both have 10,000. */
export async function concurrentWrites(stage: Stage): Promise<SyncRow[]> {
  const each = stage.isQuick ? 500 : 5_000;
  return await withPair(stage, async (a, b) => {
    const start = performance.now();
    for (let i = 0; i < each; i++) {
      const [one] = itemsBetween(i, i + 1);
      const [other] = itemsBetween(each + i, each + i + 1);
      const writes = [a.items.create(one!), b.items.create(other!)];
      if (i % 16 === 15) await Promise.all(writes);
    }
    await Promise.all(
      [a, b].map((one) => one.until(() => one.items.count() === 2 * each)),
    );
    const ms = performance.now() - start;
    await Promise.all([a.live(), b.live()]);
    const name: RowName = {
      suite: "distributed",
      operation: `two nodes write ${
        each.toLocaleString("en")
      } each, until both have all`,
      mode: stage.mode,
      unit: "ms",
      wrong: differenceBetween(a, b),
    };
    return [rowOfSamples(name, [ms])];
  });
}

/** The distributed set: deletes on one side, until the other has none of them. */
export async function deletes(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async (a, b) => {
    const rows: SyncRow[] = [];
    let at = 0;
    await fill(a, 6_000);
    await b.until(() => b.items.count() === 6_000);
    for (const count of [1_000, 5_000]) {
      const start = performance.now();
      const left = a.items.count() - count;
      for (let i = 0; i < count; i++) {
        const write = a.items.delete(idOf(at++));
        if (i % 16 === 15) await write;
      }
      await b.until(() => b.items.count() === left);
      const name: RowName = {
        suite: "distributed",
        operation: `${
          count.toLocaleString("en")
        } deletes, until the other node has them`,
        mode: stage.mode,
        unit: "ms",
      };
      rows.push(
        rowOfSamples({ ...name, wrong: differenceBetween(a, b) }, [
          performance.now() - start,
        ]),
      );
    }
    return rows;
  });
}

/** The distributed set: parted, 2,000 writes, healed; nothing may leak meanwhile. */
export async function partition(stage: Stage): Promise<SyncRow[]> {
  return await withPair(stage, async (a, b, server) => {
    using proxy = new Proxy(server.port);
    await fill(a, 1_000);
    await b.leave();
    await b.connect(`ws://127.0.0.1:${proxy.port}`);
    await b.until(() => b.items.count() === 1_000);
    proxy.cut();
    for (let i = 0; i < 2_000; i++) {
      await a.items.create(itemsBetween(1_000 + i, 1_001 + i)[0]!);
    }
    await a.live();
    const leaked = b.items.count() - 1_000;
    const start = performance.now();
    proxy.heal();
    b.db.connection?.retry();
    await b.until(() => b.items.count() === 3_000);
    const ms = performance.now() - start;
    const wrong = leaked === 0
      ? differenceBetween(a, b)
      : `${leaked} items leaked while parted`;
    const name: RowName = {
      suite: "distributed",
      operation: "parted, 2,000 writes, healed: until equal",
      mode: stage.mode,
      unit: "ms",
      wrong,
    };
    return [rowOfSamples(name, [ms])];
  });
}
