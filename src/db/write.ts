/**
 * The handle of a write: its result now, its durability when asked for, and
 * its arrival at the server likewise.
 */

import { refuseOptions } from "../base/known_options.ts";
import type { Position } from "../../repo/mod.ts";

export interface Written {
  /** Where it asks for its durability. */
  readonly durability: { readonly promise: Promise<void> };
  readonly commit?: Position | undefined;
}

/** Whom a handle asks whether the server has its commit. */
export interface Arrivals {
  /** Resolves when the server has the commit durably. */
  synced(written: Written): Promise<void>;
}

/**
 * What a write returns at once. The result is visible already; awaiting the
 * handle waits until it is durable as the repository's mode promises, and
 * gives the result.
 */
export class Write<T> implements PromiseLike<T> {
  /** What the write made, visible at once: the item, the items, or what a transaction returned. */
  readonly result: T;
  readonly #written: Written;
  readonly #arrivals: Arrivals;

  /** Collections and transactions make it. */
  constructor(result: T, written: Written, arrivals: Arrivals) {
    refuseOptions(this);
    this.result = result;
    this.#written = written;
    this.#arrivals = arrivals;
  }

  /**
   * Resolves when the write is durable: after the sync of its batch in Default
   * and Trusted mode, at once in Fast mode. Rejects with the `DatabaseError`
   * that made the repository read-only.
   */
  get durable(): Promise<void> {
    return this.#written.durability.promise;
  }

  /**
   * Resolves when the server has the write durably, however long that takes:
   * offline it waits for a connection, and before `database.connect()` for that
   * (`repository.sync.status.reason` says so). Rejects with `refused` when the server
   * refuses the write (the message says why and by which rule), with `closed`
   * when the repository is closed before, and as {@linkcode durable}.
   */
  get synced(): Promise<void> {
    return this.#arrivals.synced(this.#written);
  }

  /** Waits for {@linkcode durable} and gives {@linkcode result}. */
  then<A = T, B = never>(
    onDurable?: ((result: T) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const promise = this.#written.durability.promise;
    if (typeof onDurable !== "function") {
      return promise.then(() => this.result, onFailed) as Promise<A | B>;
    }
    return promise.then(() => onDurable(this.result), onFailed);
  }
}

/** The handle of a write of one item. */
export class ItemWrite<T extends { readonly id: string }> extends Write<T> {
  /** The item's id. */
  get id(): string {
    return this.result.id;
  }

  /** The item as it is after the write. */
  get item(): T {
    return this.result;
  }
}
