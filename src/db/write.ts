/**
 * The handle of a write: its result now, its durability when asked for.
 *
 * @module
 */

/** Where a handle asks for its durability. */
interface Durability {
  readonly promise: Promise<void>;
}

/**
 * What a write returns at once. The result is visible already; awaiting the
 * handle waits until it is durable as the repository's mode promises, and
 * gives the result.
 */
export class Write<T> implements PromiseLike<T> {
  /** What the write made, visible at once: the item, the items, or what a transaction returned. */
  readonly result: T;
  readonly #durability: Durability;

  constructor(result: T, durability: Durability) {
    this.result = result;
    this.#durability = durability;
  }

  /**
   * Resolves when the write is durable: after the sync of its batch in Default
   * and Trusted mode, at once in Fast mode. Rejects with the `DatabaseError`
   * that made the repository read-only.
   */
  get durable(): Promise<void> {
    return this.#durability.promise;
  }

  /** Waits for {@linkcode durable} and gives {@linkcode result}. */
  then<A = T, B = never>(
    onDurable?: ((result: T) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const promise = this.#durability.promise;
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
