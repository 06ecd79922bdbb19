/**
 * A repository as it was: read-only collections at a commit or a moment.
 *
 * @module
 */

import type { World } from "../base/world.ts";
import type { Schema } from "../schema/schema.ts";
import { type Replica, type State, stateOf } from "../../repo/mod.ts";
import { Engines } from "./engines.ts";
import { includesOf } from "./history.ts";
import { ReadableCollection } from "./readable_collection.ts";
import type { Schemas } from "./schemas.ts";

/** The state at one point of the history; it never changes. */
export class Snapshot {
  readonly #state: State;
  readonly #engines: Engines;
  readonly #check: (schema: Schema) => void;

  /** Use `repository.at(point)`. */
  constructor(state: State, engines: Engines, check: (schema: Schema) => void) {
    this.#state = state;
    this.#engines = engines;
    this.#check = check;
  }

  /** A collection as it was. */
  collection<S extends Schema>(schema: S): ReadableCollection<S> {
    this.#check(schema);
    return new ReadableCollection({
      schema,
      table: this.#state.table(schema.name),
      engine: this.#engines.of(schema),
      check: () => {},
    });
  }
}

/** Folds the commits up to a point into a snapshot. */
export function openSnapshot(
  replica: Replica,
  schemas: Schemas,
  world: World,
  point: string | Date,
): Snapshot {
  const includes = includesOf(replica, point);
  const state = stateOf(
    replica.commits,
    (name) => schemas.viewOf(name),
    includes,
  );
  const schemaOf = (name: string) => schemas.find(name);
  const engines = new Engines({ state, world, schemaOf, hooks: {} });
  return new Snapshot(state, engines, (schema) => schemas.check(schema));
}
