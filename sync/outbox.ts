/**
 * The outbox: follows a log and hands out what the peer lacks, as the peer's
 * window allows. It keeps a place in the log and what the peer has, no queue.
 *
 * Architecture invariant: only what the port calls shareable is read, so
 * nothing is shared before it is durable (law 3).
 */

import { batchIn } from "../repo/commit/batch.ts";
import { batchFrom } from "../repo/commit/batch_parts.ts";
import type {
  FeedRecord,
  FeedSlice,
  RepositoryPort,
  SeamOf,
} from "../repo/port.ts";
import { equalBytes, toHex } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { MessageOf, WireRecord } from "./message.ts";
import { isBatch } from "../repo/log/format.ts";
import type { OrderTeller } from "./order_teller.ts";

/** What a frame of records takes besides them: kind, channel, count. */
export const FRAME_BYTES = 64;
/** What a record takes besides its bytes. */
export const RECORD_BYTES = 8;
/** The largest record that travels in a records frame. */
const WHOLE_BYTES_MAX = limits.recordsBytesSoft - FRAME_BYTES - RECORD_BYTES;
/** Not worth a frame of their own: wait for more credit. */
export const CREDIT_MIN = 4 * 1024;

/** Chains whose state at the peer is remembered without asking whether it has to be. */
const HAS_KEPT = 16;

/** A record that was handed out. */
export interface SentRecord {
  /** The batch's chain; "" where it is no batch. */
  readonly chain: string;
  /** Number of its first commit. */
  readonly first: number;
  /** Number behind its last commit. */
  readonly end: number;
  /** Log address from which it is read again. */
  readonly from: number;
  /** Was it sent behind what was refused, or with it? It goes out anew. */
  isPassedOver?: boolean;
}

/** Something to send; `whole` are the records that it completes. */
export type Outgoing =
  | {
    readonly records: readonly WireRecord[];
    readonly whole: readonly SentRecord[];
  }
  | {
    readonly part: Omit<MessageOf<"part">, "is" | "channel">;
    readonly whole: readonly SentRecord[];
  };

/** How a peer is followed. */
export interface OutboxOptions {
  readonly port: RepositoryPort;
  /** Log address from which on the peer may lack something. */
  readonly from: number;
  /** What the peer is known to have; noted in there. */
  readonly has?: Map<string, number>;
  /** Send all certificates and revocations first. */
  readonly credentials: boolean;
  /** Which chains are sent at all; default: all. */
  readonly wants?: (chain: string) => boolean;
  /** Is the peer shown what is void, also where it has as many commits? */
  readonly shows?: boolean;
  /**
   * Of which chains are batches cut at what the peer has? Not of the client's own:
   * after its folder was set back it has others of them, and the bytes tell.
   */
  readonly cuts?: (chain: string) => boolean;
  /**
   * How far a chain is proved to have been accepted. A peer that lost that takes
   * it at once, and what was written since when all is back: not as one batch.
   */
  readonly provedOf?: SeamOf;
  /** Forget what the peer has as soon as it is not needed to follow the log: for whoever has many peers. */
  readonly forgets?: boolean;
  /** Credentials that one side proved itself with: the server puts a client's before its first batch. */
  readonly knows?: (credential: Uint8Array) => boolean;
  /** Notes the order in which the log took what it holds, from `from` on; a server's. */
  readonly order?: OrderTeller;
  /** The peer's wall clock, in milliseconds: it takes nothing that is dated later. Default: it takes everything. */
  readonly peerMs?: () => number;
}

/** One peer's place in a log. */
export class Outbox {
  readonly #port: RepositoryPort;
  /** Without `has`: what is forgotten must not live on in there. */
  readonly #options: Omit<OutboxOptions, "has">;
  readonly #has: Map<string, number>;
  #hasMax = HAS_KEPT;
  /** Credentials that lie before this address were sent. */
  #credentialsTo: number;
  #credentials: readonly FeedRecord[];
  /** Credentials that the peer sent: they lie ahead in the log. */
  readonly #shown = new Set<string>();
  /** Voids and redactions that went out before what they are of: the very bytes that are kept of them. */
  readonly #told = new Set<Uint8Array>();
  #position: number;
  #partial: { record: FeedRecord; offset: number; from: number } | undefined;
  /** How many commits of chains were sent and not acknowledged, when it was read once more. */
  readonly #flying = new Map<string, number>();
  /** What is read once more, as soon as what stands before `due` may be shared. */
  #rewind: { readonly from: number; readonly due: number } | undefined;
  /** Did the last look end for want of credit, or before what is to be read once more? */
  #isBlocked = false;
  /** When what comes next is not early any more, by the peer's clock; 0 while nothing is. */
  #dueMs = 0;

