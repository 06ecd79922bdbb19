/**
 * The commit queue: from visible to durable.
 *
 * Commits of this replica wait here for one microtask (Default, Trusted, and
 * Fast where peers wait for them) or a few milliseconds (Fast); all that
 * gathered becomes one batch, one seal, one write and, except in Fast mode, one
 * sync (group commit). Syncs of several queues that meet in one turn run side
 * by side. It never looks inside a payload, and never retries a failed sync
 * (law 12).
 *
 * Architecture invariant: effects happen in the order in which a crash may
 * stop them: append, sync, then tell (law 3).
 */

import { type Deferred, deferred } from "../../src/base/deferred.ts";
import { asFailure, type DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { World } from "../../src/base/world.ts";
import type { Origin } from "../../src/schema/cell.ts";
import type { PreparedCommit } from "../commit/batch.ts";

export interface QueuedCommit extends PreparedCommit {
  readonly operationsOffset: number;
  /** Learns its log address when the batch is written. */
  readonly origin: Origin;
}

/** What the queue drives: the log behind the batch encoder. */
export interface CommitSink {
  /** Appends one batch to the log and tells each commit's origin its address. */
  append(commits: readonly QueuedCommit[]): void;
  /** Runs when a whole group is in the log and not yet durable: nothing visible lacks an address. */
  appended(): void;
  /** Makes everything appended durable; do other queues sync at the same time? */
  sync(isMet: boolean): Promise<void> | undefined;
}

export interface QueuePolicy {
  /** Wait for the sync before acknowledging? `false` is Fast mode. */
  readonly durable: boolean;
  /** Does somebody share what is written? Then nothing is gathered for longer than a microtask. */
  readonly isFollowed?: () => boolean;
  /** Whose syncs it may meet; those of its thread unless told. */
  readonly crowd?: SyncCrowd;
}

const UNWRITTEN =
  "The log could not be written: the repository is read-only until it is reopened";
/** Fast mode gathers for this long before it writes. */
const FAST_GATHER_MS = 2;
/** Fast mode syncs this long after a write, so that a power cut costs about a second. */
const FAST_SYNC_MS = 1_000;

const settled: Promise<void> = Promise.resolve();

/** A promise with its levers, made only when somebody waits. */
class Group {
  #waiting: Deferred<void> | undefined;
  #failure: DatabaseError | undefined;
  #done = false;

  get promise(): Promise<void> {
    if (this.#done) return settled;
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#waiting ??= deferred<void>();
    return this.#waiting.promise;
  }

  resolve(): void {
    this.#done = true;
    this.#waiting?.resolve();
  }

  reject(failure: DatabaseError): void {
    this.#failure = failure;
    this.#waiting?.reject(failure);
  }
}

/** The promise of one flush, asked for only where somebody waits. */
export type Durability = Pick<Group, "promise">;

const always: Durability = { promise: settled };

/** Rejects whoever asks, and nobody else: an unheard rejection ends a process. */
function failed(failure: DatabaseError): Durability {
  const group = new Group();
  group.reject(failure);
  return group;
}

/** Gathers commits into batches and says when they are durable. */
export class CommitQueue {
  readonly #sink: CommitSink;
  readonly #world: World;
  readonly #durable: boolean;
  readonly #isFollowed: () => boolean;
  readonly #crowd: SyncCrowd;
  #pending: QueuedCommit[] = [];
  #pendingBytes = 0;
  #group = new Group();
  /** Are commits of the group in the log already, ahead of their flush? */
  #isWritten = false;
  /** The group whose sync is under way. */
  #flight: Group | undefined;
  #flushing: Promise<void> | undefined;
  #scheduled = false;
  #cancelFlush: (() => void) | undefined;
  #cancelSync: (() => void) | undefined;
  #failure: DatabaseError | undefined;

  constructor(sink: CommitSink, world: World, policy: QueuePolicy) {
    this.#sink = sink;
    this.#world = world;
    this.#durable = policy.durable;
    this.#isFollowed = policy.isFollowed ?? (() => false);
    this.#crowd = policy.crowd ?? threadCrowd;
  }

  get failure(): DatabaseError | undefined {
    return this.#failure;
  }

  /** Bytes that are visible here and not yet durable. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Takes one commit; what is returned tells when it may be called durable. */
  push(commit: QueuedCommit): Durability {
    if (this.#failure !== undefined) return failed(this.#failure);
    this.#pending.push(commit);
    this.#pendingBytes += commit.payload.length;
    if (!this.#scheduled) this.#schedule();
    if (this.#durable) return this.#group;
    if (this.#pendingBytes > limits.queueBytesMax) this.#flush();
    return this.#failure === undefined ? always : failed(this.#failure);
  }

  /** Tells when everything pushed so far is durable under this mode's promise. */
  latest(): Durability {
    if (this.#failure !== undefined) return failed(this.#failure);
    if (!this.#durable) return always;
    return this.#hasGathered ? this.#group : this.#flight ?? always;
  }

  get #hasGathered(): boolean {
    return this.#pending.length > 0 || this.#isWritten;
  }

  /**
   * Puts everything pushed so far into the log, even while a slow sync runs:
   * nothing visible lacks an address when this returns.
   */
  write(): void {
    if (this.#flushing === undefined) return this.#flush();
    if (this.#pending.length === 0) return;
    try {
      this.#append();
      this.#isWritten = true;
    } catch (cause) {
      this.#fail(this.#group, cause);
    }
  }

  /** Writes and syncs everything, in every mode. */
  async drain(): Promise<void> {
    while (this.#hasGathered || this.#flushing !== undefined) {
      this.#flush();
      await this.#flushing;
      if (this.#failure !== undefined) throw this.#failure;
    }
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#durable) return;
    this.#cancelSync?.();
    this.#cancelSync = undefined;
    await this.#guard(() => this.#sink.sync(false));
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Forgets timers; the queue is not used afterwards. */
  stop(): void {
    this.#cancelSync?.();
    this.#cancelFlush?.();
  }

  #schedule(): void {
    this.#scheduled = true;
    if (this.#durable) this.#crowd.announce();
    if (this.#durable || this.#isFollowed()) {
      queueMicrotask(() => this.#flush());
    } else {
      this.#cancelFlush = this.#world.after(
        FAST_GATHER_MS,
        () => this.#flush(),
      );
    }
  }

  /** One group: append, sync, tell. While a slow sync runs, the next group gathers. */
  #flush(): void {
    if (this.#scheduled && this.#durable) this.#crowd.arrive();
    this.#scheduled = false;
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    if (this.#flushing !== undefined || !this.#hasGathered) return;
    const group = this.#group;
    this.#group = new Group();
    this.#isWritten = false;
    try {
      this.#append();
      const waiting = this.#durable
        ? this.#sink.sync(this.#crowd.isMet)
        : undefined;
      if (waiting === undefined) this.#finish(group);
      else this.#await(waiting, group);
    } catch (cause) {
      this.#fail(group, cause);
    }
  }

  #await(waiting: Promise<void>, group: Group): void {
    this.#crowd.launched();
    this.#flight = group;
    this.#flushing = waiting.then(
      () => {
        this.#crowd.landed();
        this.#finish(group);
      },
      (cause) => {
        this.#crowd.landed();
        this.#flushing = undefined;
        this.#flight = undefined;
        this.#fail(group, cause);
      },
    );
  }

  #append(): void {
    const commits = this.#pending;
    if (commits.length === 0) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    appendInBatches(this.#sink, commits);
    this.#sink.appended();
  }

  #finish(group: Group): void {
    this.#flushing = undefined;
    this.#flight = undefined;
    group.resolve();
    if (!this.#durable) this.syncLater();
    if (this.#hasGathered && !this.#scheduled) this.#schedule();
  }

  #fail(group: Group, cause: unknown): void {
    this.#failure ??= asFailure(cause, UNWRITTEN);
    group.reject(this.#failure);
    this.#group.reject(this.#failure);
    this.#isWritten = false;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** Has everything that is in the log synced soon, for a mode that does not wait for it. */
  syncLater(): void {
    this.#cancelSync ??= this.#world.after(FAST_SYNC_MS, () => {
      this.#cancelSync = undefined;
      void this.#guard(() => this.#sink.sync(false));
    });
  }

  async #guard(action: () => Promise<void> | undefined): Promise<void> {
    try {
      await action();
    } catch (cause) {
      this.#failure ??= asFailure(cause, UNWRITTEN);
    }
  }
}

/** Cuts a gathering into batches that stay sendable. */
function appendInBatches(sink: CommitSink, commits: QueuedCommit[]): void {
  let start = 0;
  let bytes = 0;
  for (let i = 0; i < commits.length; i++) {
    const size = commits[i]!.payload.length;
    const full = i - start >= limits.batchCommitsMax ||
      bytes + size > limits.batchBytesSoft;
    if (full && i > start) {
      sink.append(commits.slice(start, i));
      start = i;
      bytes = 0;
    }
    bytes += size;
  }
  sink.append(start === 0 ? commits : commits.slice(start));
}

/** Counts the syncs of one thread that are announced, and under way. */
export class SyncCrowd {
  /** Announced in this turn and not begun. */
  #coming = 0;
  /** Under way. */
  #flying = 0;
  /** Of these, begun since nothing was coming. */
  #fresh = 0;

  /** A queue will sync before this turn ends, or see that it need not. */
  announce(): void {
    if (this.#coming++ === 0) this.#fresh = 0;
  }

  /** An announced one is here: it syncs now, or will not. */
  arrive(): void {
    this.#coming--;
  }

  /**
   * Must a sync that is asked for now leave the thread free? Whoever comes last
   * in a turn need not, unless a sync of an earlier turn is under way: a writer
   * that never leaves its turn would keep the others from hearing of theirs.
   */
  get isMet(): boolean {
    return this.#coming > 0 || this.#flying > this.#fresh;
  }

  /** A sync is under way since now. */
  launched(): void {
    this.#flying++;
    if (this.#coming > 0) this.#fresh++;
  }

  /** A sync that was under way has ended, well or not. */
  landed(): void {
    this.#flying--;
    if (this.#fresh > this.#flying) this.#fresh = this.#flying;
  }
}

/** The one of this thread: what flushes together need not be of one database. */
export const threadCrowd: SyncCrowd = new SyncCrowd();
