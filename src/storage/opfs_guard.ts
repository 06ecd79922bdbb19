/**
 * Who may still write: the fence and the intent of one storage, asked before
 * each change of a file and after each flush. See docs/format-opfs.md.
 *
 * Architecture invariant: intent, then comparison, then write; a change that
 * was not announced by an intent is never made.
 *
 * @module
 */

import type { DatabaseError } from "../base/errors.ts";
import { storageFailure } from "./failure.ts";
import { fencedError, replaces } from "./browser_errors.ts";
import type { Fence } from "./opfs_fence.ts";
import { encodeIntent, TABLE_HEADER_BYTES } from "./opfs_table.ts";
import type { AccessHandle } from "./opfs_types.ts";

/** Stands between a storage and its files. */
export class Guard {
  /** Why nothing can be written any more. */
  failure: DatabaseError | undefined;
  readonly #fence: Fence;
  readonly #onFailure: (failure: DatabaseError) => void;
  #table: AccessHandle;
  #intent: string | undefined;
  #hasWritten = false;

  /**
   * @param fence raised for this storage
   * @param table where the intent is written
   * @param onFailure runs when everything has ended, and again when the reason turns out to be a worse one
   */
  constructor(
    fence: Fence,
    table: AccessHandle,
    onFailure: (failure: DatabaseError) => void,
  ) {
    this.#fence = fence;
    this.#table = table;
    this.#onFailure = onFailure;
  }

  /**
   * May handles be closed? Not when their files were removed: in Chromium the
   * thread that does so stands still for ever.
   */
  get mayClose(): boolean {
    return this.failure?.code !== "storage-evicted";
  }

  /** Stands before a change of the file with this id. */
  before(id: string): void {
    this.#hasWritten = true;
    if (id !== this.#intent) this.#intend(id);
    this.check();
  }

  /** Throws when a younger storage has the files, or when they are gone. */
  check(): void {
    if (this.failure !== undefined) throw this.failure;
    let isMine;
    try {
      isMine = this.#fence.isMine();
    } catch (cause) {
      throw storageFailure("read the fence of the pool", cause);
    }
    if (!isMine) throw this.fail(fencedError());
  }

  /** Ends everything; says why. */
  fail(failure: DatabaseError): DatabaseError {
    const first = this.failure;
    if (first !== undefined && !replaces(failure, first)) return first;
    this.failure = failure;
    this.#onFailure(failure);
    return failure;
  }

  /** Takes the intent back when nothing was written since the last call: a thief has nothing to copy then. */
  rest(): void {
    if (!this.#hasWritten && this.#intent !== undefined) {
      this.#intend(undefined);
    }
    this.#hasWritten = false;
  }

  /** Takes the intent back for good. */
  end(): void {
    try {
      if (this.failure === undefined) this.#intend(undefined);
    } catch {
      // It stays, and somebody copies a file for nothing.
    }
  }

  /** Another table, about to be the one, takes the intent over. */
  replaceTable(table: AccessHandle): void {
    table.write(encodeIntent(this.#intent), { at: TABLE_HEADER_BYTES });
    this.#table = table;
  }

  #intend(id: string | undefined): void {
    if (this.failure !== undefined) throw this.failure;
    this.#intent = undefined; // should the write fail, nobody knows what stands there
    this.#table.write(encodeIntent(id), { at: TABLE_HEADER_BYTES });
    this.#intent = id;
  }
}
