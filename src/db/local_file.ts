/**
 * A small file beside a repository, for what is worth keeping and no loss: read
 * and written whole.
 *
 * Architecture invariant: nothing that is wrong with such a file is ever an
 * error (law 5).
 */

import { limits } from "../base/limits.ts";
import { hasReplica } from "../../repo/mod.ts";
import { readWhole, replace, replaceDurably } from "../storage/small_file.ts";
import type { Storage } from "../storage/storage.ts";

export interface LocalFile {
  /** What was written last; `undefined` where there is nothing to be had. */
  read(): Promise<Uint8Array | undefined>;
  /** Takes the place of what was written before. */
  write(bytes: Uint8Array): Promise<void>;
}

export interface LocalFileOptions {
  /** Its name in the repository's folder. */
  readonly name: string;
  /** Characters of what it keeps, as UTF-16 counts them; a larger file is none. */
  readonly charsMax: number;
  /** Is it synced before it takes the place of what was there? */
  readonly isDurable: boolean;
}

export const undoFile: LocalFileOptions = {
  name: "undo",
  charsMax: limits.undoBytesMax,
  isDurable: false,
};

/** Own edits that lost in a repository, and are not taken yet. */
export const overwrittenFile: LocalFileOptions = {
  name: "overwritten",
  charsMax: limits.overwrittenCharsMax,
  isDurable: true,
};

export function localFileOf(
  storage: Storage,
  folder: string,
  { name, charsMax, isDurable }: LocalFileOptions,
): LocalFile {
  const path = `${folder}/${name}`;
  // A character takes three bytes at most; what stands around them takes less than as many.
  const bytesMax = charsMax * 4;
  return {
    read: () => new Promise((done) => done(readWhole(storage, path, bytesMax))),
    async write(bytes) {
      if (!hasReplica(storage, folder)) return; // It was deleted.
      if (isDurable) await replaceDurably(storage, folder, name, bytes);
      else replace(storage, path, bytes);
    },
  };
}
