/**
 * Small files of tabs beside the log: what can be undone, for one.
 *
 * Architecture invariant: a file is what was written last as a whole, or what
 * it was before; never a piece of either.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { hasReplica } from "../../repo/mod.ts";
import type { Storage } from "../storage/storage.ts";
import { readFile } from "./owner_image.ts";

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Reads and writes small files. */
export class SmallFiles {
  readonly #storage: Storage;
  #writing: Promise<void> = Promise.resolve();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The bytes of a file; `undefined` when it was never written. */
  read(folder: string, name: unknown): Uint8Array | undefined {
    const path = pathOf(folder, name);
    const file = this.#storage.open(path);
    if (file === undefined) return undefined;
    file.close();
    return readFile(this.#storage, path, limits.tabFileBytesMax);
  }

  /** Replaces a file; durable when it resolves. One after the other. */
  write(folder: string, name: unknown, bytes: unknown): Promise<void> {
    const path = pathOf(folder, name);
    const fits = bytes instanceof Uint8Array &&
      bytes.length <= limits.tabFileBytesMax;
    if (!fits) {
      throw new DatabaseError(
        "value-too-large",
        `A small file takes ${limits.tabFileBytesMax} bytes at most`,
      );
    }
    const writing = this.#writing.then(() => this.#write(folder, path, bytes));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  async #write(folder: string, path: string, bytes: Uint8Array): Promise<void> {
    const storage = this.#storage;
    if (folder !== "" && !hasReplica(storage, folder)) return; // It was deleted.
    const next = `${path}.new`;
    const file = storage.open(next, { create: true })!;
    try {
      file.truncate(0);
      file.writeAt(bytes, 0);
      await file.sync();
    } finally {
      file.close();
    }
    storage.rename(next, path);
    storage.syncFolder(folder);
  }
}

function pathOf(folder: string, name: unknown): string {
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new DatabaseError(
      "invalid-name",
      "A small file's name is 1 to 32 characters of a-z, 0-9 and -",
    );
  }
  return folder === "" ? `file-${name}` : `${folder}/file-${name}`;
}
