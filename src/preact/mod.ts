/**
 * Hooks for Preact: components that show what is in a database, and render
 * again when that changes, and at no other time.
 *
 * ```tsx ignore
 * import { useQuery } from "@sheaf/sheaf/preact";
 *
 * function Open({ tasks }: { tasks: Collection<typeof Task> }) {
 *   const { data = [] } = useQuery(tasks.where({ done: false }).orderBy("rank"));
 *   return <ul>{data.map((task) => <li key={task.id}>{task.title}</li>)}</ul>;
 * }
 * ```
 *
 * Each hook gives `{ data, status, error }`: "loading" while it is given
 * `undefined`, "error" with what was thrown, and "ready" with the data else.
 * The result is the same object until something changes. They know the
 * database by what users hold of it, and nothing below.
 *
 * @module
 */

import type { SyncStatus } from "../db/repository_sync.ts";
import type { PresentUser } from "../db/presence.ts";
import type { UndoState } from "../db/undo.ts";
import type { Ready, Result, Store } from "./result.ts";
import { readyOf, useMade, useStore } from "./use_store.ts";

export type { Failed, Loading, Ready, Result, Store } from "./result.ts";
export { useCan } from "./use_can.ts";
export {
  type Opener,
  useRepository,
  useSuspenseRepository,
} from "./use_repository.ts";
export { useStore } from "./use_store.ts";

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

/** The item with this id; its `data` is `undefined` when there is none. */
export function useItem<T>(
  collection: ItemSource<T> | undefined,
  id: string | undefined,
): Result<T> {
  return useMade(
    () => id === undefined ? undefined : collection?.store(id),
    [collection, id],
  );
}

/**
 * The rows of a query. It may be made anew in each render: equal queries share
 * one live result. With `deps` it is made anew only when one of them changes,
 * which spares the making, and is the way for conditions that are functions.
 */
export function useQuery<T>(
  query: Asking<T> | undefined,
  deps?: readonly unknown[],
): Result<T> {
  return useMade(() => {
    const asked = typeof query === "function" ? query() : query;
    return asked?.store();
  }, deps);
}

/** As {@linkcode useItem}; what fails goes to the error boundary. */
export function useSuspenseItem<T>(
  collection: ItemSource<T>,
  id: string,
): Ready<T> {
  return readyOf(useItem(collection, id));
}

/** As {@linkcode useQuery}; what fails goes to the error boundary. */
export function useSuspenseQuery<T>(
  query: Asking<T>,
  deps?: readonly unknown[],
): Ready<T> {
  return readyOf(useQuery(query, deps));
}

/** How a repository and its server stand: state, unsent writes, refusals. */
export function useSync(
  repository: { readonly sync: Store<SyncStatus> } | undefined,
): Result<SyncStatus> {
  return useStore(repository?.sync);
}

/** Who else is here, and what they show. */
export function usePresence(
  repository: { readonly presence: Store<readonly PresentUser[]> } | undefined,
): Result<readonly PresentUser[]> {
  return useStore(repository?.presence);
}

/** What can be undone and redone just now; `repository.undo` does it. */
export function useUndo(
  repository: { readonly undo: Store<UndoState> } | undefined,
): Result<UndoState> {
  return useStore(repository?.undo);
}

/** The medium of a database: whether it is safe there, and how full it is. */
export function useStorage<T>(
  database: { readonly storage: Store<T> } | undefined,
): Result<T> {
  return useStore(database?.storage);
}
