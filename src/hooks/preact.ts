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
 * @module
 */

import {
  type ComponentChildren,
  createContext,
  createElement,
  type VNode,
} from "preact";
import { useContext, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { type Framework, storeHooksOf } from "./framework.ts";
import { type Hooks, hooksOf } from "./hooks.ts";
import { type Provider, providerOf } from "./provider.ts";

export type { Asked, Asking, Hooks, ItemSource } from "./hooks.ts";
export type { Closable, DatabaseProviderProps } from "./provider.ts";
export type { Failed, Loading, Ready, Result, Store } from "./result.ts";
export type { UseCan } from "./use_can.ts";
export type { Opener } from "./use_repository.ts";
export type { Bound, UseText } from "./use_text.ts";

const framework: Framework = { useMemo, useSyncExternalStore };
const stores = storeHooksOf(framework);
const hooks = hooksOf(framework, stores);
const provider = providerOf<ComponentChildren, VNode>(
  { createContext, createElement, useContext },
  stores,
);

/** As React has it; Preact has it only in its compatibility layer. */
function useSyncExternalStore<T>(
  subscribe: (listener: () => void) => () => void,
  getSnapshot: () => T,
): T {
  const value = getSnapshot();
  const [held] = useState({ value, getSnapshot });
  const [, render] = useState({});
  Object.assign(held, { value, getSnapshot });
  useLayoutEffect(() => {
    const check = () => {
      if (!Object.is(held.getSnapshot(), held.value)) render({});
    };
    const end = subscribe(check);
    check(); // It may have changed since it was rendered.
    return end;
  }, [subscribe]);
  return value;
}

/** What a store says; "loading" while there is none. */
export const useStore: Hooks["useStore"] = hooks.useStore;
/** The item with this id; its `data` is `undefined` when there is none. */
export const useItem: Hooks["useItem"] = hooks.useItem;
/** The rows of a query, which may be made anew in each render; `deps` are for conditions that are functions. */
export const useQuery: Hooks["useQuery"] = hooks.useQuery;
/** As {@linkcode useItem}; what fails goes to the error boundary. */
export const useSuspenseItem: Hooks["useSuspenseItem"] = hooks.useSuspenseItem;
/** As {@linkcode useQuery}; what fails goes to the error boundary. */
export const useSuspenseQuery: Hooks["useSuspenseQuery"] =
  hooks.useSuspenseQuery;
/** How a repository and its server stand: state, unsent writes, refusals. */
export const useSync: Hooks["useSync"] = hooks.useSync;
/** Who else is here, and what they show. */
export const usePresence: Hooks["usePresence"] = hooks.usePresence;
/** What can be undone and redone just now; `repository.undo` does it. */
export const useUndo: Hooks["useUndo"] = hooks.useUndo;
/** The medium of a database: whether it is safe there, and how full it is. */
export const useStorage: Hooks["useStorage"] = hooks.useStorage;
/** What `repository.can` says, kept up to date. */
export const useCan: Hooks["useCan"] = hooks.useCan;
/** A `ref` that binds an element to a text that several people write in. */
export const useText: Hooks["useText"] = hooks.useText;
/** A repository, opened when it is first asked for; "loading" until it is there. */
export const useRepository: Hooks["useRepository"] = hooks.useRepository;
/** As {@linkcode useRepository}, for Suspense: waits there until it is open. */
export const useSuspenseRepository: Hooks["useSuspenseRepository"] =
  hooks.useSuspenseRepository;
/** Gives a database to all components below; opened once for a page. */
export const DatabaseProvider: Provider<
  ComponentChildren,
  VNode
>["DatabaseProvider"] = provider.DatabaseProvider;
/** The database of the nearest {@linkcode DatabaseProvider}. */
export const useDatabase: Provider<ComponentChildren, VNode>["useDatabase"] =
  provider.useDatabase;
