/**
 * What a client knows of what its server has of one repository: through a
 * connection while there is one, and from what it kept of earlier ones.
 */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import { batchIn } from "../repo/commit/batch.ts";
import type { FeedRecord, RepositoryPort } from "../repo/port.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type { ClientConversation } from "./client_conversation.ts";
import type { Driver } from "./driver.ts";
import {
  decodeResume,
  encodeResume,
  type Lives,
  noLives,
  type ResumeState,
} from "./resume.ts";
import type { Unsent } from "./status.ts";

/** So much is read to count at each look. */
const CHEAP_BYTES = 32 * 1024;

/** What it works with. */
export interface KnowledgeParts {
  readonly port: RepositoryPort;
  /** What was kept. */
  readonly resume?: Uint8Array | undefined;
  readonly world: World;
  readonly keep?:
    | ((name: RepositoryName, bytes: Uint8Array) => void)
    | undefined;
  /** The lives of the server's log that were seen. */
  readonly lives?: () => Lives;
  /** A count that was put off is due. */
  readonly due: () => void;
}

/** The knowledge of one channel. */
export class ChannelKnowledge {
  readonly #parts: KnowledgeParts;
  readonly #acked = new Map<string, number>();
  /** What the server acknowledged in the life of its log that goes on. */
  readonly #confirmed = new Map<string, number>();
  #epoch: Uint8Array | undefined;
  readonly #unsent: UnsentCount;
  #driver: Driver<ClientConversation> | undefined;
  #resume: ResumeState | undefined;
  #countedMs = -Infinity;
  /** Up to which log address was counted last. */
  #countedTo = 0;
  #counted: Unsent | undefined;
  /** Did commits become void? Until those that were written again may be sent an older count stands. */
  #isRewriting = false;
  #cancelCount: (() => void) | undefined;
  #cancelKeep: (() => void) | undefined;

