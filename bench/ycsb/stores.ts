/**
 * The engines of YCSB by name, embedded and behind a server.
 *
 * @module
 */

import {
  isSheaf,
  isSqlite,
  type SheafName,
  sheafNames,
} from "../engines/names.ts";
import type { Stage } from "../harness/suite.ts";
import type { Store } from "./store.ts";
import { openLevelStore } from "./stores/level.ts";
import { openLmdbStore } from "./stores/lmdb.ts";
import { openPostgresStore } from "./stores/postgres.ts";
import { openRedisStore } from "./stores/redis.ts";
import {
  openServedSheaf,
  openSheafStore,
  type ServerAddress,
} from "./stores/sheaf.ts";
import { openSqliteStore } from "./stores/sqlite.ts";

/** Engines in the process that uses them. */
export const embedded = [
  ...sheafNames,
  "sqlite-full",
  "sqlite-off",
  "lmdb",
  "lmdb-nosync",
  "level-sync",
  "level",
] as const;

/** Somebody else's servers. */
export const foreign = ["redis", "postgres"] as const;

/** Engines in a process of their own. */
export const served = [...sheafNames, ...foreign] as const;

/** An engine in the process that uses it. */
export type EmbeddedEngine = typeof embedded[number];

/** Opens the table of an embedded engine in `folder`. */
export function openEmbedded(
  engine: EmbeddedEngine,
  peers: string,
  folder: string,
): Store | Promise<Store> {
  if (isSheaf(engine)) return openSheafStore(folder, engine);
  if (isSqlite(engine)) return openSqliteStore(folder, engine);
  switch (engine) {
    case "lmdb":
    case "lmdb-nosync":
      return openLmdbStore(peers, folder, engine);
    case "level":
    case "level-sync":
      return openLevelStore(peers, folder, engine);
  }
}

/** Connects to somebody else's server. */
export function openForeign(
  engine: typeof foreign[number],
  { peers, addresses }: Stage,
): Promise<Store> {
  return engine === "redis"
    ? openRedisStore(peers, addresses["redis"])
    : openPostgresStore(peers, addresses["postgres"]);
}

/** What a process that only loads is told. */
export interface LoadAssignment {
  readonly engine: EmbeddedEngine;
  readonly peers: string;
  readonly folder: string;
  readonly records: number;
  /** Load through this server, in place of into the folder. */
  readonly server?: ServerAddress;
}

/** Opens what is to be loaded. */
export function openToLoad(
  { engine, peers, folder, server }: LoadAssignment,
): Store | Promise<Store> {
  return server !== undefined && isSheaf(engine)
    ? openServedSheaf(undefined, engine, server)
    : openEmbedded(engine, peers, folder);
}

export { openServedSheaf, type ServerAddress, type SheafName };
