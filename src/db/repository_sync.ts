/**
 * `repository.sync`: the one honest observable of where a repository stands
 * between here and its server, and what waits for the server.
 *
 * It outlives connections: a channel is attached when there is one. It judges
 * nothing itself; what a channel says is what it shows.
 *
 * Architecture invariant: a write counts as synced only when the server said
 * that it has it durably.
 */

import { getOrMake } from "../base/collections.ts";
import { type Deferred, deferred } from "../base/deferred.ts";
import { DatabaseError } from "../base/errors.ts";
import { refuseOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import {
  batchIn,
  type CommitPlace,
  lateRefusing,
  type Position,
  type RefusedEntry,
  type Replica,
} from "../../repo/mod.ts";
import type {
  AuditReport,
  Channel,
  ChannelStatus,
  Incident,
  Receipt,
  SyncPhase,
  SyncReason,
  Unsent,
} from "./channel.ts";
import { SALT } from "../schema/stub.ts";
import { Listeners } from "./listeners.ts";
import {
  refusalText,
  RefusedEntryWrite,
  type RefusedWrite,
} from "./refused_write.ts";
import type { UnfitFields } from "./unfit_fields.ts";
import type { Arrivals, Written } from "./write.ts";

const notConnected: SyncReason = {
  code: "not-connected",
  message: "Something waits for a server: call `database.connect(url)`",
};

/** Where a repository stands between here and its server. */
export interface SyncStatus extends ChannelStatus {
  /** Writes that the server refused and that nobody settled yet, oldest first. */
  readonly refusals: readonly RefusedWrite[];
}

/** How a repository and its server converge. */
export interface RepositorySync {
  /** The same object until something changes. */
  readonly status: SyncStatus;
  /** Resolves when it is live for the first time; rejects with `closed`. */
  readonly ready: Promise<void>;
  /** Calls whenever the status changed; the result ends it. */
  subscribe(listener: () => void): () => void;
  /** As `status`, for `useSyncExternalStore` and its kind. */
  getSnapshot(): SyncStatus;
  /**
   * Compares with the server now, down to what differs.
   *
   * @throws {DatabaseError} `unreachable` where there is no live connection
   */
  audit(): Promise<AuditReport>;
  /**
   * The newest of what the server signed of this device's writes, also when there is
   * no connection; `undefined` where it has signed nothing yet, or never does
   * (only servers of the Default mode sign). A write is in it once its `synced` has
   * resolved.
   */
  receipt(): Promise<Receipt | undefined>;
}

interface Waiting {
  readonly commit: Position;
  readonly levers: Deferred<void>;
}

export interface RepositorySyncingParts {
  readonly replica: Replica;
  /** Fields that hold values of another kind. */
  readonly unfit?: UnfitFields;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Log address up to which the server is known to have everything. */
  readonly knownBefore: () => number;
  /** What is kept of the last connection, or of this one. */
  readonly kept: () => Uint8Array | undefined;
  readonly report?: (error: unknown) => void;
}

/** The sync of one repository, over connections that come and go. */
export class RepositorySyncing implements RepositorySync, Arrivals {
  readonly #parts: RepositorySyncingParts;
  readonly #listeners: Listeners;
  readonly #refused = new WeakMap<RefusedEntry, RefusedWrite>();
  #channel: Channel | undefined;
  #reason: SyncReason | undefined;
  /** What it is while there is no channel. */
  #phase: SyncPhase = "offline";
  /** The last channel: one that has ended says what was acknowledged, too. */
  #last: Channel | undefined;
  /** What is worth keeping of the status of those that have ended. */
  #incidents: readonly Incident[] = [];
  #equalAt: Date | undefined;
  /** What the server asks, and what it was found not to. */
  #enforced: readonly string[] | undefined;
  readonly #unenforced = new Set<string>();
  #unsent: Pick<UnsentCounter, "get"> | undefined;
  #waiting: Waiting[] = [];
  #isChecking = false;
  #ready: Deferred<void> | undefined;
  #isReady = false;
  #isClosed = false;
  #status: SyncStatus | undefined;
  #entries: readonly RefusedEntry[] = [];
  #refusals: readonly RefusedWrite[] = [];
  #endShareable: (() => void) | undefined;
  /** Kept, so that it can be asked while the replica closes. */
  #sharing: Replica["sharing"] | undefined;
  readonly #endRefusals: () => void;

  constructor(parts: RepositorySyncingParts) {
    refuseOptions(this);
    this.#parts = parts;
    this.#listeners = new Listeners(parts.report);
    this.#endRefusals = parts.replica.onRefusals(() => this.changed());
    parts.unfit?.listen((incident) => this.#note(incident));
  }

  get status(): SyncStatus {
    const base = this.#base();
    const refusals = this.#currentRefusals();
    const last = this.#status;
    if (
      last !== undefined && last.refusals === refusals && isSame(last, base)
    ) {
      return last;
    }
    return this.#status = Object.freeze({ ...base, refusals });
  }

  readonly getSnapshot = (): SyncStatus => this.status;

  #base(): ChannelStatus {
    const channel = this.#channel?.status;
    if (channel === undefined) {
      return {
        state: this.#isClosed ? "closed" : this.#phase,
        reason: this.#isClosed ? undefined : this.#reason ?? this.#whyWaiting(),
        unsent: this.#countUnsent(),
        progress: undefined,
        equalAt: this.#equalAt,
        incidents: this.#incidents,
        enforced: undefined,
        clockOffsetMs: undefined,
      };
    }
    return {
      ...channel,
      unsent: this.#withUnshared(channel.unsent),
      equalAt: channel.equalAt ?? this.#equalAt,
      incidents: this.#allIncidents(channel.incidents),
    };
  }

  /** Who waits for a server where nobody connects is told so. */
  #whyWaiting(): SyncReason | undefined {
    const isAwaited = this.#waiting.length > 0 ||
      this.#ready !== undefined && !this.#isReady;
    const isLeft = this.#phase === "offline" && isAwaited;
    return isLeft ? notConnected : undefined;
  }

  #countUnsent(): ChannelStatus["unsent"] {
    if (this.#isClosed && this.#status !== undefined) {
      return this.#status.unsent;
    }
    this.#unsent ??= new UnsentCounter(
      this.#parts.replica,
      this.#parts.knownBefore(),
    );
    return this.#unsent.get();
  }

  /** What is unsent when a channel has ended; where the log says nothing of it, it stays as it was. */
  #countedBehind({ server }: Channel): Pick<UnsentCounter, "get"> {
    if (server !== undefined) {
      return new UnsentCounter(this.#parts.replica, server.uploadedTo);
    }
    const { unsent } = this.status;
    return { get: () => unsent };
  }

  /** What was written in this very turn has not even begun to travel, and is unsent all the same. */
  #withUnshared(sent: ChannelStatus["unsent"]): ChannelStatus["unsent"] {
    const { replica } = this.#parts;
    const { unshared } = this.#sharing ??= replica.sharing;
    if (unshared <= 0) return sent;
    const commits = sent.commits + unshared;
    const last = this.#status?.unsent;
    if (last?.commits === commits && last.bytes === sent.bytes) return last;
    const oldest = sent.oldest ?? new Date(replica.graph.clock.wall);
    return Object.freeze({ commits, bytes: sent.bytes, oldest });
  }

  #allIncidents(now: readonly Incident[]): readonly Incident[] {
    const before = this.#incidents;
    if (before.length === 0) return now;
    const last = this.#status?.incidents;
    const length = Math.min(limits.incidentsMax, before.length + now.length);
    const isShown = last?.length === length &&
      last.at(-1) === (now.at(-1) ?? before.at(-1));
    return isShown ? last : [...before, ...now].slice(-length);
  }

  /** Something is odd here, which may be noticed in the middle of a transaction. */
  #note(incident: Incident): void {
    this.#incidents = [...this.#incidents, incident]
      .slice(-limits.incidentsMax);
    queueMicrotask(() => this.changed());
  }

  #currentRefusals(): readonly RefusedWrite[] {
    const { replica } = this.#parts;
    if (this.#isClosed) return this.#refusals;
    const entries = replica.refusals();
    if (entries === this.#entries) return this.#refusals;
    this.#entries = entries;
    const writeOf = (entry: RefusedEntry) =>
      getOrMake(
        this.#refused,
        entry,
        () => new RefusedEntryWrite(replica, entry, this),
      );
    this.#refusals = Object.freeze(entries.map(writeOf));
    return this.#refusals;
  }

  get ready(): Promise<void> {
    if (this.#isReady) return Promise.resolve();
    if (this.#isClosed) return Promise.reject(this.#closedError());
    if (this.#ready === undefined) {
      this.#ready = deferred<void>();
      this.#ready.promise.catch(() => {}); // Who waits hears it; nobody else must.
      queueMicrotask(() => this.changed());
    }
    return this.#ready.promise;
  }

  readonly subscribe = (listener: () => void): () => void => {
    const end = this.#listeners.add(listener);
    // What is written while there is no channel changes the count of unsent commits.
    this.#endShareable ??= this.#parts.replica.sharing.onShareable(() => {
      if (this.#channel === undefined) this.changed();
    });
    return end;
  };

  async audit(): Promise<AuditReport> {
    this.#parts.replica.check();
    if (this.#channel === undefined) {
      throw new DatabaseError(
        "unreachable",
        "Cannot audit: there is no connection. Call `database.connect()` first",
      );
    }
    return await this.#channel.audit();
  }

  async receipt(): Promise<Receipt | undefined> {
    const { newestReceipt } = await import("./online.ts");
    return await newestReceipt(this.#parts, this.#channel);
  }

  /** Resolves when the server has a write durably; see `Write.synced`. */
  async synced({ durability, commit }: Written): Promise<void> {
    await durability.promise;
    if (commit === undefined || this.#hasArrived(this.#placeOf(commit))) return;
    if (this.#isClosed) throw this.#closedError();
    const levers = deferred<void>();
    this.#waiting.push({ commit, levers });
    this.changed();
    return await levers.promise;
  }

  /** How many commits of a chain the server has durably. */
  acknowledged(chain: string): number {
    return this.#last?.acknowledged(chain) ?? 0;
  }

  #placeOf(commit: Position): CommitPlace {
    return this.#parts.replica.loaded.voided.placeOf(commit);
  }

  #hasArrived({ isRefused, chain, number }: CommitPlace): boolean {
    return !isRefused && number < this.acknowledged(chain);
  }

  #checkSoon(): void {
    if (this.#isChecking || this.#waiting.length === 0) return;
    this.#isChecking = true;
    queueMicrotask(() => {
      this.#isChecking = false;
      this.#check();
    });
  }

  #check(): void {
    this.#waiting = this.#waiting.filter(({ commit, levers }) => {
      const place = this.#placeOf(commit);
      if (place.isRefused) levers.reject(this.#refusal(place));
      else if (this.#hasArrived(place)) levers.resolve();
      else return true;
      return false;
    });
  }

  #refusal({ chain, number }: Position): DatabaseError {
    const entry = this.#parts.replica.refusals().find((entry) =>
      entry.chain === chain && entry.number === number
    );
    const text = entry === undefined
      ? "The server refused the write, and the refusal is settled"
      : refusalText(entry);
    return new DatabaseError("refused", text);
  }

  /** Something changed: of the channel, of the refusals, of the connection. */
  changed(): void {
    this.#checkSoon();
    const channel = this.#channel?.status;
    const isLive = channel?.state === "live";
    // What acts on refusals comes before the first of them, or that one would come a second time.
    if (isLive || (channel?.unsent.commits ?? 0) > 0) {
      if (!lateRefusing.isLoaded) lateRefusing.load().catch(() => {});
    }
    if (channel?.enforced !== this.#enforced) this.#compare(channel?.enforced);
    if (!this.#isReady && isLive) {
      this.#isReady = true;
      this.#ready?.resolve();
    }
    if (this.#listeners.size === 0) return;
    const before = this.#status;
    if (this.status !== before) this.#listeners.tell();
  }

  /** What is said here of writes and not asked by the server stops nobody else: that is told once. */
  #compare(enforced: readonly string[] | undefined): void {
    this.#enforced = enforced;
    if (enforced === undefined) return;
    const { asks, isSalting } = this.#parts.replica;
    this.#compareSalt(isSalting, enforced.includes(SALT));
    const more = asks.filter((one) =>
      !enforced.includes(one) && !this.#unenforced.has(one)
    );
    if (more.length === 0) return;
    for (const one of more) this.#unenforced.add(one);
    this.#note({
      kind: "not-enforced",
      at: new Date(this.#parts.now()),
      message: `The server does not ask of writes what is said here: ${
        more.join(", ")
      }`,
      details: { lacks: more },
    });
  }

  /** Who salts and who does not are of two minds of what may be guessed back. */
  #compareSalt(here: boolean, server: boolean): void {
    if (here === server || this.#unenforced.has(SALT)) return;
    this.#unenforced.add(SALT);
    this.#note({
      kind: "salt-mismatch",
      at: new Date(this.#parts.now()),
      message: `The option salt is ${here} here and ${server} at the server${
        here ? "" : ", which refuses what is written without"
      }: give both the same`,
      details: { here, server },
    });
  }

  /** There is no channel: one is being made, there is no connection, or there can be none. */
  without(
    phase: "connecting" | "offline" | "refused",
    reason?: SyncReason,
  ): void {
    this.#phase = phase;
    this.#reason = reason;
    this.changed();
  }

  attach(channel: Channel): void {
    this.#channel = this.#last = channel;
    this.changed();
  }

  /** The channel ends; what it knew of the server stays known. */
  detach(): void {
    const channel = this.#channel;
    if (channel !== undefined) {
      this.#unsent = this.#countedBehind(channel);
      const { equalAt, incidents } = channel.status;
      // What is missing there is said anew by the next connection, if it still is.
      this.#incidents = this.#allIncidents(incidents).filter(({ kind }) =>
        kind !== "restore-incomplete"
      );
      this.#equalAt = equalAt ?? this.#equalAt;
      this.#channel = undefined;
    }
    this.without("offline");
  }

  /** The repository closes: nobody waits any longer. */
  close(): void {
    if (this.#isClosed) return;
    void this.status; // What is shown afterwards.
    this.#isClosed = true;
    this.#endShareable?.();
    this.#endRefusals();
    for (const { levers } of this.#waiting) levers.reject(this.#closedError());
    this.#waiting = [];
    this.#ready?.reject(this.#closedError());
    this.changed();
    this.#listeners.clear();
  }

  #closedError(): DatabaseError {
    return new DatabaseError(
      "closed",
      `The repository "${this.#parts.replica.name}" was closed before the server had this. ` +
        "It goes out with the next connection",
    );
  }
}

