/**
 * Starting a server.
 *
 * @module
 */

import { system } from "../src/base/system.ts";
import type { Server } from "./api.ts";
import { layFoundation, quotasOf } from "./foundation.ts";
import { Metrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { RunningServer } from "./server.ts";
import { Service } from "./service.ts";
import { openTracing } from "./tracing.ts";

/** Starts a server; it listens when this resolves. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const quotas = quotasOf(options);
  const tracing = await openTracing();
  const holder: { service?: Service } = {};
  const metrics = new Metrics({
    connections: () => holder.service?.status().connections ?? 0,
    sessions: () => holder.service?.status().sessions ?? 0,
    openRepositories: () => holder.service?.status().open.length ?? 0,
    quarantineEntries: () => holder.service?.status().quarantine.entries ?? 0,
    quarantineBytes: () => holder.service?.status().quarantine.bytes ?? 0,
    restoring: () => holder.service?.status().restoring.length ?? 0,
  });
  const world = system;
  const foundation = await layFoundation(
    options,
    world,
    () => metrics.synced(),
  );
  try {
    const parts = { world, options, quotas, tracing, metrics, foundation };
    const service = holder.service = new Service(parts);
    const { isNew } = foundation;
    return await RunningServer.start(
      { options, metrics, tracing, service },
      isNew,
    );
  } catch (cause) {
    await foundation.database.close();
    throw cause;
  }
}
