/**
 * Starting a server.
 *
 * @module
 */

import { system } from "../src/base/system.ts";
import type { Server } from "./api.ts";
import type { ServerOptions } from "./options.ts";
import { openService } from "./open_service.ts";
import { RunningServer } from "./server.ts";
import { openTracing } from "./tracing.ts";

/** Starts a server; it listens when this resolves. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const service = await openService(
    options,
    options.world ?? system,
    await openTracing(),
  );
  try {
    return await RunningServer.start(service, options);
  } catch (cause) {
    await service.database.close();
    throw cause;
  }
}
