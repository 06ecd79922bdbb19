/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />

/**
 * A page of the proofs that writes what is erased later, and looks through all
 * that its browser keeps.
 *
 * @module
 */

import { type Database, openDatabase } from "../../src/browser/mod.ts";
import { Item } from "./proof_schema.ts";

let database: Database;

function repository() {
  return database.repository("team/board");
}

/** Opens the database, and connects it; says where its files are. */
export async function open(
  worker: string,
  rootKey: string,
  url: string,
): Promise<string> {
  database = await openDatabase({
    ...{ worker, schemas: [Item], name: "redaction", rootKey },
  });
  database.connect(url, { session: { anonymous: true } });
  await (await repository()).undo.ready;
  return database.storage.status().backend;
}

/** Writes an item; resolves when the server has it. */
export async function write(id: string, text: string): Promise<void> {
  const items = (await repository()).collection(Item);
  await items.upsert({ id, run: "x", n: 1, text }).synced;
}

export async function checkpoint(): Promise<void> {
  await (await repository()).checkpoint();
}

export async function text(id: string): Promise<string | undefined> {
  return (await repository()).collection(Item).get(id)?.text;
}

/** Everything that commits say, decoded. */
export async function said(): Promise<string> {
  return JSON.stringify((await repository()).history());
}

export async function verify(): Promise<boolean> {
  return (await (await repository()).verify()).ok;
}

export async function close(): Promise<void> {
  await database.close();
}

/** Names of what the browser keeps that holds a text, and how much was looked through. */
export async function find(text: string): Promise<Found> {
  while (true) {
    try {
      return await look(text);
    } catch (error) {
      // A worker that is closed may still put files in the place of others.
      const isGone = error instanceof DOMException &&
        ["NotFoundError", "NotReadableError"].includes(error.name);
      if (!isGone) throw error;
    }
  }
}

interface Found {
  readonly found: readonly string[];
  readonly bytes: number;
}

async function look(text: string): Promise<Found> {
  const wanted = new TextEncoder().encode(text);
  const found: string[] = [];
  let bytes = 0;
  for await (const [name, content] of kept()) {
    bytes += content.length;
    if (isIn(content, wanted)) found.push(name);
  }
  return { found, bytes };
}

function isIn(content: Uint8Array, wanted: Uint8Array): boolean {
  for (let at = content.indexOf(wanted[0]!); at >= 0;) {
    if (wanted.every((byte, i) => content[at + i] === byte)) return true;
    at = content.indexOf(wanted[0]!, at + 1);
  }
  return false;
}

async function* kept(): AsyncGenerator<[string, Uint8Array]> {
  yield* filesIn(await navigator.storage.getDirectory(), "");
  for (const { name } of await indexedDB.databases()) {
    const opened = await settled(indexedDB.open(name!));
    for (const store of opened.objectStoreNames) {
      const rows = opened.transaction(store).objectStore(store);
      const values = await settled(rows.getAll());
      for (const value of values) {
        yield* bytesIn(value, `${name} ${store}`);
      }
    }
    opened.close();
  }
}

async function* filesIn(
  folder: FileSystemDirectoryHandle,
  path: string,
): AsyncGenerator<[string, Uint8Array]> {
  for await (const entry of folder.values()) {
    const name = `${path}/${entry.name}`;
    if (entry.kind === "directory") {
      yield* filesIn(entry as FileSystemDirectoryHandle, name);
    } else {
      const file = await (entry as FileSystemFileHandle).getFile();
      yield [name, new Uint8Array(await file.arrayBuffer())];
    }
  }
}

/** Bytes and texts anywhere in a stored value. */
async function* bytesIn(
  value: unknown,
  name: string,
): AsyncGenerator<[string, Uint8Array]> {
  if (typeof value === "string") yield [name, new TextEncoder().encode(value)];
  else if (value instanceof ArrayBuffer) yield [name, new Uint8Array(value)];
  else if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    yield [name, new Uint8Array(buffer, byteOffset, byteLength)];
  } else if (value instanceof Blob) {
    yield [name, new Uint8Array(await value.arrayBuffer())];
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) yield* bytesIn(part, name);
  }
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
