/**
 * Stores that are slow and fail when they are told to: what a database over a
 * network does. Under them lies a log in whatever storage a replica has.
 *
 * @module
 */

import { logStores } from "../../repo/log/log_stores.ts";
import type { Store, Stores } from "../../repo/log/store.ts";
import { DatabaseError } from "../../src/base/errors.ts";

/** When and how to fail. Appends and syncs that have something to do count from 1, over all stores. */
export interface StoreFaults {
  /** This append fails, and nothing of it is there. */
  readonly failAppendAt?: number;
  /** This sync fails: nobody knows what is durable. */
  readonly failSyncAt?: number;
  /** All that this sync covers is durable, and it answers with an error. */
  readonly unheardAt?: number;
  /** Says when a sync may be done; syncs are as quick as the storage without it. */
  readonly slow?: (done: () => void) => void;
}

/** Stores that fail as `faults` say. */
export function faultyStores(faults: StoreFaults = {}): Stores {
  const counts = { appends: 0, syncs: 0 };
  return {
    async open(...given) {
      const opened = await logStores.open(...given);
      return opened &&
        { ...opened, log: new FaultyStore(opened.log, faults, counts) };
    },
    create: (...given) =>
      new FaultyStore(logStores.create(...given), faults, counts),
    epoch: logStores.epoch,
  };
}

class FaultyStore implements Store {
  onSyncing: Store["onSyncing"] = () => {};
  onSynced: Store["onSynced"] = () => {};
  readonly #inner: Store;
  readonly #faults: StoreFaults;
  readonly #counts: { appends: number; syncs: number };
  #synced: number;
  #flight: Promise<void> | undefined;
  /** Is a sync under way of which nobody hears yet? */
  #isQuiet = false;

  constructor(
    inner: Store,
    faults: StoreFaults,
    counts: { appends: number; syncs: number },
  ) {
    this.#inner = inner;
    this.#faults = faults;
    this.#counts = counts;
    this.#synced = inner.synced;
    inner.onSyncing = () => this.onSyncing();
    inner.onSynced = () => {
      if (!this.#isQuiet) this.#advance();
    };
  }

  get end(): number {
    return this.#inner.end;
  }

  get synced(): number {
    return this.#synced;
  }

  get sealed(): number {
    return this.#inner.sealed;
  }

  get isMarked(): boolean {
    return this.#inner.isMarked;
  }

  get failure(): DatabaseError | undefined {
    return this.#inner.failure;
  }

  set onSealed(hear: Store["onSealed"]) {
    this.#inner.onSealed = hear;
  }

  onFailed(hear: Parameters<Store["onFailed"]>[0]): () => void {
    return this.#inner.onFailed(hear);
  }

  append(...given: Parameters<Store["append"]>): number {
    if (this.failure === undefined && this.#isNext("appends")) {
      throw this.#failed("An append");
    }
    return this.#inner.append(...given);
  }

  /** Is this the one that is to fail? */
  #isNext(what: "appends" | "syncs"): boolean {
    const { failAppendAt, failSyncAt } = this.#faults;
    const at = what === "appends" ? failAppendAt : failSyncAt;
    return ++this.#counts[what] === at;
  }

  #failed(what: string): DatabaseError {
    const message = `${what} fails, as a test wants it`;
    this.fail(new DatabaseError("storage-readonly", message));
    return new DatabaseError("storage-failed", message);
  }

  sync(isMet?: boolean): Promise<void> | undefined {
    const flight = this.#flight;
    if (flight !== undefined) return flight.then(() => this.sync(isMet));
    const isIdle = this.failure !== undefined || this.#synced === this.end;
    if (isIdle) return this.#inner.sync(isMet);
    const isFailing = this.#isNext("syncs");
    const isUnheard = this.#counts.syncs === this.#faults.unheardAt;
    if (isFailing) throw this.#failed("A sync");
    if (!isUnheard && this.#faults.slow === undefined) {
      return this.#inner.sync(isMet);
    }
    this.#flight = this.#fly(isMet, isUnheard);
    return this.#flight;
  }

  /** A sync of which nobody hears before it is said to be done. */
  async #fly(isMet: boolean | undefined, isUnheard: boolean): Promise<void> {
    this.#isQuiet = true;
    try {
      await this.#inner.sync(isMet);
      const { slow } = this.#faults;
      if (slow !== undefined) await new Promise<void>((done) => slow(done));
      if (isUnheard) throw this.#failed("The answer to a sync");
    } finally {
      this.#flight = undefined;
      this.#isQuiet = false;
    }
    this.#advance();
  }

  #advance(): void {
    if (this.#inner.synced <= this.#synced) return;
    this.#synced = this.#inner.synced;
    this.onSynced();
  }

  markInUse(): Promise<void> | undefined {
    return this.#inner.markInUse();
  }

  rewrite(edits: Parameters<Store["rewrite"]>[0]): Promise<void> {
    return this.#inner.rewrite(edits);
  }

  readAt(target: Uint8Array, address: number): number {
    return this.#inner.readAt(target, address);
  }

  records(...given: Parameters<Store["records"]>): number {
    return this.#inner.records(...given);
  }

  segmentAt(address: number): ReturnType<NonNullable<Store["segmentAt"]>> {
    return this.#inner.segmentAt!(address); // Proof: it is a log.
  }

  fail(failure: DatabaseError): void {
    this.#inner.fail(failure);
  }

  async close(): Promise<void> {
    await this.#flight?.catch(() => {});
    await this.#inner.close();
  }
}
