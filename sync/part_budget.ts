/**
 * A bound over the halves of records that are being put together.
 *
 * @module
 */

import { limits } from "../src/base/limits.ts";
import type { PartBudget } from "./conversation.ts";

/** Makes a budget; a server shares one over all its connections. */
export function partBudget(
  bytesMax: number = limits.partBytesMax,
): PartBudget & { readonly used: number } {
  let used = 0;
  return {
    get used() {
      return used;
    },
    take(bytes) {
      if (used + bytes > bytesMax) return false;
      used += bytes;
      return true;
    },
    free(bytes) {
      used -= bytes;
    },
  };
}
