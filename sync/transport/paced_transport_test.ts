import assert from "node:assert/strict";
import { limits } from "../../src/base/limits.ts";
import { ManualWorld } from "../../tests/kit/replica_place.ts";
import { PacedTransport } from "./paced_transport.ts";
import type { Transport, TransportEvents } from "./transport.ts";

function start(
  charge: (workMs: number) => number,
  hasRefused: () => boolean = () => false,
) {
  const world = new ManualWorld();
  let events: TransportEvents | undefined;
  const said: string[] = [];
  const wire: Transport = {
    buffered: 7,
    listen: (given) => void (events = given),
    send: (frame) => void said.push(`sent ${frame.length}`),
    close: (code) => void said.push(`closed ${code}`),
  };
  const paced: PacedTransport = new PacedTransport(wire, {
    world,
    charge,
    hasRefused,
    flooded: (): void => paced.close("rate-limited", ""),
  });
  paced.listen({
    frame: ([kind, number]) => void said.push(`${kind} ${number}`),
    ended: ({ code }) => void said.push(`ended ${code}`),
  });
  const comeWith = (frame: Uint8Array) => events!.frame(frame);
  const come = (kind: number, number = 0) =>
    comeWith(Uint8Array.of(kind, number));
  return {
    world,
    said,
    come,
    comeWith,
    paced,
    end: () => events!.ended({ code: "lost", detail: "" }),
  };
}

Deno.test("a paced wire is a wire while nothing is to wait for", () => {
  const { said, come, paced, end } = start(() => 0);
  for (let i = 0; i < 3; i++) come(0x40, i);
  paced.send(new Uint8Array(5));
  assert.equal(paced.buffered, 7);
  end();
  assert.deepEqual(said, ["64 0", "64 1", "64 2", "sent 5", "ended lost"]);
});

Deno.test("records of which some were refused are charged for", () => {
  let hasRefused = false;
  const { world, said, come } = start(() => 100, () => hasRefused);
  come(0x20, 0);
  hasRefused = true;
  come(0x20, 1);
  come(0x20, 2);
  assert.deepEqual(said, ["32 0", "32 1"]);
  hasRefused = false;
  world.advance(100);
  come(0x20, 3);
  assert.deepEqual(said.slice(2), ["32 2", "32 3"]);
});

Deno.test("frames that come too fast wait, in order, and records with them", () => {
  const { world, said, come } = start(() => 100);
  come(0x20, 0);
  come(0x20, 1);
  come(0x40, 2);
  come(0x20, 3);
  come(0x40, 4);
  come(0x20, 5);
  assert.deepEqual(said, ["32 0", "32 1", "64 2"]);
  world.advance(100);
  assert.deepEqual(said.slice(3), ["32 3", "64 4"]);
  world.advance(100);
  assert.deepEqual(said.slice(5), ["32 5"]);
  assert.equal(world.timers, 0);
});

Deno.test("who sends on and on is closed, and nothing more of it is done", () => {
  const { world, said, come } = start(() => 100);
  for (let i = 0; i < limits.pacedFramesMax + 10; i++) come(0x40);
  assert.deepEqual(said, ["64 0", "closed rate-limited"]);
  world.advance(100);
  assert.equal(said.length, 2);
  assert.equal(world.timers, 0);
});

Deno.test("who sends on and on in large frames is closed when few of them wait", () => {
  const { said, comeWith } = start(() => 100);
  const frame = new Uint8Array(limits.frameBytesMax).fill(0x40);
  const fitting = Math.floor(limits.pacedBytesMax / frame.length);
  for (let i = 0; i < 1 + fitting; i++) comeWith(frame);
  assert.deepEqual(said, ["64 64"]);
  comeWith(frame);
  assert.deepEqual(said, ["64 64", "closed rate-limited"]);
});

Deno.test("a wire that ends forgets what waited", () => {
  const { world, said, come, end } = start(() => 100);
  come(0x40, 1);
  come(0x40, 2);
  end();
  world.advance(100);
  assert.deepEqual(said, ["64 1", "ended lost"]);
});
