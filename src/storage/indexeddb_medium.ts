/**
 * The bytes of a storage in IndexedDB: names, and pages of files.
 *
 * Each transaction that writes reads the term first and comes to nothing
 * when it is not this storage's own: that is the fence.
 *
 * Architecture invariant: a connection that fails is no verdict: a browser that
 * removes an origin's data first breaks off what runs there, and says no more of
 * it than that. So the database itself is asked, over a connection of its own,
 * before anybody hears of a failure. Asking never makes a database.
 */

import { toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { storageFailure } from "./failure.ts";
import {
  type Connection,
  type ObjectStore,
  type OpenRequest,
  platform,
  type Request,
  type Transaction,
} from "./indexeddb_types.ts";
import { evicted, fencedError } from "./browser_storage.ts";

/** Bytes that are written together. */
export const PAGE_BYTES = 64 * 1024;

const STORES = ["meta", "names", "pages"] as const;

export interface NameRecord {
  readonly id: number;
  readonly size: number;
}

/** Everything that one transaction writes. */
export interface Changes {
  /** `undefined`: the name is gone. */
  readonly names: Iterable<readonly [string, NameRecord | undefined]>;
  /** `undefined`: the page is gone, or nothing but zeros. */
  readonly pages: Iterable<
    readonly [id: number, page: number, bytes: Uint8Array | undefined]
  >;
  /** Files that nobody has a name for. */
  readonly dropped: Iterable<number>;
}

/** A connection, for one term. */
export class Medium {
  /** Of this storage. */
  readonly term: number;
  readonly identity: string;
  readonly names: ReadonlyMap<string, NameRecord>;
  readonly #connection: Connection;
  readonly #database: string;
  /** Ends what is under way, when the connection has ended. */
  readonly #waiting = new Set<(cause: unknown) => void>();
  #asking: Promise<DatabaseError | undefined> | undefined;

  private constructor(
    database: string,
    connection: Connection,
    term: number,
    identity: Uint8Array,
    names: ReadonlyMap<string, NameRecord>,
  ) {
    this.#database = database;
    this.#connection = connection;
    this.term = term;
    this.identity = toHex(identity);
    this.names = names;
  }

  /** Connects, and fences every older storage. */
  static async open(name: string, now: number): Promise<Medium> {
    const database = `sheaf:${name}`;
    const connection = await connect(database);
    try {
      return await Medium.#enter(database, connection, now);
    } catch (cause) {
      connection.close();
      throw cause;
    }
  }

  static async #enter(
    database: string,
    connection: Connection,
    now: number,
  ): Promise<Medium> {
    const transaction = connection.transaction(STORES, "readwrite", {
      durability: "strict",
    });
    const meta = transaction.objectStore("meta");
    const store = transaction.objectStore("names");
    const done = doneOf(transaction);
    const before = meta.get(TERM);
    const identity = meta.get(IDENTITY);
    const keys = store.getAllKeys();
    const records = store.getAll();
    let term = now;
    records.onsuccess = () => {
      const last = typeof before.result === "number" ? before.result : 0;
      term = Math.max(last + 1, now);
      meta.put(term, TERM);
      if (identity.result !== undefined) return;
      meta.put(crypto.getRandomValues(new Uint8Array(16)), IDENTITY);
    };
    await done;
    const made = await read(connection, (meta) => meta.get(IDENTITY));
    // Removed between the two: this connection would find nothing any more.
    if (!(made instanceof Uint8Array)) throw evicted();
    return new Medium(
      database,
      connection,
      term,
      made,
      parseNames(keys.result, records.result),
    );
  }

  /** Calls `onCut` when the browser has ended the connection, which it does before it removes a database. */
  watch(onCut: () => void): void {
    this.#connection.onclose = () => {
      this.cut(new Error("the browser has closed its connection"));
      onCut();
    };
    this.#connection.onversionchange = () => {
      this.#connection.close();
      onCut();
    };
  }

  /** Ends with `cause` what is under way. */
  cut(cause: unknown): void {
    for (const end of [...this.#waiting]) end(cause);
  }

  /**
   * Waits for what this connection does. Chromium may end a connection without
   * a word to its transactions; so the database is asked when they take long.
   */
  #ended<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const ask = () => void this.#ask().then((lost) => lost && fail(lost));
      const timer = setInterval(ask, limits.storageLookMs);
      const stop = () => {
        clearInterval(timer);
        this.#waiting.delete(fail);
      };
      const fail = (cause: unknown) => {
        stop();
        reject(cause);
      };
      this.#waiting.add(fail);
      work.then((value) => {
        stop();
        resolve(value);
      }, fail);
    });
  }

  /** Throws when the database is gone, or another storage's, or cannot be read any more. */
  async check(): Promise<void> {
    let failure: unknown = new Error("its term is another one");
    try {
      const reading = read(this.#connection, (it) => it.get(TERM));
      const term = await this.#ended(reading);
      if (term === this.term) return;
    } catch (cause) {
      failure = cause;
    }
    throw await this.explain("look after IndexedDB", failure);
  }

  /**
   * The error to tell of a failure: `storage-evicted` when the database is gone,
   * `database-locked` when it is another storage's, else that of `cause`.
   */
  async explain(what: string, cause: unknown): Promise<DatabaseError> {
    const failure = storageFailure(what, cause);
    if (failure.code !== "storage-failed") return failure;
    return await this.#ask() ?? failure;
  }

  /** Why this storage has lost its database; `undefined` while nobody says that it has. */
  #ask(): Promise<DatabaseError | undefined> {
    return this.#asking ??= this.#askAnew()
      .finally(() => this.#asking = undefined);
  }

  async #askAnew(): Promise<DatabaseError | undefined> {
    const standing = await standingOf(this.#database, this);
    if (standing === "evicted") return evicted();
    return standing === "fenced" ? fencedError() : undefined;
  }

  /** The pages of a file, in order of their numbers. */
  async pages(id: number): Promise<[page: number, bytes: Uint8Array][]> {
    const range = pagesOf(id);
    const transaction = this.#connection.transaction(["pages"], "readonly");
    const store = transaction.objectStore("pages");
    const keys = store.getAllKeys(range);
    const pages = store.getAll(range);
    await this.#ended(doneOf(transaction));
    return keys.result.map((key, i) => parsePage(key, pages.result[i]));
  }

  /** Writes everything, or nothing. */
  async commit({ names, pages, dropped }: Changes): Promise<void> {
    const transaction = this.#connection.transaction(STORES, "readwrite", {
      durability: "strict",
    });
    let failure: DatabaseError | undefined;
    const meta = transaction.objectStore("meta").get(TERM);
    meta.onsuccess = () => {
      if (meta.result === this.term) return;
      failure = meta.result === undefined ? evicted() : fencedError();
      transaction.abort();
    };
    const done = doneOf(transaction);
    try {
      putAll(transaction, { names, pages, dropped });
      await this.#ended(done);
    } catch (cause) {
      throw failure ?? cause;
    }
  }

  close(): void {
    this.#connection.close();
  }
}

