/**
 * What a conversation needs of one repository: its commits as sealed bytes.
 *
 * `sync/` sees a repository only through this port: it never meets an item, a
 * field or a table. Reads are synchronous; what came in and what was written
 * here is told by {@linkcode RepositoryPort.onShareable} once it may travel.
 *
 * Architecture invariant: what is not durable here is not shareable (law 3); a
 * port hands out nothing else.
 */

import type { Signature } from "../crypto/signature.ts";
import type { Judged } from "./admission/admit.ts";
import type { Parking } from "./admission/parking.ts";
import type { Arrival, Gate } from "./admission/arrival.ts";
import type { ChainEnd } from "./graph/graph.ts";
import type { OrderStep } from "./log/order.ts";
import type { Mode, RepositoryName } from "./commit/genesis.ts";
import type { Revocations } from "./commit/revocation.ts";
import type { Refusal } from "../src/base/errors.ts";
import type { Cut, RefusedCommit } from "./refusal/void_commits.ts";
import type { VersionVector } from "./commit/version_vector.ts";

/** A record of the log as a peer gets it. */
export interface FeedRecord {
  /** What the bytes are, as an {@linkcode Arrival} says it. */
  readonly kind: Arrival["kind"];
  /** The record's body; neighbouring batches of one chain may have been joined. The caller's own. */
  readonly bytes: Uint8Array;
  /** The batch's chain; "" where it is no batch. */
  readonly chain: string;
  /** Number of the batch's first commit. */
  readonly first: number;
  /** How many commits it has; 0 where it is no batch. */
  readonly count: number;
  /** Log address behind the last log record that it was made of. */
  readonly next: number;
}

/** By how many commits of a chain a batch has to end; 0: anywhere. */
export type SeamOf = (chain: string) => number;

export interface FeedSlice {
  readonly records: readonly FeedRecord[];
  /** What the log's order says of what was read, and of what was left out; nothing where nobody is served. */
  readonly order: readonly OrderStep[];
  /** Where to read on. */
  readonly next: number;
}

export interface ReceiveOptions {
  /** Where this peer's batches wait for their parents; a parking of the port's own when absent. */
  readonly parking?: Parking;
  /** Asked once of every sound batch with new commits. */
  readonly gate?: Gate;
  /** Which chain an arrival is of, or "": of one of which a batch was refused nothing more is looked at. */
  readonly chainOf?: (arrival: Arrival) => string;
  /** Is nothing more to be looked at behind such a refusal? */
  readonly isLast?: (refusal: Refusal) => boolean;
  /** Revocations to judge by in the place of those that are known: to ask what would be, with a gate that lets nothing in. */
  readonly revocations?: Revocations;
}

/**
 * What others have to do with commits that are cut: a "fork" of others has their
 * numbers, as after a folder was set back; "foreign" ones are not ours, and the
 * server does not take them. What others built on these goes with them.
 */
export type Others = "fork" | "foreign";

