/**
 * A whole program: loads its database's code, opens, reads one item, says it;
 * or loads the code and says nothing of use.
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
  /** The item that is read; none: nothing is opened. */
  readonly id?: string | undefined;
  /** Where Sheaf's module is, if not among the sources. */
  readonly core?: string | undefined;
}

if (import.meta.main) {
  const { contestant, folder, shape, id, core }: FirstRead = JSON.parse(
    Deno.args[0] ?? "",
  );
  const engine = await loadEngine(contestant, core);
  if (id === undefined) {
    console.log("{}");
  } else {
    const database = await engine.open(folder, shape);
    console.log(JSON.stringify(database.get(id)));
    await database.close();
  }
}
