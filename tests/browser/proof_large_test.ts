/**
 * A page with 100,000 items: what it takes of memory, and that its thread stays
 * free while somebody else writes 20,000 more through a real server.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { memoryStorage, openDatabase } from "../../mod.ts";
import type { Server } from "../../server/mod.ts";
import { withServer } from "../server_place.ts";
import { browserTest, until } from "./kit/mod.ts";
import { entries, type ProofTab } from "./proof_place.ts";
import { Item } from "./proof_schema.ts";
import { type Tasks, tasksOf } from "./proof_tasks.ts";

type Page = typeof import("./proof_page.ts");

const name = "board";
const ITEMS = 100_000;
const MORE = 20_000;
/** What background work may take of a page's thread at a time, by the issue. */
const TARGET_MS = 16;
/** More than this is a fault of the code on a machine like the one that it was written on. */
const TASK_MS_MAX = 40;
/** What {@linkcode ProofPage.reckon} takes there; others are measured by it in the same run. */
const RECKON_MS = 15;
const RECKON_TURNS = 11;
/**
 * Where others have the cores, the threads beside a page's that compile and
 * collect garbage for it come late, and its own does their work: up to so much.
 */
const CROWDING_MAX = 3;
/** A busy machine takes its time to bring 100,000 items; after this it hangs. */
const SECONDS_MAX = 290;
const COMES_SECONDS_MAX = 150;
/** Of the page, the worker apart. */
const HEAP_MB_MAX = 250;

/** Another client of the server, in this process. */
async function writerOf(server: Server) {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Item],
  });
  db.connect(server.url, { session: { anonymous: true } });
  const repository = await db.repository("team/board");
  /** Writes items of a run, in commits of `each`; resolves when the server has them. */
  const write = async (run: string, items: number, each: number) => {
    let last: PromiseLike<void> | undefined;
    for (let from = 0; from < items; from += each) {
      last = repository.transact((tx) => {
        const collection = tx.collection(Item);
        for (let n = from; n < from + each; n++) {
          const text = `The ${n}th of what was written by somebody else`;
          collection.create({ run, n, text, count: 0 });
        }
      }).synced;
      await new Promise((resolve) => setTimeout(resolve)); // Others have a turn.
    }
    await last;
  };
  return { write, [Symbol.asyncDispose]: () => db.close() };
}

/** Megabytes of a page after a collection: objects, and bytes beside them. */
async function memoryOf(tab: ProofTab): Promise<[number, number]> {
  const session = await tab.cdp();
  await session.send("HeapProfiler.collectGarbage");
  const usage = await session.send("Runtime.getHeapUsage");
  const { usedSize, backingStorageSize = 0 } = usage as {
    usedSize: number;
    backingStorageSize?: number;
  };
  return [usedSize / 1e6, backingStorageSize / 1e6];
}

/** How much slower this machine is than the one that the bounds were written on, at least 1. */
async function slownessOf(tab: ProofTab): Promise<number> {
  const { cpuMs } = await tasksOf(tab, async () => {
    for (let turn = 0; turn < RECKON_TURNS; turn++) await tab.call("reckon");
  });
  const reckoning = cpuMs.toSorted((a, b) => b - a).slice(0, RECKON_TURNS);
  const median = reckoning[Math.floor(RECKON_TURNS / 2)] ?? 0;
  return Math.max(1, median / RECKON_MS);
}

/** The longest task, and what it may take on this machine, as crowded as it was. */
function judge(tasks: Tasks, slowness: number): [number, number] {
  const crowding = Math.min(CROWDING_MAX, tasks.crowding);
  return [Math.max(...tasks.cpuMs), TASK_MS_MAX * slowness * crowding];
}

/** Tasks in words; times are those of the processor. */
function said({ cpuMs: tasks, crowding }: Tasks): string {
  const sum = tasks.reduce((all, ms) => all + ms, 0);
  const long = tasks.filter((ms) => ms > TARGET_MS).length;
  const longest = Math.max(...tasks).toFixed(1);
  return `${tasks.length} tasks, ${
    sum.toFixed(0)
  } ms in all, longest ${longest} ms, ${long} above ${TARGET_MS} ms, crowding ${
    crowding.toFixed(1)
  }`;
}

browserTest("what keeps a page's thread busy is seen", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("page");
  const tasks = await tasksOf(tab, async () => {
    for (let i = 0; i < 3; i++) await tab.call("reckon", 20);
  });
  const [worst, most] = judge(tasks, await slownessOf(tab));
  ok(worst > most, said(tasks));
});

browserTest(
  "a page with 100,000 items stays free while another client writes 20,000",
  { entries, secondsMax: SECONDS_MAX },
  async (place) => {
    await withServer({ origins: ["*"] }, async ({ server }) => {
      await using writer = await writerOf(server);
      await writer.write("first", ITEMS, 1_000);
      const rootKey = server.rootKey.toHex();
      const tab = await place.open<Page>("page");
      const slowness = await slownessOf(tab);
      const before = await memoryOf(tab);
      await tab.call("open", { name, rootKey });
      const filling = await tasksOf(tab, async () => {
        await tab.call("connect", name, server.url);
        await until(
          async () => await tab.call("count", name, "first") === ITEMS,
          "all came",
          COMES_SECONDS_MAX,
        );
      });
      const filled = await memoryOf(tab);
      await tab.reload();
      const { tookMs } = await tab.call("open", { name, rootKey });
      equal(await tab.call("count", name, "first"), ITEMS);
      const opened = await memoryOf(tab);
      await tab.call("connect", name, server.url);
      await tab.call("show", name, "more");
      await until(
        async () => (await tab.call("sync", name)).state === "live",
        "it is live",
      );
      const tasks = await tasksOf(tab, async () => {
        await writer.write("more", MORE, 100);
        await until(
          async () => await tab.call("count", name, "more") === MORE,
          "all that was written came",
          COMES_SECONDS_MAX,
        );
        await until(
          async () => await tab.call("rows") === 50,
          "the list to show them",
        );
      });
      const megabytes = [before, filled, opened].map(([objects, bytes]) =>
        `${objects.toFixed(0)}+${bytes.toFixed(0)}`
      ).join(", ");
      console.log(
        `  memory of the page, objects+bytes in MB (empty, filled by the server, opened): ${megabytes}; ` +
          `opened in ${tookMs.toFixed(0)} ms\n` +
          `  ${ITEMS} came in ${said(filling)}\n  ${MORE} more in ${
            said(tasks)
          }`,
      );
      for (const one of [filling, tasks]) {
        ok(one.cpuMs.length > 50, "they were measured");
        const [worst, most] = judge(one, slowness);
        ok(worst < most, `a task of ${worst} ms, where ${most} ms are allowed`);
      }
      const [objects, bytes] = opened;
      ok(objects + bytes < HEAP_MB_MAX, `${objects} + ${bytes} MB`);
    });
  },
);
