/**
 * Keys in order, each with its item's ordinal: sorted arrays in chunks.
 *
 * Order is that of JavaScript's `<` on strings: by UTF-16 code units. Finding a
 * place is O(log n), adding and removing moves at most a chunk, and a scan copies
 * what it gives.
 */

/** A chunk is cut in two when it has grown to this … */
const CHUNK_MAX = 512;
/** … and is filled so far when all keys are known at once. */
const CHUNK_FILL = 384;

interface Chunk {
  readonly keys: string[];
  readonly ordinals: number[];
}

interface Place {
  readonly chunk: number;
  readonly at: number;
}

/** What a scan asks for: keys from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: string;
  /** `undefined`: to the end. */
  readonly to: string | undefined;
  readonly limit: number;
  readonly isReverse: boolean;
}

export class KeyIndex {
  #chunks: Chunk[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Forgets all and takes these: keys in order, each once. */
  fill(keys: readonly string[], ordinals: readonly number[]): void {
    this.#chunks = [];
    this.#size = keys.length;
    for (let at = 0; at < keys.length; at += CHUNK_FILL) {
      const end = at + CHUNK_FILL;
      this.#chunks.push({
        keys: keys.slice(at, end),
        ordinals: ordinals.slice(at, end),
      });
    }
  }

  /** Adds a key that is not there. */
  add(key: string, ordinal: number): void {
    this.#size++;
    const place = this.#find(key);
    const chunks = this.#chunks;
    const chunk = chunks[place.chunk];
    if (chunk === undefined) {
      chunks.push({ keys: [key], ordinals: [ordinal] });
      return;
    }
    chunk.keys.splice(place.at, 0, key);
    chunk.ordinals.splice(place.at, 0, ordinal);
    if (chunk.keys.length < CHUNK_MAX) return;
    // Keys that come in order leave full chunks behind them.
    const isLast = place.chunk === chunks.length - 1 &&
      place.at === chunk.keys.length - 1;
    const half = isLast ? CHUNK_FILL : CHUNK_MAX / 2;
    const next = {
      keys: chunk.keys.splice(half),
      ordinals: chunk.ordinals.splice(half),
    };
    chunks.splice(place.chunk + 1, 0, next);
  }

  /** Removes a key that is there. */
  remove(key: string): void {
    const place = this.#find(key);
    const chunk = this.#chunks[place.chunk];
    if (chunk?.keys[place.at] !== key) return;
    this.#size--;
    chunk.keys.splice(place.at, 1);
    chunk.ordinals.splice(place.at, 1);
    this.#join(place.chunk);
  }

  /** Small neighbours become one, so that removing leaves no crumbs. */
  #join(at: number): void {
    const chunks = this.#chunks;
    const { keys, ordinals } = chunks[at]!;
    if (keys.length === 0) {
      chunks.splice(at, 1);
      return;
    }
    const next = chunks[at + 1];
    if (next === undefined) return;
    if (keys.length + next.keys.length > CHUNK_MAX / 4) return;
    keys.push(...next.keys);
    ordinals.push(...next.ordinals);
    chunks.splice(at + 1, 1);
  }

  /** The place of the first key that is not below `key`. */
  #find(key: string): Place {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    // The last chunk that begins at or below the key.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (chunks[middle]!.keys[0]! <= key) low = middle + 1;
      else high = middle;
    }
    const chunk = Math.max(0, low - 1);
    const at = lowerBound(chunks[chunk]?.keys ?? [], key);
    return { chunk, at };
  }

  /** Calls `visit` for each part of a range that lies in one chunk, in order, until the limit. */
  scan(
    range: KeyRange,
    visit: (keys: readonly string[], ordinals: readonly number[]) => void,
  ): void {
    const chunks = this.#chunks;
    const first = this.#find(range.from);
    const end = range.to === undefined
      ? { chunk: chunks.length - 1, at: Infinity }
      : this.#find(range.to);
    let left = range.limit;
    const step = range.isReverse ? -1 : 1;
    let at = range.isReverse ? end.chunk : first.chunk;
    const last = range.isReverse ? first.chunk : end.chunk;
    while (left > 0 && (last - at) * step >= 0) {
      const { keys, ordinals } = chunks[at] ?? { keys: [], ordinals: [] };
      let start = at === first.chunk ? first.at : 0;
      let stop = at === end.chunk ? Math.min(end.at, keys.length) : keys.length;
      if (stop - start > left) {
        if (range.isReverse) start = stop - left;
        else stop = start + left;
      }
      if (stop > start) {
        left -= stop - start;
        visit(keys.slice(start, stop), ordinals.slice(start, stop));
      }
      at += step;
    }
  }
}

/** The index of the first element that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first string after all that begin with `prefix`; `undefined` when there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  for (let end = prefix.length; end > 0; end--) {
    const unit = prefix.charCodeAt(end - 1);
    if (unit === 0xffff) continue;
    return prefix.slice(0, end - 1) + String.fromCharCode(unit + 1);
  }
}
