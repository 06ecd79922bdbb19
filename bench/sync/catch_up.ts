/**
 * What a newcomer waits for, and what somebody who comes back pays.
 *
 * @module
 */

import { itemAt, itemsBetween } from "../harness/items.ts";
import {
  Client,
  differenceBetween,
  type ServerProcess,
  type Stage,
  startServer,
} from "./place.ts";
import { Proxy } from "./proxy.ts";
import {
  type RowName,
  rowOfSamples,
  type SyncRow,
  type SyncTable,
} from "./row.ts";

/** How the history came about: it decides how many signatures there are. */
type Writing =
  | "in transactions of 1,000"
  | "one by one"
  | "one by one, by 10 authors";

/** Writes items `0` to `size` and waits until the server has them. */
export async function fill(
  a: Client,
  size: number,
  writing: Writing = "in transactions of 1,000",
): Promise<void> {
  const step = writing === "in transactions of 1,000" ? 1_000 : 1;
  for (let from = 0; from < size; from += step) {
    const write = a.items.createMany(
      itemsBetween(from, Math.min(size, from + step)),
    );
    if (step === 1_000 || from % 64 === 0) await write;
  }
  await a.live();
}

/** Table 2 and the distributed set: a new client gets everything, verified. */
export function catchUp(
  size: number,
  writing: Writing,
  suite: SyncTable,
): (stage: Stage) => Promise<SyncRow[]> {
  return async (stage) => {
    const server = await startServer(stage);
    try {
      const a = await Client.open(stage, "a", server.hello.rootKey);
      await a.connect(server.url);
      if (writing === "one by one, by 10 authors") {
        await fillByAuthors(stage, server, size, 10);
      } else await fill(a, size, writing);
      await a.until(() => a.items.count() === size);
      const { samples, wrong } = await newcomers(stage, server, a, size);
      await a.db.close();
      const isTable = suite === "table 2";
      const isHeld = isTable && stage.mode === "default" &&
        writing !== "one by one, by 10 authors";
      const name: RowName = {
        suite,
        operation: `new client gets ${
          size.toLocaleString("en")
        } items, written ${writing}`,
        mode: stage.mode,
        unit: isTable ? "items/s" : "ms",
        size,
        goals: isHeld ? [{ figure: "median", value: 100_000 }] : [],
        wrong,
      };
      return [
        rowOfSamples(
          name,
          samples.map((ms) => isTable ? size / ms * 1_000 : ms),
        ),
      ];
    } finally {
      await server.stop();
    }
  };
}

async function newcomers(
  stage: Stage,
  server: ServerProcess,
  a: Client,
  size: number,
) {
  const samples: number[] = [];
  let wrong: string | undefined;
  for (let i = 0; i < (stage.isQuick ? 1 : 5); i++) {
    const b = await Client.open(stage, `new-${i}`, server.hello.rootKey);
    const start = performance.now();
    b.db.connect(server.url, { session: { anonymous: true } });
    await b.until(() =>
      b.items.count() === size && b.repository.sync.status.state === "live"
    );
    samples.push(performance.now() - start);
    wrong ??= differenceBetween(a, b);
    await b.db.close();
  }
  return { samples, wrong };
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
    authors.push(
      await (await Client.open(stage, `author-${i}`, server.hello.rootKey))
        .connect(server.url),
    );
  }
  for (let index = 0; index < size; index++) {
    const write = authors[index % count]!.items.create(itemAt(index));
    if (index % 64 === 0) await write;
  }
  for (const author of authors) await author.live();
  for (const author of authors) await author.db.close();
}

/** Table 2: somebody comes back and nothing is new; then nothing happens. */
export async function resume(stage: Stage): Promise<SyncRow[]> {
  const size = stage.isQuick ? 1_000 : 100_000;
  const server = await startServer(stage);
  using proxy = new Proxy(server.port);
  const a = await Client.open(stage, "a", server.hello.rootKey);
  try {
    await a.connect(server.url);
    await fill(a, size);
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
    await a.db.close();
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
