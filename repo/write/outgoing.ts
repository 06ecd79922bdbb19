/**
 * What a tab's log got of the tab itself, on its way to the owner of its
 * device's files.
 *
 * The log is told where the owner's records stand in it; all others are its
 * own. They wait here until the owner has them for good.
 *
 * Architecture invariant: what was not acknowledged is given out again to the
 * next owner, whole and in order: no write is lost, and none looks like two.
 */

import { equalBytes } from "../../src/base/bytes.ts";
import { type Deferred, deferred } from "../../src/base/deferred.ts";
import { batchHead } from "../commit/batch.ts";
import type { Store } from "../log/store.ts";
import type { OwnRecord } from "../log/own_log.ts";
import { isBatch, recordKind, travelsHere } from "../log/format.ts";
import { decodeResolution } from "../refusal/void_commits.ts";

export interface Shipment {
  readonly records: readonly OwnRecord[];
  /** Address behind them in this log. */
  readonly to: number;
}

interface Range {
  readonly from: number;
  to: number;
}

interface Waiting {
  readonly to: number;
  readonly levers: Deferred<void>;
}

/** An own batch that has not come back from the owner. */
interface Unechoed {
  readonly chain: string;
  readonly first: number;
  /** Log address behind it. */
  readonly end: number;
}

export class Outgoing {
  /** Runs when something own was appended; it must not throw. */
  onWrote: () => void = () => {};
  readonly #log: Store;
  /** Own records that the owner has not acknowledged, ascending. */
  #own: Range[] = [];
  /** Up to here it is known whose the records are. */
  #seen: number;
  /** Up to here they were given out. */
  #sent: number;
  #waiting: Waiting[] = [];
  #unechoed: Unechoed[] = [];
  /** Own chains that ended. */
  readonly #dropped = new Set<string>();
  /** Is what was lost still to be written again? */
  #isHeld = false;
  #failure: unknown;

  /** All that stands in the log now is the owner's. */
  constructor(log: Store) {
    this.#log = log;
    this.#seen = this.#sent = log.end;
  }

  /** Does everything of this tab have its acknowledgement? */
  get isSettled(): boolean {
    this.#look();
    return this.#own.length === 0 && !this.#isHeld;
  }

  /** What was appended since it was last asked is own. */
  #look(): void {
    const { end } = this.#log;
    if (end <= this.#seen) return;
    const last = this.#own.at(-1);
    if (last?.to === this.#seen) last.to = end;
    else this.#own.push({ from: this.#seen, to: end });
    this.#seen = end;
  }

  /** Runs `append`; what it appends is the owner's. */
  foreign<T>(append: () => T): T {
    this.#look();
    try {
      return append();
    } finally {
      this.#seen = this.#log.end;
    }
  }

  /** A batch of an own chain was appended just now. */
  wrote(chain: string, first: number): void {
    this.#unechoed.push({ chain, first, end: this.#log.end });
    this.onWrote();
  }

  /**
   * The next own records up to the address `sealed`; `undefined` when there is
   * nothing to tell. There may be none in it: what was cut meanwhile is
   * left out.
   */
  take(sealed: number, bytesMax: number): Shipment | undefined {
    const next = this.#read(this.#sent, sealed, bytesMax);
    if (next.to === this.#sent) return undefined;
    this.#sent = next.to;
    return next;
  }

  /** All that was not acknowledged and is sealed, given out or not; about `bytesMax` bytes of it at most. */
  left(sealed: number, bytesMax: number): readonly OwnRecord[] {
    return this.#read(0, sealed, bytesMax).records;
  }

  /** Bytes that were not acknowledged. */
  get bytes(): number {
    this.#look();
    return this.#own.reduce((sum, { from, to }) => sum + to - from, 0);
  }

  #read(start: number, sealed: number, bytesMax: number): Shipment {
    this.#look();
    let end = start;
    const records: OwnRecord[] = [];
    let bytes = 0;
    // What was tried again goes out with the commit that does so.
    let isHeld = false;
    let done = { count: 0, end };
    for (const range of this.#own) {
      const from = Math.max(range.from, end);
      const to = Math.min(range.to, sealed);
      if (from >= to) continue;
      this.#log.records(from, to, (kind, body, address) => {
        const isFull = bytes > 0 && bytes + body.length > bytesMax;
        if (isFull && !isHeld) return true;
        end = address + body.length;
        if (!this.#goesOut(kind, body)) return false;
        records.push({ kind, bytes: body.slice() });
        bytes += body.length;
        if (isBatch(kind)) isHeld = false;
        else isHeld ||= isRetry(kind, body);
        if (!isHeld) done = { count: records.length, end };
        return false;
      });
      if (end < to) break;
    }
    if (!isHeld) return { records, to: end };
    return { records: records.slice(0, done.count), to: done.end };
  }

