/**
 * Opens Deno KV in a file. It is SQLite inside, in WAL mode, and calls fsync
 * before it answers (seen with `strace`); it has nothing to tune. A value is at
 * most 64 KiB, a batch 1,000 changes, a page of a list 500 entries.
 *
 * It is there only in a process that was started with `--unstable-kv`.
 *
 * @module
 */

import { NotHere } from "../harness/suite.ts";

/** A key's parts, compared one after the other. */
export type DenoKvKey = readonly string[];

/** One entry; without a stamp there is none. */
export interface DenoKvEntry {
  readonly key: DenoKvKey;
  readonly value: unknown;
  readonly versionstamp: string | null;
}

/** Changes that happen together. */
export interface DenoKvAtomic {
  set(key: DenoKvKey, value: unknown): DenoKvAtomic;
  delete(key: DenoKvKey): DenoKvAtomic;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** What benches use of Deno KV. */
export interface DenoKv {
  get(key: DenoKvKey): Promise<DenoKvEntry>;
  /** At most 10 keys. */
  getMany(keys: readonly DenoKvKey[]): Promise<DenoKvEntry[]>;
  set(
    key: DenoKvKey,
    value: unknown,
    options?: { readonly expireIn?: number },
  ): Promise<unknown>;
  delete(key: DenoKvKey): Promise<void>;
  atomic(): DenoKvAtomic;
  list(
    selector:
      | { readonly start: DenoKvKey; readonly end: DenoKvKey }
      | { readonly prefix: DenoKvKey },
    options?: { readonly limit?: number; readonly batchSize?: number },
  ): AsyncIterable<DenoKvEntry>;
  close(): void;
}

/** Bytes that a value may have, encoded. */
export const denoKvValueBytesMax = 65_536;

type OpenKv = (path: string) => Promise<DenoKv>;

/** Opens Deno KV in `folder`; throws `NotHere` where the runtime was not told to have it. */
export function openDenoKv(folder: string): Promise<DenoKv> {
  const open: unknown = Reflect.get(Deno, "openKv");
  if (!isOpenKv(open)) {
    throw new NotHere("Deno KV: this Deno runs without --unstable-kv");
  }
  return open(`${folder}/deno-kv.sqlite`);
}

function isOpenKv(value: unknown): value is OpenKv {
  return typeof value === "function";
}
