/**
 * Asking the workers of the storage tests, with types.
 *
 * @module
 */

import type { Tab } from "./kit/mod.ts";
import type * as StoragePage from "./storage_page.ts";
import type { Questions } from "./storage_worker.ts";

/** What tests of storages bundle. */
export const entries = {
  page: new URL("storage_page.ts", import.meta.url),
  worker: new URL("storage_worker.ts", import.meta.url),
};

/** A page with such workers. */
export type StorageTab = Tab<typeof StoragePage>;

/** Asks a worker of a page; the worker is started when there is none of that name. */
export async function ask<Name extends keyof Questions>(
  tab: StorageTab,
  worker: string,
  question: Name,
  ...args: Parameters<Questions[Name]>
): Promise<Awaited<ReturnType<Questions[Name]>>> {
  const answer = await tab.call("ask", worker, question, ...args as []);
  return answer as Awaited<ReturnType<Questions[Name]>>;
}
