/** Two beginnings of one chain, after a loss: it comes to an end, and everything else syncs. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { refuseAt } from "../src/base/errors.ts";
import "../tests/kit/audits.ts";
import { filesOf, restored } from "../tests/kit/images.ts";
import { ManualWorld, Place, sessionOf } from "../tests/kit/replica_place.ts";
import { ClientPlace, ServerPlace, until } from "../tests/kit/sync_place.ts";

/** One device, and its folder as it was set back after its first commit; each wrote on by itself. */
async function twoBeginnings(here: number, there: number) {
  const session = sessionOf(1);
  const device = await Place.open({ seed: 1, session });
  await device.write("a", "zero");
  const storage = restored(filesOf(device.storage));
  const world = new ManualWorld(77);
  const other = await Place.open({ seed: 1, world, session, storage });
  for (let i = 0; i < here; i++) await device.write("a", `here ${i}`);
  for (let i = 0; i < there; i++) await other.write("a", `there ${i}`);
  const [chain] = device.replica.graph.vector().keys();
  equal(other.replica.graph.lengthOf(chain!), 1 + there, "it is one chain");
  return { device, other, chain: chain! };
}

/** Everything of one place comes to another, which writes in between: the chain does not lie in one piece there. */
async function give(from: Place, to: Place): Promise<void> {
  for (const [i, arrival] of (await from.arrivals()).entries()) {
    to.replica.port().receive([arrival]);
    to.replica.port().settle();
    await to.write("between", `${i}`);
  }
  await to.replica.durable();
}

/** Lets time go by in which who goes round in circles would come often. */
async function aMinute(world: ManualWorld): Promise<void> {
  const end = world.monotonic() + 60_000;
  await until(world, () => world.monotonic() >= end, 120_000, 100);
}

for (const [here, there] of [[1, 3], [3, 1], [2, 2], [2, 6], [6, 2]] as const) {
  Deno.test(`a chain of which the server has ${1 + here} commits and a relay ${1 + there} others comes to an end, and everything else syncs`, async () => {
    const { device, other, chain } = await twoBeginnings(here, there);
    const server = await ServerPlace.start();
    await give(device, server.place);
    const relay = await Place.open({ seed: 2, session: sessionOf(2) });
    await give(other, relay);
    equal(relay.replica.graph.lengthOf(chain), 1 + there);
    const { world } = server;
    const bob = await ClientPlace.connect(server, 2, { place: relay });
    const cid = await ClientPlace.connect(server, 3);
    await bob.place.write("of bob", "1");
    await cid.place.write("of cid", "1");
    await until(
      world,
      () => cid.place.text("of bob") === "1" && relay.text("of cid") === "1",
    );
    await aMinute(world);
    equal(server.attempts, 2, "nobody comes again and again");
    await cid.place.write("later", "1");
    await until(world, () => relay.text("later") === "1");
    const { incidents } = bob.channel.status;
    ok(incidents.length <= 8, `${incidents.length} incidents`);
    const named = incidents.some(({ details }) =>
      (details as { reason?: string }).reason === "fork"
    );
    equal(named, here !== there, JSON.stringify(incidents));
    equal(server.place.text("a"), `here ${here - 1}`);
    if (here !== there) {
      deepEqual(
        relay.replica.graph.summary(),
        cid.place.replica.graph.summary(),
      );
    }
    deepEqual(server.faults, []);
    for (const one of [bob, cid]) one.close();
    await server.stop();
  });

  Deno.test(`a device that wrote ${1 + there} commits where a server has ${1 + here} others of its chain writes them again`, async () => {
    const { device, other } = await twoBeginnings(here, there);
    const server = await ServerPlace.start();
    await give(device, server.place);
    const { world } = server;
    const ann = await ClientPlace.connect(server, 1, { place: other });
    await other.write("later", "1"); // As many look alike until there is one more.
    await until(world, () => {
      const { graph } = server.place.replica;
      return ann.isLive && server.place.text("later") === "1" &&
        String(graph.summary()) === String(other.replica.graph.summary());
    });
    deepEqual(other.replica.refusals(), []);
    equal(server.attempts, 1);
    await aMinute(world);
    equal(server.attempts, 1);
    equal(other.text("a"), server.place.text("a"));
    ann.close();
    await server.stop();
  });
}

Deno.test("a server that calls every chain forked has commits written again once; they stay, are unsent, and are told of", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const honest = server.gate;
  let asked = 0;
  // Who writes again for ever would leave no turn to see it in: it comes to an end.
  server.gate = (_peer, _name, { first }, from) =>
    ++asked <= 100 ? refuseAt(first + from, "fork") : undefined;
  const ann = await ClientPlace.connect(server, 1);
  const { replica } = ann.place;
  const { channel } = ann;
  await until(world, () => channel.status.state === "live");
  for (let i = 0; i < 20; i++) await ann.write(`a${i}`, "1");
  await until(world, () => channel.status.incidents.length > 0, 1_000);
  await replica.durable();
  const { end } = replica.loaded.log;
  await aMinute(world);
  equal(replica.loaded.log.end, end, "nothing is written again");
  for (let i = 0; i < 10; i++) {
    server.cut();
    await until(world, () => channel.status.state === "offline");
    await until(world, () => channel.status.state === "live");
    await aMinute(world);
  }
  equal(replica.loaded.log.end, end, "nor on other connections");
  const { unsent, incidents } = channel.status;
  equal(unsent.commits, 20);
  deepEqual(
    new Set(incidents.map(({ message }) => message)),
    new Set([
      "The server refuses a commit that stays here: fork",
    ]),
  );
  deepEqual(replica.refusals(), []);
  equal(ann.place.text("a19"), "1");
  server.gate = honest;
  server.cut();
  await until(world, () => server.place.text("a19") === "1" && ann.isLive);
  ann.close();
  await server.stop();
});
