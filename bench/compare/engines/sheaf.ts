/**
 * Sheaf in one of its modes, as apps open it: the engine of the suite
 * `sqlite`, with the schema of the items and no index beside the id.
 *
 * @module
 */

import { sheafEngine } from "../../sqlite/sheaf_engine.ts";
import type { Mode } from "../../sqlite/engine.ts";
import type { Load } from "../store.ts";
import { plainShape, tableStore } from "./table.ts";

/** Sheaf in this mode. */
export function sheaf(mode: Mode): Load {
  return async ({ folder }) => {
    const engine = await sheafEngine(mode);
    return {
      open: async () => tableStore(await engine.open(folder, plainShape)),
    };
  };
}
