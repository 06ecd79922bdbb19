import assert from "node:assert/strict";
import { chainBytes } from "../repo/commit/commit.ts";
import { voidLayout } from "../repo/commit/void.ts";
import { recordKind } from "../repo/log/format.ts";
import { encodeRefusal } from "../repo/refusal/void_commits.ts";
import { concatBytes } from "../src/base/bytes.ts";
import { type Batch, decodeBatch } from "../repo/commit/batch.ts";
import {
  type Refusal,
  type RefusalReason,
  refuse,
  refuseAt,
} from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { ManualWorld, Place } from "../tests/kit/replica_place.ts";
import {
  ClientSide,
  disks,
  proverFor,
  ServerSide,
  Serving,
  Talk,
} from "../tests/kit/talk.ts";
import type { ClientOptions, ServerChannelOptions } from "./conversation.ts";
import type { MessageOf, WireRecord } from "./message.ts";
import { decodeMessage, encodeMessage } from "./message_codec.ts";
import { giveReceipts } from "./receipt.ts";
import type { ResumeState } from "./resume.ts";

interface Options {
  readonly gate?: (batch: Batch) => Refusal | undefined;
  readonly channel?: Partial<ServerChannelOptions>;
  readonly client?: Omit<Partial<ClientOptions>, "session">;
}

async function start({ gate, channel = {}, client = {} }: Options = {}) {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  const talk = new Talk(
    world,
    new ServerSide(world, serving, {}, { ...channel, ...(gate && { gate }) }),
    new ClientSide(world, place, undefined, client),
  );
  return { world, serving, place, talk };
}

/** A client connects to a server that has this gate. */
function meet(
  world: ManualWorld,
  serving: Serving,
  place: Place,
  gate: (batch: Batch) => Refusal | undefined,
  resume?: ResumeState,
  isKept = false,
): Talk {
  const keeps = () => isKept;
  const server = new ServerSide(world, serving, {}, { gate, keeps });
  return new Talk(world, server, new ClientSide(world, place, resume));
}

function digestOf({ replica }: Place): Uint8Array | undefined {
  return replica.graph.summary();
}

/** A gate that refuses once, for a reason. */
function once(refusalOf: (batch: Batch) => Refusal) {
  let isDone = false;
  return (batch: Batch) => {
    if (isDone) return undefined;
    isDone = true;
    return refusalOf(batch);
  };
}

/** Is there a commit in it that says something? */
function says({ commits }: Batch): boolean {
  return commits.some(({ isVoid }) => !isVoid);
}

Deno.test("a refused commit is undone alone: what came before and after it arrives, and its chain goes on", async () => {
  const gate = once(({ first }) => refuseAt(first + 3, "denied", "not you"));
  const { serving, place, talk } = await start({ gate });
  for (let i = 0; i < 10; i++) void place.write(`a${i}`, "1");
  await place.replica.durable();
  await talk.settle();
  await talk.pass(100);
  const [refused, ...more] = talk.client.told("refused");
  assert.deepEqual(more, []);
  assert.deepEqual(
    [refused?.number, refused?.count, refused?.reason, refused?.then],
    [3, 1, "denied", "void"],
  );
  assert.equal(place.text("a3"), undefined);
  assert.equal(serving.place.text("a3"), undefined);
  for (const i of [0, 1, 2, 4, 9]) {
    assert.equal(serving.place.text(`a${i}`), "1");
  }
  assert.deepEqual(digestOf(place), digestOf(serving.place));
  const port = serving.place.replica.port();
  assert.deepEqual([...port.vector().values()], [10]);
  await talk.pass(limits.witnessMs);
  assert.ok(talk.client.told("equal").length > 0);
  assert.deepEqual(talk.client.told("incident"), []);
  talk.end();
});

Deno.test("a refusal that names no commit is of the whole batch", async () => {
  const gate = once(() => refuse("bad-clock", "61000 ms ahead"));
  const { serving, place, talk } = await start({ gate });
  for (let i = 0; i < 5; i++) void place.write(`a${i}`, "1");
  await place.replica.durable();
  await talk.settle();
  await place.write("later", "1");
  await talk.settle();
  await talk.pass(limits.witnessMs);
  const refused = talk.client.told("refused");
  assert.equal(refused.reduce((sum, { count }) => sum + count, 0), 5);
  assert.equal(serving.place.text("later"), "1");
  assert.equal(place.text("a0"), undefined);
  assert.deepEqual(digestOf(place), digestOf(serving.place));
  talk.end();
});

