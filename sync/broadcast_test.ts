import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import {
  type ManualWorld,
  Place,
  sessionOf,
} from "../tests/kit/replica_place.ts";
import {
  ClientSide,
  disks,
  meet,
  ServerSide,
  type Serving,
  start,
  Talk,
} from "../tests/kit/talk.ts";
import { Broadcast } from "./broadcast.ts";
import type { MessageOf } from "./message.ts";
import { decodeMessage } from "./message_codec.ts";

const RECORDS = 0x20;

/** A device of its own with the server, live and told of all that there is. */
async function join(
  serving: Serving,
  seed: number,
  channel: { broadcast?: Broadcast } = {},
): Promise<Talk> {
  const world = serving.place.world as ManualWorld;
  const place = await Place.open({ world, seed, session: sessionOf(seed) });
  const talk = meet(serving, place, undefined, channel);
  await talk.settle();
  return talk;
}

/** Everybody says and hears what there is, until all are silent. */
async function settle(...talks: Talk[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    for (const talk of talks) await talk.settle();
  }
}

/** The frames of records that a server has for a client. */
function records({ server }: Talk): Uint8Array[] {
  return server.sent.filter(([kind]) => kind === RECORDS);
}

/** What the first of them says. */
function recordsOf(talk: Talk): MessageOf<"records"> {
  const message = decodeMessage(records(talk)[0]!);
  ok(message.is === "records");
  return message;
}

/** Ends all of them; everybody found himself equal with the server. */
async function endEqual(...talks: Talk[]): Promise<void> {
  await settle(...talks);
  for (const talk of talks) await talk.pass(limits.witnessMs);
  await settle(...talks);
  const digests = talks.map(({ client }) => {
    const port = client.place.replica.port();
    return port.digestOf(port.summary()!);
  });
  for (const [i, talk] of talks.entries()) {
    deepEqual(talk.client.told("incident"), []);
    equal(talk.client.ended, undefined);
    deepEqual(digests[i], digests[0]);
    ok(talk.client.told("equal").length > 0, "a witness was equal");
    talk.end();
  }
}

Deno.test("a frame is encoded once for all who stand at one place, and is the one that each would get alone", async () => {
  const { serving } = await start();
  const writer = await join(serving, 1);
  const many = [await join(serving, 2), await join(serving, 3)];
  const alone = await join(serving, 4, { broadcast: new Broadcast() });
  const all = [writer, ...many, alone];
  await writer.client.place.write("first", "1");
  await settle(...all); // A witness is awaited from now on.
  for (let i = 0; i < 5; i++) {
    await writer.client.place.write(`n${i}`, "x".repeat(i * 700));
    await writer.settle();
    const [one, other] = many.map(records);
    equal(one!.length, 1);
    equal(one![0], other![0], "the very bytes");
    deepEqual(records(alone), one, "as it gets them alone");
    notEqual(records(alone)[0], one![0]);
    await settle(...all);
  }
  await endEqual(...all);
});

Deno.test("who wrote some of it gets the rest alone", async () => {
  const { serving } = await start();
  const all: Talk[] = [];
  for (let seed = 1; seed <= 5; seed++) all.push(await join(serving, seed));
  const [ann, bob, ...others] = all as [Talk, Talk, ...Talk[]];
  await ann.client.place.write("a", "1");
  await bob.client.place.write("b", "1");
  await settle(...all);
  for (let i = 0; i < 4; i++) {
    await ann.client.place.write(`a${i}`, "1");
    await bob.client.place.write(`b${i}`, "1");
    await disks();
    // Both come before the server's disk is done with the first: one flush.
    for (const frame of ann.client.take()) ann.server.frame(frame.slice());
    for (const frame of bob.client.take()) bob.server.frame(frame.slice());
    await disks();
    const counts = all.map((talk) =>
      records(talk).map((frame) => {
        const message = decodeMessage(frame);
        return message.is === "records" ? message.records.length : 0;
      })
    );
    deepEqual(counts, [[1], [1], [2], [2], [2]]);
    equal(records(others[0]!)[0], records(others[1]!)[0]);
    await settle(...all);
  }
  await endEqual(...all);
});

Deno.test("a repository under another number on somebody's connection comes in a frame with that", async () => {
  const { serving, world } = await start();
  const writer = await join(serving, 1);
  const two = await join(serving, 2);
  // Its channel was closed and opened again: another number.
  const place = await Place.open({ world, seed: 3, session: sessionOf(3) });
  const server = new ServerSide(world, serving);
  const three = new Talk(world, server, new ClientSide(world, place));
  await three.settle();
  const port = place.replica.port();
  three.client.perform(three.client.core.close(port.name));
  three.client.perform(three.client.core.open(port, three.client.server));
  const all = [writer, two, three];
  await settle(...all);
  await writer.client.place.write("first", "1");
  await settle(...all);
  await writer.client.place.write("second", "1");
  await writer.settle();
  const low = recordsOf(two);
  const high = recordsOf(three);
  ok(high.channel > low.channel);
  deepEqual({ ...high, channel: low.channel }, low);
  await endEqual(...all);
});

Deno.test("who does not read is sent no more than its window holds, and all of it afterwards", async () => {
  const { serving } = await start();
  const writer = await join(serving, 1);
  const [reader, slow] = [await join(serving, 2), await join(serving, 3)];
  const all = [writer, reader, slow];
  await writer.client.place.write("first", "1");
  await settle(...all);
  const text = "x".repeat(60_000);
  for (let i = 0; i < 40; i++) {
    await writer.client.place.write(`n${i}`, text);
    await writer.settle();
    await reader.settle();
  }
  const bytes = slow.server.sent.reduce((sum, { length }) => sum + length, 0);
  ok(bytes > limits.windowBytes / 2, `${bytes}`);
  ok(bytes <= limits.windowBytes + 1_000, `${bytes}`);
  await endEqual(...all);
});
