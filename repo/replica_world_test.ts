import { deepEqual, equal } from "node:assert/strict";
import { wallMax } from "../src/base/hlc.ts";
import { ManualWorld, Place } from "../tests/kit/replica_place.ts";

/** The greatest counter within one millisecond. */
const COUNT_MAX = 2 ** 16 - 1;

/** The bytes of all files of a place. */
function bytesOf(place: Place): [string, Uint8Array][] {
  return place.storage.list(place.folder).sort().map((name) => {
    const file = place.file(name);
    const bytes = new Uint8Array(file.size());
    file.readAt(bytes, 0);
    return [name, bytes];
  });
}

Deno.test("a seed replays a run, byte for byte: nothing else of the world comes in", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const [one, other] = await Promise.all([1, 1].map(async () => {
      const world = new ManualWorld(5);
      const place = await Place.open({ mode, world });
      for (let i = 0; i < 20; i++) {
        void place.write(`n${i % 7}`, `text ${i}`);
        if (i % 3 === 0) world.advance(i * 400);
        if (i % 5 === 0) await place.replica.durable();
      }
      await place.replica.checkpoint();
      await place.replica.close();
      return bytesOf(place);
    }));
    deepEqual(one, other, mode);
  }
});

Deno.test("clocks that go back, stand in 1970, run far ahead or are no number keep the order", async () => {
  const world = new ManualWorld();
  const place = await Place.open({ world });
  const times = [
    1_800_000_000_000,
    1_700_000_000_000,
    0,
    -5,
    NaN,
    Infinity,
    2 ** 60,
  ];
  for (const [i, time] of times.entries()) {
    world.time = time;
    await place.write("a", `text ${i}`);
    equal(place.text("a"), `text ${i}`);
  }
  world.time = 0;
  await place.write("a", "last");
  await place.replica.close();
  const again = await place.reopen();
  equal(again.text("a"), "last");
  equal(again.replica.graph.commits, times.length + 1);
  deepEqual({ ...again.replica.graph.clock }, {
    wall: wallMax,
    count: place.replica.graph.clock.count,
  });
  await again.replica.close();
});

Deno.test("more commits than one millisecond can count go on in the next one", async () => {
  const world = new ManualWorld();
  const place = await Place.open({ mode: "trusted", world });
  await place.write("a", "first");
  for (let i = 0; i <= COUNT_MAX; i++) void place.vote("a");
  deepEqual(place.replica.graph.clock, {
    ...place.replica.graph.clock,
    wall: world.time + 1,
    count: 0,
  });
  await place.replica.close();
  const again = await place.reopen();
  equal(again.votes("a"), COUNT_MAX + 1);
  await again.replica.close();
});
