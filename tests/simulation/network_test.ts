/** The virtual network does to frames what it says, and nothing else. */

import { deepEqual, equal, ok } from "node:assert/strict";
import type {
  Transport,
  TransportEnd,
} from "../../sync/transport/transport.ts";
import { Dice } from "./dice.ts";
import { Mangler } from "./mangler.ts";
import { type Link, Network } from "./network.ts";
import type { Lane } from "./pipe.ts";
import { Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";

const lane = (): Lane => ({
  delayMs: 10,
  jitterMs: 5,
  bytesPerMs: 1,
  isStalled: false,
});

/** A connection, and what its server's end hears. */
async function connected() {
  const timeline = new Timeline();
  const dice = new Dice(1);
  const network = new Network({
    timeline,
    dice,
    trace: new Trace(timeline),
    tap: () => {},
  });
  const link: Link = network.link("c", lane(), lane());
  const heard: number[] = [];
  const ends: TransportEnd[] = [];
  let server: Transport | undefined;
  network.listener = ({ transport }) => {
    server = transport;
    transport.listen({
      frame: (bytes) => void heard.push(bytes[0]!),
      ended: (end) => void ends.push(end),
    });
  };
  const client = await timeline.settle(
    network.connect(link, new AbortController().signal),
  );
  return { timeline, network, link, heard, ends, client, server: server! };
}

Deno.test("frames arrive in order, as late as the lane is long and narrow", async () => {
  const { timeline, heard, client } = await connected();
  const beganMs = timeline.nowMs;
  for (let i = 0; i < 50; i++) client.send(Uint8Array.of(i, 0, 0, 0));
  ok(client.buffered > 0);
  await timeline.runUntil(beganMs + 100);
  ok(heard.length > 0 && heard.length < 25);
  await timeline.runUntil(beganMs + 300);
  deepEqual(heard, Array.from({ length: 50 }, (_, i) => i));
  equal(client.buffered, 0);
});

Deno.test("what is sent on a stalled lane waits, and comes when it is healed", async () => {
  const { timeline, network, link, heard, client, server } = await connected();
  link.up.isStalled = true;
  network.changed(link);
  client.send(Uint8Array.of(1));
  const back: number[] = [];
  client.listen({
    frame: (bytes) => void back.push(bytes[0]!),
    ended: () => {},
  });
  server.send(Uint8Array.of(2));
  await timeline.runUntil(timeline.nowMs + 60_000);
  deepEqual([heard, back], [[], [2]]);
  equal(client.buffered, 1);
  equal(link.silentSinceMs, Infinity);
  link.up.isStalled = false;
  network.changed(link);
  await timeline.runUntil(timeline.nowMs + 1);
  deepEqual(heard, [1]);
});

Deno.test("a connection that breaks delivers a first part of what was sent, then the end", async () => {
  const { timeline, network, link, heard, ends, client } = await connected();
  for (let i = 0; i < 20; i++) client.send(Uint8Array.of(i));
  network.breakLink(link, { client: "untold", server: "told" });
  client.send(Uint8Array.of(99));
  await timeline.runUntil(timeline.nowMs + 1_000);
  ok(heard.length < 20);
  deepEqual(heard, Array.from({ length: heard.length }, (_, i) => i));
  deepEqual(ends.map(({ code }) => code), ["lost"]);
});

Deno.test("close() lets what was sent arrive, then ends both sides with its code", async () => {
  const { timeline, heard, ends, client } = await connected();
  client.send(Uint8Array.of(7));
  client.close("timeout", "too late");
  client.send(Uint8Array.of(8));
  await timeline.runUntil(timeline.nowMs + 1_000);
  deepEqual(heard, [7]);
  deepEqual(ends, [{ code: "timeout", detail: "too late" }]);
});

Deno.test("nobody connects over a link that is cut, nor to a server that is down", async () => {
  const { timeline, network, link } = await connected();
  const { signal } = new AbortController();
  const codeOf = (cause: TransportEnd) => cause.code;
  link.isCut = true;
  equal(
    await timeline.settle(network.connect(link, signal).then(() => "", codeOf)),
    "unavailable",
  );
  link.isCut = false;
  network.listener = undefined;
  equal(
    await timeline.settle(network.connect(link, signal).then(() => "", codeOf)),
    "unavailable",
  );
});

Deno.test("a mangler drops, repeats, exchanges, spoils and shortens frames, and no others", () => {
  const done = new Set<string>();
  const mangler = new Mangler(new Dice(3), 0.5, (what) => done.add(what));
  let [arrived, sound] = [0, 0];
  for (let i = 0; i < 200; i++) {
    for (const frame of mangler.mangle("client", Uint8Array.of(1, 2, 3))) {
      arrived++;
      if (frame.join() === "1,2,3") sound++;
    }
  }
  deepEqual([...done].sort(), [
    "drop",
    "exchange",
    "repeat",
    "shorten",
    "spoil",
  ]);
  ok(sound > 100 && arrived > sound);
});

Deno.test("events at one time run in the order in which they were planned", async () => {
  const timeline = new Timeline();
  const ran: number[] = [];
  for (let i = 0; i < 100; i++) timeline.after(i % 3, () => void ran.push(i));
  timeline.after(1, () => void ran.push(-1))();
  await timeline.runUntil(10);
  const wanted = [0, 1, 2].flatMap((time) =>
    Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 3 === time)
  );
  deepEqual(ran, wanted);
});