function isSame(last: ChannelStatus, now: ChannelStatus): boolean {
  return last.state === now.state && last.reason === now.reason &&
    last.unsent === now.unsent && last.progress === now.progress &&
    last.equalAt === now.equalAt && last.incidents === now.incidents &&
    last.enforced === now.enforced && last.clockOffsetMs === now.clockOffsetMs;
}

const nothing: Unsent = { commits: 0, bytes: 0, oldest: undefined };

/** Counts the commits behind a log address, each once. */
class UnsentCounter {
  readonly #replica: Replica;
  readonly #from: number;
  #countedTo: number;
  /** How often commits had become void when it counted. */
  #revision: number;
  #unsent = nothing;

  /** `from`: log address up to which the server has everything. */
  constructor(replica: Replica, from: number) {
    this.#replica = replica;
    this.#from = this.#countedTo = from;
    this.#revision = replica.commits.revision;
  }

  /** The same object until there are more; what a medium that fails does not tell waits until it does. */
  get(): Unsent {
    try {
      return this.#get();
    } catch (cause) {
      if (!(cause instanceof DatabaseError)) throw cause;
      return this.#unsent;
    }
  }

  #get(): Unsent {
    this.#replica.flush();
    const { log, graph } = this.#replica.loaded;
    const { revision } = this.#replica.commits;
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#countedTo = this.#from;
      this.#unsent = nothing;
    }
    if (log.end <= this.#countedTo) return this.#unsent;
    const before = this.#unsent;
    // All there is need not be read to be counted.
    if (this.#countedTo === 0) this.#unsent = this.#all(graph.commits, log.end);
    else this.#unsent = this.#grown(log.end);
    this.#countedTo = log.end;
    if (this.#unsent.commits === before.commits) this.#unsent = before;
    return this.#unsent;
  }

  #all(commits: number, end: number): Unsent {
    if (commits === 0) return nothing;
    return { commits, bytes: end - this.#from, oldest: this.#oldest() };
  }

  /** When the first commit of the log was written. */
  #oldest(): Date | undefined {
    const { log } = this.#replica.loaded;
    let oldest: Date | undefined;
    log.records(0, log.end, (kind, body) => {
      oldest = dateOf(batchIn(kind, body)?.commits[0]?.wall);
      return oldest !== undefined;
    });
    return oldest;
  }

  #grown(end: number): Unsent {
    let { commits, bytes, oldest } = this.#unsent;
    this.#replica.commits.each(
      ({ batch, from }) => {
        commits += Math.max(0, batch.commits.length - from);
        bytes += batch.bytes.length;
        oldest ??= dateOf(batch.commits[0]?.wall);
      },
      this.#countedTo,
      end,
    );
    return { commits, bytes, oldest };
  }
}

function dateOf(wall: number | undefined): Date | undefined {
  return wall === undefined ? undefined : new Date(wall);
}
