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
import { type LocalFile, localFileOf } from "../db/local_file.ts";
import type { Storage } from "../storage/storage.ts";

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Reads and writes small files in folders of repositories. */
export class SmallFiles {
  readonly #storage: Storage;
  #writing: Promise<void> = Promise.resolve();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The bytes of a file; `undefined` when it was never written. */
  read(folder: string, name: unknown): Promise<Uint8Array | undefined> {
    return this.#file(folder, name).read();
  }

  /** Replaces a file; durable when it resolves. One after the other. */
  write(folder: string, name: unknown, bytes: unknown): Promise<void> {
    const file = this.#file(folder, name);
    const fits = bytes instanceof Uint8Array &&
      bytes.length <= limits.tabFileBytesMax;
    if (!fits) {
      throw new DatabaseError(
        "value-too-large",
        `A small file takes ${limits.tabFileBytesMax} bytes at most`,
      );
    }
    const writing = this.#writing.then(() => file.write(bytes));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  #file(folder: string, name: unknown): LocalFile {
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new DatabaseError(
        "invalid-name",
        "A small file's name is 1 to 32 characters of a-z, 0-9 and -",
      );
    }
    const charsMax = limits.tabFileBytesMax;
    const options = { name: `file-${name}`, charsMax, isDurable: true };
    return localFileOf(this.#storage, folder, options);
  }
}