Deno.test("what the server has admitted is never cut, though its ack was lost", async () => {
  const { world, serving, place, talk } = await start();
  await talk.settle();
  await talk.pass(limits.witnessMs);
  const { resume } = talk.client;
  for (let i = 0; i < 4; i++) void place.write(`a${i}`, "1");
  await place.replica.durable();
  await talk.flight(); // The batch goes up; its ack never comes down.
  await disks();
  talk.end();
  assert.equal(serving.place.text("a3"), "1");
  await place.write("bad", "1");
  const gate = once(({ first, commits }) =>
    refuseAt(first + commits.length - 1, "denied")
  );
  const again = new Talk(
    world,
    new ServerSide(world, serving, {}, { gate }),
    new ClientSide(world, place, resume),
  );
  await again.settle();
  await again.pass(limits.witnessMs);
  assert.equal(again.client.told("refused").length, 1);
  assert.equal(place.text("bad"), undefined);
  assert.equal(place.text("a3"), "1");
  assert.deepEqual(digestOf(place), digestOf(serving.place));
  const [chain = ""] = serving.place.replica.port().vector().keys();
  assert.equal(place.replica.port().lengthOf(chain), 5, "none came twice");
  again.end();
});

Deno.test("refusals that come together are acted on once", async () => {
  const { place, talk } = await start();
  await talk.settle();
  talk.client.sent = [];
  for (let i = 0; i < 6; i++) void place.write(`a${i}`, "1");
  await place.replica.durable();
  await disks();
  const [chain = ""] = place.replica.port().vector().keys();
  const sequence = 1; // Its certificate did not go: the proof showed it.
  const refusal = {
    is: "refuse",
    channel: 1,
    sequence,
    chain,
    from: 0,
    count: 1,
    rule: "r",
    detail: "",
    kept: true,
  } as const;
  talk.client.message({ ...refusal, number: 1, reason: "denied" });
  talk.client.message({ ...refusal, number: 4, reason: "denied" });
  assert.deepEqual(talk.client.told("refused"), [], "more may come");
  talk.client.message({ is: "ack", channel: 1, sequence, receipt: undefined });
  assert.deepEqual(
    talk.client.told("refused").map(({ number, kept }) => [number, kept]),
    [[1, true], [4, true]],
  );
  assert.deepEqual([place.text("a1"), place.text("a4")], [
    undefined,
    undefined,
  ]);
  assert.equal(place.text("a5"), "1");
  await disks();
  assert.equal(place.replica.graph.commits, 6);
  talk.end();
});

Deno.test("what a refusal had passed over is not acknowledged by a later one that says that the server has it", async () => {
  const due = [1, 5];
  const gate = ({ first, commits }: Batch) => {
    const isDue = commits[due[0]! - first]?.isVoid === false;
    return isDue ? refuseAt(due.shift()!, "denied") : undefined;
  };
  const { world, serving, place, talk } = await start({ gate });
  await talk.settle();
  for (const texts of [["a"], ["b", "c"], ["d", "e"]]) {
    for (const text of texts) void place.write(text, "1");
    await place.replica.durable();
    await disks();
  }
  const refusals: MessageOf<"refuse">[] = [];
  const { client, server } = talk;
  const acked = new Set<number>();
  const acknowledge = (channel: number, sequence: number) => {
    if (acked.has(sequence)) return;
    acked.add(sequence);
    const { session, order } = serving;
    const port = serving.place.replica.port();
    const prover = proverFor(session);
    const [receipt] = giveReceipts({ port, prover, epoch: order.epoch }, {
      ...{ at: order.last, wall: world.now() },
      authors: [Array.from(port.vector().keys(), (chain) => [chain, 1])],
    });
    client.frame(encodeMessage({ is: "ack", channel, sequence, receipt }));
  };
  for (let flight = 0; flight < 30 && refusals.length < 2; flight++) {
    await disks();
    for (const frame of server.take()) {
      const message = decodeMessage(frame);
      if (message.is === "refuse") refusals.push(message);
      // As from a server with a slow disk, on which only the first batch is safe.
      if (message.is !== "ack") client.frame(frame.slice());
      else acknowledge(message.channel, 1);
    }
    await disks();
    for (const frame of client.take()) server.frame(frame.slice());
    // What was passed over is on its way once more, and more follows it.
    if (flight === 1) void place.write("f", "1");
  }
  const [first, later] = refusals;
  assert.deepEqual([first?.from, later?.from], [1, 5]);
  // The second batch was refused, and the third stood behind it.
  acknowledge(first!.channel, first!.sequence + 1);
  assert.deepEqual(client.told("acked").map(({ count }) => count), [1]);
  // Nor does it miss a receipt of that.
  assert.deepEqual(client.told("incident"), []);
  await talk.settle();
  talk.end();
});