  /** Does a record go out? What this tab cut, nobody else ever had. */
  #goesOut(kind: number, body: Uint8Array): boolean {
    if (!isBatch(kind)) return travelsHere(kind);
    return !this.#dropped.has(batchHead(body).chain);
  }

  /** Resolves when the owner has all that is in the log now; `undefined`: it has. */
  sync(): Promise<void> | undefined {
    this.#look();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.isSettled) return undefined;
    const levers = deferred<void>();
    this.#waiting.push({ to: this.#own.at(-1)?.to ?? 0, levers });
    return levers.promise;
  }

  /** The owner has for good what was given out up to this address. */
  acknowledged(to: number): void {
    this.#look();
    this.#own = this.#own.filter((range) => range.to > to)
      .map((range) => ({ from: Math.max(range.from, to), to: range.to }));
    if (!this.#isHeld) this.#resolve(to);
  }

  #resolve(to: number): void {
    this.#waiting = this.#waiting.filter((one) => {
      if (one.to <= to) one.levers.resolve();
      return one.to > to;
    });
  }

  /** What is to be written again here is not in the owner's log: its acknowledgement says nothing of that. */
  hold(): void {
    this.#isHeld = true;
  }

  /** It was written again: who waited waits for all that stands in the log now. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#look();
    const to = this.#own.at(-1)?.to ?? 0;
    this.#waiting = this.#waiting.map((one) => ({ ...one, to }));
    if (this.#own.length === 0) this.#resolve(to);
  }

  /** There is another owner: everything that was not acknowledged goes out again. */
  again(): void {
    this.#look();
    this.#sent = Math.min(this.#sent, this.#own[0]?.from ?? this.#sent);
  }

  /** A batch came back: is it byte for byte what was written here? */
  echo(chain: string, first: number, bytes: Uint8Array): boolean {
    const at = this.#unechoed.findIndex((one) =>
      one.chain === chain && one.first === first
    );
    if (at < 0) return first < this.firstUnechoed(chain);
    const own = new Uint8Array(bytes.length);
    const { end } = this.#unechoed[at]!;
    this.#log.readAt(own, end - own.length);
    if (!equalBytes(own, bytes)) return false;
    this.#unechoed.splice(at, 1);
    return true;
  }

  /** Number of the first commit of an own chain that the owner never showed to have. */
  firstUnechoed(chain: string): number {
    return this.#unechoed.find((one) => one.chain === chain)?.first ?? Infinity;
  }

  /** A chain does not go on: what of it did not come back is written again elsewhere. */
  drop(chain: string): void {
    this.#dropped.add(chain);
    this.#unechoed = this.#unechoed.filter((one) => one.chain !== chain);
  }

  /** The owner does not take it, for good. */
  fail(cause: unknown): void {
    this.#failure ??= cause;
    for (const { levers } of this.#waiting) levers.reject(cause);
    this.#waiting = [];
  }
}

/** Does a record say that a refused commit was tried again? */
function isRetry(kind: number, body: Uint8Array): boolean {
  return kind === recordKind.resolution &&
    decodeResolution(body).retried !== undefined;
}
