/** A large repository is audited in slices, and everybody else is served in between. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { ManualWorld, Place } from "../tests/kit/replica_place.ts";
import { finished } from "../tests/kit/sliced.ts";
import { ClientSide, ServerSide, Serving, Talk } from "../tests/kit/talk.ts";
import { ClientPlace, ServerPlace, until } from "../tests/kit/sync_place.ts";
import type { ServerOptions } from "./conversation.ts";
import type { Message } from "./message.ts";

const SLICES = 5;
const ITEMS = SLICES * limits.auditItemsPerSlice - 1;

/** A client that is live with a server of some slices of items. */
async function live(
  options: Pick<ServerOptions, "chargeAudit" | "hasRoom"> = {},
) {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  for (let i = 0; i < ITEMS; i++) void serving.place.write(`n${i}`, "text");
  await serving.place.replica.durable();
  const place = await Place.open({ world, seed: 1 });
  const server = new ServerSide(world, serving, options);
  const talk = new Talk(world, server, new ClientSide(world, place));
  await talk.settle();
  equal(place.text("n7"), "text");
  return { world, serving, place, server, client: talk.client, talk };
}

function asking(question: number, prefix: readonly number[] = []): Message {
  return { is: "audit", channel: 1, question, query: { ask: "state", prefix } };
}

function answersOf({ messages }: ServerSide) {
  return messages.flatMap((message) =>
    message.is === "audited" ? [message.question] : []
  );
}

Deno.test("a server hashes so many items a turn, answers others in between, and answers when it is done", async () => {
  const { server, serving, talk } = await live();
  server.message(asking(1));
  for (let turn = 1; turn < SLICES; turn++) {
    deepEqual(answersOf(server), []);
    server.message({ is: "ping", token: turn });
    equal(server.messages.at(-1)?.is, "pong");
    server.tick();
  }
  deepEqual(answersOf(server), [1]);
  const answer = server.messages.find(({ is }) => is === "audited");
  const digests = finished(serving.place.replica.port().stateDigests([]));
  deepEqual(
    (answer as { answer: Uint8Array }).answer,
    new Uint8Array(digests.flatMap((digest) => [...digest])),
  );
  server.message(asking(2)); // What did not change is not hashed again.
  deepEqual(answersOf(server), [1, 2]);
  talk.end();
});

Deno.test("a server goes on with an audit as fast as it is paid for", async () => {
  const charged: number[] = [];
  const { server, world, talk } = await live({
    chargeAudit: (items) => charged.push(items) * 50,
  });
  server.message(asking(1));
  for (let turn = 1; turn < SLICES; turn++) {
    deepEqual(charged, new Array(turn).fill(limits.auditItemsPerSlice));
    equal(server.wakeMs, world.monotonic() + turn * 50);
    server.tick();
    equal(charged.length, turn, "it is not time");
    world.advance(turn * 50);
    server.tick();
  }
  deepEqual(answersOf(server), [1]);
  talk.end();
});

Deno.test("a server does nothing for an audit while it has no memory for it", async () => {
  let hasRoom = false;
  const { server, world, talk } = await live({ hasRoom: () => hasRoom });
  server.message(asking(1));
  for (let turn = 0; turn < 2 * SLICES; turn++) {
    equal(server.wakeMs, world.monotonic() + 1_000);
    world.advance(1_000);
    server.tick();
  }
  hasRoom = true;
  for (let turn = 0; turn < SLICES; turn++) {
    deepEqual(answersOf(server), []);
    world.advance(1_000);
    server.tick();
  }
  deepEqual(answersOf(server), [1]);
  talk.end();
});

Deno.test("a question before the last one was answered ends the conversation, and a closed channel is not worked for", async () => {
  const one = await live();
  one.server.message(asking(1));
  one.server.message(asking(2));
  equal(one.server.ended?.code, "bad-message");
  one.talk.end();
  let charged = 0;
  const other = await live({ chargeAudit: () => ++charged });
  other.server.message(asking(1));
  other.server.message({ is: "close", channel: 1 });
  for (let turn = 0; turn < SLICES; turn++) {
    await other.talk.pass(limits.heartbeatMs);
  }
  deepEqual(answersOf(other.server), []);
  equal(charged, 1);
  other.talk.end();
});

Deno.test("a client audits in slices of its own, and finds what differs", async () => {
  const { place, serving, client, talk } = await live();
  const { name } = place.replica.port();
  const report = async () => {
    client.events.length = 0;
    client.perform(client.core.audit(name));
    let turns = 0;
    for (; client.told("audited").length === 0; turns++) await talk.pass(1);
    return { turns, ...client.told("audited")[0]!.report };
  };
  const { turns, ...first } = await report();
  ok(turns >= SLICES, `${turns} turns`);
  const equalReport = { equal: true, commits: [], items: [], isPartial: false };
  deepEqual(first, equalReport);
  const { state } = serving.place.replica;
  const [collection] = state.tables();
  const cell = collection!.cellOf("n9")!;
  state.put(collection!.name, { ...cell, generation: 7 });
  const second = await report();
  deepEqual(second.items, [{ collection: collection!.name, id: "n9" }]);
  state.put(collection!.name, cell);
  const { turns: _, ...third } = await report();
  deepEqual(third, equalReport);
  talk.end();
});

Deno.test("a host charges a session for what its audits hash", async () => {
  const charges: number[] = [];
  const server = await ServerPlace.start(undefined, undefined, {
    workDelay: (_peer, workMs) => {
      charges.push(workMs);
      return 0;
    },
  });
  for (let i = 0; i < ITEMS; i++) void server.place.write(`n${i}`, "text");
  await server.place.replica.durable();
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  charges.length = 0;
  let isEqual: boolean | undefined;
  void ann.channel.audit().then((report) => isEqual = report.equal);
  await until(server.world, () => isEqual !== undefined);
  equal(isEqual, true);
  const sliceMs = Math.max(...charges);
  ok(sliceMs > 1, "more than a frame costs");
  equal(charges.filter((ms) => ms === sliceMs).length, SLICES - 1);
  ann.close();
  await server.stop();
});
