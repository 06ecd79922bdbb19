/**
 * A live query as an async iterable of its latest rows.
 *
 * A consumer that is slower than the writes skips states: at most one waits.
 *
 * @module
 */

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
