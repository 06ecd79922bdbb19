/**
 * The page in which a part runs: Sheaf with a worker of the page, the same
 * work as in Deno.
 *
 * @module
 */

import { defineSchema, field, openDatabase } from "../../src/browser/mod.ts";
import type { Outcome } from "../harness/suite.ts";
import { type PartOrder, type Place, runPart } from "./part.ts";
import { playerSchema, SheafStore } from "./sheaf_store.ts";

const schema = playerSchema({ defineSchema, field });

/** Each opening is another database of the origin; `worker` is the script of its worker. */
function pagePlace(worker: string): Place {
  let count = 0;
  return {
    async open() {
      const database = await openDatabase({
        name: `players-${count++}`,
        worker: () => new Worker(worker, { type: "module" }),
        schemas: [schema],
        user: "bench",
      });
      const repository = await database.repository("bench");
      return new SheafStore(database, repository, schema);
    },
    learn: () => {},
    residentBytes: () => undefined,
  };
}

/** Runs a part in this page. */
export function run(worker: string, order: PartOrder): Promise<Outcome[]> {
  return runPart(pagePlace(worker), order);
}
