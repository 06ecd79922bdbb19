/**
 * The engines of the suite `sqlite`, asked what this suite asks.
 *
 * @module
 */

import type { Database, Shape } from "../../sqlite/engine.ts";
import type { Store } from "../store.ts";

/** No index, no table of old values, nobody else in the folder. */
export const plainShape: Shape = {
  indexed: false,
  history: false,
  exclusive: true,
  frugal: false,
};

/** A database of that suite as a store of this one. */
export function tableStore(database: Database): Store {
  return {
    insert: (item) => database.create(item),
    insertMany: (items) => database.createBatch(items),
    get: (id) => database.get(id),
    all: () => database.all(),
    close: () => database.close(),
  };
}
