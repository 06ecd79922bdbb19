/**
 * Ids of commits in the middle of a chain: computed when somebody asks.
 *
 * Memory holds only the id at the end of each chain. Here every 128th is
 * kept once it was computed, so that a search along a long chain hashes it once.
 * That may be much at first: it is done in slices for who can wait.
 *
 * Architecture invariant: derived data is disposable (law 5).
 */

import { erasedHash } from "../commit/batch.ts";
import { bytesOf } from "../commit/batch_parts.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import { ChainHash, chainStart } from "../commit/commit.ts";
import type { Sliced } from "../port.ts";
import { limits } from "../../src/base/limits.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** Commits between two ids that are kept. */
const STEP = 128;
/** Bytes of commits that are hashed in one slice, some 1 ms, where a few commits are as many. */
const SLICE_BYTES = 1024 * 1024;

export class ChainIds {
  readonly #commits: CommitReader;
  readonly #genesisId: Uint8Array;
  /** The ids before commits 0, STEP, 2 STEP … of a chain. */
  readonly #kept = new Map<string, Uint8Array[]>();

  constructor(commits: CommitReader, genesisId: Uint8Array) {
    this.#commits = commits;
    this.#genesisId = genesisId;
  }

  /** Forgets all: the ends of some chains were cut. */
  forget(): void {
    this.#kept.clear();
  }

  /** The ids of commits, in the order of `numbers`; `undefined` where one is not in the log any more. */
  *at(
    chain: string,
    numbers: readonly number[],
  ): Sliced<Uint8Array[] | undefined> {
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
      id = yield* this.#hash(chain, at + 1, number, id);
      if (id === undefined) return undefined;
      at = number;
      ids.set(number, id);
    }
    return numbers.map((number) => ids.get(number)!);
  }

  /** The id before commit `number`, or the start of the chain; `undefined` when that commit is not in the log. */
  before(chain: string, number: number): Uint8Array | undefined {
    if (number === 0) return chainStart(this.#genesisId, chain);
    if (this.#commits.find(chain, number - 1) === undefined) return undefined;
    const work = this.at(chain, [number - 1]);
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value?.[0];
    }
  }

  /** The nearest kept id at or before a commit: that of the commit before `number`. */
  #before(chain: string, number: number): { number: number; id: Uint8Array } {
    const start = () => [chainStart(this.#genesisId, chain)];
    const kept = getOrMake<string, Uint8Array[]>(this.#kept, chain, start);
    const index = Math.min(Math.floor(number / STEP), kept.length - 1);
    return { number: index * STEP, id: kept[index]! };
  }

  /** The id of commit `to`, from the id before commit `from`. */
  *#hash(
    chain: string,
    from: number,
    to: number,
    previousId: Uint8Array,
  ): Sliced<Uint8Array | undefined> {
    let left = SLICE_BYTES;
    const kept = this.#kept.get(chain)!;
    const hash = new ChainHash().start(previousId);
    for (let number = from; number <= to; number++) {
      if (number === kept.length * STEP) kept.push(hash.id.slice());
      const found = this.#commits.read(chain, number);
      if (found === undefined) return undefined; // Cut since the last slice.
      const { batch } = found.logged;
      const { at, headerEnd, payloadAt } = found.commit;
      const bytes = bytesOf(batch, found.commit);
      hash.next(
        bytes.subarray(0, headerEnd - at),
        bytes.subarray(payloadAt - at),
        erasedHash(batch, number - batch.first, this.#commits.erased),
      );
      left -= bytes.length;
      if (left > 0 && (number + 1) % limits.auditItemsPerSlice !== 0) continue;
      left = SLICE_BYTES;
      yield;
    }
    return hash.id.slice();
  }
}
