/**
 * Who may still write: the fence of a pool (the term of whoever opened it last,
 * and which table is the one) and the intent of one storage, asked before each
 * change of a file and after each flush. See docs/format-opfs.md.
 *
 * Architecture invariant: intent, then comparison, then write; a change that
 * was not announced by an intent is never made. Only who holds the pool's door
 * writes the fence.
 */

import { DatabaseError } from "../base/errors.ts";
import { storageFailure } from "./failure.ts";
import { fencedError, replaces } from "./browser_storage.ts";
import {
  encodeIntent,
  IDENTITY_BYTES,
  TABLE_HEADER_BYTES,
} from "./opfs_table.ts";
import { type AccessHandle, writeAll } from "./opfs_types.ts";
import { ByteReader, ByteWriter, equalBytes } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";

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

const MAGIC = /* @__PURE__ */ new TextEncoder().encode("SHEAFPOL");
const FORMAT = 1;
const WORD_BYTES = 8;
/** Two sectors of their own, so that a torn write spoils one at most. */
const ROOT_SLOTS = [512, 1024] as const;
const ROOT_BYTES = 46;

/** Which table is the one. */
export interface Root {
  readonly identity: Uint8Array;
  /** Counts the roots that were written. */
  readonly sequence: number;
  /** Of the storage that wrote the table. */
  readonly term: number;
  /** Number of the table's file in that term. */
  readonly table: number;
}

export class Fence {
  /** Of this storage; 0 before `raise`. */
  term = 0;
  readonly #handle: AccessHandle;
  readonly #mine = new Uint32Array(2);
  readonly #read = new Uint32Array(2);
  readonly #readBytes = new Uint8Array(this.#read.buffer);
  readonly #at = { at: 0 };

  /** @param handle of the fence's file */
  constructor(handle: AccessHandle) {
    this.#handle = handle;
  }

  /** Is there no younger storage? Asked before each write: one small read. */
  isMine(): boolean {
    const length = this.#handle.read(this.#readBytes, this.#at);
    return length === WORD_BYTES && this.#read[0] === this.#mine[0] &&
      this.#read[1] === this.#mine[1];
  }

  /** The root; `undefined` in a new pool. Throws `format-too-new`. */
  root(): Root | undefined {
    const roots = ROOT_SLOTS.map((at) => this.#rootAt(at));
    const [first, second] = roots;
    if (first === undefined || second === undefined) return first ?? second;
    return first.sequence > second.sequence ? first : second;
  }

  /**
   * Fences every older storage. Terms are at least times, so that they
   * grow on after the browser has removed everything.
   */
  raise(root: Root | undefined, now: number): void {
    this.#handle.read(this.#readBytes, this.#at);
    const before = Math.max(readWord(this.#readBytes), root?.term ?? 0);
    this.term = Math.max(before + 1, now);
    const mine = new Uint8Array(this.#mine.buffer);
    mine.set(encodeWord(this.term));
    // Not flushed: it is for those who live now. The root's flush covers it.
    writeAll(this.#handle, mine, { at: 0 });
  }

  /** Makes a table the one. */
  writeRoot(root: Root): void {
    const bytes = new ByteWriter(ROOT_BYTES);
    bytes.bytes(MAGIC);
    bytes.u16(FORMAT);
    bytes.bytes(root.identity);
    bytes.u48(root.sequence);
    bytes.u48(root.term);
    bytes.u32(root.table);
    bytes.u32(crc32(bytes.view()));
    const at = ROOT_SLOTS[root.sequence % 2]!;
    writeAll(this.#handle, bytes.view(), { at });
    this.#handle.flush();
  }

  close(): void {
    this.#handle.close();
  }

  #rootAt(at: number): Root | undefined {
    const bytes = new Uint8Array(ROOT_BYTES);
    if (this.#handle.read(bytes, { at }) < ROOT_BYTES) return undefined;
    return parseRoot(bytes);
  }
}

function parseRoot(bytes: Uint8Array): Root | undefined {
  const reader = new ByteReader(bytes);
  if (!equalBytes(reader.take(MAGIC.length), MAGIC)) return undefined;
  const format = reader.u16();
  if (crc32(bytes.subarray(0, ROOT_BYTES - 4)) !== readCrc(bytes)) {
    return undefined;
  }
  if (format > FORMAT) {
    throw new DatabaseError(
      "format-too-new",
      `Cannot open the pool: its format is ${format}, this Sheaf knows ${FORMAT}. Reload the page to get the newer Sheaf.`,
    );
  }
  return {
    identity: reader.take(IDENTITY_BYTES).slice(),
    sequence: reader.u48(),
    term: reader.u48(),
    table: reader.u32(),
  };
}

function readCrc(bytes: Uint8Array): number {
  return new DataView(bytes.buffer).getUint32(ROOT_BYTES - 4, true);
}

function encodeWord(term: number): Uint8Array {
  const word = new ByteWriter(WORD_BYTES);
  word.u48(term);
  word.u16(crc32(word.view()) & 0xffff);
  return word.copy();
}

/** The term of a word; 0 when it is none. */
function readWord(bytes: Uint8Array): number {
  const term = new ByteReader(bytes).u48();
  return equalBytes(encodeWord(term), bytes.subarray(0, WORD_BYTES)) ? term : 0;
}
