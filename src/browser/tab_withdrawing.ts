/**
 * What takes commits back, for a tab that hears of a refusal: it comes with what
 * the owner of the files connects with, so that the browser has it already.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { provideWithdrawing } from "../../repo/mod.ts";

/** Loads it. */
export async function loadWithdrawing(): Promise<void> {
  provideWithdrawing((await import("../db/online.ts")).withdrawing);
}

/** Runs `then` when it is loaded; where it cannot be, that is tried again and again. */
export function whenWithdrawing(world: World, then: () => void): void {
  const again = () => whenWithdrawing(world, then);
  loadWithdrawing().then(then, () => world.after(limits.tabPingMs, again));
}
