/**
 * What a newcomer waits for, and what somebody who comes back pays.
 *
 * @module
 */

import { itemAt } from "../harness/items.ts";
import { Client } from "./client.ts";
import type { Stage } from "./place.ts";
import {
  ClientProcess,
  differenceBetween,
  type ServerProcess,
  startServer,
} from "./process.ts";
import { Proxy } from "./proxy.ts";
import {
  type RowName,
  rowOfSamples,
  type SyncRow,
  type SyncTable,
} from "./row.ts";

/** How a history came about: it decides how many signatures there are. */
type Writing =
  | "in transactions of 100"
  | "one by one"
  | "one by one, by 10 authors";

/** Table 2 and the distributed set: a new client gets everything, verified; each in a process of its own. */
export function catchUp(
  size: number,
  writing: Writing,
  suite: SyncTable,
): (stage: Stage) => Promise<SyncRow[]> {
  return async (stage) => {
    const server = await startServer(stage);
    try {
      const a = await ClientProcess.start(stage, "a", server.rootKey);
      if (writing === "one by one, by 10 authors") {
        await fillByAuthors(stage, server, size, 10);
      }
      await a.do("connect", server.url);
      if (writing === "in transactions of 100") await a.do("fill", size, 100);
      if (writing === "one by one") await a.do("write", 0, size, 64);
      await a.do("has", size);
      await a.do("live");
      const { connected, started, wrong } = await newcomers(
        stage,
        server,
        a,
        size,
      );
      await a.stop();
      const isTable = suite === "table 2";
      const isHeld = isTable && stage.mode === "default" &&
        writing !== "one by one, by 10 authors";
      const name: RowName = {
        suite,
        operation: `new client gets all items, written ${writing}`,
        mode: stage.mode,
        unit: isTable ? "items/s" : "ms",
        size,
        goals: isHeld ? [{ figure: "median", value: 100_000 }] : [],
        wrong,
      };
      return [
        rowOfSamples(
          name,
          connected.map((ms) => isTable ? size / ms * 1_000 : ms),
        ),
        rowOfSamples({
          ...name,
          operation: `${name.operation}: from the start of its process`,
          unit: "ms",
          goals: [],
        }, started),
      ];
    } finally {
      await server.stop();
    }
  };
}

/** Milliseconds of newcomers: from connecting, and from before their process started. */
async function newcomers(
  stage: Stage,
  server: ServerProcess,
  a: ClientProcess,
  size: number,
) {
  const connected: number[] = [];
  const started: number[] = [];
  let wrong: string | undefined;
  for (let i = 0; i < (stage.isQuick ? 1 : 5); i++) {
    const start = performance.now();
    const b = await ClientProcess.start(stage, `new-${i}`, server.rootKey);
    connected.push(await b.do("get", server.url, size));
    started.push(performance.now() - start);
    wrong ??= await differenceBetween(a, b);
    await b.stop();
  }
  return { connected, started, wrong };
}

/** Every author writes every tenth item, all at once: runs are as short as can be. */
async function fillByAuthors(
  stage: Stage,
  server: ServerProcess,
  size: number,
  count: number,
): Promise<void> {
  const authors: Client[] = [];
  for (let i = 0; i < count; i++) {
    const author = await Client.open(stage, `author-${i}`, server.rootKey);
    await author.connect(server.url);
    authors.push(author);
  }
  for (let index = 0; index < size; index++) {
    const write = authors[index % count]!.items.create(itemAt(index));
    if (index % 64 === 0) await write;
  }
  for (const author of authors) await author.live();
  for (const author of authors) await author.close();
}

/** Table 2: somebody comes back and nothing is new; then nothing happens. */
export async function resume(stage: Stage): Promise<SyncRow[]> {
  const size = stage.isQuick ? 1_000 : 100_000;
  const server = await startServer(stage);
  using proxy = new Proxy(server.port);
  const a = await Client.open(stage, "a", server.rootKey);
  try {
    await a.connect(server.url);
    await a.fill(size);
    await a.leave();
    const url = `ws://127.0.0.1:${proxy.port}`;
    const counts: { up: number; down: number; turns: number }[] = [];
    for (let i = 0; i < 5; i++) {
      await quiet(100); // The end of the last connection is not part of the next.
      proxy.reset();
      await a.connect(url);
      await quiet(300);
      const { up, down, turns } = proxy;
      counts.push({ up, down, turns });
      if (i < 4) await a.leave();
    }
    proxy.reset();
    await quiet(3_000);
    const idle = (proxy.up + proxy.down) / 3;
    await a.leave();
    const row = rowsOf(stage);
    return [
      row(
        "come back to 100k items: sent, with upgrade and proofs",
        "B",
        counts.map(({ up }) => up),
      ),
      row(
        "come back to 100k items: received, with upgrade and proofs",
        "B",
        counts.map(({ down }) => down),
      ),
      row(
        "come back to 100k items: round trips, with the upgrade's",
        "trips",
        counts.map(({ turns }) => turns),
        2,
      ),
      row("connected, nothing happens: bytes a second", "B", [idle], 100),
    ];
  } finally {
    await a.close();
    await server.stop();
  }
}

/** Makes rows of the second table. */
function rowsOf({ mode }: Stage) {
  return (
    operation: string,
    unit: RowName["unit"],
    samples: number[],
    goal?: number,
  ): SyncRow =>
    rowOfSamples({
      suite: "table 2",
      operation,
      mode,
      unit,
      goals: goal === undefined ? [] : [{ figure: "median", value: goal }],
    }, samples);
}

function quiet(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
