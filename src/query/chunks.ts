/**
 * Ordinals in order, in chunks, so that one more moves few of them. What the
 * order is, who extends the class says.
 *
 *     chunks   [ 7 3 9 … ]  [ 1 4 … ]  [ 8 2 6 … ]     ordinals, at most 512 each
 *     seat     0 1 2 …       1024 1025 …               place between two of them
 */

const chunkMax = 512;
const chunkFill = 384;

/** Some ordinals, side by side. */
interface Chunk {
  length: number;
  readonly ordinals: Uint32Array;
}

/** A place between entries: chunk number times twice {@linkcode chunkMax} plus offset. */
export type Seat = number;

export abstract class Chunks {
  protected readonly chunks: Chunk[] = [];
  /** Each chunk's first ordinal: the upper search touches nothing else. */
  protected readonly firsts: number[] = [];

  protected *fillSteps(sorted: Uint32Array): Generator<void> {
    this.chunks.length = this.firsts.length = 0;
    // One piece of memory for all of them: each of its own would take longer to get.
    const count = Math.ceil(sorted.length / chunkFill);
    const room = new Uint32Array(count * chunkMax);
    for (let c = 0; c < count; c++) {
      const ordinals = room.subarray(c * chunkMax, (c + 1) * chunkMax);
      const some = sorted.subarray(c * chunkFill, (c + 1) * chunkFill);
      ordinals.set(some);
      this.chunks.push({ length: some.length, ordinals });
      this.firsts.push(some[0]!);
      yield;
    }
  }

  /** Those of all entries, `room` at most, that are marked with 1, in order. */
  protected marked(marks: Uint8Array, room: number): Uint32Array {
    const kept = new Uint32Array(room);
    let length = 0;
    for (const chunk of this.chunks) {
      for (let i = 0; i < chunk.length; i++) {
        const ordinal = chunk.ordinals[i]!;
        if (marks[ordinal] === 1) kept[length++] = ordinal;
      }
    }
    return kept;
  }

  protected abstract compare(a: number, b: number): number;

  /** Puts an entry where it belongs; there must be others. */
  protected add(ordinal: number): void {
    let at = this.#chunkFor(ordinal);
    let offset = this.#offsetIn(this.chunks[at]!, ordinal);
    let chunk = this.chunks[at]!;
    if (chunk.length === chunkMax) {
      // Nothing moves when entries come in order.
      const keep = offset === chunkMax ? chunkMax - 1 : chunkMax / 2;
      const ordinals = new Uint32Array(chunkMax);
      ordinals.set(chunk.ordinals.subarray(keep));
      this.chunks.splice(at + 1, 0, { length: chunkMax - keep, ordinals });
      this.firsts.splice(at + 1, 0, ordinals[0]!);
      chunk.length = keep;
      if (offset > keep) {
        offset -= keep;
        chunk = this.chunks[++at]!;
      }
    }
    chunk.ordinals.copyWithin(offset + 1, offset, chunk.length);
    chunk.ordinals[offset] = ordinal;
    chunk.length++;
    if (offset === 0) this.firsts[at] = ordinal;
  }

  protected remove(ordinal: number): void {
    const at = this.#chunkFor(ordinal);
    const chunk = this.chunks[at]!;
    const offset = this.#offsetIn(chunk, ordinal);
    chunk.ordinals.copyWithin(offset, offset + 1, chunk.length);
    chunk.length--;
    if (chunk.length === 0) {
      this.chunks.splice(at, 1);
      this.firsts.splice(at, 1);
    } else if (offset === 0) this.firsts[at] = chunk.ordinals[0]!;
  }

  /** The last chunk whose first entry is not behind `ordinal`. */
  #chunkFor(ordinal: number): number {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = this.firsts[middle]!;
      if (this.compare(first, ordinal) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #offsetIn({ ordinals, length }: Chunk, ordinal: number): number {
    return this.#search(ordinals, 0, length, ordinal);
  }

  /** The first place from `low` on, or `high`, that is not before `ordinal`. */
  #search(
    sorted: Uint32Array,
    low: number,
    high: number,
    ordinal: number,
  ): number {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(sorted[middle]!, ordinal) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Both together. Few come among many: each is searched from where the last one went, in growing steps. */
  protected merge(stood: Uint32Array, coming: Uint32Array): Uint32Array {
    const merged = new Uint32Array(stood.length + coming.length);
    let from = 0;
    for (let i = 0; i < coming.length; i++) {
      const one = coming[i]!;
      let low = from;
      let high = from;
      for (let step = 1; high < stood.length; step *= 2) {
        if (this.compare(stood[high]!, one) > 0) break;
        low = high + 1;
        high += step;
      }
      high = this.#search(stood, low, Math.min(high, stood.length), one);
      merged.set(stood.subarray(from, high), from + i);
      merged[high + i] = one;
      from = high;
    }
    merged.set(stood.subarray(from), from + coming.length);
    return merged;
  }

  countBetween(from: Seat, to: Seat): number {
    if (to <= from) return 0;
    const first = chunkNumber(from);
    const last = chunkNumber(to);
    let count = offsetNumber(to) - offsetNumber(from);
    for (let c = first; c < last; c++) count += this.chunks[c]!.length;
    return count;
  }

  /** The place so many entries behind another one, at the most the end. */
  forward(from: Seat, count: number): Seat {
    let c = chunkNumber(from);
    count += offsetNumber(from);
    for (const last = this.chunks.length - 1; c < last; c++) {
      const { length } = this.chunks[c]!;
      if (count < length) break;
      count -= length;
    }
    return seatOf(c, Math.min(count, this.chunks[c]?.length ?? 0));
  }

  /** Visits entries upwards until `visit` says false; false when it did. */
  walk(from: Seat, to: Seat, visit: (ordinal: number) => boolean): boolean {
    if (to <= from) return true;
    const last = chunkNumber(to);
    let offset = offsetNumber(from);
    for (let c = chunkNumber(from); c <= last; c++) {
      const chunk = this.chunks[c]!;
      const end = c === last ? offsetNumber(to) : chunk.length;
      for (; offset < end; offset++) {
        if (!visit(chunk.ordinals[offset]!)) return false;
      }
      offset = 0;
    }
    return true;
  }

  /** The place of the entry just before a place; -1 when there is none. */
  protected before(seat: Seat): Seat {
    const offset = offsetNumber(seat);
    if (offset > 0) return seat - 1;
    const c = chunkNumber(seat) - 1;
    return c < 0 ? -1 : seatOf(c, this.chunks[c]!.length - 1);
  }

  protected at(seat: Seat): number {
    return this.chunks[chunkNumber(seat)]!.ordinals[offsetNumber(seat)]!;
  }
}

/** A place may stand at a chunk's end, so chunks are numbered apart widely. */
export function seatOf(chunk: number, offset: number): Seat {
  return chunk * (chunkMax * 2) + offset;
}

function chunkNumber(seat: Seat): number {
  return Math.floor(seat / (chunkMax * 2));
}

function offsetNumber(seat: Seat): number {
  return seat % (chunkMax * 2);
}
