/**
 * Who is compared, and what a write promises when it is done. How each is set
 * up stands at the head of its file; a rival that is used badly there is a bug
 * of ours.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import type { Load } from "./store.ts";

/** One engine of the suite. */
export interface Entry {
  readonly name: string;
  /** As it is set up here; servers are asked for theirs. */
  readonly durability: Durability;
  /** Does it know its items again after it was closed? */
  readonly isKept: boolean;
  /** Is it a process of its own, whose memory and files are not ours to see? */
  readonly isServer: boolean;
  /** The most items of one transaction, where it cannot take any number; the row of all in one names it. */
  readonly perTransactionMax?: number;
  /** Does it take many seconds for all items at once? Then its usual number is smaller. */
  readonly isSlow: boolean;
  /** Its code is loaded only by the process that measures it. */
  readonly load: () => Promise<Load>;
}

type Defaults = "isKept" | "isServer" | "isSlow";

function entry(
  { name, durability, load, ...rest }:
    & Omit<Entry, Defaults>
    & Partial<Pick<Entry, Defaults>>,
): Entry {
  const usual = { isKept: true, isServer: false, isSlow: false };
  return { name, durability, load, ...usual, ...rest };
}

const sheaf = () => import("./engines/sheaf.ts");
const sqlite = () => import("./engines/sqlite.ts");
const lmdb = () => import("./engines/lmdb.ts");
const level = () => import("./engines/level.ts");
const rxdb = () => import("./engines/rxdb.ts");

/** All engines, ours first. */
export const entries: readonly Entry[] = [
  entry({
    name: "sheaf-default",
    durability: "fsync",
    load: async () => (await sheaf()).sheaf("default"),
  }),
  entry({
    name: "sheaf-trusted",
    durability: "fsync",
    load: async () => (await sheaf()).sheaf("trusted"),
  }),
  entry({
    name: "sheaf-fast",
    durability: "queued",
    load: async () => (await sheaf()).sheaf("fast"),
  }),
  entry({
    name: "sqlite-full",
    durability: "fsync",
    load: async () => (await sqlite()).sqlite("FULL"),
  }),
  entry({
    name: "sqlite-normal",
    durability: "written",
    load: async () => (await sqlite()).sqlite("NORMAL"),
  }),
  entry({
    name: "sqlite-off",
    durability: "written",
    load: async () => (await sqlite()).sqlite("OFF"),
  }),
  entry({
    name: "lmdb",
    durability: "fsync",
    load: async () => (await lmdb()).lmdb("lmdb"),
  }),
  entry({
    name: "lmdb-nosync",
    durability: "written",
    load: async () => (await lmdb()).lmdb("lmdb-nosync"),
  }),
  entry({
    name: "level",
    durability: "written",
    load: async () => (await level()).level("level"),
  }),
  entry({
    name: "level-sync",
    durability: "fsync",
    load: async () => (await level()).level("level-sync"),
  }),
  entry({
    name: "deno-kv",
    durability: "fsync",
    perTransactionMax: 500,
    load: async () => (await import("./engines/deno_kv.ts")).denoKv,
  }),
  entry({
    name: "rxdb",
    durability: "fsync",
    isSlow: true,
    perTransactionMax: 100,
    load: async () => (await rxdb()).rxdb,
  }),
  entry({
    name: "rxdb-memory",
    durability: "memory",
    isKept: false,
    load: async () => (await rxdb()).rxdbMemory,
  }),
  entry({
    name: "tinybase",
    durability: "fsync",
    load: async () => (await import("./engines/tinybase.ts")).tinybase,
  }),
  entry({
    name: "pouchdb",
    durability: "written",
    isSlow: true,
    load: async () => (await import("./engines/pouchdb.ts")).pouchdb,
  }),
  entry({
    name: "yjs",
    durability: "fsync",
    load: async () => (await import("./engines/yjs.ts")).yjs,
  }),
  entry({
    name: "automerge",
    durability: "fsync",
    isSlow: true,
    load: async () => (await import("./engines/automerge.ts")).automerge,
  }),
  entry({
    name: "loro",
    durability: "fsync",
    load: async () => (await import("./engines/loro.ts")).loro,
  }),
  entry({
    name: "postgres",
    durability: "fsync",
    isServer: true,
    load: async () => (await import("./engines/postgres.ts")).postgres,
  }),
  entry({
    name: "redis",
    durability: "written",
    isServer: true,
    load: async () => (await import("./engines/redis.ts")).redis,
  }),
];

/** The engine of that name. */
export function entryOf(name: string): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new RangeError(`no engine is named ${name}`);
  return found;
}