Deno.test("a chain goes on whose refusal was under way when its commit was given up with another one's", async () => {
  for (const isBack of [false, true]) {
    const { world, serving, place, talk: before } = await start();
    await before.settle();
    before.end();
    await place.write("a", "1");
    await place.write("b", "1");
    const port = place.replica.port();
    const [first] = [...port.vector().keys()] as [string];
    port.cut([{ chain: first, from: 1 }]); // So it is written again in a chain of its own.
    await disks();
    const second = [...port.vector().keys()].find((one) => one !== first)!;
    const gate = (batch: Batch) =>
      batch.first === 0 && says(batch) ? refuse("denied") : undefined;
    const resume = isBack ? before.client.resume : undefined;
    const talk = meet(world, serving, place, gate, resume);
    const why = { reason: "denied", rule: "", detail: "", kept: false };
    for (let flight = 0; flight < 10; flight++) {
      await disks();
      for (const frame of talk.server.take()) {
        const message = decodeMessage(frame);
        if (message.is === "refuse" && message.chain === first) {
          place.replica.refuse(second, [{ number: 0, ...why }]);
        }
        talk.client.frame(frame.slice());
      }
      await disks();
      for (const frame of talk.client.take()) talk.server.frame(frame.slice());
    }
    assert.equal(talk.client.told("refused").length, 2);
    await place.write("c", "1");
    await talk.settle();
    assert.deepEqual(serving.place.replica.port().vector(), port.vector());
    assert.equal(serving.place.text("c"), "1");
    talk.end();
  }
});

Deno.test("who comes back after a refusal sends what was to be sent again, whatever stood behind it on the way", async () => {
  const { world, serving, place, talk } = await start();
  const other = await Place.open({ world, seed: 2 });
  await other.write("theirs", "1");
  await talk.settle();
  await talk.pass(limits.witnessMs);
  const before = talk.client.resume.uploadedTo;
  talk.client.sent = [];
  void place.write("bad", "1");
  await place.write("good", "1");
  place.replica.port().receive(await other.arrivals());
  place.replica.port().settle();
  await disks();
  const [chain = ""] = place.replica.port().vector().keys();
  const said = { channel: 1, sequence: 1 };
  const what = { chain, from: 0, number: 0, count: 1, kept: false };
  const why = { reason: "denied", rule: "", detail: "" };
  talk.client.message({ is: "refuse", ...said, ...what, ...why });
  talk.client.message({ is: "ack", ...said, receipt: undefined });
  await disks();
  const { uploadedTo } = talk.client.resume;
  assert.equal(uploadedTo <= before, true, `${uploadedTo} is behind ${before}`);
  const { resume } = talk.client;
  talk.end();
  const again = meet(world, serving, place, () => undefined, resume);
  await again.settle();
  assert.equal(serving.place.text("good"), "1");
  assert.equal(serving.place.text("theirs"), "1");
  assert.ok(again.client.server.isQuiet);
  again.end();
});

