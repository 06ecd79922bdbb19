/** How long to wait before coming back. */

import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";

/**
 * Twice as long after each attempt, capped; half of it is by chance, so that
 * many clients of a server that came back do not come all at once.
 *
 * @param attempts failed attempts in a row, at least 1
 */
export function backoffMs(attempts: number, world: World): number {
  const doublings = Math.min(Math.max(attempts - 1, 0), 20);
  const cap = Math.min(
    limits.backoffMsMax,
    limits.backoffMsMin * 2 ** doublings,
  );
  return Math.round(cap * (0.5 + 0.5 * chance(world)));
}

/** A number in [0, 1). */
export function chance(world: World): number {
  const bytes = new Uint8Array(4);
  world.random(bytes);
  return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
}
