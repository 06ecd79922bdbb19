/**
 * Are the answers right? Every engine is asked the same, outside of the timed
 * parts, and a wrong answer takes its figure away.
 *
 * @module
 */

import {
  difference,
  type Item,
  itemAt,
  itemsBetween,
  touchAll,
} from "../harness/items.ts";
import type { Store } from "./store.ts";

/** Items that are compared field by field. */
const closeLooks = 50;

/** What is wrong with a store that should hold the first `count` items and no other, if anything. */
export async function wrongWith(
  store: Store,
  count: number,
): Promise<string | undefined> {
  const all = await store.all();
  const wrong = wrongAll(all, count);
  if (wrong !== undefined) return wrong;
  const step = Math.max(1, Math.floor(count / closeLooks));
  for (let index = 0; index < count; index += step) {
    const wanted = itemAt(index);
    const different = difference(await store.get(wanted.id), wanted);
    if (different !== undefined) return different;
  }
  return undefined;
}

/** What is wrong with an answer that should be the first `count` items in any order, if anything. */
export function wrongAll(
  all: readonly Item[],
  count: number,
): string | undefined {
  if (all.length !== count) {
    return `there are ${all.length} items, not ${count}`;
  }
  const found = new Map(all.map((item) => [item.id, item]));
  for (let index = 0; index < count; index++) {
    const wanted = itemAt(index);
    const different = difference(found.get(wanted.id), wanted);
    if (different !== undefined) return different;
  }
  return undefined;
}

/** {@linkcode touchAll} of the first `count` items. */
export function sumOf(count: number): number {
  return touchAll(itemsBetween(0, count));
}
