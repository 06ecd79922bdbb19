/**
 * What every live result does: it calls back, it ends, and it leaves nothing
 * behind when it has ended.
 *
 * @module
 */

import { checkOptions } from "../base/known_options.ts";
import { DatabaseError } from "../base/errors.ts";
import type { Follower, QueryEngine } from "./engine.ts";
import type { Request } from "./plan.ts";
import type { Interest } from "./routes.ts";

/** Options of a subscription. */
export interface FollowOptions {
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** What ends a subscription, or `invalid-option`. */
export function signalOf(options: FollowOptions): AbortSignal | undefined {
  return checkOptions(options, { signal: 0 }).signal;
}

/** A result that follows its collection. */
export abstract class Following<Rows, Change> implements Disposable {
  readonly #engine: QueryEngine;
  readonly #request: Request | undefined;
  readonly #callbacks = new Set<(change: Change) => void>();
  readonly #endings = new Set<() => void>();
  readonly #releases: (() => void)[] = [];
  #disposed = false;

  /** `request` is what it asks, for who measures what that costs. */
  constructor(engine: QueryEngine, request?: Request) {
    this.#engine = engine;
    this.#request = request;
  }

  /** The rows now, frozen: the same object until something visible changes. */
  abstract readonly getSnapshot: () => Rows;

  /** The rows now. */
  get rows(): Rows {
    return this.getSnapshot();
  }

  /** Calls back when the rows change, for external stores; the result stops it. */
  readonly subscribe = (onStoreChange: () => void): () => void => {
    return this.onChange(() => onStoreChange());
  };

  /** Calls back with every change; the result stops it. */
  onChange(callback: (change: Change) => void): () => void {
    if (typeof callback !== "function") {
      throw new DatabaseError(
        "invalid-option",
        "Cannot subscribe: the callback is no function",
      );
    }
    // Wrapped, so that a callback given twice is called twice.
    const own = (change: Change) => callback(change);
    if (!this.#disposed) this.#callbacks.add(own);
    return () => void this.#callbacks.delete(own);
  }

  /** Calls back once when it ends; at once when it has ended. */
  onEnd(callback: () => void): void {
    if (this.#disposed) callback();
    else this.#endings.add(callback);
  }

  /** Hears of `engine`, where it may be touched, until it ends; ends with its own engine. */
  protected follow(
    engine: QueryEngine,
    absorb: Follower["absorb"],
    interest?: Interest,
  ): void {
    const end = () => {
      if (engine === this.#engine) this.dispose();
    };
    const about = this.#about(engine);
    this.#releases.push(engine.follow({
      absorb,
      end,
      ...about,
      ...interest && { interest },
    }));
  }

  #about(engine: QueryEngine): Pick<Follower, "about"> {
    const request = this.#request;
    if (request === undefined || engine !== this.#engine) return {};
    const count = () => (this.getSnapshot() as readonly unknown[]).length;
    return { about: { request, count } };
  }

  /** Ends when the signal says so; at once when it has said so already. */
  protected obey(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    if (signal.aborted) {
      this.dispose();
      return;
    }
    const stop = () => this.dispose();
    signal.addEventListener("abort", stop, { once: true });
    this.#releases.push(() => signal.removeEventListener("abort", stop));
  }

  /** Calls back with a change, once all of the collection has heard of it. */
  protected publish(change: Change): void {
    for (const callback of this.#callbacks) {
      this.#engine.tell(() => {
        if (this.#callbacks.has(callback)) callback(change);
      });
    }
  }

  /** Stops following. The rows stay as they are. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const release of this.#releases) release();
    this.#releases.length = 0;
    this.#callbacks.clear();
    for (const ending of this.#endings) ending();
    this.#endings.clear();
  }

  /** Stops following. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
