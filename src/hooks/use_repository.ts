/**
 * Opening a repository is what takes time; everything after it answers at once.
 */

import type { StoreHooks } from "./framework.ts";
import { loading, type Ready, type Result, type Store } from "./result.ts";

/** Whoever opens repositories: a `Database`. */
export interface Opener<R> {
  repository(name: string): Promise<R>;
}

interface Opening<R> extends Store<R | undefined> {
  readonly promise: Promise<R>;
}

/** By the promise: a database gives the same one as long as a repository is open. */
const openings = new WeakMap<object, Opening<unknown>>();
/** What could not be opened, until it was said: a component that suspends remembers nothing itself. */
const failures = new WeakMap<object, Map<string, Opening<unknown>>>();

function openingOf<R>(database: Opener<R>, name: string): Opening<R> {
  const failed = failures.get(database)?.get(name);
  const opening = failed ?? follow(database, name, database.repository(name));
  // Proof: it was made from this database, or from its promise.
  return opening as Opening<R>;
}

function follow(
  database: object,
  name: string,
  promise: Promise<unknown>,
): Opening<unknown> {
  const known = openings.get(promise);
  if (known !== undefined) return known;
  let read = (): unknown => undefined;
  const listeners = new Set<() => void>();
  const opening: Opening<unknown> = {
    promise,
    getSnapshot: () => read(),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  openings.set(promise, opening);
  const settle = (what: () => unknown) => {
    read = what;
    for (const listener of listeners) listener();
  };
  promise.then(
    (repository) => settle(() => repository),
    (error: unknown) => {
      const failed = failures.get(database) ?? new Map();
      failures.set(database, failed.set(name, opening));
      settle(() => {
        throw error;
      });
    },
  );
  return opening;
}

/** The hooks that open. */
export interface RepositoryHooks {
  /** A repository, opened when it is first asked for; "loading" until it is there. */
  useRepository<R>(database: Opener<R> | undefined, name: string): Result<R>;
  /** The same for Suspense: waits there until it is open, and fails in the error boundary. */
  useSuspenseRepository<R>(database: Opener<R>, name: string): Ready<R>;
}

export function repositoryHooksOf({ useMade }: StoreHooks): RepositoryHooks {
  const useRepository: RepositoryHooks["useRepository"] = <R>(
    database: Opener<R> | undefined,
    name: string,
  ) => {
    const result = useMade(
      () => database && openingOf(database, name),
      [database, name],
    );
    if (result.status === "error" && database !== undefined) {
      failures.get(database)?.delete(name);
    }
    return result.status === "ready" && result.data === undefined
      ? loading
      // Proof: only an opening under way says `undefined`.
      : result as Result<R>;
  };
  return {
    useRepository,
    useSuspenseRepository(database, name) {
      const { promise } = openingOf(database, name);
      const result = useRepository(database, name);
      if (result.status === "error") throw result.error;
      if (result.status === "loading") throw promise;
      return result;
    },
  };
}