Deno.test("what a quota refused is not void, and goes up later on the same connection", async () => {
  const gate = once(() => refuse("quota"));
  const { serving, place, talk } = await start({ gate });
  await place.write("a", "1");
  await talk.settle();
  await talk.pass(100);
  assert.equal(talk.client.told("refused")[0]?.then, "later");
  assert.equal(place.text("a"), "1");
  assert.equal(serving.place.text("a"), undefined);
  assert.ok(!talk.client.server.isQuiet);
  await talk.pass(limits.refusedRetryMs);
  await talk.pass(limits.witnessMs);
  assert.equal(serving.place.text("a"), "1");
  assert.ok(talk.client.server.isQuiet);
  assert.deepEqual(digestOf(place), digestOf(serving.place));
  talk.end();
});

Deno.test("a stub whose void a quota refused goes up later, also where the quota has room again for its batch", async () => {
  const { world, serving, place, talk } = await start();
  await place.write("first", "1");
  await talk.settle();
  await talk.pass(limits.witnessMs);
  talk.end();
  let asked = 0;
  const wants = ({ kind }: WireRecord) =>
    kind === recordKind.void && asked++ === 0 ? refuse("quota") : undefined;
  const gate = once(({ first }) => refuseAt(first, "denied"));
  const again = new Talk(
    world,
    new ServerSide(world, serving, {}, { gate, wants }),
    new ClientSide(world, place, talk.client.resume),
  );
  await again.settle();
  void place.write("a", "1");
  await place.write("b", "1");
  await again.settle();
  await again.pass(100);
  assert.equal(serving.place.text("b"), undefined);
  assert.ok(!again.client.server.isQuiet);
  await again.pass(limits.refusedRetryMs);
  await again.pass(limits.witnessMs);
  assert.equal(serving.place.text("b"), "1");
  assert.equal(place.text("a"), undefined);
  assert.ok(again.client.server.isQuiet);
  assert.deepEqual(digestOf(place), digestOf(serving.place));
  again.end();
});

Deno.test("what a quota refused of others, and what descends from it, goes up later on the same connection", async () => {
  const { world, serving, place, talk } = await start();
  await place.write("a", "1");
  await talk.settle();
  const relay = await Place.open({ world, seed: 2 });
  const first = new Talk(
    world,
    new ServerSide(world, serving),
    new ClientSide(world, relay),
  );
  await first.settle();
  assert.equal(relay.text("a"), "1");
  await relay.write("b", "1");
  talk.end();
  first.end();
  const other = await Serving.open(world);
  const chain = [...place.replica.graph.chains()][0]!.name;
  const reasons: string[] = [];
  const gate = (batch: Batch) => {
    if (batch.chain !== chain || reasons.push("quota") > 1) return undefined;
    return refuse("quota");
  };
  const again = meet(world, other, relay, gate);
  await again.settle();
  await again.pass(100);
  const refused = again.client.told("refused");
  assert.deepEqual(
    refused.map(({ reason, then }) => [reason, then]),
    [["quota", "later"], ["missing-parent", "later"]],
  );
  assert.deepEqual(again.client.told("incident"), []);
  assert.equal(other.place.text("a"), undefined);
  await again.pass(limits.refusedRetryMs);
  await again.pass(limits.witnessMs);
  assert.equal(other.place.text("b"), "1");
  assert.deepEqual(digestOf(relay), digestOf(other.place));
  again.end();
});

Deno.test("an expired session is told, not void, unless a new certificate did not help", async () => {
  for (const canRenew of [true, false]) {
    const gate = () => refuse("expired-session");
    const { place, talk } = await start({ gate, client: { canRenew } });
    await place.write("a", "1");
    await talk.settle();
    await talk.pass(100);
    const [refused] = talk.client.told("refused");
    assert.equal(refused?.then, canRenew ? "login" : "void");
    assert.equal(place.text("a"), canRenew ? "1" : undefined);
    talk.end();
  }
});

Deno.test("a server that refuses all of a session is not asked for ever", async () => {
  const gate = () => refuse("revoked");
  const { place, talk } = await start({ gate });
  await place.write("a", "1");
  await talk.settle();
  for (let i = 0; i < 5; i++) await talk.pass(100);
  assert.equal(talk.client.told("refused").length, 1);
  assert.equal(place.text("a"), undefined);
  assert.ok(talk.flights < 10);
  talk.end();
});

