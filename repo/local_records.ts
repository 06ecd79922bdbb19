/**
 * After a repair: the records of refusals that stood behind the damage.
 *
 * Each waits until everything that it speaks of has come in again through the
 * door. One whose commits the damage took is left out: then what it took back
 * stands again, and the server says once more what it thinks of it.
 *
 * @module
 */

import { ByteReader } from "../src/base/bytes.ts";
import { recordKind } from "./log_format.ts";
import type { LoadedReplica } from "./replica_open.ts";
import {
  decodeResolution,
  decodeWithdrawal,
  encodeResolution,
  type Resolution,
  type Withdrawal,
} from "./withdrawal.ts";

type Waiting =
  | { readonly is: "withdrawal"; readonly withdrawal: Withdrawal }
  | { readonly is: "resolution"; readonly resolution: Resolution };

/** Records that wait for the commits that they speak of. */
export class LocalRecords {
  readonly #loaded: LoadedReplica;
  readonly #withdrawAgain: (withdrawal: Withdrawal) => void;
  #waiting: readonly Waiting[] = [];

  constructor(
    loaded: LoadedReplica,
    withdrawAgain: (withdrawal: Withdrawal) => void,
  ) {
    this.#loaded = loaded;
    this.#withdrawAgain = withdrawAgain;
  }

  /** Takes a record that survived; `false` when it is of another kind. */
  take(kind: number, body: Uint8Array): boolean {
    const reader = new ByteReader(body);
    if (kind === recordKind.withdrawal) {
      const withdrawal = decodeWithdrawal(reader);
      this.#waiting = [...this.#waiting, { is: "withdrawal", withdrawal }];
    } else if (kind === recordKind.resolution) {
      const resolution = decodeResolution(reader);
      this.#waiting = [...this.#waiting, { is: "resolution", resolution }];
    } else return false;
    return true;
  }

  /** Writes those again whose commits are all here. */
  settle(): void {
    this.#waiting = this.#waiting.filter((one) => !this.#isSettled(one));
  }

  #isSettled(one: Waiting): boolean {
    const { graph, withdrawals, log } = this.#loaded;
    if (one.is === "withdrawal") {
      const { chain, count } = one.withdrawal;
      if (graph.lengthOf(chain) < count) return false;
      this.#withdrawAgain(one.withdrawal);
      return true;
    }
    const { resolution } = one;
    const { retried } = resolution;
    if (retried !== undefined && !graph.has(retried)) return false;
    if (!withdrawals.resolve(resolution)) return false;
    log.append(recordKind.resolution, [encodeResolution(resolution)]);
    return true;
  }
}
