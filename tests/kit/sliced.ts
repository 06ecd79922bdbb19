/**
 * Work in slices, all at once.
 *
 * @module
 */

import type { Sliced } from "../../repo/port.ts";

/** What comes of it. */
export function finished<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
