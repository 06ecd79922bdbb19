/**
 * The pages of a checkpoint file, each checked when it is read.
 *
 * Architecture invariant: no byte of a checkpoint is used before the checksum
 * of its page was compared. Knows nothing of what the pages hold.
 */

import { crc32 } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { StorageFile } from "../../src/storage/storage.ts";
import { DATA, PAGE, perPage } from "./layout.ts";

/** Pages of the file's end that opening reads at once: directory and small parts lie there. */
const TAIL = 8;
/** After this many single pages of one part, the next ones are read in groups. */
const SINGLE_MAX = 16;
/** Pages of such a group. */
const GROUP = 16;
/** Pages of one read when a whole part is wanted. */
const BULK = 64;

export class PageFile {
  readonly name: string;
  readonly pages: number;
  /** What every page's checksum starts from; the last page tells. */
  salt = 0;
  /** Was damage met by somebody who needed the page? */
  isDamaged = false;
  readonly #file: StorageFile;
  readonly #tail: Uint8Array;
  readonly #tailFirst: number;

  constructor(file: StorageFile, name: string) {
    this.#file = file;
    this.name = name;
    const size = file.size();
    this.pages = Math.floor(size / PAGE);
    if (this.pages === 0 || this.pages * PAGE !== size) {
      throw new SyntaxError(`it has ${size} bytes, which are no whole pages`);
    }
    this.#tailFirst = Math.max(0, this.pages - TAIL);
    this.#tail = new Uint8Array((this.pages - this.#tailFirst) * PAGE);
    this.#fill(this.#tail, this.#tailFirst);
  }

  close(): void {
    this.#file.close();
  }

  #fill(target: Uint8Array, first: number): void {
    if (this.#file.readAt(target, first * PAGE) !== target.length) {
      throw this.damage(first, "the file ends too early");
    }
  }

  damage(page: number, why: string): DatabaseError {
    return new DatabaseError(
      "checkpoint-damaged",
      `Checkpoint ${this.name} is damaged at byte ${page * PAGE}: ${why}. ` +
        "Close the repository and open it again: it is rebuilt from the log",
    );
  }

  /** What `read` makes of a page's content: damage, where that is not what was written there. */
  reading<T>(page: number, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw this.damage(page, error.message);
    }
  }

  last(): Uint8Array {
    const last = this.#tail.subarray(this.#tail.length - PAGE);
    if (!isIntact(last, 0, 0)) {
      throw new SyntaxError("its last page is damaged");
    }
    return last;
  }

  read(first: number, count: number): Uint8Array {
    const pages = first >= this.#tailFirst
      ? this.#tail.subarray((first - this.#tailFirst) * PAGE).subarray(
        0,
        count * PAGE,
      )
      : new Uint8Array(count * PAGE);
    try {
      if (first < this.#tailFirst) this.#fill(pages, first);
      this.#check(pages, first, count);
    } catch (error) {
      this.isDamaged = true;
      throw error;
    }
    return pages;
  }

  #check(pages: Uint8Array, first: number, count: number): void {
    for (let i = 0; i < count; i++) {
      const page = first + i;
      const seed = page === this.pages - 1 ? 0 : this.salt + page;
      if (!isIntact(pages, i * PAGE, seed)) {
        throw this.damage(page, "the checksum differs");
      }
    }
  }

  /** Reads and checks every page as it is on the medium now, in steps. */
  *verify(): Generator<void> {
    for (let first = 0; first < this.pages; first += BULK) {
      const count = Math.min(BULK, this.pages - first);
      const pages = new Uint8Array(count * PAGE);
      this.#fill(pages, first);
      this.#check(pages, first, count);
      yield;
    }
  }
}

/** Does the page at `start` have the checksum that it ends with? */
function isIntact(pages: Uint8Array, start: number, seed: number): boolean {
  const end = start + DATA;
  const crc = crc32(pages.subarray(start, end), seed >>> 0);
  const said = pages[end]! | pages[end + 1]! << 8 | pages[end + 2]! << 16 |
    pages[end + 3]! << 24;
  return crc === said >>> 0;
}

