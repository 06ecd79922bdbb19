import assert from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { ManualWorld } from "../tests/kit/replica_place.ts";
import { Others } from "./presence.ts";
import { PresenceRoom, type Receiver } from "./presence_room.ts";

class Ear implements Receiver {
  readonly user: string;
  buffered = 0;
  heard: string[] = [];
  constructor(readonly id: number) {
    this.user = `user-${id}`;
  }
  tell(peer: number, user: string, bytes: Uint8Array): void {
    this.heard.push(`${peer} ${user} ${[...bytes]}`);
  }
}

const bytes = (...values: number[]) => Uint8Array.from(values);

Deno.test("others hear what a peer shows, and that it is gone", () => {
  const world = new ManualWorld();
  const room = new PresenceRoom(world);
  const [a, b] = [new Ear(1), new Ear(2)];
  room.join(a);
  room.join(b);
  room.set(a, bytes(7));
  world.advance(limits.presenceMs);
  assert.deepEqual(b.heard, ["1 user-1 7"]);
  assert.deepEqual(a.heard, []);
  room.leave(a);
  world.advance(limits.presenceMs);
  assert.deepEqual(b.heard, ["1 user-1 7", "1 user-1 "]);
  room.leave(b);
  assert.equal(world.timers, 0);
});

Deno.test("who joins later hears of all who are there", () => {
  const world = new ManualWorld();
  const room = new PresenceRoom(world);
  const [a, b] = [new Ear(1), new Ear(2)];
  room.join(a);
  room.set(a, bytes(7));
  world.advance(limits.presenceMs);
  room.join(b);
  world.advance(limits.presenceMs);
  assert.deepEqual(b.heard, ["1 user-1 7"]);
});

Deno.test("a flood is told once per interval, the newest only", () => {
  const world = new ManualWorld();
  const room = new PresenceRoom(world);
  const [a, b] = [new Ear(1), new Ear(2)];
  room.join(a);
  room.join(b);
  for (let i = 0; i < 1_000; i++) room.set(a, bytes(i % 256, 1));
  world.advance(limits.presenceMs);
  assert.deepEqual(b.heard, [`1 user-1 ${999 % 256},1`]);
});

Deno.test("who reads slowly hears later, and holds up nobody", () => {
  const world = new ManualWorld();
  const room = new PresenceRoom(world);
  const [a, b, c] = [new Ear(1), new Ear(2), new Ear(3)];
  for (const ear of [a, b, c]) room.join(ear);
  b.buffered = 10_000_000;
  room.set(a, bytes(1));
  world.advance(limits.presenceMs);
  room.set(a, bytes(2));
  world.advance(limits.presenceMs);
  assert.deepEqual(c.heard, ["1 user-1 1", "1 user-1 2"]);
  assert.deepEqual(b.heard, []);
  b.buffered = 0;
  world.advance(limits.presenceMs);
  assert.deepEqual(b.heard, ["1 user-1 2"]);
});

Deno.test("presence is bounded in peers and bytes", () => {
  const world = new ManualWorld();
  const room = new PresenceRoom(world);
  const ear = new Ear(0);
  room.join(ear);
  for (let id = 1; id <= limits.presencePeersMax + 5; id++) {
    room.set(new Ear(id), bytes(1));
  }
  room.set(new Ear(1), new Uint8Array(limits.presenceBytesMax + 1));
  world.advance(limits.presenceMs);
  assert.equal(ear.heard.length, limits.presencePeersMax);
});

Deno.test("the list of others is the same object until it changes, and bounded", () => {
  const others = new Others();
  const empty = others.list;
  assert.equal(others.list, empty);
  assert.ok(others.set(1, "ann", bytes(1)));
  const one = others.list;
  assert.deepEqual(one, [{ peer: 1, user: "ann", bytes: bytes(1) }]);
  assert.ok(!others.set(2, "ben", bytes()));
  assert.equal(others.list, one);
  for (let i = 0; i < 2 * limits.presencePeersMax; i++) {
    others.set(i, "x", bytes(1));
  }
  assert.equal(others.list.length, limits.presencePeersMax);
  assert.ok(!others.set(1, "x", new Uint8Array(limits.presenceBytesMax + 1)));
  assert.ok(others.clear());
  assert.ok(!others.clear());
  assert.deepEqual(others.list, []);
});
