/**
 * Opening what peers use: keys, database and books, and the service over them.
 *
 * @module
 */

import type { World } from "../src/base/world.ts";
import { layFoundation, quotasOf } from "./foundation.ts";
import { checkLoginOptions, createLogin } from "./login.ts";
import { openMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { Service } from "./service.ts";
import type { Tracing } from "./tracing.ts";

/** Opens a service; what `options` say of a listener is not looked at. */
export async function openService(
  options: ServerOptions,
  world: World,
  tracing: Tracing,
  isFull = () => false,
): Promise<Service> {
  checkLoginOptions(options.login ?? {});
  const quotas = quotasOf(options);
  const holder: { service?: Service } = {};
  const status = () => holder.service?.status();
  const login = await createLogin(options.login ?? {}, world);
  const metrics = await openMetrics({
    connections: () => status()?.connections ?? 0,
    sessions: () => status()?.sessions ?? 0,
    openRepositories: () => status()?.open.length ?? 0,
    quarantineEntries: () => status()?.quarantine.entries ?? 0,
    quarantineBytes: () => status()?.quarantine.bytes ?? 0,
    restoring: () => status()?.restoring.length ?? 0,
    failing: () => status()?.failing ?? 0,
  });
  const synced = () => metrics.synced();
  const foundation = await layFoundation(options, world, synced);
  try {
    const parts = {
      ...{ world, options, quotas, tracing, metrics, login, foundation },
      isFull,
    };
    return holder.service = new Service(parts);
  } catch (cause) {
    await foundation.database.close();
    throw cause;
  }
}
