/**
 * What every live result does: it calls back, it ends, and it leaves nothing
 * behind when it has ended. Who asks the same has the same result, worked out
 * once; each has callbacks and an end of its own.
 *
 * A user's function that throws while a transaction is told must break neither
 * the writer nor the result: it is reported, and the item counts as not wanted.
 * As an async iterable a result gives its latest rows: a consumer that is slower
 * than the writes skips states.
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions, refuseOptions } from "../base/known_options.ts";
import { askedKey } from "./asked.ts";
import type { Condition } from "./condition.ts";
import type { QueryEngine } from "./engine.ts";
import type { Interest } from "./interest.ts";
import type { Request } from "./plan.ts";
import type { Follower } from "./routes.ts";

/** Options of a subscription. */
export interface FollowOptions {
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** What ends a subscription, or `invalid-option`. */
export function signalOf(options?: FollowOptions): AbortSignal | undefined {
  return checkOptions(options, { signal: 0 }).signal;
}

/** A result that follows its collection while somebody wants it. */
export abstract class Following<Rows, Change> {
  readonly #engine: QueryEngine;
  readonly #request: Request | undefined;
  readonly #subscriptions = new Set<Subscription<Rows, Change>>();
  readonly #releases: (() => void)[] = [];

  /** `request` is what it asks, for who measures what that costs. */
  constructor(engine: QueryEngine, request?: Request) {
    this.#engine = engine;
    this.#request = request;
  }

  /** The rows now, frozen: the same object until something visible changes. */
  abstract readonly getSnapshot: () => Rows;

  /** Is found by what it is asked until it ends. */
  shareAs(key: string): void {
    const { results } = this.#engine;
    results.set(key, this);
    this.#releases.push(() => {
      if (results.get(key) === this) results.delete(key);
    });
  }

  /** Takes one more who wants it. */
  join(subscription: Subscription<Rows, Change>): void {
    this.#subscriptions.add(subscription);
  }

  leave(subscription: Subscription<Rows, Change>): void {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size > 0) return;
    for (const release of this.#releases.splice(0)) release();
  }

  /** Hears of `engine`, where it may be touched, until it ends; ends with its own engine. */
  protected follow(
    engine: QueryEngine,
    absorb: Follower["absorb"],
    interest?: Interest,
  ): void {
    const end = () => {
      if (engine !== this.#engine) return;
      for (const one of this.#subscriptions) one.dispose();
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

  /** Calls back with a change, once all of the collection has heard of it. */
  protected publish(change: Change): void {
    for (const one of this.#subscriptions) one.tell(change);
  }
}

/** A subscription to the result of who asked the same, or to a new one. */
export function subscriptionTo<Rows, Change>(
  engine: QueryEngine,
  asked: unknown,
  make: () => Following<Rows, Change>,
  signal: AbortSignal | undefined,
): Subscription<Rows, Change> {
  const key = askedKey(asked);
  // Proof: a key says what is asked for, and with it what is given.
  let following = engine.results.get(key) as
    | Following<Rows, Change>
    | undefined;
  if (following === undefined) (following = make()).shareAs(key);
  return new Subscription(engine, following, signal);
}

/** A live result in the hands of one who asked for it, until it is disposed. */
export class Subscription<Rows, Change> implements Disposable {
  readonly #engine: QueryEngine;
  readonly #following: Following<Rows, Change>;
  readonly #turn: number;
  readonly #callbacks = new Set<(change: Change) => void>();
  readonly #endings = new Set<() => void>();
  /** What the rows were at the end. */
  #ended: { readonly rows: Rows } | undefined;

  /** Made by `subscribe` and `live`, not by users. */
  constructor(
    engine: QueryEngine,
    following: Following<Rows, Change>,
    signal?: AbortSignal,
  ) {
    refuseOptions(this);
    this.#engine = engine;
    this.#following = following;
    this.#turn = engine.nextTurn();
    following.join(this);
    this.#obey(signal);
  }

  /** Ends when the signal says so; at once when it has said so already. */
  #obey(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    if (signal.aborted) return this.dispose();
    const stop = () => this.dispose();
    signal.addEventListener("abort", stop, { once: true });
    this.onEnd(() => signal.removeEventListener("abort", stop));
  }

  /** The rows now, frozen: the same object until something visible changes. */
  readonly getSnapshot = (): Rows => {
    return this.#ended === undefined
      ? this.#following.getSnapshot()
      : this.#ended.rows;
  };

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
        "Cannot subscribe: the callback is not a function",
      );
    }
    // Wrapped, so that a callback given twice is called twice.
    const own = (change: Change) => callback(change);
    if (this.#ended === undefined) this.#callbacks.add(own);
    return () => void this.#callbacks.delete(own);
  }

  /** Calls back once when it ends; at once when it has ended. */
  onEnd(callback: () => void): void {
    if (this.#ended !== undefined) callback();
    else this.#endings.add(callback);
  }

  /** Calls back with a change, once all of the collection has heard of it. */
  tell(change: Change): void {
    for (const callback of this.#callbacks) {
      this.#engine.tell(() => {
        if (this.#callbacks.has(callback)) callback(change);
      }, this.#turn);
    }
  }

  /** Stops following. The rows stay as they are. */
  dispose(): void {
    if (this.#ended !== undefined) return;
    this.#ended = { rows: this.#following.getSnapshot() };
    this.#callbacks.clear();
    this.#following.leave(this);
    for (const ending of this.#endings) ending();
    this.#endings.clear();
  }

  /** Stops following. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The request with its functions guarded. */
export function guarded(engine: QueryEngine, request: Request): Request {
  if (request.parts.every((part) => part.what !== "predicate")) return request;
  const parts = request.parts.map((part) => guardPart(engine, part));
  return { ...request, parts };
}

/** Functions stand at the top only: `and`, `or` and `not` take objects. */
function guardPart(engine: QueryEngine, part: Condition): Condition {
  if (part.what !== "predicate") return part;
  const { test } = part;
  return {
    what: "predicate",
    test(item) {
      try {
        return test(item);
      } catch (error) {
        engine.report(error);
        return false;
      }
    },
  };
}

/** What is iterated over. */
export interface Watched<T> {
  readonly getSnapshot: () => T;
  onChange(callback: () => void): () => void;
  onEnd(callback: () => void): void;
  dispose(): void;
}

/** An iterable that begins to watch when it is iterated over. */
export function latest<T>(
  watch: () => Watched<T>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => new LatestIterator(watch(), signal),
  };
}

class LatestIterator<T> implements AsyncIterator<T, undefined> {
  readonly #watched: Watched<T>;
  #fresh: boolean;
  #ended = false;
  readonly #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];

  constructor(watched: Watched<T>, signal: AbortSignal | undefined) {
    this.#watched = watched;
    this.#fresh = signal?.aborted !== true;
    watched.onChange(() => this.#wake());
    watched.onEnd(() => this.#end());
  }

  #wake(): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#fresh = true;
    else waiting({ done: false, value: this.#watched.getSnapshot() });
  }

  #end(): void {
    this.#ended = true;
    this.#fresh = false;
    for (const waiting of this.#waiting.splice(0)) {
      waiting({ done: true, value: undefined });
    }
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    if (this.#fresh) {
      this.#fresh = false;
      const value = this.#watched.getSnapshot();
      return Promise.resolve({ done: false, value });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#watched.dispose();
    return Promise.resolve({ done: true, value: undefined });
  }
}
