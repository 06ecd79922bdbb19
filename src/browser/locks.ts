/**
 * Web Locks, as far as tabs and owners need them: one lock says who owns the
 * files, and one a tab says that the tab is alive.
 *
 * Architecture invariant: a lock that was granted is held until it is given
 * back, stolen, or its page or worker is gone; nothing else ends it.
 */

import { deferred } from "../base/deferred.ts";

export interface LockOptions {
  readonly steal?: boolean;
  /** Gives the wait up. */
  readonly signal?: AbortSignal;
}

export interface Locks {
  /**
   * Runs `held` while the lock is held; rejects with an `AbortError` when it
   * was stolen meanwhile, or the wait was given up.
   */
  request(
    name: string,
    options: LockOptions,
    held: () => Promise<void>,
  ): Promise<void>;
  /** What is held now, and by whom asked for. */
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

export function webLocks(): Locks | undefined {
  const platform = globalThis as {
    readonly navigator?: { readonly locks?: Locks };
  };
  return platform.navigator?.locks;
}

export function ownerLock(database: string): string {
  return `sheaf:${database}`;
}

/** The lock that a tab holds as long as it lives. */
export function tabLock(database: string, tab: string): string {
  return `${ownerLock(database)}:tab:${tab}`;
}

export function ownedByLock(database: string, tab: string): string {
  return `${ownerLock(database)}:by:${tab}`;
}

/** A lock that is held until it is given back. */
export async function holdLock(
  locks: Locks,
  name: string,
): Promise<() => void> {
  const held = deferred<void>();
  const end = deferred<void>();
  locks.request(name, {}, () => {
    held.resolve();
    return end.promise;
  }).catch(held.reject); // Of no effect once it was held.
  await held.promise;
  return end.resolve;
}

/** Runs `gone` once nobody holds a lock any more; the result gives that up. */
export function whenFree(
  locks: Locks,
  name: string,
  gone: () => void,
): () => void {
  const stop = new AbortController();
  const free = () => {
    if (!stop.signal.aborted) gone();
    return Promise.resolve();
  };
  // Given up, or stolen from us in the moment in which we had it: as good as free.
  locks.request(name, { signal: stop.signal }, free).catch(() => {});
  return () => stop.abort();
}

export async function isHeld(locks: Locks, name: string): Promise<boolean> {
  const { held = [] } = await locks.query();
  return held.some((lock) => lock.name === name);
}

/** Ids of the tabs of a database that are alive. */
export async function livingTabs(
  locks: Locks,
  database: string,
): Promise<Set<string>> {
  const prefix = tabLock(database, "");
  const { held = [] } = await locks.query();
  const ids = held.map(({ name = "" }) => name)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  return new Set(ids);
}