/** One repository as its peers deal with it. */
export interface RepositoryPort {
  readonly name: RepositoryName;
  readonly mode: Mode;
  readonly rootKey: Uint8Array;
  readonly genesisId: Uint8Array;
  /** How many commits may be shared. */
  readonly commits: number;
  /** How many commits of a chain may be shared. */
  lengthOf(chain: string): number;
  /** The wall clock of the last commit of a chain, in milliseconds since 1970; 0 where none is known. */
  clockOf(chain: string): number;
  /** Everything that may be shared. */
  vector(): VersionVector;
  /** Log address up to which everything may be shared. */
  readonly shareable: number;
  /** Are there void commits in a chain? */
  hasVoid(chain: string): boolean;
  /** Does a commit, or do all up to `end`, say nothing here? */
  isVoid(chain: string, number: number, end?: number): boolean;
  /** Where their author says that he gave up commits of a chain from `first` on, before `end`. */
  voidsOf(chain: string, first: number, end: number): FeedRecord[];
  /** What erased values of commits of a chain from `first` on, before `end`. */
  redactionsOf(chain: string, first: number, end: number): FeedRecord[];
  /** Is everything that is visible here shareable? */
  readonly isComplete: boolean;
  /** Runs whenever `shareable` has grown; the result ends it. */
  onShareable(listener: () => void): () => void;
  /**
   * Was a chain begun here, since the repository was opened, in the place of one
   * that had forked? Then nobody can have other commits of it.
   */
  isReplacement(chain: string): boolean;
  /** Does a record that is here revoke a session? Its key, 32 bytes. */
  isRevoked(sessionKey: Uint8Array): boolean;
  /** Certificates and revocations, whatever their place in the log. */
  credentials(): FeedRecord[];
  /**
   * Reads records in log order from an address that was a `next` before, or 0,
   * up to `shareable`; at least one record where there is one, else at most
   * about `bytesMax` bytes. Leaves out what was cut, and the genesis.
   *
   * @param seamOf where neighbours of a chain do not become one batch
   */
  read(
    from: number,
    bytesMax: number,
    seamOf?: SeamOf,
  ): FeedSlice;
  /**
   * May a record that was read from an address on leave for a server? Where a page
   * of this device sealed it wrong, its chain ends before it, and `onShareable` tells;
   * so it does when that is found out that was not known, `undefined`.
   */
  vouches?(record: FeedRecord, from: number): boolean | undefined;
  /** May `read` begin at this address? False for what is no record's start. */
  isStart(address: number): boolean;
  /** Takes records through the door; `settle` makes them durable. */
  receive(arrivals: readonly Arrival[], options?: ReceiveOptions): Judged[];
  /**
   * The signatures that {@linkcode receive} is going to ask about, which a page
   * has looked at before; `undefined` where that shows only then.
   */
  signaturesOf?(arrivals: readonly Arrival[]): Signature[] | undefined;
  /** Makes everything received durable soon, once for all who ask in this turn; then `onShareable` tells. */
  settle(): void;
  /**
   * Commits of an own chain were refused: they are void from now on, and wait for
   * somebody to retry or discard them. The chain goes on, others get stubs in
   * their place; what cannot go on without them is written again.
   *
   * @returns once this log address is shareable, the stubs may go out; `undefined` where nothing has changed
   */
  refuse(
    chain: string,
    refused: readonly RefusedCommit[],
  ): number | undefined;
  /** Ends chains before their commits that cannot go on, and writes own ones again, dated now: see `cut.ts`. */
  cut(cuts: readonly Cut[], others?: Others): void;
  /** A server has all that is here, and the other way round: own chains that nobody writes any more are ended. */
  retire(): void;
  /**
   * The ends of own chains that are dated later than `latestMs`.
   *
   * @param latestMs wall milliseconds
   * @param has how many commits of a chain the server has: they stay
   */
  aheadOf(latestMs: number, has: (chain: string) => number): Cut[];
  /** What the digest is the hash of, behind its domain and genesis id; `undefined` while something is not shareable yet. */
  summary(): Uint8Array | undefined;
  /** Where a chain stood with its first `count` commits; `undefined` where they may not be shared, or nothing is signed. */
  endOf(chain: string, count: number): ChainEnd | undefined;
  /** SHA-256 over domain, genesis id and a summary. */
  digestOf(summary: Uint8Array): Uint8Array;
  /** Ids of commits of a chain; `undefined` when one of them is not known. */
  idsAt(
    chain: string,
    numbers: readonly number[],
  ): Sliced<Uint8Array[] | undefined>;
  /** Are there items? A relay has none, and is asked nothing of them. */
  readonly isFolded: boolean;
  /** 16 digests of the merged state, one per next half-byte below a prefix of half-bytes of the items' hashes. */
  stateDigests(prefix: readonly number[]): Sliced<Uint8Array[]>;
  /** Names of the items below a prefix, at most `limit`. */
  itemsBelow(
    prefix: readonly number[],
    limit: number,
  ): Sliced<{ collection: string; id: string }[]>;
}

/** Work in slices, each no longer than others may wait: one is done at each `next`. */
export type Sliced<T> = Generator<void, T>;
