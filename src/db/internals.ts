/**
 * What `server/` needs of the objects that users hold, past their public face.
 *
 * Never exported from `mod.ts`.
 *
 * @module
 */

import { assert } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import type { Keyring } from "./keyring.ts";

/** What a database is made of. */
export interface DatabaseInternals {
  readonly storage: Storage;
  readonly world: World;
  readonly keyring: Keyring;
}

const databases = new WeakMap<object, DatabaseInternals>();
const replicas = new WeakMap<object, Replica>();

/** Notes what a database is made of. */
export function noteInternals(
  database: object,
  internals: DatabaseInternals,
): void {
  databases.set(database, internals);
}

/** What a database is made of. */
export function internalsOf(database: object): DatabaseInternals {
  const internals = databases.get(database);
  assert(internals !== undefined, "it was made by openDatabase()");
  return internals;
}

/** Notes the replica behind a repository. */
export function noteReplica(repository: object, replica: Replica): void {
  replicas.set(repository, replica);
}

/** The replica behind a repository. */
export function replicaOf(repository: object): Replica {
  const replica = replicas.get(repository);
  assert(replica !== undefined, "it was opened by a database");
  return replica;
}
