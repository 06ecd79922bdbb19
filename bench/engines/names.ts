/**
 * Engines by name: what each has done when a write of it counts as done.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";

/** Sheaf's modes as the bench names them. */
export const sheafNames = [
  "sheaf-default",
  "sheaf-trusted",
  "sheaf-fast",
] as const;

/** SQLite's settings of `synchronous` as the bench names them. */
export const sqliteNames = [
  "sqlite-full",
  "sqlite-normal",
  "sqlite-off",
] as const;

/** Engines that keep data in a folder of this machine and have an opener here. */
export const embeddedNames = [
  ...sheafNames,
  ...sqliteNames,
  "lmdb",
  "lmdb-nosync",
  "level",
  "level-sync",
  "deno-kv",
] as const;

/** Engines behind an address; their durability is their server's setting, asked of it. */
export const servedNames = ["redis", "postgres"] as const;

/** Sheaf in one of its modes. */
export type SheafName = typeof sheafNames[number];
/** SQLite with one setting of `synchronous`. */
export type SqliteName = typeof sqliteNames[number];
/** An engine with a folder. */
export type EmbeddedName = typeof embeddedNames[number];
/** An engine with an address. */
export type ServedName = typeof servedNames[number];

/**
 * As their manuals have it. Seen with `strace` as well, after one awaited write:
 * LMDB, LevelDB with `sync`, Deno KV and Sheaf's Trusted mode have called fsync
 * or fdatasync. The others were not looked at here: SQLite FULL syncs and
 * NORMAL and OFF only write in WAL mode, LMDB with `noSync` and LevelDB without
 * `sync` only write, Sheaf's Fast mode has the commit in memory and writes by
 * itself, its Default mode waits for the medium as Trusted does.
 */
const durabilities: Readonly<Record<EmbeddedName, Durability>> = {
  "sheaf-default": "fsync",
  "sheaf-trusted": "fsync",
  "sheaf-fast": "queued",
  "sqlite-full": "fsync",
  "sqlite-normal": "written",
  "sqlite-off": "written",
  "lmdb": "fsync",
  "lmdb-nosync": "written",
  "level": "written",
  "level-sync": "fsync",
  "deno-kv": "fsync",
};

/** What an acknowledged write of this engine has been through. */
export function durabilityOf(engine: EmbeddedName): Durability {
  return durabilities[engine];
}

/** Is this one of Sheaf's? */
export function isSheaf(engine: string): engine is SheafName {
  return sheafNames.some((name) => name === engine);
}

/** Is this one of SQLite's? */
export function isSqlite(engine: string): engine is SqliteName {
  return sqliteNames.some((name) => name === engine);
}

/** Is this an engine with a folder? */
export function isEmbedded(engine: string): engine is EmbeddedName {
  return embeddedNames.some((name) => name === engine);
}

/** Those of `names` that the order asks for: whose name contains one of `wanted`, or all. */
export function enginesOf<Name extends string>(
  names: readonly Name[],
  wanted: readonly string[],
): Name[] {
  return names.filter((name) =>
    wanted.length === 0 || wanted.some((part) => name.includes(part))
  );
}
