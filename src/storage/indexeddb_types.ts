/**
 * What is used of IndexedDB, written down because an app that links Sheaf may
 * have no DOM types.
 */

/** `IDBRequest`. */
export interface Request<T> {
  readonly result: T;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

/** `IDBOpenDBRequest`. */
export interface OpenRequest extends Request<Connection> {
  onupgradeneeded: (() => void) | null;
  /** Of the upgrade, while it runs. */
  readonly transaction: Transaction | null;
}

/** `IDBObjectStore`. */
export interface ObjectStore {
  get(key: unknown): Request<unknown>;
  getAll(range?: unknown): Request<unknown[]>;
  getAllKeys(range?: unknown): Request<unknown[]>;
  put(value: unknown, key: unknown): Request<unknown>;
  delete(key: unknown): Request<unknown>;
}

/** `IDBTransaction`. */
export interface Transaction {
  objectStore(name: string): ObjectStore;
  abort(): void;
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}

/** `IDBDatabase`. */
export interface Connection {
  createObjectStore(name: string): ObjectStore;
  transaction(
    stores: readonly string[],
    mode: "readonly" | "readwrite",
    options?: { durability: "strict" | "relaxed" },
  ): Transaction;
  close(): void;
  onclose: (() => void) | null;
  onversionchange: (() => void) | null;
}

interface Scope {
  readonly indexedDB: { open(name: string, version?: number): OpenRequest };
  readonly IDBKeyRange: { bound(lower: unknown, upper: unknown): unknown };
}

export function platform(): Scope {
  return globalThis as unknown as Scope;
}