Deno.test("a gap sends the client back to vectors once, then it is an incident", async () => {
  const gate = () => refuse("gap");
  const { place, talk } = await start({ gate });
  await place.write("a", "1");
  await talk.settle();
  await talk.pass(100);
  await talk.pass(100);
  await talk.pass(100);
  assert.deepEqual(talk.client.told("refused").map(({ then }) => then), [
    "resynchronise",
    "skipped",
  ]);
  assert.equal(talk.client.told("incident").length, 1);
  assert.equal(talk.client.told("opened").length, 2);
  assert.equal(place.text("a"), "1");
  talk.end();
});

/** A replica brings a commit of another author to a server that refuses it. */
async function relayed(
  reason: RefusalReason,
  isProved = false,
  isKept = false,
) {
  const { world, serving, place, talk } = await start();
  const other = await Place.open({ world, seed: 2 });
  await other.write("theirs", "1");
  place.replica.port().receive(await other.arrivals());
  place.replica.port().settle();
  await place.write("own", "2");
  await disks();
  if (isProved) {
    await talk.settle();
    await talk.pass(limits.witnessMs);
  }
  const resume = isProved ? talk.client.resume : undefined;
  const there = isProved ? await Serving.open(world) : serving;
  talk.end();
  const theirs = [...other.replica.port().vector().keys()][0]!;
  const gate = ({ chain }: Batch) =>
    chain === theirs ? refuse(reason) : undefined;
  const again = meet(world, there, place, gate, resume, isKept);
  await again.settle();
  await again.pass(100);
  return { place, again, theirs };
}

Deno.test("another author's commits that were judged go here as well: the server's order is the law", async () => {
  const { place, again, theirs } = await relayed("denied");
  const [incident] = again.client.told("incident");
  assert.equal(incident?.kind, "relay-refused");
  assert.match(incident.message, /undone here/);
  assert.equal(place.text("theirs"), undefined);
  assert.equal(place.replica.port().lengthOf(theirs), 0);
  assert.equal(place.text("own"), "2");
  assert.ok(again.client.server.isQuiet);
  const again2 = await place.reopen();
  assert.equal(again2.text("theirs"), undefined);
  assert.equal(again2.text("own"), "2");
  again.end();
});

Deno.test("another author's commits that are revoked go where the server keeps them, unless they were proved", async () => {
  const cases = [[true, false], [false, false], [true, true]] as const;
  for (const [isKept, isProved] of cases) {
    const { place, again } = await relayed("revoked", isProved, isKept);
    await again.pass(limits.witnessMs);
    const isGone = isKept && !isProved;
    assert.equal(place.text("theirs"), isGone ? undefined : "1");
    assert.equal(place.text("own"), "2");
    const { serving } = again.server;
    assert.equal(serving.place.text("own"), isGone ? "2" : undefined);
    again.end();
  }
});

Deno.test("another author's commits that are void and revoked go, with what follows them, unless they were proved", async () => {
  for (const isProved of [false, true]) {
    const world = new ManualWorld();
    const [place, other] = await Promise.all(
      [1, 2].map((seed) => Place.open({ world, seed })),
    ) as [Place, Place];
    await other.write("void", "1");
    const [mine, port] = [place.replica.port(), other.replica.port()];
    const [theirs] = [...port.vector().keys()] as [string];
    const why = { reason: "denied", rule: "", detail: "", kept: false };
    other.replica.refuse(theirs, [{ number: 0, ...why }]);
    await other.replica.durable();
    mine.receive(port.credentials());
    mine.receive(port.read(0, 10_000).records);
    await place.write("own", "2"); // Or they came as one batch.
    const { end } = other.replica.loaded.log;
    await other.write("theirs", "1");
    mine.receive(port.read(end, 10_000).records);
    mine.settle();
    await disks();
    const before = meet(
      world,
      await Serving.open(world),
      place,
      () => undefined,
    );
    if (isProved) {
      await before.settle();
      await before.pass(limits.witnessMs);
    }
    before.end();
    const { resume } = before.client;
    const serving = await Serving.open(world);
    const gate = ({ chain }: Batch) =>
      chain === theirs ? refuse("revoked") : undefined;
    const talk = meet(world, serving, place, gate, resume);
    await talk.settle();
    await talk.pass(limits.witnessMs);
    assert.equal(place.text("theirs"), isProved ? "1" : undefined);
    assert.equal(place.text("own"), "2");
    assert.equal(serving.place.text("own"), isProved ? undefined : "2");
    talk.end();
  }
});

