/**
 * The hooks, once for all frameworks: components that show what is in a
 * database, and render again when that changes, and at no other time.
 *
 * Each gives `{ data, status, error }`: "loading" while it is given
 * `undefined`, "error" with what was thrown, and "ready" with the data else.
 * The result is the same object until something changes. They know the
 * database by what users hold of it, and nothing below.
 */

import type { PresentUser } from "../db/presence.ts";
import type { SyncStatus } from "../db/repository_sync.ts";
import type { UndoState } from "../db/undo.ts";
import { type Framework, readyOf, type StoreHooks } from "./framework.ts";
import type { Ready, Result, Store } from "./result.ts";
import { canHookOf, type UseCan } from "./use_can.ts";
import { type RepositoryHooks, repositoryHooksOf } from "./use_repository.ts";
import { textHookOf, type UseText } from "./use_text.ts";

/** What gives items as stores: a `Collection`. */
export interface ItemSource<T> {
  store(id: string): Store<T>;
}

/** What gives its rows as a store: a query, aggregated or not. */
export interface Asked<T> {
  store(): Store<T>;
}

/** A query, or a function that makes it: what that throws is the error. */
export type Asking<T> = Asked<T> | (() => Asked<T> | undefined);

/** What `@sheaf/sheaf/preact` and `@sheaf/sheaf/react` have in common. */
export interface Hooks extends RepositoryHooks {
  /** What a store says; "loading" while there is none. */
  useStore<T>(store: Store<T> | undefined): Result<T>;
  /** The item with this id; its `data` is `undefined` when there is none. */
  useItem<T>(
    collection: ItemSource<T> | undefined,
    id: string | undefined,
  ): Result<T>;
  /**
   * The rows of a query. It may be made anew in each render: equal queries share
   * one live result. With `deps` it is made anew only when one of them changes,
   * which spares the making, and is the way for conditions that are functions.
   */
  useQuery<T>(
    query: Asking<T> | undefined,
    deps?: readonly unknown[],
  ): Result<T>;
  /** As `useItem`; what fails goes to the error boundary. */
  useSuspenseItem<T>(collection: ItemSource<T>, id: string): Ready<T>;
  /** As `useQuery`; what fails goes to the error boundary. */
  useSuspenseQuery<T>(query: Asking<T>, deps?: readonly unknown[]): Ready<T>;
  /** How a repository and its server stand: state, unsent writes, refusals. */
  useSync(
    repository: { readonly sync: Store<SyncStatus> } | undefined,
  ): Result<SyncStatus>;
  /** Who else is here, and what they show. */
  usePresence(
    repository:
      | { readonly presence: Store<readonly PresentUser[]> }
      | undefined,
  ): Result<readonly PresentUser[]>;
  /** What can be undone and redone just now; `repository.undo` does it. */
  useUndo(
    repository: { readonly undo: Store<UndoState> } | undefined,
  ): Result<UndoState>;
  /** The medium of a database: whether it is safe there, and how full it is. */
  useStorage<T>(
    database: { readonly storage: Store<T> } | undefined,
  ): Result<T>;
  readonly useCan: UseCan;
  readonly useText: UseText;
}

export function hooksOf(framework: Framework, stores: StoreHooks): Hooks {
  const { useMade, useStore } = stores;
  const useItem: Hooks["useItem"] = (collection, id) =>
    useMade(
      () => id === undefined ? undefined : collection?.store(id),
      [collection, id],
    );
  const useQuery: Hooks["useQuery"] = (query, deps) =>
    useMade(() => {
      const asked = typeof query === "function" ? query() : query;
      return asked?.store();
    }, deps);
  return {
    useStore,
    useItem,
    useQuery,
    useSuspenseItem: (...asked) => readyOf(useItem(...asked)),
    useSuspenseQuery: (...asked) => readyOf(useQuery(...asked)),
    useSync: (repository) => useStore(repository?.sync),
    usePresence: (repository) => useStore(repository?.presence),
    useUndo: (repository) => useStore(repository?.undo),
    useStorage: (database) => useStore(database?.storage),
    useCan: canHookOf(framework, stores),
    useText: textHookOf(framework),
    ...repositoryHooksOf(stores),
  };
}
