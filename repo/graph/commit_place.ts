/**
 * Where a commit stands, also when it had to move: a commit that is withdrawn is
 * written again under another chain and number.
 *
 * A place asks when it is read, so that a write pays for one small object and
 * nothing is kept for places that nobody holds.
 *
 * @module
 */

import { getOrMake } from "../../src/base/collections.ts";

/** What became of a commit that this replica wrote. */
export interface CommitPlace {
  /** Name of its chain. */
  readonly chain: string;
  /** Its number in the chain. */
  readonly number: number;
  /** Is it part of the repository, or was it refused? A refused one keeps its last place. */
  readonly state: "kept" | "refused";
}

/** The end of a chain that was withdrawn, and what became of its commits. */
export interface Move {
  /** Number of the first commit that was withdrawn. */
  readonly from: number;
  /** Name of the chain that those which were not refused went to. */
  readonly chain: string;
  /** Their numbers there, from `from` on; `undefined` for a refused commit. */
  readonly numbers: readonly (number | undefined)[];
}

/** All moves of one repository. */
export class Moves {
  readonly #moves = new Map<string, Move[]>();
  /** Of single commits, by chain and number. */
  readonly #redirected = new Map<string, Move>();
  readonly #isRefused: (chain: string, number: number) => boolean;
  /** The last one that was made; see `Writer` why. */
  #place: CommitPlace | undefined;

  /** @param isRefused whether a commit was refused where it stands */
  constructor(isRefused: (chain: string, number: number) => boolean) {
    this.#isRefused = isRefused;
  }

  /** Notes that the end of `chain`, as it was then, moved. */
  note(chain: string, move: Move): void {
    getOrMake(this.#moves, chain, () => []).push(move);
  }

  /** Notes that a refused commit was written again elsewhere, before anybody asked for it. */
  redirect(
    chain: string,
    number: number,
    to: Pick<CommitPlace, "chain" | "number">,
  ): void {
    const numbers = [to.number];
    const move = { from: number, chain: to.chain, numbers };
    this.#redirected.set(`${chain}${number}`, move);
  }

  /** The move that took a commit away, if one did. */
  of(chain: string, number: number): Move | undefined {
    const again = this.#redirected.get(`${chain}${number}`);
    if (again !== undefined) return again;
    return this.#moves.get(chain)?.find(({ from, numbers }) =>
      from <= number && number < from + numbers.length
    );
  }

  /** Was a commit that did not move refused? */
  isRefused(chain: string, number: number): boolean {
    return this.#isRefused(chain, number);
  }

  /** The place of a commit that was written as `number` of `chain`. */
  place(chain: string, number: number): CommitPlace {
    return this.#place = new MovingPlace(this, chain, number);
  }
}

/** Follows its commit when it is asked. */
class MovingPlace implements CommitPlace {
  readonly #moves: Moves;
  #chain: string;
  #number: number;
  #state: CommitPlace["state"] = "kept";

  constructor(moves: Moves, chain: string, number: number) {
    this.#moves = moves;
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
      const move = this.#moves.of(this.#chain, this.#number);
      if (move === undefined) {
        const isRefused = this.#moves.isRefused(this.#chain, this.#number);
        if (isRefused) this.#state = "refused";
        return;
      }
      const number = move.numbers[this.#number - move.from];
      if (number === undefined) this.#state = "refused";
      else {
        this.#chain = move.chain;
        this.#number = number;
      }
    }
  }
}