  constructor({ has, ...options }: OutboxOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#has = has ?? new Map();
    this.#position = options.from;
    this.#credentials = options.credentials ? options.port.credentials() : [];
    this.#credentialsTo = options.credentials ? options.port.shareable : 0;
  }

  /** Log address before which the peer was sent everything that it lacked. */
  get position(): number {
    const position = this.#partial?.from ?? this.#position;
    return Math.min(position, this.#rewind?.from ?? position);
  }

  /** What the log's order says up to where everything was sent; `undefined` where that is no mark. */
  get order(): OrderTeller | undefined {
    const { order } = this.#options;
    order?.reach(this.position);
    return order;
  }

  /** Is nothing begun, and nothing kept that only this peer is, or is not, to get? */
  get isPlain(): boolean {
    return !this.#partial && !this.#rewind &&
      this.#credentials.length + this.#shown.size === 0;
  }

  /** The peer got what stands before an address. */
  skip(to: number): void {
    this.#position = to;
  }

  /** Has everything that may be shared been sent? */
  get isDone(): boolean {
    return this.#partial === undefined && this.#rewind === undefined &&
      this.#credentials.length === 0 && this.#position >= this.#port.shareable;
  }

  /**
   * Reads on from an address where it was, once what stands before `due` may be
   * shared: it reads otherwise now.
   *
   * @param flying what was sent and is about to be acknowledged: it does not go out twice
   */
  rewind(from: number, due: number, flying: readonly SentRecord[] = []): void {
    const before = this.#rewind ?? { from, due };
    for (const { chain, end } of flying) this.#flying.set(chain, end);
    this.#rewind = {
      from: Math.min(from, before.from),
      due: Math.max(due, before.due),
    };
  }

  /** Goes back where that is due; false while it waits, and nothing goes out before. */
  #goBack(): boolean {
    const rewind = this.#rewind;
    if (rewind === undefined) return true;
    if (this.#port.shareable < rewind.due) return false;
    const sentTo = this.#partial?.from ?? this.#position;
    this.#credentialsTo = Math.max(this.#credentialsTo, sentTo);
    this.#position = Math.min(this.position, rewind.from);
    this.#partial = undefined;
    this.#rewind = undefined;
    return true;
  }

  /** Did it stop for want of credit, or before what is to be read once more, with something to send? */
  get isBlocked(): boolean {
    return this.#isBlocked && !this.isDone;
  }

  /** Milliseconds until what comes next may go; 0 while nothing waits for its time. */
  get waitMs(): number {
    return this.#dueMs === 0 ? 0 : Math.max(1, this.#dueMs - this.#peerMs());
  }