Deno.test("another author's commits that were proved stay, whatever a server says of them", async () => {
  const { place, again, theirs } = await relayed("denied", true);
  const [incident] = again.client.told("incident");
  assert.equal(incident?.kind, "relay-refused");
  assert.match(incident.message, /stays here/);
  assert.equal(place.replica.port().lengthOf(theirs), 1);
  assert.equal(place.text("theirs"), "1");
  again.end();
});

Deno.test("another author's commits that were proved go up though those behind them in their batch may not", async () => {
  const { world, place, talk } = await start();
  const other = await Place.open({ world, seed: 2 });
  const pass = async () => {
    place.replica.port().receive(await other.arrivals());
    place.replica.port().settle();
    await disks();
  };
  await other.write("theirs", "1");
  await pass();
  await talk.settle();
  await talk.pass(limits.witnessMs);
  const { resume } = talk.client;
  talk.end();
  await other.write("theirs", "late");
  await pass();
  const there = await Serving.open(world);
  const theirs = [...other.replica.port().vector().keys()][0]!;
  const gate = ({ chain, first, commits }: Batch) =>
    chain === theirs && first + commits.length > 1
      ? refuseAt(1, "expired-session")
      : undefined;
  const again = meet(world, there, place, gate, resume);
  await again.settle();
  await again.pass(100);
  assert.equal(there.place.replica.port().lengthOf(theirs), 1);
  assert.equal(place.replica.port().lengthOf(theirs), 1);
  assert.deepEqual(digestOf(place), digestOf(there.place));
  again.end();
});

Deno.test("another author's commits that may come later stay: their chain is skipped, and the rest goes on", async () => {
  const { place, again, theirs } = await relayed("unknown-session");
  const [incident] = again.client.told("incident");
  assert.equal(incident?.kind, "relay-refused");
  const acked = again.client.told("acked").map(({ chain }) => chain);
  assert.ok(!acked.includes(theirs), "what was refused is not there");
  assert.equal(place.text("theirs"), "1");
  assert.ok(!again.client.server.isQuiet);
  assert.ok(again.client.resume!.uploadedTo < place.replica.port().shareable);
  again.end();
});

Deno.test("a server is asked whether it keeps what it refuses, and its client hears", async () => {
  const gate = once(() => refuse("revoked"));
  const kept: number[] = [];
  const keeps: ServerChannelOptions["keeps"] = ({ bytes }) =>
    kept.push(bytes.length) > 0;
  const { place, talk } = await start({ gate, channel: { keeps } });
  await place.write("a", "1");
  await talk.settle();
  await talk.pass(100);
  assert.equal(kept.length, 1);
  assert.equal(talk.client.told("refused")[0]?.kept, true);
  assert.equal(talk.server.told("refused-batch")[0]?.kept, true);
  talk.end();
});

Deno.test("the gate is asked of a peer that may issue as well", async () => {
  const { world, serving } = await start();
  const relay = await Serving.open(world);
  await relay.place.write("a", "1");
  const gate = (batch: Batch) => says(batch) ? refuse("constraint") : undefined;
  const talk = new Talk(
    world,
    new ServerSide(world, serving, {}, { gate }),
    new ClientSide(world, relay.place),
  );
  await talk.settle();
  assert.equal(serving.place.text("a"), undefined);
  assert.equal(talk.client.told("refused").length, 1);
  talk.end();
});

Deno.test("a session of which everything is refused hears it of each write, and is quiet in between", async () => {
  const gate = (batch: Batch) => says(batch) ? refuse("denied") : undefined;
  const { place, talk } = await start({ gate });
  for (let i = 1; i <= 3; i++) {
    await place.write(`a${i}`, "1");
    await talk.settle();
    await talk.pass(100);
    assert.equal(talk.client.told("refused").length, i);
    assert.equal(place.text(`a${i}`), undefined);
    assert.ok(talk.client.server.isQuiet);
  }
  talk.end();
});

