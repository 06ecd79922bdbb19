/**
 * Audits: where two replicas differ that should not.
 *
 * @module
 */

/** Commits that differ: numbers `[from, to)` of a chain. */
export interface CommitRange {
  /** Name of the chain: 40 characters, one a byte. */
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  /** "missing": not here; "extra": not there; "different": other commits under these numbers. */
  readonly how: "missing" | "extra" | "different";
}

/** What an audit found. */
export interface AuditReport {
  /** Same commits, same state. */
  readonly equal: boolean;
  readonly commits: readonly CommitRange[];
  /** Items whose merged state differs though the commits are the same. */
  readonly items: readonly {
    readonly collection: string;
    readonly id: string;
  }[];
  /** Were there more differences than a report names? */
  readonly isPartial: boolean;
}
