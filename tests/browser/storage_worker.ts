/**
 * The worker of the storage tests: opens storages and does to them what a test
 * asks for.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { openBrowserStorage } from "../../src/storage/browser_open.ts";
import type {
  BrowserStorage,
  StorageIncident,
} from "../../src/storage/browser_storage.ts";
import type { StorageUsage } from "../../src/storage/storage.ts";
import * as duel from "./storage_duel.ts";
import { standingOf } from "../../src/storage/indexeddb_medium.ts";
import { storageConformance } from "../kit/storage_conformance.ts";

type Backend = "opfs" | "indexeddb";

let storage: BrowserStorage | undefined;
let count = 0;
const incidents: StorageIncident[] = [];

function opened(): BrowserStorage {
  if (storage === undefined) throw new Error("nothing is open");
  return storage;
}

/** What a test may ask. */
const questions = {
  ...duel,

  /** Runs the conformance suite; gives how many cases ran, and what failed. */
  async conformance(backend: Backend) {
    const failed: string[] = [];
    const cases = storageConformance(backend, async () => {
      const name = `conformance-${++count}`;
      const storage = await openBrowserStorage({ name, backend });
      for (const folder of ["a", "a/b", "a/b/c"]) await storage.prepare(folder);
      return {
        storage,
        reopen: () => storage,
        cleanup: () => storage.close(),
      };
    });
    for (const { name, run } of cases) {
      await run().catch((error) => failed.push(`${name}: ${error}`));
    }
    return { ran: cases.length, failed };
  },

  /** Opens a storage; gives what it is. */
  async open(name: string, backend: Backend, steal = false) {
    storage = await openBrowserStorage({ name, backend, steal });
    storage.watch((incident) => incidents.push(incident));
    await storage.prepare("log");
    const { term, canBeStolen } = storage;
    const identity = storage.identity();
    return { term, canBeStolen, identity, ...storage.usage() };
  },

  async close() {
    await opened().close();
    storage = undefined;
  },

  /** Appends to `log/<name>`; syncs; gives its size, or the code of the failure. */
  async append(name: string, bytes: Uint8Array): Promise<number | string> {
    try {
      const file = opened().open(`log/${name}`, { create: true })!;
      file.writeAt(bytes, file.size());
      await file.sync();
      opened().syncFolder("log");
      const size = file.size();
      file.close();
      return size;
    } catch (error) {
      return codeOf(error);
    }
  },

  /** The bytes of `log/<name>`. */
  read(name: string): Uint8Array | undefined {
    const file = opened().open(`log/${name}`);
    if (file === undefined) return undefined;
    const bytes = new Uint8Array(file.size());
    file.readAt(bytes, 0);
    file.close();
    return bytes;
  },

  list: () => opened().list("log").sort(),
  incidents: () => incidents.map(({ code, at }) => ({ code, at })),
  /** What it knows, and how much is used as the browser says now. */
  async usage(): Promise<StorageUsage> {
    const { usage: usedBytes = 0 } = await navigator.storage.estimate();
    return { ...opened().usage(), usedBytes };
  },

  /**
   * Appends records of 100 numbered bytes for ever, to a log or to new files by
   * turns, and tells the page of each that is durable.
   */
  async load(): Promise<never> {
    for (let n = 0;; n++) {
      const bytes = new Uint8Array(100).fill(n % 251);
      const file = opened().open("log/load", { create: true })!;
      file.writeAt(bytes, n * 100);
      await file.sync();
      if (n === 0) opened().syncFolder("log");
      file.close();
      if (n % 3 === 0) await replaceMark(n);
      scope.postMessage({ durable: n + 1 });
      await new Promise((resolve) => setTimeout(resolve));
    }
  },

  /** Appends whole mebibytes for ever, so that a write is nearly always under way; gives the code that ended it. */
  async heavyLoad(): Promise<string> {
    const file = opened().open("log/heavy", { create: true })!;
    const bytes = new Uint8Array(1 << 20).fill(1);
    for (let n = 0;; n++) {
      try {
        file.writeAt(bytes, (n % 16) * bytes.length);
        await file.sync();
      } catch (error) {
        return codeOf(error);
      }
      scope.postMessage({ durable: n + 1 });
    }
  },

  /** From now on every transaction of this worker that writes to IndexedDB is broken off, as by a browser that has its reasons. */
  breakWrites() {
    const { IDBObjectStore } = scope;
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...args: unknown[]) {
      const request = Reflect.apply(put, this, args);
      this.transaction.abort();
      return request;
    };
  },

  /** Names of the origin's IndexedDB databases. */
  async databases(): Promise<string[]> {
    const found = await scope.indexedDB.databases();
    return found.map(({ name }) => name).sort();
  },

  /** What stands under the name of a database that nobody made. */
  standingOfNone: () => standingOf("sheaf:nobody", { term: 1, identity: "00" }),

  /** Writes until the medium is full; gives what was written and what came of it. */
  async fill(name: string, bytesEach: number) {
    const file = opened().open(`log/${name}`, { create: true })!;
    let written = 0;
    let code: string | undefined;
    while (code === undefined && written < 1e9) {
      try {
        file.writeAt(new Uint8Array(bytesEach).fill(7), written);
        await file.sync();
        written += bytesEach;
      } catch (error) {
        code = codeOf(error);
      }
    }
    return { written, code };
  },

  /** Makes `log/<name>` this long. */
  fillTo(name: string, length: number) {
    const file = opened().open(`log/${name}`, { create: true })!;
    file.truncate(length);
    file.sync();
    file.close();
  },

  /** What a log does at its end: cuts the file, writes over its bytes, renames. */
  async closeInOrder(name: string, length: number) {
    const file = opened().open(`log/${name}`)!;
    file.truncate(length);
    const end = Math.min(length, 10);
    file.writeAt(new Uint8Array(end).fill(8), length - end);
    await file.sync();
    file.close();
    for (let i = 0; i < 50; i++) {
      opened().rename(`log/${name}`, `log/${name}.${i}`);
      opened().rename(`log/${name}.${i}`, `log/${name}`);
    }
    opened().syncFolder("log");
    await questions.close();
  },

  /** Appends to a file that has begun, and syncs, so often; gives the calls of the handles' functions that these took. */
  appendCalls(rounds: number) {
    const bytes = new Uint8Array(300).fill(1);
    const file = opened().open("log/appended", { create: true })!;
    file.writeAt(bytes, 0);
    file.sync();
    const { prototype } = scope.FileSystemSyncAccessHandle;
    const real = { ...Object.getOwnPropertyDescriptors(prototype) };
    const calls: Record<string, number> = {};
    for (const name of ["write", "flush"]) {
      const { value } = real[name]!;
      const count = function (this: unknown, ...args: unknown[]) {
        calls[name] = (calls[name] ?? 0) + 1;
        return Reflect.apply(value, this, args);
      };
      Object.defineProperty(prototype, name, { ...real[name], value: count });
    }
    for (let i = 1; i <= rounds; i++) {
      file.writeAt(bytes, i * bytes.length);
      file.sync();
    }
    Object.defineProperties(prototype, real);
    file.close();
    return calls;
  },
};

