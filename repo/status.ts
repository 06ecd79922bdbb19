/** What a repository says of itself. */

import type { DatabaseError } from "../src/base/errors.ts";
import type { Lost } from "./repair/salvage.ts";

export interface RecoveryReport {
  readonly clean: boolean;
  /** Bytes of a torn tail that were cut: nobody was told that they are durable. */
  readonly droppedBytes: number;
  /** File in which a repair set damaged bytes aside. */
  readonly quarantine: string | undefined;
  readonly skippedCheckpoints: readonly {
    readonly name: string;
    readonly reason: string;
  }[];
  /** What damage took and nobody has brought back yet; `undefined` where nothing is missing. */
  readonly lost: Lost | undefined;
}

/** Counts and sizes of one repository. */
export interface ReplicaStatus {
  /** Commits that are known here. */
  readonly commits: number;
  /** Chains: one a writer and incarnation. */
  readonly chains: number;
  /** Heads: more than one are concurrent. */
  readonly heads: number;
  /** Bytes of the log. */
  readonly logBytes: number;
  /** Bytes of the newest checkpoint, 0 when there is none. */
  readonly checkpointBytes: number;
  /** Bytes that are visible and not yet durable. */
  readonly unsyncedBytes: number;
  /** Batches that wait for others. */
  readonly parked: number;
  /** Commits of revoked sessions that came here before the revocation did, beyond what it accepts. */
  readonly beyondRevocation: number;
  /** What opening found. */
  readonly recovery: RecoveryReport;
  /** Why it is read-only, if it is. */
  readonly failure: DatabaseError | undefined;
  /** Why the last checkpoint could not be written, if so: the log still has everything. */
  readonly checkpointFailure: DatabaseError | undefined;
}
