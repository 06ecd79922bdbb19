/**
 * How much of the chains of this device each commit has seen.
 *
 * For each chain it keeps where that grew, and nothing for commits that have
 * seen no more than the one before them: one entry for each foreign commit that
 * names a newer own one, directly or by others. Made by one pass over the log,
 * and gone on with from there.
 *
 * Architecture invariant: derived data is disposable (law 5).
 */

import { compareHlc, type Hlc, type Stamp } from "../../src/base/hlc.ts";
import type { Header } from "../commit/commit.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { Store } from "../log/store.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { lowerBound } from "../../src/base/lower_bound.ts";

/** From a commit on, the chain has seen so many commits of an own chain. */
interface Step extends Hlc {
  readonly number: number;
  readonly seen: number;
}

export class Sight {
  readonly #commits: CommitReader;
  readonly #log: Store;
  readonly #isOwn: (chain: string, wall: number) => boolean;
  /** Chain → own chain → steps, ascending. */
  #steps = new Map<string, Map<string, Step[]>>();
  /** The clocks of own commits, by chain and number. */
  #own = new Map<string, Hlc[]>();
  #lengths = new Map<string, number>();
  #to = 0;
  #revision = 0;

  /** @param isOwn does a commit of this chain and wall clock count as this device's? */
  constructor(
    commits: CommitReader,
    log: Store,
    isOwn: (chain: string, wall: number) => boolean,
  ) {
    this.#commits = commits;
    this.#log = log;
    this.#isOwn = isOwn;
  }

  /** Had the author of `commit` seen the own commit `own`, when both are in the log? */
  hasSeen(commit: Stamp, own: Stamp): boolean {
    const seen = this.seenBy(commit, own.chain);
    const last = this.#own.get(own.chain)?.[seen - 1];
    return last !== undefined && compareHlc(last, own) >= 0;
  }

  /** How many commits of an own chain the author of `commit` had seen. */
  seenBy(commit: Stamp, own: string): number {
    this.#extend();
    const steps = this.#steps.get(commit.chain)?.get(own) ?? [];
    return lastOf(steps, (step) => compareHlc(step, commit) <= 0)?.seen ?? 0;
  }

  #extend(): void {
    const { revision } = this.#commits;
    if (revision !== this.#revision) { // What is void was never seen.
      this.#steps = new Map();
      this.#own = new Map();
      this.#lengths = new Map();
      this.#to = 0;
      this.#revision = revision;
    }
    const { end } = this.#log;
    if (end === this.#to) return;
    this.#commits.each(
      ({ batch: { chain, first, commits } }) => {
        const known = this.#lengths.get(chain) ?? 0;
        for (let i = Math.max(0, known - first); i < commits.length; i++) {
          this.#add(chain, first + i, commits[i]!);
        }
        this.#lengths.set(chain, Math.max(known, first + commits.length));
      },
      this.#to,
      end,
    );
    this.#to = end;
  }

  #add(chain: string, number: number, header: Header): void {
    const { wall, count, parents } = header;
    if (this.#isOwn(chain, wall)) {
      getOrMake(this.#own, chain, () => []).push({ wall, count });
    }
    for (const parent of parents) {
      const at = { wall, count, number };
      if (this.#own.has(parent.chain)) {
        this.#raise(chain, parent.chain, { ...at, seen: parent.number + 1 });
      }
      for (const [own, steps] of this.#steps.get(parent.chain) ?? []) {
        const step = lastOf(steps, (one) => one.number <= parent.number);
        if (step !== undefined) {
          this.#raise(chain, own, { ...at, seen: step.seen });
        }
      }
    }
  }

  #raise(chain: string, own: string, step: Step): void {
    if (chain === own) return;
    const chains = getOrMake(this.#steps, chain, () => new Map());
    const steps = getOrMake<string, Step[]>(chains, own, () => []);
    if (step.seen > (steps.at(-1)?.seen ?? -1)) steps.push(step);
  }
}

/** The last of those for which a condition holds that holds for a beginning of the list. */
function lastOf(
  steps: readonly Step[],
  holds: (step: Step) => boolean,
): Step | undefined {
  return steps[lowerBound(steps.length, (i) => !holds(steps[i]!)) - 1];
}
