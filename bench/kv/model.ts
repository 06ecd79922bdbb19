/**
 * What the store must hold, and operations on it that know the right answer.
 *
 * @module
 */

import { numbers } from "../harness/scramble.ts";
import { isSame, keyOf, type Value, valueOf } from "./entries.ts";
import type { Store } from "./store.ts";
import type { Step, Steps } from "./timing.ts";

/** Entries that never are: their numbers begin here. */
const missingFrom = 1 << 28;
/** Loads are cut into transactions of about so much. */
const loadBytesMax = 2_000_000;
const loadEntriesMax = 1_000;
/** A prime over every size: steps of it visit each entry once before any twice. */
const stride = 15_485_863;
const hourMs = 3_600_000;
/** Entries with an expiry are written one by one, so there are fewer. */
const expiringMax = 1_000;

/** The write that a key must show: between the last acknowledged one and the last asked for. */
interface Known {
  acknowledged: number;
  asked: number;
}

/** Entries of one store: numbers from 0 on, each at some version or deleted. */
export class Model {
  readonly #store: Store;
  #size: number;
  readonly #bytes: number;
  readonly #dice = numbers(7);
  /** Not in here: never written. */
  readonly #known = new Map<number, Known>();
  readonly #deleted = new Set<number>();
  #next: number;
  #writes = 0;

  constructor(store: Store, size: number, bytes: number) {
    this.#store = store;
    this.#size = size;
    this.#bytes = bytes;
    this.#next = size;
  }

  /** Writes all entries at version 0. */
  async load(): Promise<void> {
    const perLoad = Math.max(
      1,
      Math.min(loadEntriesMax, Math.floor(loadBytesMax / this.#bytes)),
    );
    for (let from = 0; from < this.#size; from += perLoad) {
      const entries = [];
      const to = Math.min(from + perLoad, this.#size);
      for (let index = from; index < to; index++) {
        this.#known.set(index, { acknowledged: 0, asked: 0 });
        const value = valueOf(index, 0, this.#bytes);
        entries.push({ key: keyOf(index), value });
      }
      await this.#store.load(entries);
    }
  }

  /** Writes a few entries that end in an hour, all asked for together. */
  async loadExpiring(): Promise<void> {
    const asked: unknown[] = [];
    this.#size = Math.min(this.#size, expiringMax);
    this.#next = this.#size;
    for (let index = 0; index < this.#size; index++) {
      this.#known.set(index, { acknowledged: 0, asked: 0 });
      const value = valueOf(index, 0, this.#bytes);
      asked.push(this.#store.setExpiring(keyOf(index), value, hourMs));
    }
    await Promise.all(asked);
  }

  /** Reads of entries that are there, at random. */
  get gets(): Steps {
    return () => this.#get(this.#dice(this.#size));
  }

  /** Questions for entries, every other one of which is not there. */
  get asks(): Steps {
    let at = 0;
    return () => {
      const isThere = at++ % 2 === 0;
      const index = this.#dice(this.#size);
      const key = keyOf(isThere ? index : missingFrom + index);
      return {
        kind: "exists",
        run: () => this.#store.exists(key),
        check: (answer) =>
          answer === isThere ? undefined : `exists(${key}) said ${answer}`,
      };
    };
  }

  /** Writes: an entry that is there, a new one, and so on. */
  get sets(): Steps {
    let at = 0;
    return () => this.#set(at++ % 2 === 0 ? this.#nextOld() : this.#next++);
  }

  /** Writes of new entries. */
  get setsNew(): Steps {
    return () => this.#set(this.#next++);
  }

  /** Writes of new entries that end in an hour. */
  get setsExpiring(): Steps {
    return () => this.#set(this.#next++, hourMs);
  }

  /** Four reads to one write of an entry that is there. */
  get mixed(): Steps {
    return () =>
      this.#dice(5) === 0
        ? this.#set(this.#nextOld())
        : this.#get(this.#dice(this.#size));
  }

  /** Deletes half of the entries; for the end, as others count on them. */
  get deletes(): Steps {
    let left = Math.floor(this.#size / 2);
    return () => left-- > 0 ? this.#delete(this.#nextOld()) : undefined;
  }

  /** What is wrong with entries read one by one: about `count` of all that were ever written. */
  async verify(store: Store, count: number): Promise<string | undefined> {
    const every = Math.max(1, Math.floor(this.#known.size / count));
    let at = 0;
    for (const index of this.#known.keys()) {
      if (at++ % every !== 0) continue;
      const wrong = this.#wrongAt(index, await store.get(keyOf(index)));
      if (wrong !== undefined) return `afterwards, ${wrong}`;
    }
    for (const index of this.#deleted) {
      if (at++ % every !== 0) continue;
      const wrong = this.#wrongAt(index, await store.get(keyOf(index)));
      if (wrong !== undefined) return `afterwards, ${wrong}`;
    }
    return undefined;
  }

  #nextOld(): number {
    return (this.#writes++ * stride) % this.#size;
  }

  #get(index: number): Step {
    const key = keyOf(index);
    // As of now: a write of the same wave may come before or after the read.
    const acknowledged = this.#known.get(index)?.acknowledged;
    return {
      kind: "get",
      run: () => this.#store.get(key),
      check: (answer) => this.#wrongAt(index, answer, acknowledged),
    };
  }

  #set(index: number, ttlMs?: number): Step {
    const key = keyOf(index);
    const version = (this.#known.get(index)?.asked ?? -1) + 1;
    const known = this.#known.get(index) ??
      { acknowledged: version, asked: version };
    known.asked = version;
    this.#known.set(index, known);
    this.#deleted.delete(index);
    const value: Value = valueOf(index, version, this.#bytes);
    return {
      kind: "set",
      run: () =>
        ttlMs === undefined
          ? this.#store.set(key, value)
          : this.#store.setExpiring(key, value, ttlMs),
      check: () => {
        known.acknowledged = version;
        return undefined;
      },
    };
  }

  #delete(index: number): Step {
    const key = keyOf(index);
    return {
      kind: "delete",
      run: () => this.#store.delete(key),
      check: () => {
        this.#deleted.add(index);
        return undefined;
      },
    };
  }

  /** What is wrong with an answer, which may be as old as the write numbered `oldest`. */
  #wrongAt(
    index: number,
    answer: unknown,
    oldest?: number,
  ): string | undefined {
    const key = keyOf(index);
    if (this.#deleted.has(index)) {
      return answer === undefined
        ? undefined
        : `${key} was deleted and is there`;
    }
    const known = this.#known.get(index);
    if (known === undefined) throw new RangeError(`${key} was never written`);
    const last = oldest ?? known.acknowledged;
    for (let at = known.asked; at >= last; at--) {
      if (isSame(answer, valueOf(index, at, this.#bytes))) return undefined;
    }
    return `${key} is not what was written last`;
  }
}
