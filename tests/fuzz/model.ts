/**
 * What a database must hold, as plain values: the naive twin that the fuzzer
 * compares with. It remembers its state after every commit, because a power cut
 * may take the last ones back.
 *
 * @module
 */

import { defineSchema, field } from "../../mod.ts";

/** What the fuzzer writes. */
export const Thing = defineSchema("thing", {
  name: field.string(),
  size: field.number().default(0),
  on: field.boolean().default(false),
  tags: field.set(field.string()),
  votes: field.counter(),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
}, { indexes: [["size"], ["on", "name"]] });

/** A second collection, for transactions over both. */
export const Tally = defineSchema("tally", { count: field.number() });

/** A thing as plain values. */
export interface PlainThing {
  readonly name: string;
  readonly size: number;
  readonly on: boolean;
  /** Sorted. */
  readonly tags: readonly string[];
  readonly votes: number;
  readonly steps: readonly string[];
  /** Sorted by key. */
  readonly notes: readonly (readonly [string, string])[];
}

/** Everything in both collections. */
export interface PlainState {
  readonly things: Readonly<Record<string, PlainThing>>;
  readonly tallies: Readonly<Record<string, number>>;
}

/** One text for one state, whatever the order in which it came about. */
export function textOf({ things, tallies }: PlainState): string {
  return JSON.stringify([sorted(things), sorted(tallies)]);
}

function sorted<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => a < b ? -1 : 1);
}

/** The states after each commit. */
export class Model {
  #states: PlainState[] = [{ things: {}, tallies: {} }];
  /** This many commits are promised. */
  acknowledged = 0;

  /** Number of commits so far. */
  get commits(): number {
    return this.#states.length - 1;
  }

  /** What must be there now. */
  get state(): PlainState {
    return this.#states.at(-1)!;
  }

  /** Takes one commit. */
  commit(change: Partial<PlainState>): void {
    this.#states.push({ ...this.state, ...change });
  }

  /** Everything so far is promised. */
  acknowledge(commits: number = this.commits): void {
    this.acknowledged = Math.max(this.acknowledged, commits);
  }

  /**
   * After an accident `text` is there: forgets the commits behind it. Damage
   * takes promised ones too. Says whether the state is one that may be there.
   */
  fallBack(text: string, isDamaged: boolean): boolean {
    const least = isDamaged ? 0 : this.acknowledged;
    for (let count = this.commits; count >= least; count--) {
      if (textOf(this.#states[count]!) !== text) continue;
      this.#states.length = count + 1;
      this.acknowledged = Math.min(this.acknowledged, count);
      return true;
    }
    return false;
  }
}
