/**
 * The writer: what this replica writes itself, from a transaction to the log.
 *
 * It runs one transaction at a time, gives what it made to the author and the
 * queue, and puts the session's certificate ahead of its first batch.
 *
 * Architecture invariant: visible at once, durable before shared (law 3).
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { World } from "../../src/base/world.ts";
import { limits } from "../../src/base/limits.ts";
import { PatchWriter } from "../../src/schema/patch_codec.ts";
import { allowed, type Decision } from "../../src/schema/rule_types.ts";
import { Author } from "./author.ts";
import {
  CommitQueue,
  type Durability,
  type QueuedCommit,
} from "./commit_queue.ts";
import { nameOf, type Position } from "../commit/commit.ts";
import { continuityOf, isOver, type LentChain } from "../graph/continuity.ts";
import type { OwnRules } from "../admission/own_rules.ts";
import { recordKind } from "../log/format.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import {
  certificatesOf,
  introduce,
  type Session,
  sessionName,
} from "../commit/session.ts";
import { publish } from "../state/state.ts";
import { type Noting, refusePromise, Transaction } from "./transaction.ts";
import {
  BEGINNING,
  type Cut,
  encodeResolution,
} from "../refusal/void_commits.ts";

/** What a transaction gave, and how to learn that it is durable. */
export interface Done<R> {
  readonly result: R;
  readonly durability: Durability;
  readonly commit: Position | undefined;
}

export interface WriterParts {
  readonly loaded: LoadedReplica;
  readonly session: Session;
  readonly rootKey: Uint8Array;
  readonly world: World;
  /** What the app's rules say of own writes, where it has any. */
  readonly rules: OwnRules | undefined;
  readonly salt?: boolean | undefined;
  /** Is this folder the one that its session was made for? */
  readonly isOriginal: boolean;
  readonly lent?: LentChain | "new" | undefined;
  /** Runs when a group of commits has entered the log. */
  readonly appended: () => void;
  /** Runs when a batch of `chain` with `count` commits from `first` on has entered the log. */
  readonly wrote: (chain: string, first: number, count: number) => void;
  /** Does anybody wait for what is written, to share it? */
  readonly isFollowed: () => boolean;
  readonly publishing: (tell: () => void) => void;
}

