/**
 * One hook beneath all: a component that shows a store renders again when what
 * the store says is another thing, and at no other time.
 *
 * All stores of a transaction tell before anything renders, and a component
 * reads while it renders: so what is on one screen is of one moment.
 *
 * @module
 */

import { useLayoutEffect, useMemo, useReducer } from "preact/hooks";
import {
  loading,
  type Ready,
  type Result,
  resultOf,
  type Store,
} from "./result.ts";

/** What a store says; "loading" while there is none. */
export function useStore<T>(store: Store<T> | undefined): Result<T> {
  const held = useMemo<{ result: Result<T> }>(() => ({ result: loading }), []);
  const [, render] = useReducer((times: number) => times + 1, 0);
  const result = held.result = resultOf(store, held.result);
  useLayoutEffect(() => {
    if (store === undefined) return;
    const check = () => {
      if (resultOf(store, held.result) !== held.result) render(undefined);
    };
    let end: (() => void) | undefined;
    try {
      end = store.subscribe(check);
    } catch { /* What it throws to who reads it is shown. */ }
    check(); // It may have changed since it was rendered.
    return end;
  }, [store]);
  return result;
}

/** Makes a store when `deps` change, in each render where there are none; what that throws, it says. */
export function useMade<T>(
  make: () => Store<T> | undefined,
  deps: readonly unknown[] | undefined,
): Result<T> {
  return useStore(useMemo(() => attempt(make), deps ?? [{}]));
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
