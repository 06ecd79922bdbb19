/**
 * Code that a tab turns out to need while it follows its owner: what takes
 * commits back, where it hears of a refusal, and what folds rich kinds, where
 * another page's schema has some.
 *
 * What takes commits back comes with what the owner of the files connects with,
 * so that the browser has it already.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { lateRich } from "../schema/late_rich.ts";
import { lateWithdrawing } from "../../repo/mod.ts";

/** Did something fail for want of code that can be loaded? */
export function isUnloaded(cause: unknown): boolean {
  return cause === lateWithdrawing.unloaded || cause === lateRich.unloaded;
}

/** Loads what takes commits back. */
export async function loadWithdrawing(): Promise<void> {
  lateWithdrawing.provide((await import("../db/online.ts")).withdrawing);
}

/** Runs `then` when that is loaded for whose want something failed; where it cannot be, that is tried again and again. */
export function whenLoaded(
  world: World,
  cause: unknown,
  then: () => void,
): void {
  const load = cause === lateWithdrawing.unloaded
    ? loadWithdrawing()
    : lateRich.load();
  const again = () => whenLoaded(world, cause, then);
  load.then(then, () => world.after(limits.tabPingMs, again));
}
