/**
 * Opening the storage of a browser: OPFS where there is one, else IndexedDB. In a
 * dedicated worker, by the one owner of a device's database.
 *
 * Architecture invariant: opening raises the term; no older storage
 * acknowledges anything afterwards.
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import type { BrowserStorage } from "./browser_storage.ts";
import { storageFailure } from "./failure.ts";
import { openOpfs } from "./opfs_open.ts";
import { nameOf, type OpfsFolder } from "./opfs_types.ts";

export interface BrowserStorageOptions {
  /** Of the database: 1 to 64 of A-Z, a-z, 0-9, "_" and "-". */
  readonly name: string;
  /** Do not wait for handles that another page has: its lock was stolen. */
  readonly steal?: boolean;
  /** Default: OPFS where the browser has it. */
  readonly backend?: "opfs" | "indexeddb";
  /** How long to wait for handles that another page has not given back. */
  readonly waitMs?: number;
}

const storageOptions = { name: 0, steal: 0, backend: 0, waitMs: 0 };
const NAME = /^[\w-]{1,64}$/;

/**
 * Opens the storage of a database of this origin, and fences whoever has it open.
 *
 * @throws {DatabaseError} `database-locked` when another page has handles that
 * cannot be shared, `format-too-new`, `storage-full`, `permission-denied`
 */
export async function openBrowserStorage(
  options: BrowserStorageOptions,
): Promise<BrowserStorage> {
  const { name } = checkOptions(options, storageOptions);
  if (!NAME.test(name)) {
    throw new DatabaseError(
      "invalid-option",
      `Cannot open a database named ${
        JSON.stringify(name)
      }: use 1 to 64 of A-Z, a-z, 0-9, "_" and "-"`,
    );
  }
  const waitMs = options.waitMs ??
    (options.steal ? limits.storageStealMsMax : limits.storageWaitMsMax);
  const directory = options.backend === "indexeddb"
    ? undefined
    : await opfsDirectory();
  if (directory !== undefined) return await openOpfs(directory, name, waitMs);
  if ((globalThis as unknown as Scope).indexedDB === undefined) {
    throw new DatabaseError(
      "storage-failed",
      'This browser keeps no files, neither in OPFS nor in IndexedDB: open the database with `storage: "memory"` or elsewhere',
    );
  }
  const { openIndexedDb } = await import("./indexeddb_storage.ts");
  return await openIndexedDb(name, waitMs);
}

interface Scope {
  readonly navigator?: {
    readonly storage?: { getDirectory?(): Promise<OpfsFolder> };
  };
  readonly FileSystemSyncAccessHandle?: unknown;
  readonly indexedDB?: unknown;
}

/** The origin's private file system; `undefined` where it has no synchronous handles. */
async function opfsDirectory(): Promise<OpfsFolder | undefined> {
  const { navigator, FileSystemSyncAccessHandle } =
    globalThis as unknown as Scope;
  if (FileSystemSyncAccessHandle === undefined) return undefined;
  try {
    return await navigator?.storage?.getDirectory?.();
  } catch (cause) {
    // Firefox refuses it in private windows; any other failure must not look like an empty database.
    if (nameOf(cause) === "SecurityError") return undefined;
    throw storageFailure("open the origin's private file system", cause);
  }
}
