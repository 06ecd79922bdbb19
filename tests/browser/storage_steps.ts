/**
 * A worker's OPFS that can be stopped before any of its calls, as a frozen page
 * is: in the midst of synchronous code.
 *
 * Who stops and who lets go on are workers of one page; they speak through a
 * byte of a file, because a stopped worker hears no messages.
 *
 * @module
 */

import type {
  AccessHandle,
  OpfsFileEntry,
  OpfsFolder,
} from "../../src/storage/opfs_types.ts";

const RUNS = 0;
const STOPPED = 1;
const GOES_ON = 2;

/** The real one. */
export async function realDirectory(): Promise<OpfsFolder> {
  const { storage } = navigator as unknown as {
    storage: { getDirectory(): Promise<OpfsFolder> };
  };
  return await storage.getDirectory();
}

/** The byte through which they speak. */
export class Baton {
  readonly #handle: AccessHandle;
  readonly #byte = new Uint8Array(1);

  constructor(handle: AccessHandle) {
    this.#handle = handle;
  }

  static async open(): Promise<Baton> {
    const root = await realDirectory();
    const file = await root.getFileHandle("baton", { create: true });
    const mode = "readwrite-unsafe";
    return new Baton(await file.createSyncAccessHandle({ mode }));
  }

  /** Stops the worker here, until another one says so. */
  stop(): void {
    this.#say(STOPPED);
    while (this.#hear() !== GOES_ON);
    this.#say(RUNS);
  }

  reset(): void {
    this.#say(RUNS);
  }

  goOn(): void {
    this.#say(GOES_ON);
  }

  get isStopped(): boolean {
    return this.#hear() === STOPPED;
  }

  #say(word: number): void {
    this.#byte[0] = word;
    this.#handle.write(this.#byte, { at: 0 });
  }

  #hear(): number {
    this.#handle.read(this.#byte, { at: 0 });
    return this.#byte[0]!;
  }
}

/** Calls `step` before each call that touches OPFS. */
export function stepped(folder: OpfsFolder, step: () => void): OpfsFolder {
  return {
    async getDirectoryHandle(name, options) {
      step();
      return stepped(await folder.getDirectoryHandle(name, options), step);
    },
    async getFileHandle(name, options) {
      step();
      return steppedFile(await folder.getFileHandle(name, options), step);
    },
    removeEntry(name) {
      step();
      return folder.removeEntry(name);
    },
    keys() {
      step();
      return folder.keys();
    },
  };
}

function steppedFile(file: OpfsFileEntry, step: () => void): OpfsFileEntry {
  return {
    async createSyncAccessHandle(options) {
      step();
      return steppedHandle(await file.createSyncAccessHandle(options), step);
    },
  };
}

function steppedHandle(handle: AccessHandle, step: () => void): AccessHandle {
  const before =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      step();
      return call(...args);
    };
  return {
    read: before((target, options) => handle.read(target, options)),
    write: before((bytes, options) => handle.write(bytes, options)),
    truncate: before((size) => handle.truncate(size)),
    getSize: () => handle.getSize(),
    flush: before(() => handle.flush()),
    close: before(() => handle.close()),
    mode: handle.mode!,
  };
}
