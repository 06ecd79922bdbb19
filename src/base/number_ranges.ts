/**
 * Numbers as ranges: a sorted set of them, found by halving.
 *
 * `ranges = n varint | (gap varint | count varint)*`: what lies before a range,
 * and how many numbers it has; neighbours are one range, so that a set has one
 * encoding.
 */

import type { ByteReader, ByteWriter } from "./bytes.ts";
import { unfit } from "./layout.ts";

export class NumberRanges {
  /** Ascending: where a range begins, where it ends, where the next one begins … */
  readonly #bounds: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(number: number): boolean {
    return this.#after(number) % 2 === 1;
  }

  /** Are all numbers from `first` on before `end` among them? */
  covers(first: number, end: number): boolean {
    const at = this.#after(first);
    return first >= end || at % 2 === 1 && this.#bounds[at]! >= end;
  }

  /** What is not among them of the numbers from `first` on before `end`. */
  gaps(first: number, end: number): [first: number, end: number][] {
    const bounds = this.#bounds;
    const gaps: [number, number][] = [];
    let at = this.#after(first);
    for (let from = first; from < end; at += 2) {
      if (at % 2 === 1) from = bounds[at++]!;
      if (from >= end) break;
      const to = Math.min(end, bounds[at] ?? end);
      gaps.push([from, to]);
      from = bounds[at + 1] ?? end;
    }
    return gaps;
  }

  add(first: number, end: number = first + 1): void {
    if (first >= end) return;
    const bounds = this.#bounds;
    const from = this.#before(first);
    const to = this.#after(end);
    let known = 0;
    for (const [start, stop] of this.#within(first, end)) known += stop - start;
    this.#size += end - first - known;
    const edges = from % 2 === 0 ? [first] : [];
    if (to % 2 === 0) edges.push(end);
    bounds.splice(from, to - from, ...edges);
  }

  *#within(first: number, end: number): Generator<[number, number]> {
    const bounds = this.#bounds;
    for (let at = this.#after(first) & ~1; at < bounds.length; at += 2) {
      if (bounds[at]! >= end) return;
      yield [Math.max(first, bounds[at]!), Math.min(end, bounds[at + 1]!)];
    }
  }

  /** The ranges, ascending: each as its first number and the one behind it. */
  *[Symbol.iterator](): Generator<[first: number, end: number]> {
    const bounds = this.#bounds;
    for (let at = 0; at < bounds.length; at += 2) {
      yield [bounds[at]!, bounds[at + 1]!];
    }
  }

  /** How many bounds are at most a number. */
  #after(number: number): number {
    return this.#halve((bound) => bound <= number);
  }

  /** How many bounds are less than a number. */
  #before(number: number): number {
    return this.#halve((bound) => bound < number);
  }

  #halve(isBefore: (bound: number) => boolean): number {
    const bounds = this.#bounds;
    let low = 0;
    for (let high = bounds.length; low < high;) {
      const middle = (low + high) >> 1;
      if (isBefore(bounds[middle]!)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  write(writer: ByteWriter): void {
    writer.varint(this.#bounds.length / 2);
    let last = 0;
    for (const [first, end] of this) {
      writer.varint(first - last);
      writer.varint(end - first);
      last = end;
    }
  }

  /** Reads what {@linkcode NumberRanges.write} wrote of numbers below `max`; `SyntaxError` where it is none. */
  static read(reader: ByteReader, max: number): NumberRanges {
    const ranges = new NumberRanges();
    const bounds = ranges.#bounds;
    let last = 0;
    for (let left = reader.varint(); left > 0; left--) {
      const first = last + reader.varint();
      const end = first + reader.varint();
      const isApart = first > last || bounds.length === 0;
      if (!isApart || first === end || end > max) {
        throw unfit("its ranges are not in order");
      }
      bounds.push(first, end);
      ranges.#size += end - first;
      last = end;
    }
    return ranges;
  }
}
