/**
 * Ids of commits in the middle of a chain: computed when somebody asks.
 *
 * Memory holds only the id at the end of each chain. Here every 128th is
 * kept once it was computed, so that a search along a long chain hashes it once.
 *
 * Architecture invariant: derived data is disposable (law 5).
 *
 * @module
 */

import { assert } from "../../src/base/errors.ts";
import { bytesOf } from "../commit/batch.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import { ChainHash, chainStart } from "../commit/commit.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** Commits between two ids that are kept. */
const STEP = 128;

/** Computes ids of one repository. */
export class ChainIds {
  readonly #commits: CommitReader;
  readonly #genesisId: Uint8Array;
  /** The ids before commits 0, STEP, 2 STEP … of a chain. */
  readonly #kept = new Map<string, Uint8Array[]>();

  constructor(commits: CommitReader, genesisId: Uint8Array) {
    this.#commits = commits;
    this.#genesisId = genesisId;
  }

  /** Forgets all: the ends of some chains were withdrawn. */
  forget(): void {
    this.#kept.clear();
  }

  /** The ids of commits that are in the log, in the order of `numbers`. */
  at(chain: string, numbers: readonly number[]): Uint8Array[] {
    const order = [...new Set(numbers)].sort((a, b) => a - b);
    const ids = new Map<number, Uint8Array>();
    let at = -1;
    let id: Uint8Array | undefined;
    for (const number of order) {
      const kept = this.#before(chain, number);
      // On from the last one, or from a kept id that is nearer.
      if (id === undefined || kept.number > at + 1) {
        [id, at] = [kept.id, kept.number - 1];
      }
      id = this.#hash(chain, at + 1, number, id);
      at = number;
      ids.set(number, id);
    }
    return numbers.map((number) => ids.get(number)!);
  }

  /** The id before commit `number`, or the start of the chain; `undefined` when that commit is not in the log. */
  before(chain: string, number: number): Uint8Array | undefined {
    if (number === 0) return chainStart(this.#genesisId, chain);
    if (this.#commits.find(chain, number - 1) === undefined) return undefined;
    return this.at(chain, [number - 1])[0];
  }

  /** The nearest kept id at or before a commit: that of the commit before `number`. */
  #before(chain: string, number: number): { number: number; id: Uint8Array } {
    const start = () => [chainStart(this.#genesisId, chain)];
    const kept = getOrMake<string, Uint8Array[]>(this.#kept, chain, start);
    const index = Math.min(Math.floor(number / STEP), kept.length - 1);
    return { number: index * STEP, id: kept[index]! };
  }

  /** The id of commit `to`, from the id before commit `from`. */
  #hash(
    chain: string,
    from: number,
    to: number,
    previousId: Uint8Array,
  ): Uint8Array {
    const kept = this.#kept.get(chain)!;
    const hash = new ChainHash().start(previousId);
    for (let number = from; number <= to; number++) {
      if (number === kept.length * STEP) kept.push(hash.id.slice());
      const found = this.#commits.read(chain, number);
      assert(found !== undefined, "the commit is in the log");
      const { batch } = found.logged;
      const { at, headerEnd, payloadAt } = found.commit;
      const bytes = bytesOf(batch, found.commit);
      hash.next(
        bytes.subarray(0, headerEnd - at),
        bytes.subarray(payloadAt - at),
      );
    }
    return hash.id.slice();
  }
}