/** Asks for all of them; throws when the transaction is over before that. */
function putAll(
  transaction: Transaction,
  { names, pages, dropped }: Changes,
): void {
  const nameStore = transaction.objectStore("names");
  for (const [name, record] of names) put(nameStore, name, record);
  const pageStore = transaction.objectStore("pages");
  for (const [id, page, bytes] of pages) put(pageStore, [id, page], bytes);
  for (const id of dropped) pageStore.delete(pagesOf(id));
}

function put(store: ObjectStore, key: unknown, value: unknown): void {
  if (value === undefined) store.delete(key);
  else store.put(value, key);
}

function pagesOf(id: number): unknown {
  return platform().IDBKeyRange.bound([id, 0], [id, Infinity]);
}

async function connect(name: string): Promise<Connection> {
  const request = platform().indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    for (const store of STORES) request.result.createObjectStore(store);
  };
  return await resultOf(request);
}

async function read(
  connection: Connection,
  ask: (meta: ObjectStore) => Request<unknown>,
): Promise<unknown> {
  const transaction = connection.transaction(["meta"], "readonly");
  return await resultOf(ask(transaction.objectStore("meta")));
}

function resultOf<T>(request: Request<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () =>
      reject(storageFailure("use IndexedDB", request.error));
  });
}