/** A small file, replaced as checkpoints are. */
async function replaceMark(n: number): Promise<void> {
  const file = opened().open("log/mark.new", { create: true })!;
  file.truncate(0);
  file.writeAt(new TextEncoder().encode(`${n}`), 0);
  await file.sync();
  file.close();
  opened().rename("log/mark.new", "log/mark");
  opened().syncFolder("log");
}

/** See above. */
export type Questions = typeof questions;

function codeOf(error: unknown): string {
  return error instanceof DatabaseError ? error.code : String(error);
}

interface Question {
  readonly id: number;
  readonly question: keyof Questions;
  readonly args: unknown[];
}

const scope = globalThis as unknown as {
  readonly indexedDB: { databases(): Promise<{ readonly name: string }[]> };
  readonly IDBObjectStore: {
    readonly prototype: {
      put(...args: unknown[]): unknown;
      readonly transaction: { abort(): void };
    };
  };
  readonly FileSystemSyncAccessHandle: { readonly prototype: object };
  onmessage: (event: MessageEvent<Question>) => void;
  postMessage(value: unknown): void;
};

scope.onmessage = async ({ data: { id, question, args } }) => {
  try {
    const task = questions[question] as (...args: unknown[]) => unknown;
    scope.postMessage({ id, value: await task(...args) });
  } catch (error) {
    const text = error instanceof DatabaseError
      ? `${error.code}: ${error.message}`
      : String(error);
    scope.postMessage({ id, failure: text });
  }
};
