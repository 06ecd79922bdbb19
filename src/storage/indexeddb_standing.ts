/**
 * What became of an IndexedDB database whose connection failed: a browser that
 * removes an origin's data first breaks off what runs there, and says no more of
 * it than that. So the database itself is asked, over a connection of its own.
 *
 * Architecture invariant: asking never makes a database.
 *
 * @module
 */

import { toHex } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { storageFailure } from "./failure.ts";
import {
  type Connection,
  type OpenRequest,
  platform,
} from "./indexeddb_types.ts";

/** Where the term of the youngest storage is kept, in the store `meta`. */
export const TERM = "term";
/** Where the database's identity is kept, in the store `meta`. */
export const IDENTITY = "identity";

/** Between two tries. */
const RETRY_MS = 50;

/** What a storage knows of its database. */
export interface Known {
  readonly term: number;
  /** As {@linkcode toHex} gives it. */
  readonly identity: string;
}

/**
 * What is found under a database's name: nothing or another database
 * (`evicted`), a younger storage (`fenced`), all as it was (`same`), or no
 * answer in time.
 */
export type Standing = "evicted" | "fenced" | "same" | "unknown";

/** Asks until there is an answer, or for `msMax` milliseconds. */
export async function standingOf(
  database: string,
  known: Known,
  msMax: number = limits.storageAskMsMax,
): Promise<Standing> {
  const late = AbortSignal.timeout(msMax);
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
    const [term, identity] = await metaOf(connection);
    const isSame = identity instanceof Uint8Array &&
      toHex(identity) === known.identity;
    if (!isSame) return "evicted";
    return term === known.term ? "same" : "fenced";
  } finally {
    connection.close();
  }
}

/** A connection to a database that is there. */
function existing(database: string): Promise<Connection | undefined> {
  const request: OpenRequest = platform().indexedDB.open(database);
  let isNew = false;
  request.onupgradeneeded = () => {
    isNew = true;
    request.transaction?.abort(); // And there is none, as before.
  };
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => {
      if (isNew) resolve(undefined);
      else reject(storageFailure("ask IndexedDB", request.error));
    };
  });
}

function metaOf(
  connection: Connection,
): Promise<[term: unknown, identity: unknown]> {
  const transaction = connection.transaction(["meta"], "readonly");
  const meta = transaction.objectStore("meta");
  const term = meta.get(TERM);
  const identity = meta.get(IDENTITY);
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve([term.result, identity.result]);
    transaction.onabort = () =>
      reject(storageFailure("ask IndexedDB", transaction.error));
  });
}
