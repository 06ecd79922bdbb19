/**
 * Opens LevelDB through `classic-level`: values as JSON, a block cache that
 * holds the data, a write buffer of 16 MiB so that compaction does not come
 * every 4 MiB, no compression (the benches' values hardly shrink, and it costs
 * every read). The best way to read one is `getSync`.
 *
 * Durability is asked for by each write: pass {@linkcode levelWrite}.
 *
 * @module
 */

import { loadPeer } from "../peers/load.ts";

/** A range in key order. */
export interface LevelRange {
  readonly gte?: string;
  readonly gt?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly limit?: number;
  readonly reverse?: boolean;
}

/** How a write is acknowledged. */
export interface LevelWrite {
  readonly sync: boolean;
}

/** One step of a batch. */
export type LevelStep =
  | { readonly type: "put"; readonly key: string; readonly value: unknown }
  | { readonly type: "del"; readonly key: string };

interface LevelIterator<Row> {
  /** All that are left, fetched in large blocks, and closes. */
  all(): Promise<Row[]>;
}

/** What benches use of LevelDB. */
export interface Level {
  open(): Promise<void>;
  get(key: string): Promise<unknown>;
  /** Its bytes when asked for as `buffer`. */
  getSync(key: string, options?: { readonly valueEncoding: "buffer" }): unknown;
  getMany(keys: readonly string[]): Promise<unknown[]>;
  has(key: string): Promise<boolean>;
  put(key: string, value: unknown, options: LevelWrite): Promise<void>;
  del(key: string, options: LevelWrite): Promise<void>;
  /** Atomic. */
  batch(steps: readonly LevelStep[], options: LevelWrite): Promise<void>;
  iterator(range: LevelRange): LevelIterator<[string, unknown]>;
  keys(range: LevelRange): LevelIterator<string>;
  values(range: LevelRange): LevelIterator<unknown>;
  close(): Promise<void>;
}

interface LevelModule {
  readonly ClassicLevel: new (
    folder: string,
    options: Readonly<Record<string, unknown>>,
  ) => Level;
}

/** The options of this engine's writes. */
export function levelWrite(engine: "level" | "level-sync"): LevelWrite {
  return { sync: engine === "level-sync" };
}

/** Opens LevelDB in `folder`; throws `NotHere` where the package is not to be had. */
export async function openLevel(peers: string, folder: string): Promise<Level> {
  const { ClassicLevel } = await loadPeer<LevelModule>(peers, "classic-level");
  const level = new ClassicLevel(`${folder}/level`, {
    keyEncoding: "utf8",
    valueEncoding: "json",
    cacheSize: 64 << 20,
    writeBufferSize: 16 << 20,
    compression: false,
  });
  await level.open();
  return level;
}
