/**
 * A device that was set back to an earlier state of its folder, in place: its
 * chain goes on elsewhere. It must not go on with it.
 *
 * @module
 */

import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { AuthorPlace } from "./kit/author_place.ts";
import { filesOf } from "./kit/images.ts";
import { recordKind } from "../repo/log/format.ts";

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

Deno.test("what it wrote before it learned of that is written again in a new chain", async () => {
  for (const mode of modes) {
    const { peer, back } = await rolledBack(mode);
    const { chain } = back.put("b", "mine").commit!;
    if (chain !== [...peer.replica.graph.vector().keys()][0]) continue; // Fast mode began anew.
    const later = back.put("c", "mine too").commit!;
    await back.replica.durable();
    await peer.tell(back);
    equal(back.get("a")?.title, "three");
    equal(back.get("b")?.title, "mine");
    equal(back.replica.graph.lengthOf(chain), 3);
    const { voided } = back.replica.loaded;
    const place = voided.placeOf(later);
    notEqual(place.chain, chain, mode);
    deepEqual([place.number, place.isRefused], [1, false]);
    deepEqual(back.replica.refusals(), []);
    await back.tell(peer);
    deepEqual(peer.digest(), back.digest());
    await back.agrees(mode);
  }
});

Deno.test("nobody else makes a device take anything back", async () => {
  const { back } = await rolledBack("default");
  const { chain, number } = back.put("b", "mine").commit!;
  await back.replica.durable();
  const port = back.replica.port();
  const { bytes, first } = port.read(0, 1 << 20).records.at(-1)!;
  equal(first, 0, "both batches are joined");
  const forged = bytes.slice();
  forged[forged.length - 70]! ^= 1; // In the payload of the last commit.
  const [judged] = port.receive([{
    kind: recordKind.signedBatch,
    bytes: forged,
  }]);
  ok(judged?.verdict.verdict === "refuse");
  equal(judged.verdict.refusal.refused, "bad-signature");
  equal(port.lengthOf(chain), number + 1);
  equal(back.last.chain, chain);
});
