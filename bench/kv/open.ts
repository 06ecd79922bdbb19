/**
 * Which engine takes part, and how its stores are opened.
 *
 * @module
 */

import {
  type EmbeddedName,
  embeddedNames,
  isEmbedded,
  type ServedName,
  servedNames,
} from "../engines/names.ts";
import { NotHere, type Stage } from "../harness/suite.ts";
import { openDenoKvStore } from "./deno_kv_store.ts";
import { openLevelStore } from "./level_store.ts";
import { openLmdbStore } from "./lmdb_store.ts";
import { openPostgresStore } from "./postgres_store.ts";
import { openRedisStore } from "./redis_store.ts";
import { openSheafStores } from "./sheaf_store.ts";
import { openSqliteStore } from "./sqlite_store.ts";
import type { Store, Stores, Use } from "./store.ts";

/** All that can take part. */
export const engineNames = [...embeddedNames, ...servedNames] as const;

/** One of them. */
export type EngineName = EmbeddedName | ServedName;

/** The engine of this name. */
export function engineNamed(name: string): EngineName {
  const found = engineNames.find((one) => one === name);
  if (found === undefined) {
    throw new RangeError(`the kv suite knows no engine ${name}`);
  }
  return found;
}

/** Opens `count` stores of an engine: repositories of one database, or as many databases. */
export async function openStores(
  engine: EngineName,
  stage: Pick<Stage, "folder" | "peers" | "addresses">,
  use: Use,
  count = 1,
): Promise<Stores> {
  switch (engine) {
    case "sheaf-default":
    case "sheaf-trusted":
    case "sheaf-fast":
      return openSheafStores(`${stage.folder}/sheaf`, engine, count);
    default: {
      const all: Store[] = [];
      while (all.length < count) {
        const folder = `${stage.folder}/${engine}-${all.length}`;
        if (isEmbedded(engine)) Deno.mkdirSync(folder, { recursive: true });
        all.push(await openOne(engine, { ...stage, folder }, use));
      }
      const close = async () => {
        for (const store of all) await store.close();
      };
      return { all, close };
    }
  }
}

type Single = Exclude<
  EngineName,
  "sheaf-default" | "sheaf-trusted" | "sheaf-fast"
>;

function openOne(
  engine: Single,
  { folder, peers, addresses }: Pick<Stage, "folder" | "peers" | "addresses">,
  use: Use,
): Store | Promise<Store> {
  switch (engine) {
    case "sqlite-full":
    case "sqlite-normal":
    case "sqlite-off":
      return openSqliteStore(folder, engine);
    case "lmdb":
    case "lmdb-nosync":
      return openLmdbStore(peers, folder, engine, use);
    case "level":
    case "level-sync":
      return openLevelStore(peers, folder, engine);
    case "deno-kv":
      return openDenoKvStore(folder);
    case "redis":
      return openRedisStore(peers, addresses["redis"]);
    case "postgres":
      return openPostgresStore(peers, addresses["postgres"], use);
  }
}

/** The line that says why an engine has no expiry row. */
export function lacksExpiry(engine: EngineName): NotHere {
  return new NotHere(`${engine} has no expiry of its own`);
}
