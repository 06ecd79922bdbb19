/**
 * Waiting for code that a device turns out to need: what takes commits back, where
 * a tab hears of a refusal, and what folds rich kinds, where another page's schema
 * has some.
 */

import type { Unloaded } from "../base/late.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";

/** Runs `then` when that is loaded for whose want something failed; where it cannot be, that is tried again and again. */
export function whenLoaded(
  world: World,
  cause: Unloaded,
  then: () => void,
): void {
  const again = () => whenLoaded(world, cause, then);
  cause.load().then(then, () => world.after(limits.tabPingMs, again));
}
