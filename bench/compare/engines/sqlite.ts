/**
 * SQLite with one setting of `synchronous`: the well tuned engine of the suite
 * `sqlite` (WAL, one process, prepared statements, cache and memory map that
 * hold the data), with no index beside the id.
 *
 * @module
 */

import { sqliteEngine } from "../../sqlite/sqlite_engine.ts";
import type { Load } from "../store.ts";
import { plainShape, tableStore } from "./table.ts";

/** SQLite with this setting. */
export function sqlite(synchronous: "FULL" | "NORMAL" | "OFF"): Load {
  return ({ folder }) => {
    const engine = sqliteEngine(synchronous);
    return {
      open: async () => tableStore(await engine.open(folder, plainShape)),
    };
  };
}
