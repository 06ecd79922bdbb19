/**
 * What the hooks need of a framework: React's own names, which Preact shares.
 */

import {
  loading,
  type Ready,
  type Result,
  resultOf,
  type Store,
} from "./result.ts";

/** A framework for components. */
export interface Framework {
  useMemo<T>(make: () => T, deps: readonly unknown[]): T;
  useSyncExternalStore<T>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => T,
    getServerSnapshot: () => T,
  ): T;
}

/** The hooks that all others are made of. */
export interface StoreHooks {
  /** What a store says; "loading" while there is none. */
  useStore<T>(store: Store<T> | undefined): Result<T>;
  /** Makes a store when `deps` change, in each render where there are none; what that throws, it says. */
  useMade<T>(
    make: () => Store<T> | undefined,
    deps: readonly unknown[] | undefined,
  ): Result<T>;
}

/**
 * One hook beneath all: a component that shows a store renders again when what
 * the store says is another thing, and at no other time.
 *
 * All stores of a transaction tell before anything renders, and a component
 * reads while it renders: so what is on one screen is of one moment.
 */
export function storeHooksOf(framework: Framework): StoreHooks {
  const { useMemo, useSyncExternalStore } = framework;
  const useStore = <T>(store: Store<T> | undefined): Result<T> => {
    // The seed of the next store's results: the same rows stay the same object.
    const shown = useMemo<{ result: Result<T> }>(
      () => ({ result: loading }),
      [],
    );
    const { subscribe, read } = useMemo(
      () => readerOf(store, shown.result),
      [store],
    );
    return shown.result = useSyncExternalStore(subscribe, read, read);
  };
  return {
    useStore,
    useMade: (make, deps) =>
      useStore(useMemo(() => attempt(make), deps ?? [{}])),
  };
}

/** What a store says, as results: the same one until that is another. */
function readerOf<T>(store: Store<T> | undefined, seed: Result<T>) {
  let last = seed;
  return {
    read: (): Result<T> => last = resultOf(store, last),
    subscribe(listener: () => void): () => void {
      try {
        return store?.subscribe(listener) ?? (() => {});
      } catch {
        return () => {}; // What it throws to who reads it is shown.
      }
    },
  };
}

function attempt<T>(make: () => Store<T> | undefined): Store<T> | undefined {
  try {
    return make();
  } catch (error) {
    return {
      getSnapshot: () => {
        throw error;
      },
      subscribe: () => () => {},
    };
  }
}

/** For the twins of Suspense: what failed goes to the error boundary. */
export function readyOf<T>(result: Result<T>): Ready<T> {
  if (result.status === "ready") return result;
  throw result.error ?? new TypeError("A Suspense hook was given nothing");
}
