/**
 * Waiting that has an end.
 *
 * @module
 */

import type { World } from "../src/base/world.ts";

/** Waits for work, but not for ever. */
export async function atMost(
  ms: number,
  work: Promise<unknown>,
  world: Pick<World, "after">,
): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = world.after(ms, resolve);
  });
  await Promise.race([work, late]);
  cancel();
}
