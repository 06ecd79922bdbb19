/**
 * The vault of a browser: keys in an IndexedDB database of their own, so that
 * they are there whatever the files of the database are kept in.
 */

import { toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import {
  type Connection,
  type ObjectStore,
  platform,
  type Request,
} from "./indexeddb_types.ts";
import type { KeyVault } from "./key_vault.ts";

const STORE = "keys";
/** A browser that removes an origin's data breaks off what runs there: the next try finds nothing, and makes it. */
const TRIES_MAX = 5;
/** Before the second try; before each further one so much longer. */
const RETRY_MS = 25;

export function indexedDbVault(name: string): KeyVault {
  // A connection for each call: they are few, and an open one would hold up
  // whoever removes the database.
  return {
    put: async (publicKey, key) => {
      await withStore(name, (store) => store.put(key, toHex(publicKey)));
    },
    get: (publicKey) => withStore(name, (store) => store.get(toHex(publicKey))),
    remove: async (publicKey) => {
      await withStore(name, (store) => store.delete(toHex(publicKey)));
    },
  };
}

/** Runs one request in a transaction of its own; resolves when that is durable. */
async function withStore(
  name: string,
  ask: (store: ObjectStore) => Request<unknown>,
): Promise<unknown> {
  for (let tries = 1;; tries++) {
    try {
      return await onceWithStore(name, ask);
    } catch (cause) {
      if (tries === TRIES_MAX) throw failure(cause);
      await new Promise((resolve) => setTimeout(resolve, tries * RETRY_MS));
    }
  }
}

async function onceWithStore(
  name: string,
  ask: (store: ObjectStore) => Request<unknown>,
): Promise<unknown> {
  const connection = await connect(name);
  try {
    const options = { durability: "strict" } as const;
    const transaction = connection.transaction([STORE], "readwrite", options);
    const request = ask(transaction.objectStore(STORE));
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(failure(transaction.error));
      // Chromium may end a connection without a word to its transactions.
      connection.onclose = () => reject(failure("it was removed"));
    });
    return request.result;
  } finally {
    connection.close();
  }
}

function connect(name: string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const request = platform().indexedDB.open(`sheaf-keys:${name}`, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failure(request.error));
  });
}

function failure(cause: unknown): DatabaseError {
  if (cause instanceof DatabaseError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DatabaseError(
    "storage-failed",
    `Cannot keep keys in this browser: ${why}`,
    { cause },
  );
}
