import { deepEqual, equal } from "node:assert/strict";
import { ManualWorld, Place, turns } from "../tests/kit/replica_place.ts";
import { Latencies, type Metrics } from "./metrics.ts";

/** A repository whose commits are timed, and what was measured, in seconds. */
async function timed() {
  const world = new ManualWorld();
  const place = await Place.open({ world });
  const measured: Record<string, number[]> = {
    acknowledged: [],
    fannedOut: [],
  };
  const metrics: Pick<Metrics, "acknowledged" | "fannedOut"> = {
    acknowledged: (seconds) => measured.acknowledged!.push(seconds),
    fannedOut: (seconds) => measured.fannedOut!.push(seconds),
  };
  const latencies = new Latencies(metrics, world);
  const end = latencies.follow(place.replica);
  const port = place.replica.port();
  return { world, place, port, latencies, measured, end };
}

Deno.test("what measures acks and pushes comes behind them, and without a timer", async () => {
  const { world, place, port, latencies, measured, end } = await timed();
  const before = world.timers;
  port.onShareable(() => {
    deepEqual(measured, { acknowledged: [], fannedOut: [] }, "nobody waits");
    world.advance(3); // So long it takes to tell the peers.
  });
  const write = place.write("a", "x");
  latencies.received(place.replica.name);
  world.advance(2);
  await write;
  await turns();
  deepEqual(measured, { acknowledged: [0.002], fannedOut: [0.005] });
  equal(world.timers, before);
  end();
  await place.replica.close();
});

Deno.test("nothing is timed before it is durable, nor after the end", async () => {
  const { place, latencies, measured, end } = await timed();
  await place.write("a", "x");
  await turns();
  deepEqual(measured.acknowledged, [], "nothing came in");
  const write = place.write("a", "y");
  latencies.received(place.replica.name);
  deepEqual(measured.acknowledged, []);
  await write;
  await turns();
  equal(measured.acknowledged!.length, 1);
  end();
  latencies.received(place.replica.name);
  await place.write("a", "z");
  await turns();
  equal(measured.acknowledged!.length, 1);
  await place.replica.close();
});