/** A part of the file in pages that are kept once read: an index. */
export class PagePart {
  /** Records on one page. */
  readonly perPage: number;
  readonly width: number;
  readonly length: number;
  readonly #file: PageFile;
  readonly #first: number;
  #views: (DataView | undefined)[] = [];
  #misses = 0;

  constructor(file: PageFile, first: number, count: number, width: number) {
    this.#file = file;
    this.#first = first;
    this.width = width;
    this.perPage = perPage(width);
    this.length = Math.ceil(count / this.perPage);
  }

  /** The pages that are in memory. */
  get pages(): readonly (DataView | undefined)[] {
    return this.#views.slice();
  }

  /** Lets go of all pages but these. */
  letGoBut(pages: readonly (DataView | undefined)[]): void {
    this.#views = pages.slice();
  }

  page(index: number): DataView {
    return this.#views[index] ?? this.#read(index);
  }

  /** Who reads a few records gets single pages; who reads many gets more at once. */
  #read(index: number): DataView {
    if (!(index >= 0 && index < this.length)) {
      throw this.#file.damage(this.#first, "no such page");
    }
    if (++this.#misses <= SINGLE_MAX) this.#readGroup(index, 1);
    else this.#readGroup(index - index % GROUP, GROUP);
    return this.#views[index]!;
  }

  #readGroup(index: number, count: number): void {
    const end = Math.min(index + count, this.length);
    const pages = this.#file.read(this.#first + index, end - index);
    const views = this.#views;
    while (views.length < end) views.push(undefined);
    for (let i = index; i < end; i++) {
      const at = pages.byteOffset + (i - index) * PAGE;
      views[i] ??= new DataView(pages.buffer, at, DATA);
    }
  }

  /** Pages in one read that are not kept: for a part that is read through once. */
  *sweep(): Generator<{ bytes: Uint8Array; pages: number; first: number }> {
    for (let first = 0; first < this.length; first += BULK) {
      const pages = Math.min(BULK, this.length - first);
      yield {
        bytes: this.#file.read(this.#first + first, pages),
        pages,
        first,
      };
    }
  }
}

/** Bytes that lie over consecutive pages. */
export class PageStream {
  readonly length: number;
  readonly #file: PageFile;
  readonly #first: number;
  /** Bytes read last, and where they start. */
  #window = new Uint8Array(0);
  #windowAt = 0;

  constructor(file: PageFile, first: number, length: number) {
    this.#file = file;
    this.#first = first;
    this.length = length;
  }

  /**
   * The bytes from `at` to `end`, never changed later. Reads `ahead` bytes more
   * where the stream has them, for those who go on.
   */
  bytes(at: number, end: number, ahead = 0): Uint8Array {
    if (!(at >= 0 && at <= end && end <= this.length)) {
      throw this.#file.damage(this.#first, "an address lies outside the heap");
    }
    const windowEnd = this.#windowAt + this.#window.length;
    if (at < this.#windowAt || end > windowEnd) {
      this.#read(at, Math.min(this.length, end + ahead));
    }
    return this.#window.subarray(at - this.#windowAt, end - this.#windowAt);
  }

  #read(at: number, end: number): void {
    const first = Math.floor(at / DATA);
    const count = Math.ceil(end / DATA) - first;
    const pages = this.#file.read(this.#first + first, count);
    const size = Math.min(count * DATA, this.length - first * DATA);
    const window = new Uint8Array(size);
    for (let i = 0; i < count; i++) {
      const start = i * DATA;
      const length = Math.min(DATA, size - start);
      window.set(pages.subarray(i * PAGE, i * PAGE + length), start);
    }
    this.#window = window;
    this.#windowAt = first * DATA;
  }
}
