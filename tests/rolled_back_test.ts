/**
 * A device that was set back to an earlier state of its folder, in place: its
 * chain goes on elsewhere. It must not go on with it.
 *
 * @module
 */

import { deepEqual, equal, notEqual } from "node:assert/strict";
import { AuthorPlace } from "./kit/author_place.ts";
import { filesOf } from "./kit/images.ts";

const modes = ["default", "trusted", "fast"] as const;

/** A device that lost its newest commits, and a peer that has all of them. */
async function rolledBack(mode: typeof modes[number]) {
  const device = await AuthorPlace.open({ mode });
  device.put("a", "one");
  await device.replica.durable();
  await device.replica.close();
  const files = filesOf(device.storage);
  const later = await AuthorPlace.open({ mode, files });
  for (const title of ["two", "three"]) {
    later.put("a", title);
    await later.replica.durable();
  }
  return {
    peer: await later.peer(),
    back: await AuthorPlace.open({ mode, files }),
  };
}

Deno.test("who learns of commits of its own chain that it does not have begins a new one", async () => {
  for (const mode of modes) {
    const { peer, back } = await rolledBack(mode);
    const [chain] = back.replica.graph.vector().keys();
    await peer.tell(back);
    equal(back.get("a")?.title, "three");
    equal(back.replica.graph.lengthOf(chain!), 3);
    notEqual(back.last.chain, chain, `${mode}: it does not go on with it`);
    await back.tell(peer);
    deepEqual(peer.digest(), back.digest());
    if (mode !== "fast") await back.agrees(mode);
  }
});

Deno.test("it does not go on with that chain either when it wrote there before, or is opened again", async () => {
  for (const mode of ["default", "trusted"] as const) {
    const { peer, back } = await rolledBack(mode);
    const [chain] = back.replica.graph.vector().keys();
    await peer.tell(back);
    const again = await back.reopened();
    notEqual(again.last.chain, chain, mode);
    await again.tell(peer);
    deepEqual(peer.digest(), again.digest());
  }
});