  constructor(parts: KnowledgeParts) {
    this.#parts = parts;
    this.#unsent = new UnsentCount(
      parts.port,
      (chain) => this.#confirmedOf(chain),
    );
    this.#resume = resumeOf(parts.resume, parts.port);
  }

  /** What a conversation goes on from. */
  get state(): ResumeState | undefined {
    const { name } = this.#parts.port;
    const state = this.#driver?.core.resumeState(name);
    if (state !== undefined) this.#resume = state;
    return this.#resume;
  }

  /** Own log address up to which the server has everything. */
  get known(): number {
    return this.state?.uploadedTo ?? 0;
  }

  /** The bytes to keep. */
  bytes(): Uint8Array | undefined {
    const state = this.state;
    const lives = this.#parts.lives?.() ?? noLives;
    return state && encodeResume({ ...state, lives });
  }

  /** There is a connection, or none any more. */
  attach(driver: Driver<ClientConversation> | undefined): void {
    if (driver === undefined) void this.state; // The last that it knew.
    this.#driver = driver;
    if (driver === undefined) this.keepNow();
  }

  /** The server has a chain's first `count` commits durably. */
  noteAcked(chain: string, count: number): void {
    this.#acked.set(chain, count);
    this.#confirmed.set(chain, count);
  }

  /** The channel is open: a server that lost its log has to be given it again. */
  noteOpened(epoch: Uint8Array): void {
    const before = this.#epoch;
    this.#epoch = epoch;
    if (before === undefined || equalBytes(before, epoch)) return;
    this.#confirmed.clear();
    this.#countedMs = -Infinity;
  }

  /** A commit was refused: what follows it is not there either. */
  noteRefused(chain: string, number: number): void {
    for (const counts of [this.#acked, this.#confirmed]) {
      if ((counts.get(chain) ?? 0) > number) counts.set(chain, number);
    }
    this.#countedMs = -Infinity;
  }

  /**
   * Commits are void: those that were written again may not be sent
   * before the log is durable so far, and are unsent all the same.
   */
  noteReissued(): void {
    this.#isRewriting = true;
  }

  /** How many commits of a chain the server is known to have durably; of own ones that are signed, by its receipts alone. */
  acknowledged(chain: string): number {
    const acked = this.#acked.get(chain) ?? 0;
    const { mode } = this.#parts.port;
    const isOwn = this.#driver?.core.owns(chain) ?? true;
    if (mode === "default" && isOwn) return acked;
    return Math.max(acked, this.#confirmedOf(chain));
  }

  #confirmedOf(chain: string): number {
    const { port } = this.#parts;
    const { name } = port;
    const core: ClientConversation | undefined = this.#driver?.core;
    // Who goes on from a cursor is acknowledged nothing that the server had before.
    if (core?.isQuiet(name) && port.isComplete) return port.lengthOf(chain);
    return Math.max(
      this.#confirmed.get(chain) ?? 0,
      core?.serverHas(name, chain) ?? 0,
    );
  }

  /**
   * What the server lacks. Counting means reading: where there is much, an
   * older count stands for a while, unless it is of nothing and more was
   * written since.
   *
   * @param isOpen may the connection be asked?
   */
  unsent(isOpen: boolean): Unsent {
    const { port, world, due } = this.#parts;
    this.#isRewriting &&= !port.isComplete;
    const before = this.#counted;
    if (this.#isRewriting && before && before.commits > 0) return before;
    if (isOpen && this.#driver?.core.isQuiet(port.name)) {
      this.#countedTo = port.shareable;
      return this.#counted = this.#unsent.none();
    }
    const from = this.known;
    const now = world.monotonic();
    const isCheap = this.#unsent.cost(from) <= CHEAP_BYTES;
    // Whole milliseconds: a rest that is less would be waited for again and again.
    const waitMs = Math.ceil(this.#countedMs + limits.countMs - now);
    const isPutOff = this.#counted !== undefined && !isCheap && waitMs > 0;
    if (isPutOff) {
      this.#cancelCount ??= world.after(waitMs, () => {
        this.#cancelCount = undefined;
        due();
      });
      if (this.#counted!.commits > 0) return this.#counted!;
    } else this.#countedMs = now;
    const start = isPutOff ? Math.max(from, this.#countedTo) : from;
    this.#countedTo = port.shareable;
    return this.#counted = this.#unsent.from(start);
  }

  /** Keeps what is known, a little later. */
  keepSoon(): void {
    const { keep, world } = this.#parts;
    if (keep === undefined) return;
    this.#cancelKeep ??= world.after(limits.resumeMs, () => this.keepNow());
  }

  /** Keeps what is known. */
  keepNow(): void {
    this.#cancelKeep?.();
    this.#cancelKeep = undefined;
    const { keep, port } = this.#parts;
    const bytes = keep && this.bytes();
    if (bytes !== undefined) keep?.(port.name, bytes);
  }

  /** Ends its timers. */
  close(): void {
    this.#cancelCount?.();
    this.#cancelKeep?.();
  }
}

/** What was kept, if it is of this repository. */
function resumeOf(
  bytes: Uint8Array | undefined,
  port: RepositoryPort,
): ResumeState | undefined {
  if (bytes === undefined) return undefined;
  try {
    const state = decodeResume(bytes);
    return equalBytes(state.genesisId, port.genesisId) ? state : undefined;
  } catch {
    return undefined; // A shortcut that is damaged is none.
  }
}

const nothing: Unsent = Object.freeze({
  commits: 0,
  bytes: 0,
  oldest: undefined,
});

/** Counts commits of one log that the server is not known to have. */
export class UnsentCount {
  readonly #port: RepositoryPort;
  readonly #serverHas: (chain: string) => number;
  #last = nothing;

  /**
   * @param port the log
   * @param serverHas how many commits of a chain the server is known to have
   */
  constructor(port: RepositoryPort, serverHas: (chain: string) => number) {
    this.#port = port;
    this.#serverHas = serverHas;
  }

  /** How many log bytes have to be read to count from an address. */
  cost(from: number): number {
    return this.#port.shareable - from;
  }

  /**
   * What lies behind `from` and is lacking there; the same object until it changes,
   * and as long as the medium does not tell.
   */
  from(from: number): Unsent {
    try {
      return this.#from(from);
    } catch (cause) {
      if (!(cause instanceof DatabaseError)) throw cause;
      return this.#last;
    }
  }

  #from(from: number): Unsent {
    let commits = 0;
    let bytes = 0;
    let oldest: number | undefined;
    for (const record of recordsFrom(this.#port, from)) {
      const { first, count, chain } = record;
      const has = Math.max(first, this.#serverHas(chain));
      const lacking = first + count - has;
      if (lacking <= 0) continue;
      commits += lacking;
      bytes += Math.ceil(record.bytes.length * lacking / count);
      oldest ??= wallOf(record, has - first);
    }
    return this.#settle(commits, bytes, oldest);
  }

  /** Nothing is lacking. */
  none(): Unsent {
    return this.#last = nothing;
  }

  #settle(commits: number, bytes: number, oldest: number | undefined): Unsent {
    const last = this.#last;
    const isSame = last.commits === commits && last.bytes === bytes &&
      last.oldest?.getTime() === oldest;
    if (isSame) return last;
    const date = oldest === undefined ? undefined : new Date(oldest);
    return this.#last = Object.freeze({ commits, bytes, oldest: date });
  }
}

function* recordsFrom(
  port: RepositoryPort,
  from: number,
): Generator<FeedRecord> {
  const end = port.shareable;
  for (let at = port.isStart(from) ? from : 0; at < end;) {
    const { records, next } = port.read(at, limits.recordsBytesSoft);
    yield* records;
    if (next <= at) return;
    at = next;
  }
}

/** When a commit of a batch was written. */
function wallOf(record: FeedRecord, index: number): number | undefined {
  try {
    return batchIn(record.kind, record.bytes)?.commits[index]?.wall;
  } catch {
    return undefined; // What the own log holds was decoded when it came.
  }
}
