/**
 * A value that components follow.
 *
 * @module
 */

import { useEffect, useState } from "preact/hooks";

/** A value, and who wants to hear of it. */
export class Store<T extends object> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  /** @param value the first one */
  constructor(value: T) {
    this.#value = value;
  }

  /** The value now. */
  get(): T {
    return this.#value;
  }

  /** Changes some of it. */
  set(change: Partial<T>): void {
    this.#value = { ...this.#value, ...change };
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls after each change; the result ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** What `Store`, `repo.sync` and presence have in common. */
export interface Source<T> {
  subscribe(listener: () => void): () => void;
  getSnapshot(): T;
}

/** Follows something that has a snapshot. */
export function useSource<T>(source: Source<T>): T {
  const [, turn] = useState({});
  const now = source.getSnapshot();
  useEffect(() => {
    let last = now;
    const look = () => {
      const next = source.getSnapshot();
      if (next === last) return;
      last = next;
      turn({});
    };
    look(); // It may have changed before this effect ran.
    return source.subscribe(look);
  }, [source]);
  return now;
}

/** Follows a part of a store; renders again only when that part is another one. */
export function useStore<T extends object, Part>(
  store: Store<T>,
  part: (value: T) => Part,
): Part {
  const [, turn] = useState({});
  const now = part(store.get());
  useEffect(() => {
    let last = now;
    const look = () => {
      const next = part(store.get());
      if (Object.is(next, last)) return;
      last = next;
      turn({});
    };
    look();
    return store.subscribe(look);
  }, [store]);
  return now;
}
