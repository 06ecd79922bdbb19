/** Items by name. */

import type { ItemName } from "../../repo/mod.ts";

export function isOneOf(
  items: readonly ItemName[],
): (named: ItemName) => boolean {
  const names = new Set(items.map(nameIn));
  return (named) => names.has(nameIn(named));
}

function nameIn({ collection, id }: ItemName): string {
  return JSON.stringify([collection, id]);
}
