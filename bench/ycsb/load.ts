/**
 * The load phase: in a process of its own, so that what it leaves behind in
 * memory is not counted as the workloads'.
 *
 * @module
 */

import { keyOf } from "./generators.ts";
import { fieldsOf } from "./records.ts";
import type { Found, Store } from "./store.ts";
import { type LoadAssignment, openToLoad } from "./stores.ts";

const loadedAtOnce = 1_000;

/** Inserts records `0` to `count`. */
export async function load(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += loadedAtOnce) {
    const records: Found[] = [];
    const to = Math.min(count, from + loadedAtOnce);
    for (let index = from; index < to; index++) {
      records.push({ key: keyOf(index), fields: fieldsOf(index) });
    }
    await store.load(records);
  }
}

/** Runs the load phase of `assignment` in a fresh process. */
export async function loadElsewhere(assignment: LoadAssignment): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      import.meta.url,
      JSON.stringify(assignment),
    ],
    stderr: "piped",
    stdout: "null",
  }).output();
  if (success) return;
  const text = new TextDecoder().decode(stderr).trim();
  throw new Error(`Cannot load ${assignment.engine}: ${text}`);
}

if (import.meta.main) {
  const assignment: LoadAssignment = JSON.parse(Deno.args[0] ?? "");
  const store = await openToLoad(assignment);
  await load(store, assignment.records);
  await store.close();
  Deno.exit(0);
}