Deno.test("what a server that is lost had admitted stays as it is when a later commit is refused", async () => {
  const { world, serving, place, talk } = await start();
  await talk.settle(); // The server's certificate stands before, not between.
  for (let i = 0; i < 2; i++) await place.write(`a${i}`, "1");
  await talk.settle();
  assert.equal(serving.place.text("a1"), "1");
  talk.end();
  const chain = [...place.replica.graph.chains()][0]!.name;
  await place.write("bad", "1");
  await place.write("later", "1");
  const other = await Serving.open(world);
  const firsts: number[] = [];
  const gate = ({ chain: name, first, commits }: Batch) => {
    if (name !== chain) return undefined;
    firsts.push(first);
    const isMeant = first <= 2 && commits[2 - first]?.isVoid === false;
    return isMeant ? refuseAt(2, "denied", "not you") : undefined;
  };
  const again = new Talk(
    world,
    new ServerSide(world, other, {}, { gate }),
    new ClientSide(world, place),
  );
  await again.settle();
  await again.pass(100);
  await again.settle();
  assert.deepEqual(firsts, [0, 0]);
  assert.equal(again.client.told("refused").length, 1);
  assert.equal(place.replica.graph.lengthOf(chain), 4);
  assert.equal(other.place.text("a0"), "1");
  assert.equal(other.place.text("bad"), undefined);
  assert.equal(other.place.text("later"), "1");
  assert.deepEqual(digestOf(place), digestOf(other.place));
  again.end();
});

Deno.test("own commits that a server refuses after a loss are undone, and what others built on them is not", async () => {
  const { world, place, talk } = await start();
  await place.write("own", "1");
  await talk.settle();
  const other = await Place.open({ world, seed: 2 });
  other.replica.port().receive(await place.arrivals());
  await other.write("theirs", "2");
  place.replica.port().receive(await other.arrivals());
  place.replica.port().settle();
  await disks();
  talk.end();
  const [mine] = [...talk.server.serving.place.replica.graph.chains()];
  const gate = (batch: Batch) =>
    batch.chain === mine!.name && says(batch)
      ? refuse("denied", "not you")
      : undefined;
  const there = await Serving.open(world);
  const again = meet(world, there, place, gate, talk.client.resume);
  await again.settle();
  await again.pass(100);
  assert.equal(place.text("own"), undefined);
  assert.equal(place.text("theirs"), "2");
  assert.deepEqual(digestOf(place), digestOf(there.place));
  assert.ok(again.client.server.isQuiet);
  assert.equal(
    again.client.told("refused").filter(({ chain }) => chain === mine!.name)
      .length,
    1,
  );
  again.end();
});

Deno.test("what was refused never comes back as accepted", async () => {
  const gate = once(() => refuse("denied", "not you"));
  const { place, talk, serving } = await start({ gate });
  await place.write("own", "1");
  await disks();
  const arrivals = await place.arrivals();
  await talk.settle();
  assert.equal(place.text("own"), undefined);
  const port = serving.place.replica.port();
  port.receive(arrivals);
  port.settle();
  await disks();
  await talk.settle();
  assert.equal(serving.place.text("own"), undefined);
  assert.equal(place.text("own"), undefined);
  assert.deepEqual(digestOf(place), digestOf(serving.place));
  talk.end();
});

Deno.test("what was refused for want of a certificate goes up again when one has come", async () => {
  const { world, serving, place, talk } = await start();
  const [other, third] = [
    await Place.open({ world, seed: 2 }),
    await Place.open({ world, seed: 3 }),
  ];
  await other.write("theirs", "1");
  place.replica.port().receive(await other.arrivals());
  place.replica.port().settle();
  await place.write("mine", "1"); // Behind what they wrote.
  talk.end();
  const theirs = [...other.replica.port().vector().keys()][0]!;
  let isKnown = false;
  const gate = ({ chain }: Batch) =>
    chain === theirs && !isKnown ? refuse("unknown-session") : undefined;
  const again = meet(world, serving, place, gate);
  await again.settle();
  await again.pass(100);
  await again.pass(100);
  assert.equal(serving.place.text("mine"), undefined);
  const opened = again.client.told("opened").length;
  isKnown = true;
  await third.write("a", "1");
  const server = serving.place.replica.port();
  server.receive(await third.arrivals());
  server.settle();
  await disks();
  await again.settle();
  await again.pass(100);
  assert.equal(serving.place.text("theirs"), "1");
  assert.equal(serving.place.text("mine"), "1");
  assert.equal(again.client.told("opened").length, opened + 1);
  again.end();
});

