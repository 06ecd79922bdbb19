/** Devices whose clocks are wrong, and servers that lie about theirs. */

import assert from "node:assert/strict";
import type { Position } from "../repo/commit/commit.ts";
import { limits } from "../src/base/limits.ts";
import { FollowingWorld, ServerTime } from "../src/base/server_clock.ts";
import type { World } from "../src/base/world.ts";
import { ManualWorld, Place, sessionOf } from "../tests/kit/replica_place.ts";
import { ClientPlace, ServerPlace, until } from "../tests/kit/sync_place.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A device whose wall clock is wrong, and can be set. */
class WrongWorld implements World {
  readonly #world: ManualWorld;
  aheadMs: number;

  constructor(world: ManualWorld, aheadMs: number) {
    this.#world = world;
    this.aheadMs = aheadMs;
  }

  now(): number {
    return this.#world.now() + this.aheadMs;
  }

  monotonic(): number {
    return this.#world.monotonic();
  }

  random(target: Uint8Array): void {
    this.#world.random(target);
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#world.after(delayMs, task);
  }
}

/** A device with a wrong clock, before it connects. */
async function deviceOf(server: ServerPlace, seed: number, aheadMs: number) {
  const wrong = new WrongWorld(server.world, aheadMs);
  const clock = new FollowingWorld(wrong);
  const session = sessionOf(seed);
  const place = await Place.open({ seed, world: clock, session });
  const connect = () =>
    ClientPlace.connect(server, seed, { place, world: wrong, clock });
  return { wrong, clock, place, connect };
}

/** What the server took, by the time that it says itself. */
function datesOf({ place }: ServerPlace): number[] {
  const { replica } = place;
  return [...replica.graph.chains()].flatMap(({ name, length }) =>
    Array.from(
      { length },
      (_, number) => replica.commits.clockAt(name, number)!.wall,
    )
  );
}

const refusedOf = (server: ServerPlace) =>
  server.events.filter(({ kind }) => kind === "refused").length;

async function converged(server: ServerPlace, ...clients: ClientPlace[]) {
  await until(server.world, () =>
    clients.every(({ place, isLive }) =>
      isLive &&
      place.replica.graph.commits === server.place.replica.graph.commits
    ), 5 * MINUTE_MS);
  for (const { place, channel } of clients) {
    const digest = server.place.replica.graph.summary();
    assert.deepEqual(place.replica.graph.summary(), digest);
    assert.deepEqual(place.replica.refusals(), []);
    assert.deepEqual(channel.status.incidents, []);
  }
}

async function synced(
  server: ServerPlace,
  client: ClientPlace,
  places: readonly Position[],
): Promise<void> {
  let done = 0;
  for (const place of places) {
    void client.synced(place).then(() => done++);
  }
  await until(server.world, () => done === places.length, 5 * MINUTE_MS);
}

async function end(server: ServerPlace, ...clients: ClientPlace[]) {
  for (const client of clients) client.close();
  await server.stop();
  assert.deepEqual(server.faults, []);
}

Deno.test("a clock 45 s ahead: what was written waits until its time has come, what is older goes at once", async () => {
  const server = await ServerPlace.start();
  const ben = await ClientPlace.connect(server, 2);
  const ann = await deviceOf(server, 1, 45_000);
  await ann.place.write("old", "1");
  server.world.advance(50_000);
  await ann.place.write("new", "2");
  const start = server.world.now();
  const client = await ann.connect();
  await until(server.world, () => server.place.text("old") === "1", 1_000);
  assert.equal(server.place.text("new"), undefined);
  assert.equal(client.channel.status.state, "live");
  assert.equal(client.channel.status.unsent.commits, 1);
  const write = await client.write("now", "3");
  await synced(server, client, [write]);
  await converged(server, client, ben);
  assert.ok(server.world.now() - start >= 44_000, "its time has come");
  assert.ok(datesOf(server).every((wall) => wall <= server.world.now()));
  assert.equal(server.place.text("new"), "2");
  assert.equal(refusedOf(server), 0, "nothing was even asked too early");
  assert.equal(server.place.replica.graph.size, 1, "nothing was rewritten");
  await end(server, client, ben);
});

