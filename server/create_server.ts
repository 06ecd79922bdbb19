/**
 * Starting a server.
 *
 * @module
 */

import type { Server } from "./api.ts";
import { layFoundation, quotasOf } from "./foundation.ts";
import { Metrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { RunningServer } from "./server.ts";
import { openTracing } from "./tracing.ts";

/** Starts a server; it listens when this resolves. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const quotas = quotasOf(options);
  const tracing = await openTracing();
  const holder: { server?: RunningServer } = {};
  const metrics = new Metrics({
    connections: () => holder.server?.status().connections ?? 0,
    sessions: () => holder.server?.status().sessions ?? 0,
    openRepositories: () => holder.server?.status().open.length ?? 0,
    quarantineEntries: () => holder.server?.status().quarantine.entries ?? 0,
    quarantineBytes: () => holder.server?.status().quarantine.bytes ?? 0,
    restoring: () => holder.server?.status().restoring.length ?? 0,
  });
  const foundation = await layFoundation(options, () => metrics.synced());
  try {
    const parts = { options, quotas, tracing, metrics, foundation };
    const server = holder.server = new RunningServer(parts);
    await server.start();
    return server;
  } catch (cause) {
    await foundation.database.close();
    throw cause;
  }
}