export class Writer {
  /** Hears what own transactions did, before anybody else hears of them. */
  noting: Noting | undefined;
  readonly #parts: WriterParts;
  readonly #loaded: LoadedReplica;
  readonly #author: Author;
  readonly #queue: CommitQueue;
  /** Made with the first write: opening to read costs nothing of it. */
  #patch: PatchWriter | undefined;
  /**
   * The one that runs, or the last one, which is empty: when nothing of its class
   * is alive, V8's next full collection drops the optimized code of all writing.
   */
  #transaction: Transaction | undefined;
  #session: Session;
  /** Does the log have what issuers say of the session? */
  #isIntroduced = false;
  /** Must a new incarnation be noted before anything else is? */
  readonly #isMarkDue: boolean;
  /** Did commits of the own chain come from elsewhere? */
  #isSetBack = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#session = parts.session;
    const { loaded, session, world } = parts;
    this.#loaded = loaded;
    const { mode } = loaded;
    const { continues, isMarkDue } = continuityOf(loaded, parts);
    this.#isMarkDue = isMarkDue;
    this.#author = new Author({
      ...{ ...loaded, session, mode, world, continues },
      isOver: (chain) => isOver(loaded, chain),
    });
    const sink = {
      append: (commits: readonly QueuedCommit[]) => this.#append(commits),
      appended: parts.appended,
      sync: (isMet: boolean) => loaded.log.sync(isMet),
    };
    const { isFollowed } = parts;
    const policy = { durable: mode !== "fast", isFollowed };
    this.#queue = new CommitQueue(sink, world, policy);
  }

  get failure(): DatabaseError | undefined {
    return this.#queue.failure ?? this.#loaded.log.failure;
  }

  /** Bytes that are visible here and not in the log yet. */
  get pendingBytes(): number {
    return this.#queue.pendingBytes;
  }

  /** Fails when the log is read-only, or while a transaction runs. */
  checkWritable(isRunning = false): void {
    const { failure } = this;
    if (failure !== undefined) throw failure;
    if (!isRunning) this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.#transaction?.isOpen !== true) return;
    throw new DatabaseError(
      "invalid-option",
      "A transaction is running: write through the `tx` that its callback was given",
    );
  }

  /** Runs one atomic transaction; what throws leaves nothing behind. What is written again is not judged, and no step. */
  transact<R>(
    run: (transaction: Transaction) => R,
    check: () => void,
    isAgain = false,
  ): Done<R> {
    this.checkWritable();
    const patch = this.#patch ??= new PatchWriter();
    const { constraints } = this.#loaded;
    const judge = isAgain
      ? undefined
      : this.#parts.rules?.judgeOf(this.#session, this.#loaded.items.state);
    const transaction = new Transaction(this.#author.stamp(), patch, judge);
    this.#transaction = transaction;
    if (!isAgain && this.noting !== undefined) transaction.notes = [];
    try {
      const result = run(transaction);
      refusePromise(result);
      check();
      transaction.askWhole(this.#loaded.items.state);
      this.checkWritable(true);
      if (!isAgain) constraints?.check(transaction.written());
      transaction.end();
      return this.#commit(transaction, patch, result);
    } finally {
      transaction.abandon(); // Nothing is left of one that was committed.
    }
  }

  /**
   * What rules would say of the writes of a transaction; nothing is written. It
   * fails as the transaction would for any other reason.
   */
  preview(run: (transaction: Transaction) => void): Decision {
    this.#checkIdle();
    const { state } = this.#loaded.items;
    const judge = this.#parts.rules?.judgeOf(this.#session, state);
    const origin = this.#author.stamp();
    const transaction = new Transaction(origin, new PatchWriter(), judge);
    this.#transaction = transaction;
    try {
      run(transaction);
      transaction.askWhole(state);
      return allowed;
    } catch (error) {
      if (judge === undefined || judge.decision.allowed) throw error;
      return judge.decision;
    } finally {
      transaction.abandon();
    }
  }

  #commit<R>(
    transaction: Transaction,
    patch: PatchWriter,
    result: R,
  ): Done<R> {
    if (transaction.operations === 0) {
      return { result, durability: this.#queue.latest(), commit: undefined };
    }
    const { payload, operationsOffset } = patch.finish(this.#newSalt());
    const { origin } = transaction;
    const commit = this.#author.commit(origin, payload, operationsOffset);
    const number = this.#loaded.graph.lengthOf(origin.chain) - 1;
    const changes = transaction.apply();
    const durability = this.#queue.push(commit);
    if (transaction.notes !== undefined) {
      this.noting?.(transaction.notes, origin);
    }
    if (changes !== undefined) this.#parts.publishing(() => publish(changes));
    return { result, durability, commit: { chain: origin.chain, number } };
  }

  #newSalt(): Uint8Array | undefined {
    if (this.#parts.salt !== true) return undefined;
    const salt = new Uint8Array(limits.saltBytes);
    this.#parts.world.random(salt);
    return salt;
  }

  #append(commits: readonly QueuedCommit[]): void {
    const { log, commits: reader } = this.#loaded;
    const { wrote } = this.#parts;
    this.introduceNow();
    reader.hashAll();
    const from = log.end;
    const { written } = this.#author.written;
    this.#author.append(log, commits);
    reader.appended(from);
    wrote(this.#author.chain, written, commits.length);
  }

  get session(): Session {
    return this.#session;
  }

  /** The session key as the first 32 characters of its chains' names. */
  get keyName(): string {
    return this.#author.keyName;
  }

  /** The own chain, "" before it began, and how many of its commits are in the log. */
  get written(): Author["written"] {
    return this.#author.written;
  }

  /** Can a batch of this chain be sealed here? */
  canSeal(chain: string): boolean {
    return this.#loaded.mode !== "default" || chain.startsWith(this.keyName);
  }

  /** Keys that signed here, as the first 32 characters of their chains' names. */
  ownKeys(): Set<string> {
    const keys = certificatesOf(this.#session)
      .filter(({ mayIssue }) => !mayIssue)
      .map(({ sessionKey }) => nameOf(sessionKey, 0, 32));
    return new Set([...keys, sessionName(this.#session), this.#loaded.ownKey]);
  }

  /** Writes as another session, or as the same one with a certificate. */
  use(session: Session): void {
    if (this.failure === undefined) {
      this.checkWritable();
      this.#queue.write(); // What was written before is sealed by who wrote it.
    }
    this.#session = session;
    this.#author.use(session);
    this.#isIntroduced = false;
    this.introduce();
  }

  /**
   * Tells the log what issuers say of the session, where somebody will ask:
   * where its keys wrote, or where it issues for others.
   */
  introduce(): void {
    const { credentials: { certificates }, graph } = this.#loaded;
    if (this.failure !== undefined || this.#isIntroduced) return;
    const news = certificatesOf(this.#session).filter((certificate) =>
      !certificates.has(certificate)
    );
    if (news.length === 0) return;
    const names = new Set<string>();
    for (const { name } of graph.chains()) names.add(name.slice(0, 32));
    const isAsked = news.some(({ mayIssue, sessionKey }) =>
      mayIssue || names.has(nameOf(sessionKey, 0, 32))
    );
    if (isAsked) this.introduceNow();
  }

  /** Leaves a chain that does not go on, if it writes that one. */
  leave(chain: string): void {
    if (this.#author.written.chain === chain) this.#author.renew();
  }

  /** Notes what it goes on with, where the own chain is about to be cut: no older one may seem to be the latest. */
  beginBeyond(cuts: readonly Cut[]): void {
    const { chain } = this.#author.written;
    if (cuts.some((cut) => cut.chain === chain)) this.#noteBeginning();
  }

  /** Its key writes here now: the log is told what issuers say of it. */
  introduceNow(): void {
    if (this.#isIntroduced) return;
    const { log, credentials: { certificates } } = this.#loaded;
    this.#isIntroduced = true;
    introduce(this.#session, this.#parts.rootKey, certificates, (bytes) => {
      log.append(recordKind.certificate, [bytes]);
    });
  }

  /**
   * A new incarnation of a chain that is there is noted at once: otherwise a
   * clean close would hide why the old one could not go on.
   */
  async beginAnew(): Promise<void> {
    if (!this.#isMarkDue || !this.#author.wasHere) return;
    this.#noteBeginning();
    await this.#loaded.log.sync();
  }

  /**
   * Commits of `chain` came from elsewhere. Where it is the own one, this folder
   * was set back: the chain went on in a life that is lost, and does not here.
   */
  cameBack(chain: string): void {
    if (chain !== this.#author.written.chain) return;
    this.#author.renew();
    this.#isSetBack = true;
  }

  /** Notes the new incarnation that a folder needs which was set back. */
  beginAfterSetBack(): void {
    if (!this.#isSetBack) return;
    this.#isSetBack = false;
    this.#noteBeginning();
  }

  /** A record of this log alone: nobody else hears of a chain before its first commit. */
  #noteBeginning(): void {
    const { log, voided } = this.#loaded;
    this.#author.renew();
    const { chain } = this.#author;
    const beginning = { chain, number: BEGINNING, retried: undefined };
    log.append(recordKind.resolution, [encodeResolution(beginning)]);
    voided.resolve(beginning);
  }

  /** Puts everything visible into the log, which need not be durable yet. */
  flush(): void {
    if (this.#queue.failure === undefined) this.#queue.write();
  }

  /** Resolves when everything visible now is durable, in every mode. */
  async durable(): Promise<void> {
    this.#queue.write();
    await this.#queue.latest().promise;
    await this.#loaded.log.sync();
  }

  /** Writes and syncs everything, in every mode. */
  drain(): Promise<void> {
    return this.#queue.drain();
  }

  /** Sees to it that a mode that does not wait for syncs has one soon. */
  syncLater(): void {
    this.#queue.syncLater();
  }

  /** Forgets timers; the writer is not used afterwards. */
  stop(): void {
    this.#queue.stop();
  }
}
