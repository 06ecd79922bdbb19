/**
 * The stage of a sync case: a server and clients, each in a process of its own.
 *
 * @module
 */

import type { Mode } from "../sqlite/engine.ts";
import { ClientProcess, type ServerProcess, startServer } from "./process.ts";

/** What a case gets. */
export interface Stage {
  readonly mode: Mode;
  /** The case's own folder. */
  readonly folder: string;
  readonly isQuick: boolean;
}

/** Two connected clients of one server. */
export interface Pair {
  readonly a: ClientProcess;
  readonly b: ClientProcess;
  readonly server: ServerProcess;
  /** Items that all of them have. */
  readonly size: number;
}

/** A server and two clients whose repository is no empty one; what is started is stopped. */
export async function withPair<T>(
  stage: Stage,
  run: (pair: Pair) => Promise<T>,
): Promise<T> {
  const size = stage.isQuick ? 1_000 : 10_000;
  const server = await startServer(stage);
  const [a, b] = await Promise.all(
    (["a", "b"] as const).map((name) =>
      ClientProcess.start(stage, name, server.rootKey)
    ),
  ) as [ClientProcess, ClientProcess];
  try {
    await a.do("connect", server.url);
    await a.do("fill", size);
    await b.do("get", server.url, size);
    return await run({ a, b, server, size });
  } finally {
    await a.stop();
    await b.stop();
    await server.stop();
  }
}
