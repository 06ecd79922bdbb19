/**
 * Prefix scans: three groups of keys in one store, each under a prefix of its
 * own; a scan gives one group, as entries or as keys alone.
 *
 * @module
 */

import type { Outcome } from "../harness/suite.ts";
import { type Entry, isSame, keyOf, valueOf } from "./entries.ts";
import { latencyRow, scanNames } from "./rows.ts";
import type { Listed, Store } from "./store.ts";
import { type Budget, type Steps, timeSteps } from "./timing.ts";

const valueBytes = 250;
const loadEntries = 1_000;
/** Of a long list every so many values are compared; of keys all. */
const comparedEvery = 97;

/** Fills the store with a group of each size, and measures the scans that are asked for. */
export async function measureScans(
  store: Store,
  sizes: readonly number[],
  asked: readonly string[],
  budget: Budget,
): Promise<Outcome[]> {
  const groups = new Map(sizes.map((size) => [size, groupOf(size)]));
  // Groups come mixed, as they would in life.
  const all = [...groups.values()].flat()
    .sort((a, b) => a.value.body < b.value.body ? -1 : 1);
  for (let from = 0; from < all.length; from += loadEntries) {
    await store.load(all.slice(from, from + loadEntries));
  }
  const outcomes: Outcome[] = [];
  for (const [size, group] of groups) {
    const [list, keys] = scanNames(size);
    const steps = {
      [list]: listsOf(store, group),
      [keys]: keysOf(store, group),
    };
    for (const [name, step] of Object.entries(steps)) {
      if (!asked.includes(name)) continue;
      const timing = await timeSteps(step, 1, budget);
      outcomes.push(latencyRow(name, "scan", "none", timing));
    }
  }
  return outcomes;
}

/** The entries of one group, in order of their keys. */
function groupOf(size: number): Entry[] {
  const entries: Entry[] = [];
  for (let index = 0; index < size; index++) {
    entries.push({
      key: prefixOf(size) + keyOf(index),
      value: valueOf(index, size, valueBytes),
    });
  }
  return entries.sort((a, b) => a.key < b.key ? -1 : 1);
}

function prefixOf(size: number): string {
  return `group-${size}/`;
}

function listsOf(store: Store, group: readonly Entry[]): Steps {
  const prefix = prefixOf(group.length);
  return () => ({
    kind: "scan",
    run: () => store.list(prefix),
    check: (answer) =>
      isListing(answer) ? wrongList(answer, group) : "no list came back",
  });
}

function keysOf(store: Store, group: readonly Entry[]): Steps {
  const prefix = prefixOf(group.length);
  return () => ({
    kind: "scan",
    run: () => store.keys(prefix),
    check: (answer) =>
      Array.isArray(answer) ? wrongKeys(answer, group) : "no keys came back",
  });
}

function isListing(answer: unknown): answer is readonly Listed[] {
  return Array.isArray(answer);
}

function wrongList(
  answer: readonly Listed[],
  group: readonly Entry[],
): string | undefined {
  const wrong = wrongKeys(answer.map(({ key }) => key), group);
  if (wrong !== undefined) return wrong;
  for (let at = 0; at < group.length; at += comparedEvery) {
    const entry = group[at];
    if (entry !== undefined && !isSame(answer[at]?.value, entry.value)) {
      return `the value of ${entry.key} is another in the list`;
    }
  }
  return undefined;
}

function wrongKeys(
  answer: readonly unknown[],
  group: readonly Entry[],
): string | undefined {
  if (answer.length !== group.length) {
    return `${answer.length} keys came back, not ${group.length}`;
  }
  const at = group.findIndex(({ key }, at) => answer[at] !== key);
  return at < 0 ? undefined : `key ${at} is ${answer[at]}`;
}
