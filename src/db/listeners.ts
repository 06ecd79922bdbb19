/**
 * Who listens to something that changes: told in the order in which they came,
 * and apart from each other's failures.
 */

export class Listeners {
  readonly #listeners = new Set<() => void>();
  readonly #report: (error: unknown) => void;

  /** `report` hears what a listener throws. */
  constructor(report: (error: unknown) => void = throwLater) {
    this.#report = report;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Adds one; the result ends it. One function may listen more than once. */
  add(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(): void {
    for (const listener of [...this.#listeners]) {
      if (!this.#listeners.has(listener)) continue;
      try {
        listener();
      } catch (error) {
        this.#report(error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}

/** Past whoever changed something just now, as an uncaught error. */
export function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
