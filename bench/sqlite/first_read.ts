/**
 * A whole program: loads its database's code, opens, reads one item, says it.
 *
 * @module
 */

import type { Contestant, Shape } from "./engine.ts";
import { loadEngine } from "./load_engine.ts";

/** What the program is told; its only argument, as JSON. */
export interface FirstRead {
  readonly contestant: Contestant;
  readonly folder: string;
  readonly shape: Shape;
  readonly id: string;
}

if (import.meta.main) {
  const { contestant, folder, shape, id }: FirstRead = JSON.parse(
    Deno.args[0] ?? "",
  );
  const database = await (await loadEngine(contestant)).open(folder, shape);
  console.log(JSON.stringify(database.get(id)));
  await database.close();
}