function doneOf(transaction: Transaction): Promise<void> {
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () =>
      reject(storageFailure("write to IndexedDB", transaction.error));
  });
  done.catch(() => {}); // Who fails before awaiting it has told why.
  return done;
}

function parseNames(
  names: readonly unknown[],
  records: readonly unknown[],
): Map<string, NameRecord> {
  return new Map(names.map((name, i) => {
    const { id, size } = records[i] as Partial<NameRecord>;
    if (
      typeof name === "string" && Number.isSafeInteger(id) &&
      Number.isSafeInteger(size)
    ) return [name, { id: id!, size: size! }];
    throw foreign();
  }));
}

function parsePage(key: unknown, bytes: unknown): [number, Uint8Array] {
  const page: unknown = Array.isArray(key) ? key[1] : undefined;
  if (typeof page === "number" && bytes instanceof Uint8Array) {
    return [page, bytes];
  }
  throw foreign();
}

function foreign(): DatabaseError {
  return new DatabaseError(
    "format-unknown",
    "Cannot open the database: its IndexedDB holds what Sheaf did not write. Remove it, or choose another name.",
  );
}

/** Where the term of the youngest storage is kept, in the store `meta`. */
const TERM = "term";
/** Where the database's identity is kept, in the store `meta`. */
const IDENTITY = "identity";

/** Between two tries. */
const RETRY_MS = 50;

interface Known {
  readonly term: number;
  /** As {@linkcode toHex} gives it. */
  readonly identity: string;
}

/**
 * What is found under a database's name: nothing or another database
 * (`evicted`), a younger storage (`fenced`), all as it was (`same`), or no
 * answer in time.
 */
type Standing = "evicted" | "fenced" | "same" | "unknown";

/** Asks until there is an answer, or for `limits.storageAskMsMax` milliseconds. */
export async function standingOf(
  database: string,
  known: Known,
): Promise<Standing> {
  const late = AbortSignal.timeout(limits.storageAskMsMax);
  const isLate = new Promise<Standing>((resolve) =>
    late.addEventListener("abort", () => resolve("unknown"))
  );
  return await Promise.race([isLate, askUntil(database, known, late)]);
}

async function askUntil(
  database: string,
  known: Known,
  late: AbortSignal,
): Promise<Standing> {
  while (!late.aborted) {
    try {
      return await askOnce(database, known);
    } catch {
      // The removal may be under way yet.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  return "unknown";
}

async function askOnce(database: string, known: Known): Promise<Standing> {
  const connection = await existing(database);
  if (connection === undefined) return "evicted";
  try {
    const term = await read(connection, (meta) => meta.get(TERM));
    const identity = await read(connection, (meta) => meta.get(IDENTITY));
    const isSame = identity instanceof Uint8Array &&
      toHex(identity) === known.identity;
    if (!isSame) return "evicted";
    return term === known.term ? "same" : "fenced";
  } finally {
    connection.close();
  }
}

async function existing(database: string): Promise<Connection | undefined> {
  const request: OpenRequest = platform().indexedDB.open(database);
  let isNew = false;
  request.onupgradeneeded = () => {
    isNew = true;
    request.transaction?.abort(); // And there is none, as before.
  };
  try {
    return await resultOf(request);
  } catch (cause) {
    if (isNew) return undefined;
    throw cause;
  }
}
