/**
 * What touches each item, where commits stand and whom their authors had seen,
 * up to where a checkpoint holds: read from its file on demand.
 *
 * The last page of the file says where this lies. Checkpoints that nobody wrote
 * it into say nothing there.
 *
 * Architecture invariant: derived data is disposable (law 5).
 */

import { ByteReader } from "../../src/base/bytes.ts";
import type { ChainCount, Link } from "../history/touch_tail.ts";
import {
  DATA,
  PAGE,
  perPage,
  type Records,
  SALT_AT,
  TOUCHES_AT,
} from "./layout.ts";
import { type PageFile, PagePart, PageStream } from "./page_file.ts";
import { lowerBound } from "../../src/base/lower_bound.ts";
import { readChain } from "../commit/commit.ts";

export const touchWidths = { touch: 10, mark: 10, link: 20 } as const;

/** Records that are read one by one. */
class RecordPart {
  readonly count: number;
  readonly #part: PagePart;

  constructor(file: PageFile, { first, count }: Records, width: number) {
    this.count = count;
    this.#part = new PagePart(file, first, count, width);
  }

  u32(i: number, at = 0): number {
    return this.#pageOf(i).getUint32(this.#startOf(i) + at, true);
  }

  u48(i: number, at = 0): number {
    const view = this.#pageOf(i);
    const start = this.#startOf(i) + at;
    const high = view.getUint16(start + 4, true);
    return view.getUint32(start, true) + high * 2 ** 32;
  }

  #startOf(i: number): number {
    const { perPage, width } = this.#part;
    return i % perPage * width;
  }

  #pageOf(i: number): DataView {
    // Also -1, where a search came to the end: no page has it.
    return this.#part.page(Math.floor(i / this.#part.perPage));
  }
}

export class StoredTouches {
  /** Up to which log address. */
  readonly covers: number;
  readonly chains: readonly ChainCount[];
  readonly marked: number;
  readonly linked: number;
  readonly #file: PageFile;
  readonly #places: Places;
  readonly #touches: RecordPart;
  readonly #marks: RecordPart;
  readonly #links: RecordPart;

  private constructor(file: PageFile, places: Places) {
    this.#file = file;
    this.#places = places;
    this.covers = places.covers;
    this.chains = places.chains;
    this.#touches = new RecordPart(file, places.touch, touchWidths.touch);
    this.#marks = new RecordPart(file, places.mark, touchWidths.mark);
    this.#links = new RecordPart(file, places.link, touchWidths.link);
    this.marked = places.mark.count;
    this.linked = places.link.count;
  }

  /** What is in a file; `undefined` where nobody wrote it. Throws a `SyntaxError` where it is not sound. */
  static in(file: PageFile): StoredTouches | undefined {
    const last = file.last();
    file.salt = new ByteReader(last, SALT_AT).u32();
    const place = new ByteReader(last, TOUCHES_AT);
    const [first, bytes] = [place.u32(), place.u32()];
    if (bytes === 0) return undefined;
    checkWithin(file, { first, count: bytes }, DATA);
    const stream = new PageStream(file, first, bytes);
    const reader = new ByteReader(stream.bytes(0, bytes));
    return new StoredTouches(file, readPlaces(reader, file));
  }

  /** Where operations on items with a hash stand: from the first of them to behind the last. */
  rangeOf(hash: number): [number, number] {
    const { count } = this.#touches;
    const touches = this.#touches;
    const start = lowerBound(count, (i) => touches.u32(i) >= hash);
    // Most items have few operations: look near by before far away.
    let step = 1;
    while (start + step < count && touches.u32(start + step) === hash) {
      step *= 2;
    }
    const room = Math.min(step, count - start);
    const length = lowerBound(room, (i) => touches.u32(start + i) > hash);
    return [start, start + length];
  }

  placeAt(i: number): number {
    return this.#touches.u48(i, 4);
  }

  markAt(i: number): number {
    return this.#marks.u48(i);
  }

  /** Which commit of its batch a mark is. */
  indexAt(i: number): number {
    return this.#marks.u32(i, 6);
  }

  linkAt(i: number): Link {
    const links = this.#links;
    return {
      chain: links.u32(i),
      number: links.u48(i, 4),
      parent: links.u32(i, 10),
      parentNumber: links.u48(i, 14),
    };
  }

  /** The bytes of all records of one kind, one after the other. */
  sweep(kind: keyof typeof touchWidths): NextRecord {
    const { [kind]: { first, count } } = this.#places;
    const width = touchWidths[kind];
    const part = new PagePart(this.#file, first, count, width);
    const reads = part.sweep();
    let bytes = new Uint8Array(0);
    let [read, page, at] = [0, 0, 0];
    return () => {
      if (read++ >= count) return undefined;
      if (at === part.perPage) [page, at] = [page + PAGE, 0];
      if (page === bytes.length) [bytes, page] = [reads.next().value!.bytes, 0];
      const start = page + width * at++;
      return bytes.subarray(start, start + width);
    };
  }
}

/** Gives the bytes of the next record, until it is asked again. */
export type NextRecord = () => Uint8Array | undefined;

interface Places {
  readonly covers: number;
  readonly chains: readonly ChainCount[];
  readonly touch: Records;
  readonly mark: Records;
  readonly link: Records;
}

function readPlaces(reader: ByteReader, file: PageFile): Places {
  const covers = reader.u48();
  const chains: ChainCount[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    chains.push({ chain: readChain(reader), length: reader.varint() });
  }
  const [touch, mark, link] = Object.values(touchWidths).map((width) => {
    const records = { first: reader.varint(), count: reader.varint() };
    checkWithin(file, records, perPage(width));
    return records;
  });
  if (!reader.done) throw new SyntaxError("What touches items is not sound");
  return { covers, chains, touch: touch!, mark: mark!, link: link! };
}

function checkWithin(
  { pages }: PageFile,
  { first, count }: Records,
  each: number,
): void {
  if (first + Math.ceil(count / each) >= pages) {
    throw new SyntaxError("What touches items lies outside the file");
  }
}
