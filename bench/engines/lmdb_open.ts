/**
 * Opens LMDB through `lmdb`, the binding that its JavaScript users choose.
 *
 * Its best calls are the synchronous ones: `get` reads the memory map, `putSync`
 * and `transactionSync` return when the commit is on the medium. Writes that are
 * in flight together go through `put`, which gathers all of one turn into one
 * transaction. `overlappingSync` is off: with it a put's promise resolves before
 * the medium has it, which would not be what the others promise. Values are MessagePack with shared structures (its
 * default and its quickest), no second cache in front of the map.
 *
 * @module
 */

import { loadPeer } from "../peers/load.ts";

/** A range in key order: `start` is in it, `end` is not; with `reverse` from the high end. */
export interface LmdbRange {
  readonly start?: string;
  readonly end?: string;
  readonly limit?: number;
  readonly reverse?: boolean;
  /** `false`: no snapshot is held; right where nobody writes meanwhile. */
  readonly snapshot?: boolean;
}

/** What benches use of LMDB's database. */
export interface Lmdb {
  get(key: string): unknown;
  getMany(keys: readonly string[]): Promise<unknown[]>;
  doesExist(key: string): boolean;
  /** Gathered with all of this turn into one transaction; resolves when that is committed. */
  put(key: string, value: unknown): Promise<boolean>;
  putSync(key: string, value: unknown): boolean;
  remove(key: string): Promise<boolean>;
  removeSync(key: string): boolean;
  getRange(range: LmdbRange): Iterable<{ key: string; value: unknown }>;
  getKeys(range: LmdbRange): Iterable<string>;
  getCount(range?: LmdbRange): number;
  /** Inside it only the synchronous calls: `putSync`, `removeSync`. */
  transactionSync<Result>(work: () => Result): Result;
  transaction<Result>(work: () => Result): Promise<Result>;
  /** A second tree in the same file: an index. */
  openDB(options: { name: string; dupSort?: boolean }): Lmdb;
  readonly flushed: Promise<boolean>;
  close(): Promise<void>;
}

interface LmdbModule {
  open(options: Readonly<Record<string, unknown>>): Lmdb;
}

/** Opens LMDB in `folder`; throws `NotHere` where the package is not to be had. */
export async function openLmdb(
  peers: string,
  folder: string,
  engine: "lmdb" | "lmdb-nosync",
): Promise<Lmdb> {
  const { open } = await loadPeer<LmdbModule>(peers, "lmdb");
  return open({
    path: `${folder}/lmdb`,
    overlappingSync: false,
    noSync: engine === "lmdb-nosync",
    noMemInit: true,
    sharedStructuresKey: Symbol.for("structures"),
    maxDbs: 32,
  });
}
