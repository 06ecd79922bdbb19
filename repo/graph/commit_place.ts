/**
 * Where a commit stands, also when it could not go on under its name: then it is
 * written again under another chain and number.
 *
 * A place asks when it is read, so that a write pays for one small object and
 * nothing is kept for places that nobody holds.
 *
 * @module
 */

import type { Position } from "../commit/commit.ts";

/** What became of a commit that this replica wrote. */
export interface CommitPlace extends Position {
  /** Is it part of the repository, or was it refused? A refused one keeps its last place. */
  readonly state: "kept" | "refused";
}

/** Who knows what became of commits: where they were written again, if they were. */
export interface Fates {
  fateOf(chain: string, number: number): Position | CommitPlace["state"];
}

/** The places of one repository's commits. */
export class Places {
  readonly #fates: Fates;
  /** The last one that was made; see `Writer` why. */
  #place: CommitPlace | undefined;

  /** @param fates what became of commits */
  constructor(fates: Fates) {
    this.#fates = fates;
  }

  /** The place of a commit that was written as `number` of `chain`. */
  of(chain: string, number: number): CommitPlace {
    return this.#place = new Place(this.#fates, chain, number);
  }
}

/** Follows its commit when it is asked. */
class Place implements CommitPlace {
  readonly #fates: Fates;
  #chain: string;
  #number: number;
  #state: CommitPlace["state"] = "kept";

  constructor(fates: Fates, chain: string, number: number) {
    this.#fates = fates;
    this.#chain = chain;
    this.#number = number;
  }

  get chain(): string {
    this.#follow();
    return this.#chain;
  }

  get number(): number {
    this.#follow();
    return this.#number;
  }

  get state(): CommitPlace["state"] {
    this.#follow();
    return this.#state;
  }

  #follow(): void {
    while (this.#state === "kept") {
      const fate = this.#fates.fateOf(this.#chain, this.#number);
      if (fate === "kept") return;
      if (fate === "refused") this.#state = fate;
      else {
        this.#chain = fate.chain;
        this.#number = fate.number;
      }
    }
  }
}