  #peerMs(): number {
    return this.#options.peerMs?.() ?? Infinity;
  }

  /** Notes that the peer has a chain's first `count` commits. */
  noteHas(chain: string, count: number): void {
    if (count > (this.#has.get(chain) ?? 0)) this.#has.set(chain, count);
  }

  /** Notes that the peer lacks a chain from a number on. */
  noteLacks(chain: string, number: number): void {
    this.#flying.delete(chain);
    if (this.countOf(chain) > number) this.#has.set(chain, number);
  }

  /** Notes that the log got a credential from the peer. */
  noteCredential(bytes: Uint8Array): void {
    this.#shown.add(toHex(bytes));
  }

  /** How many commits of a chain the peer is known to have. */
  countOf(chain: string): number {
    return this.#has.get(chain) ?? 0;
  }

  /**
   * The next thing to send in a frame of at most `credit` bytes. `undefined`
   * when there is nothing, not enough credit, or enough was read for one turn:
   * `isDone` and `isBlocked` tell them apart.
   */
  next(credit: number): Outgoing | undefined {
    this.#isBlocked = false;
    this.#dueMs = 0;
    if (!this.#goBack()) return this.#block();
    if (this.isDone) return this.#forget();
    const room = Math.min(credit, limits.recordsBytesSoft) - FRAME_BYTES;
    if (room < CREDIT_MIN) return this.#block();
    if (this.#partial !== undefined) return this.#nextPart(room);
    if (this.#credentials.length > 0) return this.#nextCredentials(room);
    return this.#nextRecords(room);
  }

  /** At the log's end, what both have is not needed any more; looked for when there is much. */
  #forget(): undefined {
    const isWanted = this.#options.forgets === true &&
      this.#has.size > this.#hasMax;
    if (!isWanted) return undefined;
    for (const [chain, count] of this.#has) {
      if (this.#port.lengthOf(chain) >= count) this.#has.delete(chain);
    }
    this.#hasMax = this.#has.size * 2 + HAS_KEPT;
    return undefined;
  }

  #block(): undefined {
    this.#isBlocked = true;
    return undefined;
  }

  #nextCredentials(room: number): Outgoing | undefined {
    const records: WireRecord[] = [];
    const whole: SentRecord[] = [];
    let bytes = 0;
    let taken = 0;
    for (const { kind, bytes: record } of this.#credentials) {
      const length = record.length + RECORD_BYTES;
      // A credential is smaller than any window, not than what is left of it.
      if (bytes + length > room && taken === 0) return this.#block();
      if (bytes + length > room) break;
      taken++;
      if (this.#options.knows?.(record) === true) continue;
      bytes += length;
      records.push({ kind, bytes: record });
      whole.push({ chain: "", first: 0, end: 0, from: this.#position });
    }
    this.#credentials = this.#credentials.slice(taken);
    return { records, whole };
  }

  /** Reads on until something is found that the peer lacks, but only so far in one turn. */
  #nextRecords(room: number): Outgoing | undefined {
    const readTo = this.#position + limits.feedBytesMax;
    while (this.#position < Math.min(readTo, this.#port.shareable)) {
      const from = this.#position;
      let slice = this.#port.read(
        from,
        room - RECORD_BYTES,
        this.#options.provedOf,
      );
      if (this.#dueOf(slice) > 0) {
        // Batches as they were sealed, one by one: those whose time has come go.
        slice = this.#port.read(from, 1);
        this.#dueMs = this.#dueOf(slice);
        if (this.#dueMs > 0) return undefined;
      }
      this.#options.order?.note(slice.order);
      let found = this.#fit(slice, from, room);
      if (found === "unsure") {
        // Joined with what comes behind it, it might never be what was looked at.
        slice = this.#port.read(from, 1);
        found = this.#fit(slice, from, room);
      }
      if (found === "blocked" || found === "unsure") return this.#block();
      this.#position = found?.next ?? slice.next;
      if (found !== undefined) return found.outgoing;
      if (slice.next <= from) return undefined;
    }
    return undefined;
  }

  /**
   * When the last of some records may go, by the peer's clock; 0 when all of
   * them may. What is too far ahead to be waited for goes, too: the peer says no.
   */
  #dueOf({ records }: FeedSlice): number {
    const peerMs = this.#peerMs();
    let due = 0;
    for (const record of records) {
      const { chain, kind, bytes } = record;
      if (this.#port.clockOf(chain) <= peerMs || !this.#isLacking(record)) {
        continue;
      }
      const { wall } = batchIn(kind, bytes)!.commits.at(-1)!;
      const isWaited = wall > peerMs && wall <= peerMs + limits.clockAheadMsMax;
      if (isWaited) due = Math.max(due, wall);
    }
    return due;
  }

  /** What of some records the peer lacks, and fits; `next` is where to read on. */
  #fit(
    { records: read, next }: FeedSlice,
    start: number,
    room: number,
  ):
    | "blocked"
    | "unsure"
    | { outgoing: Outgoing; next: number }
    | undefined {
    const records: WireRecord[] = [];
    const whole: SentRecord[] = [];
    let bytes = 0;
    let from = start;
    for (const one of read) {
      if (this.#isLacking(one)) {
        const record = this.#lackingOf(one);
        const port = this.#port;
        const isVouched = !port.vouches || port.vouches(record, from);
        if (isVouched !== true) {
          if (records.length > 0) {
            return { outgoing: { records, whole }, next: from };
          }
          return isVouched === undefined ? "unsure" : "blocked";
        }
        for (const ahead of this.#aheadOf(record)) {
          bytes += ahead.bytes.length + RECORD_BYTES;
          if (bytes > room) {
            if (records.length === 0) return "blocked";
            return { outgoing: { records, whole }, next: from };
          }
          this.#told.add(ahead.bytes);
          records.push(ahead);
          whole.push(sentOf(ahead, from));
        }
        bytes += record.bytes.length + RECORD_BYTES;
        if (bytes > room) {
          if (records.length === 0) return this.#large(record, from, room);
          return { outgoing: { records, whole }, next: from };
        }
        records.push(record);
        whole.push(sentOf(record, from));
      }
      from = one.next;
    }
    if (records.length === 0) return undefined;
    return { outgoing: { records, whole }, next };
  }

  #large(
    record: FeedRecord,
    from: number,
    room: number,
  ): "blocked" | { outgoing: Outgoing; next: number } {
    if (record.bytes.length <= WHOLE_BYTES_MAX) return "blocked";
    this.#partial = { record, offset: 0, from };
    return { outgoing: this.#nextPart(room), next: record.next };
  }

  #nextPart(room: number): Outgoing {
    const partial = this.#partial!;
    const { record: { kind, bytes }, offset } = partial;
    const end = Math.min(bytes.length, offset + room);
    const part = {
      kind,
      total: bytes.length,
      offset,
      bytes: bytes.subarray(offset, end),
    };
    partial.offset = end;
    if (end < bytes.length) return { part, whole: [] };
    this.#partial = undefined;
    return { part, whole: [sentOf(partial.record, partial.from)] };
  }

  /** Nobody takes a stub before its author's word that he gave the commit up. */
  #aheadOf({ kind, chain, first, count, bytes }: FeedRecord): FeedRecord[] {
    if (!isBatch(kind)) return [];
    const port = this.#port;
    const end = first + count;
    const isBlank = port.hasVoid(chain) && hasStub({ kind, bytes });
    return [
      ...isBlank ? port.voidsOf(chain, first, end) : [],
      ...port.redactionsOf(chain, first, end),
    ].filter(({ bytes }) => !this.#told.has(bytes));
  }

  /** A record from where on the peer lacks it. */
  #lackingOf(record: FeedRecord): FeedRecord {
    const { kind, bytes, chain, first, count } = record;
    const has = this.countOf(chain);
    const isCut = isBatch(kind) && has > first && !this.#isShown(record) &&
      this.#options.cuts?.(chain) === true;
    if (!isCut) return record;
    return {
      ...record,
      bytes: batchFrom(kind, bytes, has),
      first: has,
      count: first + count - has,
    };
  }

  /** Has the peer to be shown again a batch that it has, since commits in it are void? */
  #isShown(batch: Pick<FeedRecord, "kind" | "chain" | "bytes">): boolean {
    return this.#options.shows === true && this.#port.hasVoid(batch.chain) &&
      hasStub(batch);
  }

  #isLacking({ kind, chain, first, count, bytes, next }: FeedRecord): boolean {
    if (!isBatch(kind)) {
      return next > this.#credentialsTo && !this.#shown.delete(toHex(bytes)) &&
        this.#options.knows?.(bytes) !== true;
    }
    const end = first + count;
    const has = Math.max(this.countOf(chain), this.#flying.get(chain) ?? 0);
    if (has >= end && !this.#isShown({ kind, chain, bytes })) return false;
    return this.#options.wants?.(chain) ?? true;
  }
}

/** Is there a commit in a batch that says nothing? */
function hasStub({ kind, bytes }: Pick<FeedRecord, "kind" | "bytes">): boolean {
  return batchIn(kind, bytes)!.commits.some(({ isVoid }) => isVoid);
}

function sentOf(record: FeedRecord, from: number): SentRecord {
  const { chain, first, count } = record;
  return { chain, first, end: first + count, from };
}

/** Is a credential one of these? */
export function isAmong(
  certificates: readonly Uint8Array[],
  credential: Uint8Array,
): boolean {
  return certificates.some((one) => equalBytes(one, credential));
}
