/**
 * Starting a server.
 *
 * @module
 */

import { checkOptions } from "../src/base/known_options.ts";
import { system } from "../src/base/system.ts";
import { Memory, processHeap } from "../src/base/memory.ts";
import type { EmbeddedServer, Server } from "./api.ts";
import {
  type EmbedOptions,
  embedOptions,
  type ServerOptions,
  serverOptions,
} from "./options.ts";
import { openService } from "./open_service.ts";
import { ListeningServer, RunningServer } from "./server.ts";
import type { Service } from "./service.ts";
import { openTracing } from "./tracing.ts";

/** Starts a server; it listens when this resolves. */
export async function createServer(options: ServerOptions): Promise<Server> {
  checkOptions(options, serverOptions);
  return await start(
    options,
    (service) => ListeningServer.start(service, options),
  );
}

/** Starts a server that listens nowhere: what it is to answer is handed in, or attached. */
export async function embedServer(
  options: EmbedOptions,
): Promise<EmbeddedServer> {
  checkOptions(options, embedOptions);
  return await start(
    options,
    (service) => RunningServer.open(service, options),
  );
}

async function start<S>(
  options: ServerOptions,
  begin: (service: Service) => Promise<S>,
): Promise<S> {
  const memory = new Memory(processHeap, () => system.monotonic());
  const service = await openService(
    options,
    options.world ?? system,
    await openTracing(),
    () => memory.isFull(),
  );
  try {
    return await begin(service);
  } catch (cause) {
    await service.database.close();
    throw cause;
  }
}