Deno.test("nobody takes a stub of a commit that its author has not given up, from a client or from a server", async () => {
  const { world, serving, place, talk } = await start();
  await place.write("a", "1");
  await talk.settle();
  talk.end();
  const [chain = ""] = place.replica.port().vector().keys();
  const relay = await Place.open({ world, seed: 2 });
  relay.replica.port().receive(await place.arrivals());
  relay.replica.port().settle();
  await disks();
  const refused = { reason: "", rule: "", detail: "", kept: false };
  // It blanks what another one wrote, as far as it can.
  const { loaded } = relay.replica;
  const at = loaded.log.append(recordKind.refusal, [
    encodeRefusal({
      chain,
      refused: [{ ...refused, number: 0, wall: 0, count: 0, address: 1 }],
    }),
  ]);
  loaded.voided.refuse(at, {
    chain,
    refused: [{ ...refused, number: 0, wall: 0, count: 0, address: 1 }],
  });
  await relay.replica.durable();
  const [blank] = relay.replica.port().read(0, 10_000).records.filter((one) =>
    one.chain === chain
  );
  assert.ok(decodeBatch(blank!.bytes, true).commits[0]!.isVoid);
  const fresh = await Serving.open(world);
  const credentials = place.replica.port().credentials();
  for (const { replica } of [fresh.place, serving.place]) {
    replica.port().receive(credentials);
    const judged = replica.port().receive([blank!]);
    const { verdict } = judged.at(-1)!;
    const isKnown = replica === serving.place.replica;
    assert.equal(verdict.verdict, isKnown ? "known" : "refuse");
  }
  assert.equal(fresh.place.replica.graph.lengthOf(chain), 0);
  assert.equal(serving.place.text("a"), "1");
  // Nor does anybody else give it up.
  const { genesisId } = loaded;
  const { signer } = relay.replica.session;
  const { unsigned, message } = voidLayout.begin({
    genesisId,
    chain: chainBytes(chain),
    ranges: [{ first: 0, count: 1 }],
  }, signer.publicKey);
  const signature = await signer.sign(message);
  const bytes = concatBytes(unsigned, signature);
  const [judged] = serving.place.replica.port().receive([
    { kind: recordKind.void, bytes },
  ]);
  assert.equal(judged!.verdict.verdict, "refuse");
  // Its author may.
  place.replica.refuse(chain, [{ ...refused, reason: "denied", number: 0 }]);
  await place.replica.durable();
  const own = place.replica.port();
  fresh.place.replica.port().receive(own.credentials());
  fresh.place.replica.port().receive(own.read(0, 10_000).records);
  assert.equal(fresh.place.replica.graph.lengthOf(chain), 1);
});

Deno.test("who follows a server to which a commit is void hears from one that had accepted it what it says", async () => {
  const { world, serving, place, talk } = await start();
  void place.write("a", "1");
  await place.write("b", "1");
  await talk.settle();
  talk.end();
  const other = await Serving.open(world);
  const gate = once(({ first }) => refuseAt(first, "denied"));
  const author = meet(world, other, place, gate);
  await author.settle();
  await author.pass(100);
  author.end();
  const reader = await Place.open({ world, seed: 2 });
  const follower = meet(world, other, reader, () => undefined);
  await follower.settle();
  await follower.pass(limits.witnessMs);
  follower.end();
  assert.deepEqual([reader.text("a"), reader.text("b")], [undefined, "1"]);
  const { resume } = follower.client;
  const back = meet(world, serving, reader, () => undefined, resume);
  await back.settle();
  await back.pass(100);
  await back.pass(limits.witnessMs);
  assert.deepEqual([reader.text("a"), reader.text("b")], ["1", "1"]);
  assert.deepEqual(digestOf(reader), digestOf(serving.place));
  assert.ok(back.client.server.isQuiet);
  assert.deepEqual(
    back.client.told("incident").map(({ kind }) => kind),
    ["relay-refused"],
  );
  back.end();
});
