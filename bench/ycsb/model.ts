/**
 * What has been written, and what is surely there: answers are held against it
 * when the clock has stopped.
 *
 * A read that runs beside writes may see any version from the last one that was
 * acknowledged before it began to the last one that was asked for before it
 * ended; when all is quiet only the last one is right. Writes of one field that
 * were under way at the same time are a burst: an engine may do them in any
 * order, so that any of them may be the last.
 *
 * @module
 */

import { fieldNames, type Fields, Keys, valueOf } from "./records.ts";
import type { Found, Soon, Store } from "./store.ts";
import { fieldCount } from "./workloads.ts";

/** What an answer may hold. */
interface Window {
  readonly index: number;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** One answer, to be looked at later. */
interface Answer {
  readonly window: Window;
  readonly fields: Fields | undefined;
}

interface ScanAnswer {
  readonly start: number;
  readonly count: number;
  readonly found: readonly Found[];
  /** Records that were surely there. */
  readonly known: number;
}

/** Records and versions of their fields. */
export class Model {
  readonly keys: Keys = new Keys();
  /** Of each field: the last version asked for, and how many are under way. */
  #asked: Uint16Array;
  #pending: Uint16Array;
  /** The first version of the last burst, and the first that may still be seen. */
  #burst: Uint16Array;
  #least: Uint16Array;
  readonly #answers: Answer[] = [];
  readonly #scans: ScanAnswer[] = [];
  /** Records that are there. */
  records: number;

  constructor(records: number) {
    this.records = records;
    this.keys.reserve(records);
    const length = records * fieldCount;
    this.#asked = new Uint16Array(length);
    this.#pending = new Uint16Array(length);
    this.#burst = new Uint16Array(length);
    this.#least = new Uint16Array(length);
  }

  /** Makes room for records up to `count`, before a clock starts. */
  reserve(count: number): void {
    this.keys.reserve(count);
    const length = count * fieldCount;
    if (length <= this.#asked.length) return;
    this.#asked = grown(this.#asked, length);
    this.#pending = grown(this.#pending, length);
    this.#burst = grown(this.#burst, length);
    this.#least = grown(this.#least, length);
  }

  /** The version that a field is about to get. */
  ask(index: number, field: number): number {
    const at = index * fieldCount + field;
    const version = (this.#asked[at] ?? 0) + 1;
    const pending = this.#pending[at] ?? 0;
    if (pending === 0) this.#burst[at] = version;
    this.#pending[at] = pending + 1;
    this.#asked[at] = version;
    return version;
  }

  /** One of a field's versions was acknowledged: what was there before its burst is gone. */
  acknowledge(index: number, field: number): void {
    const at = index * fieldCount + field;
    this.#pending[at] = (this.#pending[at] ?? 1) - 1;
    this.#least[at] = this.#burst[at] ?? 0;
  }

  /** What a read that begins now may see, at least. */
  before(index: number): readonly number[] {
    const at = index * fieldCount;
    return [...this.#least.subarray(at, at + fieldCount)];
  }

  #asks(index: number): readonly number[] {
    const at = index * fieldCount;
    return [...this.#asked.subarray(at, at + fieldCount)];
  }

  /** Keeps the answer of a read that began with `from`. */
  keep(
    index: number,
    from: readonly number[],
    fields: Fields | undefined,
  ): void {
    const window = { index, from, to: this.#asks(index) };
    this.#answers.push({ window, fields });
  }

  /** Keeps the answer of a scan. */
  keepScan(
    start: number,
    count: number,
    found: readonly Found[],
    known: number,
  ): void {
    this.#scans.push({ start, count, found, known });
  }

  /** What is wrong with the answers kept so far, if anything; forgets them. */
  wrong(): string | undefined {
    const answers = this.#answers.splice(0);
    const scans = this.#scans.splice(0);
    for (const { window, fields } of answers) {
      const found = this.#difference(window, fields);
      if (found !== undefined) return found;
    }
    const sorted = scans.length === 0 ? [] : this.keys.sorted(this.records);
    const numbers = new Map(sorted.map(({ key, index }) => [key, index]));
    for (const scan of scans) {
      const found = this.#scanDifference(scan, sorted, numbers);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #difference(
    { index, from, to }: Window,
    fields: Fields | undefined,
  ): string | undefined {
    const key = this.keys.of(index);
    if (fields === undefined) return `record ${key} is missing`;
    for (const [field, name] of fieldNames.entries()) {
      const value = fields[name];
      let version = to[field] ?? 0;
      while (
        version >= (from[field] ?? 0) &&
        valueOf(index, field, version) !== value
      ) version--;
      if (version < (from[field] ?? 0)) {
        return `record ${key} has ${name} ${
          JSON.stringify(value)
        }, which is no version from ${from[field]} to ${to[field]}`;
      }
    }
    return undefined;
  }

  /** Every record that was surely there must be found, in order, with all fields of some version. */
  #scanDifference(
    { start, count, found, known }: ScanAnswer,
    sorted: readonly { readonly key: string; readonly index: number }[],
    numbers: ReadonlyMap<string, number>,
  ): string | undefined {
    const startKey = this.keys.of(start);
    let at = placeOf(sorted, startKey);
    if (found.length > count) return `a scan of ${count} gave ${found.length}`;
    for (const { key, fields } of found) {
      const index = numbers.get(key);
      if (index === undefined) return `nobody wrote the record ${key}`;
      // What was being inserted may be missing; nothing else may.
      while ((sorted[at]?.key ?? key) < key) {
        const skipped = sorted[at++];
        if (skipped !== undefined && skipped.index < known) {
          return `a scan from ${startKey} skipped ${skipped.key}`;
        }
      }
      if (sorted[at]?.key !== key) return `a scan gave ${key} out of order`;
      at++;
      const window = { index, from: noVersions, to: this.#asks(index) };
      const wrong = this.#difference(window, fields);
      if (wrong !== undefined) return wrong;
    }
    const isShort = found.length < count &&
      sorted.slice(at).some(({ index }) => index < known);
    return isShort
      ? `a scan of ${count} from ${startKey} gave ${found.length} only`
      : undefined;
  }

  /** Reads everything back, when all is quiet: each field must be as one of its last burst wrote it. */
  async verify(
    store: Pick<Store, "read" | "scan">,
  ): Promise<string | undefined> {
    for (let index = 0; index < this.records; index++) {
      const answer: Soon<Fields | undefined> = store.read(this.keys.of(index));
      const fields = isPromise(answer) ? await answer : answer;
      const window = { index, from: this.before(index), to: this.#asks(index) };
      const wrong = this.#difference(window, fields);
      if (wrong !== undefined) return wrong;
    }
    if (await store.read("user-nobody-wrote") !== undefined) {
      return "a record that nobody wrote was found";
    }
    return undefined;
  }
}

/** Of a record as it was inserted. */
export const noVersions: readonly number[] = new Array<number>(fieldCount).fill(
  0,
);

function grown(values: Uint16Array, length: number): Uint16Array {
  const larger = new Uint16Array(length);
  larger.set(values);
  return larger;
}

/** Where the first key that is not below `key` stands. */
function placeOf(
  sorted: readonly { readonly key: string }[],
  key: string,
): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.key ?? key) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Is there something to wait for? */
export function isPromise<T>(value: Soon<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value;
}
