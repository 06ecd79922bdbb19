/**
 * What may leave this replica: how far, how many commits of each chain, and
 * when that grows.
 *
 * In Default and Trusted mode it is what a sync covered. In Fast mode it is
 * what was handed to the medium in order, once it is durable that the log is in
 * use: after a power cut nobody takes the old chain for one that goes on.
 *
 * Architecture invariant: durable before shared (law 3); a failed sync is final
 * (law 12): nothing is shareable any more that was not before.
 */

import type { Mode } from "../commit/genesis.ts";
import type { Graph } from "./graph.ts";
import type { Store } from "../log/store.ts";
import type { VersionVector } from "../commit/version_vector.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** What decides what may be shared. */
export interface SharingParts {
  readonly log: Store;
  readonly graph: Graph;
  readonly mode: Mode;
  /** The own chain, if it has begun, and how many of its commits are in the log. */
  readonly own: () => { readonly chain: string; readonly written: number };
  /** Sees to it that a mode that does not wait for syncs has one soon. */
  readonly syncLater: () => void;
}

/** A batch in the log that may not be shared yet. */
interface Held {
  /** Log address behind it. */
  readonly end: number;
  readonly chain: string;
  /** How many commits the chain has with it. */
  readonly length: number;
}

/** A chain that is longer here than what may be shared of it. */
interface Lag {
  shared: number;
  /** Its batches that may not. */
  held: number;
}

export class Sharing {
  readonly #parts: SharingParts;
  readonly #listeners = new Set<() => void>();
  readonly #lags = new Map<string, Lag>();
  #held: Held[] = [];
  #shareable: number;
  /** Does anybody share? Until then Fast mode pays for nothing. */
  #isOpen: boolean;
  /** Fast mode: nothing behind this address leaves before a sync covered it. */
  #barrier = 0;
  /** Nothing more is shared before all that stands before this address. */
  #whole = 0;
  #isMarking = false;
  #isSettling = false;
  #isTelling = false;
  #isStopped = false;

  constructor(parts: SharingParts) {
    this.#parts = parts;
    const { log, mode } = parts;
    this.#isOpen = mode !== "fast";
    this.#shareable = this.#isOpen ? log.synced : 0;
    if (this.#isOpen) log.onSynced = () => this.#advance(log.synced);
  }

  /** Log address up to which everything may be shared. */
  get shareable(): number {
    return this.#shareable;
  }

  get isComplete(): boolean {
    // In Fast mode nothing is, until the log is marked.
    return this.#shareable > 0 && this.#held.length === 0 &&
      this.#ownPending() === 0;
  }

  /** Does anybody hear that more may be shared? */
  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** How many commits may be shared. */
  get commits(): number {
    if (this.#shareable === 0) return 0;
    const { graph, own } = this.#parts;
    let missing = 0;
    for (const [chain, { shared }] of this.#lags) {
      missing += Math.max(0, graph.lengthOf(chain) - shared);
    }
    if (!this.#lags.has(own().chain)) missing += this.#ownPending();
    return graph.commits - missing;
  }

  #ownPending(): number {
    const { chain, written } = this.#parts.own();
    return Math.max(0, this.#parts.graph.lengthOf(chain) - written);
  }

  lengthOf(chain: string): number {
    if (this.#shareable === 0) return 0;
    const { graph, own } = this.#parts;
    const known = graph.lengthOf(chain);
    const lag = this.#lags.get(chain);
    if (lag !== undefined) return Math.min(known, lag.shared);
    const mine = own();
    return chain === mine.chain ? Math.min(known, mine.written) : known;
  }

  get unshared(): number {
    const { chain } = this.#parts.own();
    return this.#parts.graph.lengthOf(chain) - this.lengthOf(chain);
  }

  /** Chain → how many of its commits may be shared. */
  vector(): VersionVector {
    const vector = new Map<string, number>();
    for (const { name } of this.#parts.graph.chains()) {
      const length = this.lengthOf(name);
      if (length > 0) vector.set(name, length);
    }
    return vector;
  }

  /** Hears that more may be shared, in a turn of its own; the result ends it. */
  onShareable(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Somebody wants to share: in Fast mode the log is marked first. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#share();
  }

  /** A batch of `chain`, which had `length` commits in the log before it, was appended. */
  appended(chain: string, length: number, count: number): void {
    if (!this.#isOpen) return;
    const { log, mode } = this.#parts;
    getOrMake(this.#lags, chain, () => ({ shared: length, held: 0 })).held++;
    this.#held.push({ end: log.end, chain, length: length + count });
    if (mode === "fast") this.#share();
  }

  /** Makes everything received shareable soon, once for all who ask in this turn. */
  settle(): void {
    if (this.#isSettling) return;
    this.#isSettling = true;
    queueMicrotask(() => {
      this.#isSettling = false;
      if (this.#isStopped) return;
      if (this.#parts.mode === "fast") {
        this.#share();
        this.#parts.syncLater();
      } else {
        quietly(() => this.#parts.log.sync());
      }
    });
  }

  /**
   * What is in the log must be synced before anything behind it leaves, in Fast
   * mode too: no power cut may take back what peers see the consequence of.
   */
  fence(): void {
    this.#barrier = this.#parts.log.end;
  }

  /** Holds what is in the log by now until all of it may be shared, however many syncs that takes. */
  hold(): void {
    this.#whole = this.#parts.log.end;
  }

  /** Fast mode: what is in the log may leave, as soon as the log is marked. */
  #share(): void {
    const { log } = this.#parts;
    if (!this.#isOpen || this.#isMarking || log.failure !== undefined) return;
    const isFenced = log.synced < this.#barrier;
    if (log.isMarked && !isFenced) return this.#advanceUnsynced();
    this.#isMarking = true;
    quietly(async () => {
      try {
        await (isFenced ? log.sync() : log.markInUse());
      } finally {
        this.#isMarking = false;
      }
      this.#share(); // A new segment may have begun meanwhile.
    });
  }

  #advanceUnsynced(): void {
    const { log } = this.#parts;
    log.onSyncing(); // As if it were synced now.
    this.#advance(log.end);
  }

  #advance(to: number): void {
    if (to <= this.#shareable || to < this.#whole || this.#isStopped) return;
    this.#shareable = to;
    const held = this.#held;
    let count = 0;
    while (count < held.length && held[count]!.end <= to) {
      this.#release(held[count++]!);
    }
    if (count === held.length) this.#held = [];
    else held.splice(0, count);
    this.tell();
  }

  #release({ chain, length }: Held): void {
    const lag = this.#lags.get(chain)!;
    lag.shared = length;
    if (--lag.held === 0) this.#lags.delete(chain);
  }

  /** Has who shares look again, soon. */
  tell(): void {
    if (this.#listeners.size === 0 || this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      if (this.#isStopped) return;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#listeners.clear();
  }
}

/** What fails here makes the log read-only, which says so to whoever writes. */
function quietly(action: () => Promise<void> | undefined): void {
  try {
    action()?.catch(() => {});
  } catch {
    // `log.failure` has it.
  }
}
