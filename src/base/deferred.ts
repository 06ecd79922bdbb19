/**
 * A promise together with what settles it: `Promise.withResolvers` for
 * platforms that do not have it yet.
 *
 * @module
 */

/** A promise and its two ends. */
export interface Deferred<T> {
  /** What is waited for. */
  readonly promise: Promise<T>;
  /** Fulfils it. */
  readonly resolve: (value: T | PromiseLike<T>) => void;
  /** Rejects it. */
  readonly reject: (reason?: unknown) => void;
}

/** A promise that its maker settles. */
export function deferred<T>(): Deferred<T> {
  let resolve!: Deferred<T>["resolve"];
  let reject!: Deferred<T>["reject"];
  const promise = new Promise<T>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { promise, resolve, reject };
}
