/**
 * A contestant's engine, loaded when it is asked for, so that SQLite's
 * processes do without Sheaf, and Sheaf's without SQLite.
 *
 * @module
 */

import type { Contestant, Engine } from "./engine.ts";

/**
 * Loads it.
 *
 * @param core where Sheaf's module is, if not among the sources
 */
export async function loadEngine(
  contestant: Contestant,
  core?: string,
): Promise<Engine> {
  if (contestant === "sqlite-full" || contestant === "sqlite-off") {
    const { sqliteEngine } = await import("./sqlite_engine.ts");
    return sqliteEngine(contestant === "sqlite-full" ? "FULL" : "OFF");
  }
  const { sheafEngine } = await import("./sheaf_engine.ts");
  return await sheafEngine(contestant, core);
}
