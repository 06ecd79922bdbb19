/**
 * Writes a checkpoint file page by page, each with its checksum.
 *
 * A value never crosses a page; streams do. Never reads what it wrote.
 */

import { crc32 } from "../../src/base/crc32.ts";
import type { StorageFile } from "../../src/storage/storage.ts";
import { DATA, PAGE, type Stream } from "./layout.ts";

/** Pages gathered for one write. */
const GATHER = 16;

export class PageWriter {
  readonly #file: StorageFile;
  readonly #salt: number;
  readonly #bytes = new Uint8Array(GATHER * PAGE);
  readonly #view = new DataView(this.#bytes.buffer);
  #written = 0;
  /** Where the current page starts in the buffer. */
  #page = 0;
  /** Where the next value goes in the current page. */
  #at = 0;

  constructor(file: StorageFile, salt: number) {
    this.#file = file;
    this.#salt = salt;
  }

  get page(): number {
    return this.#written + this.#page / PAGE;
  }

  /** Starts a part on a page of its own and says which. */
  begin(): number {
    this.end();
    return this.page;
  }

  /** Ends a part: the rest of its last page stays zero. */
  end(): void {
    if (this.#at > 0) this.#endPage(this.#salt + this.page);
  }

  #endPage(seed: number): void {
    const end = this.#page + DATA;
    const data = this.#bytes.subarray(this.#page, end);
    this.#view.setUint32(end, crc32(data, seed >>> 0), true);
    this.#page += PAGE;
    this.#at = 0;
    if (this.#page === this.#bytes.length) this.#flush();
  }

  #flush(): void {
    const bytes = this.#bytes.subarray(0, this.#page);
    if (bytes.length > 0) this.#file.writeAt(bytes, this.#written * PAGE);
    this.#written += bytes.length / PAGE;
    bytes.fill(0);
    this.#page = 0;
  }

  /** Room for one value of `width` bytes on one page: where it goes. */
  #room(width: number): number {
    if (this.#at + width > DATA) this.end();
    const at = this.#page + this.#at;
    this.#at += width;
    return at;
  }

  u8(value: number): void {
    this.#view.setUint8(this.#room(1), value);
  }

  u16(value: number): void {
    this.#view.setUint16(this.#room(2), value, true);
  }

  u32(value: number): void {
    this.#view.setUint32(this.#room(4), value, true);
  }

  f64(value: number): void {
    this.#view.setFloat64(this.#room(8), value, true);
  }

  slot(hash: number, ordinal: number): void {
    const at = this.#room(8);
    this.#view.setUint32(at, hash, true);
    this.#view.setUint32(at + 4, ordinal, true);
  }

  row(address: number, shape: number, origin: number): void {
    const at = this.#room(12);
    this.#u48(at, address);
    this.#view.setUint16(at + 6, shape, true);
    this.#view.setUint32(at + 8, origin, true);
  }

  origin(wall: number, count: number, chain: number, at: number): void {
    const start = this.#room(18);
    this.#u48(start, wall);
    this.#view.setUint16(start + 6, count, true);
    this.#view.setUint32(start + 8, chain, true);
    this.#u48(start + 12, at);
  }

  #u48(at: number, value: number): void {
    this.#view.setUint32(at, value >>> 0, true);
    this.#view.setUint16(at + 4, Math.floor(value / 2 ** 32), true);
  }

  /** Bytes of one page, which must fit. */
  whole(data: Uint8Array): void {
    this.#bytes.set(data, this.#room(data.length));
  }

  /** Bytes that continue over pages. */
  bytes(value: Uint8Array): void {
    for (let from = 0; from < value.length;) {
      const length = Math.min(value.length - from, DATA - this.#at);
      const part = value.subarray(from, from + length);
      this.#bytes.set(part, this.#page + this.#at);
      this.#at += length;
      from += length;
      if (this.#at === DATA) this.end();
    }
  }

  stream(value: Uint8Array): Stream {
    const first = this.begin();
    this.bytes(value);
    this.end();
    return { first, bytes: value.length };
  }

  /** The last page, whose checksum needs no salt, and everything is handed to the file. */
  last(data: Uint8Array): void {
    this.begin();
    this.#bytes.set(data, this.#page);
    this.#endPage(0);
    this.#flush();
  }
}