Deno.test("a clock 10 minutes ahead: all is dated anew in one go, and nobody hears of a refusal", async () => {
  const server = await ServerPlace.start();
  const ben = await ClientPlace.connect(server, 2);
  const ann = await deviceOf(server, 1, 10 * MINUTE_MS);
  server.isDown = true;
  const client = await ann.connect();
  const places: Position[] = [];
  for (let i = 0; i < 30; i++) places.push(await client.write(`n${i}`, `${i}`));
  await client.write("n0", "again");
  assert.equal(ann.place.replica.graph.commits, 31);
  const start = server.world.now();
  server.isDown = false;
  await synced(server, client, places);
  await converged(server, client, ben);
  assert.ok(server.world.now() - start < MINUTE_MS);
  assert.ok(datesOf(server).every((wall) => wall <= server.world.now()));
  assert.equal(server.place.text("n0"), "again");
  assert.equal(server.place.text("n29"), "29");
  assert.equal(server.place.replica.graph.commits, 31);
  assert.ok(refusedOf(server) <= 1, `${refusedOf(server)} refusals`);
  const again = await ann.place.reopen();
  assert.deepEqual(again.replica.refusals(), []);
  assert.equal(again.text("n29"), "29");
  await end(server, client, ben);
});

Deno.test("a clock two days behind is followed once connected, and what was written before comes in", async () => {
  const server = await ServerPlace.start();
  const ann = await deviceOf(server, 1, -2 * DAY_MS);
  await ann.place.write("before", "1");
  const client = await ann.connect();
  await client.live();
  await client.write("after", "2");
  await converged(server, client);
  const [before, after] = datesOf(server) as [number, number];
  assert.ok(before <= server.world.now() - 2 * DAY_MS);
  assert.ok(after > server.world.now() - MINUTE_MS, "dated by the server");
  await end(server, client);
});

Deno.test("a clock that is set back, or ahead, while connected changes nothing for long", async () => {
  const server = await ServerPlace.start();
  const ben = await ClientPlace.connect(server, 2);
  const ann = await deviceOf(server, 1, 0);
  const client = await ann.connect();
  await client.live();
  for (const aheadMs of [-DAY_MS, 30_000, 10 * MINUTE_MS, 0]) {
    ann.wrong.aheadMs = aheadMs;
    server.world.advance(1_000);
    const write = await client.write("n", `${aheadMs}`);
    await synced(server, client, [write]);
    await converged(server, client, ben);
    const latest = Math.max(...datesOf(server));
    const now = server.world.now();
    assert.ok(latest <= now && latest > now - 2 * MINUTE_MS, `${now - latest}`);
    assert.equal(server.place.text("n"), `${aheadMs}`);
  }
  assert.ok(refusedOf(server) <= 4, `${refusedOf(server)} refusals`);
  await end(server, client, ben);
});

Deno.test("a server that lies moves no device's clock without bound", () => {
  const world = new ManualWorld();
  const clock = new FollowingWorld(world);
  const max = limits.clockCorrectionMsMax;
  for (let i = 0; i < 100; i++) clock.follow(max - i);
  assert.ok(clock.now() <= world.now() + max);
  clock.follow(max + 1);
  assert.equal(clock.now(), world.now(), "too far: its own");
  clock.follow(-max - 1);
  assert.equal(clock.now(), world.now());
  clock.follow(-max);
  assert.equal(clock.now(), world.now() - max);
});

Deno.test("a server whose time goes back at each refusal has commits dated anew a few times, then the app hears of it", async () => {
  const server = await ServerPlace.start();
  let serverMs = server.world.now();
  server.gate = () => {
    serverMs -= 2 * MINUTE_MS;
    const detail = `Not yet: ${new Date(serverMs).toISOString()}`;
    return { refused: "bad-clock", detail };
  };
  const ann = await deviceOf(server, 1, 0);
  await ann.place.write("a", "1");
  const client = await ann.connect();
  await until(server.world, () => ann.place.replica.refusals().length > 0);
  assert.ok(refusedOf(server) <= 6, `${refusedOf(server)} refusals`);
  server.gate = () => undefined;
  const [refusal] = ann.place.replica.refusals();
  ann.place.replica.retry(refusal!);
  await until(server.world, () => server.place.text("a") === "1");
  await end(server, client);
});

Deno.test("ServerTime.at() goes on with the monotonic clock or the wall clock, whichever went further", () => {
  const time = new ServerTime(5_000, { nowMs: 100, monotonicMs: 10 });
  assert.equal(time.at({ nowMs: 100, monotonicMs: 10 }), 5_000);
  assert.equal(time.at({ nowMs: 50, monotonicMs: 30 }), 5_020, "set back");
  assert.equal(time.at({ nowMs: 3_100, monotonicMs: 30 }), 8_000, "slept");
  assert.equal(time.at({ nowMs: 0, monotonicMs: 0 }), 5_000);
});
