/**
 * The checkpoints in which it stands what touches each item: that over which a
 * log was opened, and those that are written while it is open. For who does not
 * load his code into a page.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Stream } from "./checkpoint/layout.ts";
import { PageFile } from "./checkpoint/page_file.ts";
import type { PageWriter } from "./checkpoint/page_writer.ts";
import { StoredTouches } from "./checkpoint/touches.ts";
import {
  type TouchesPicture,
  writeTouches,
} from "./checkpoint/touches_writer.ts";

/** Writes it into a checkpoint. */
export type WriteTouches = (writer: PageWriter) => Generator<void, Stream>;

/** The files of one repository. */
export class TouchFiles {
  readonly #first: PageFile | undefined;
  /** What was opened here. */
  #own: PageFile | undefined;

  /** @param first that over which the log was opened */
  constructor(first: PageFile | undefined) {
    this.#first = first;
  }

  /** What the first one knows; nothing where nobody wrote it, or it is damaged. */
  open(): StoredTouches | undefined {
    try {
      return this.#first && StoredTouches.in(this.#first);
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  /** What a file knows that was written just now. */
  rebase(storage: Storage, path: string): StoredTouches | undefined {
    const file = storage.open(path);
    if (file === undefined) return undefined;
    try {
      const own = new PageFile(file, path);
      const stored = StoredTouches.in(own);
      this.close();
      this.#own = own;
      return stored;
    } catch (error) {
      file.close();
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  /** Writes a picture; tells where the file before it is damaged. */
  writing(picture: TouchesPicture, onDamage: () => void): WriteTouches {
    return function* (writer) {
      try {
        return yield* writeTouches(writer, picture);
      } catch (error) {
        if (isDamage(error)) onDamage();
        throw error;
      }
    };
  }

  /** Gives back what was opened here. */
  close(): void {
    this.#own?.close();
    this.#own = undefined;
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof SyntaxError ||
    error instanceof DatabaseError && error.code === "checkpoint-damaged";
}
