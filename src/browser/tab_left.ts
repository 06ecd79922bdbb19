/**
 * What a page wrote and had not been acknowledged when it went away: kept where
 * a page can write within its last event, for the next page to hand in.
 *
 * Sealed records only, as they would have gone to the owner of the files: it is
 * the same commits, so handing them in twice is handing them in once.
 *
 * Architecture invariant: a chain of which something is kept is lent to nobody
 * before that was handed in: no number of a chain ever stands for two commits.
 */

import { fromBase64, toBase64 } from "../base/bytes.ts";
import { batchHead } from "../../repo/commit/batch.ts";
import { isBatch, type OwnRecord } from "../../repo/mod.ts";
import { ownerLock } from "./locks.ts";
import { isRecords } from "./messages.ts";

export interface KeptTexts {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

export interface LeftRecords {
  readonly key: string;
  /** Of that repository: another one may have its name by now. */
  readonly identity: string;
  readonly records: readonly OwnRecord[];
}

export class Left {
  readonly #texts: KeptTexts | undefined;
  readonly #prefix: string;
  readonly #tab: string;

  constructor(texts: KeptTexts | undefined, database: string, tab: string) {
    this.#texts = texts;
    this.#prefix = `${ownerLock(database)}:left:`;
    this.#tab = tab;
  }

  #keyOf(repository: string): string {
    return `${this.#prefix}${repository}:${this.#tab}`;
  }

  keep(
    repository: string,
    identity: string,
    records: readonly OwnRecord[],
  ): void {
    if (records.length === 0) return;
    const pairs = records.map(({ kind, bytes }) => [kind, toBase64(bytes)]);
    const text = JSON.stringify([identity, pairs]);
    try {
      this.#texts?.setItem(this.#keyOf(repository), text);
    } catch {
      // It is full, or forbidden: then this is as without it.
    }
  }

  /** This page goes on: it has all of it itself. */
  back(repository: string): void {
    this.#drop(this.#keyOf(repository));
  }

  #drop(key: string): void {
    this.#texts?.removeItem(key);
  }

  /** Gives the owner what pages that are gone could not; what cannot be taken yet stays for the next time. */
  handIn(
    repository: string,
    identity: string,
    give: (records: readonly OwnRecord[]) => Promise<boolean>,
  ): void {
    for (const one of this.of(repository)) {
      if (one.identity !== identity) this.#drop(one.key);
      else {
        give(one.records).then(
          (isTaken) => isTaken && this.#drop(one.key),
          ({ code }) => code === "log-damaged" && this.#drop(one.key),
        );
      }
    }
  }

  /** Drops what pages have left in a repository: it was deleted. */
  forget(repository: string): void {
    for (const { key } of this.of(repository)) this.#drop(key);
  }

  of(repository: string): LeftRecords[] {
    const all: LeftRecords[] = [];
    const start = `${this.#prefix}${repository}:`;
    const { length } = this.#texts ?? { length: 0 };
    for (let i = 0; i < length; i++) {
      const key = this.#texts?.key(i);
      const isOne = key?.startsWith(start) === true &&
        !key.includes(":", start.length);
      if (isOne) all.push({ key, ...this.#read(key) });
    }
    return all;
  }

  #read(key: string): Omit<LeftRecords, "key"> {
    try {
      const [identity, pairs] = JSON.parse(this.#texts!.getItem(key)!);
      const records: unknown = pairs.map(([kind, text]: [string, string]) => ({
        kind,
        bytes: fromBase64(text),
      }));
      if (isRecords(records)) return { identity: String(identity), records };
    } catch {
      // Somebody else's text.
    }
    return { identity: "", records: [] };
  }
}

export function chainsOf(records: readonly OwnRecord[]): string[] {
  const chains = new Set<string>();
  for (const { kind, bytes } of records) {
    if (!isBatch(kind)) continue;
    try {
      chains.add(batchHead(bytes).chain);
    } catch {
      // The owner will say so.
    }
  }
  return [...chains];
}
