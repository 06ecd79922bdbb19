import assert from "node:assert/strict";
import fc from "fast-check";
import { createSigner } from "../crypto/mod.ts";
import { issueCertificate } from "../repo/commit/certificate.ts";
import { chainName } from "../repo/commit/commit.ts";
import { orderAfter } from "../repo/log/order.ts";
import { limits } from "../src/base/limits.ts";
import { forge, forgedChain } from "../tests/kit/forge.ts";
import {
  bareSession,
  certificateFor,
  ManualWorld,
  Place,
  sessionOf,
} from "../tests/kit/replica_place.ts";
import {
  ClientSide,
  disks,
  proverFor,
  ServerSide,
  Serving,
  type Side,
  Talk,
} from "../tests/kit/talk.ts";
import { rights } from "./conversation.ts";
import {
  features,
  type Message,
  type MessageOf,
  type WireRecord,
} from "./message.ts";
import { decodeMessage, encodeMessage } from "./message_codec.ts";
import { PartBudget } from "./window.ts";
import { recordKind } from "../repo/log/format.ts";

type ServerArguments = ConstructorParameters<typeof ServerSide>;
type ClientArguments = ConstructorParameters<typeof ClientSide>;

async function start(
  server: ServerArguments[2] = {},
  channel: ServerArguments[3] = {},
  client: ClientArguments[3] = {},
) {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  const talk = new Talk(
    world,
    new ServerSide(world, serving, server, channel),
    new ClientSide(world, place, undefined, client),
  );
  const { server: s, client: c } = talk;
  return { world, serving, place, talk, server: s, client: c };
}

/** Server and client that are live, and can then be lied to. */
async function live(...options: Parameters<typeof start>) {
  const started = await start(...options);
  await started.talk.settle();
  started.server.sent = [];
  return started;
}

function assertFailed(side: Side, code: string): void {
  assert.equal(side.ended?.code, code);
  const { sent } = side;
  const last = sent[sent.length - 1];
  assert.equal(last?.[0], 0x60, "the other side hears why");
}

function records(...records: WireRecord[]): Message {
  return { is: "records", channel: 1, records, progress: undefined };
}

function refusals({ messages }: Side) {
  return messages.flatMap((message) =>
    message.is === "refuse" ? [message] : []
  );
}

Deno.test("garbage ends a conversation in every state of both sides, with a code and without a throw", async () => {
  const garbage = fc.sample(fc.uint8Array({ maxLength: 50 }), {
    seed: 3,
    numRuns: 40,
  });
  for (const bytes of garbage) {
    const { server, client } = await start();
    server.frame(bytes);
    client.frame(bytes);
    // A greeting's kind and some other byte are a greeting of another version.
    const isGreeting = bytes[0] === 1 || bytes[0] === 2;
    const code = isGreeting && bytes.length > 1
      ? "wrong-version"
      : "bad-message";
    assert.equal(server.ended?.code, code);
    assert.equal(client.ended?.code, code);
  }
  const { server, client } = await live();
  server.frame(new Uint8Array([0x7f]));
  client.frame(new Uint8Array());
  assertFailed(server, "bad-message");
  assertFailed(client, "bad-message");
  server.frame(new Uint8Array([0x40, 0, 0, 0, 0]));
  assert.equal(server.sent.length, 1, "nothing is said after the end");
});

Deno.test("a frame that is too large ends a conversation", async () => {
  for (const state of [start, live]) {
    const { server, client } = await state();
    server.frame(new Uint8Array(limits.frameBytesMax + 1));
    client.frame(new Uint8Array(limits.frameBytesMax + 1));
    assertFailed(server, "too-large");
    assertFailed(client, "too-large");
  }
});

Deno.test("every message at the wrong time ends a conversation", async () => {
  const channel = 1;
  const cursor = {
    epoch: new Uint8Array(16),
    position: 0,
    order: new Uint8Array(32),
  };
  const progress = { flushes: [], place: cursor };
  const early: Message[] = [
    {
      is: "open",
      channel,
      name: "a",
      genesisId: new Uint8Array(32),
      start: { from: "cursor", cursor },
    },
    { is: "ping", token: 1 },
    { is: "credit", bytes: 1 },
    records(),
    { is: "close", channel },
  ];
  for (const message of early) {
    const { server, client } = await start();
    server.message(message);
    client.message(message);
    assertFailed(server, "bad-message");
    assertFailed(client, "bad-message");
  }
  const nonce = new Uint8Array(32);
  const signature = new Uint8Array(64);
  const toServer: Message[] = [
    { is: "prove", ...features, nonce, window: 1, certificates: [], signature },
    { is: "hello", ...features, nonce, rootKey: nonce, name: "" },
    { is: "ack", channel, sequence: 1, receipt: undefined },
    { is: "vector", channel, vector: new Map() },
    { is: "records", channel: 7, records: [], progress: undefined },
    { is: "records", channel, records: [], progress },
    { is: "goodbye", waitMs: 1 },
    { is: "credit", bytes: 2 ** 40 },
  ];
  for (const message of toServer) {
    const { server } = await live();
    server.message(message);
    assertFailed(server, "bad-message");
  }
  const toClient: Message[] = [
    { is: "hello", ...features, nonce, rootKey: nonce, name: "" },
    {
      is: "opened",
      channel,
      rights: 3,
      epoch: new Uint8Array(16),
      commits: 0,
      vector: undefined,
      enforced: [],
    },
    { is: "records", channel: 9, records: [], progress },
    { is: "ack", channel, sequence: 1, receipt: undefined },
    {
      is: "refuse",
      channel,
      sequence: 4,
      chain: "\0".repeat(40),
      from: 0,
      number: 0,
      count: 1,
      reason: "",
      rule: "",
      detail: "",
      kept: false,
    },
    { is: "present", channel, bytes: new Uint8Array() },
    { is: "credit", bytes: 2 ** 40 },
  ];
  for (const message of toClient) {
    const { client } = await live();
    client.message(message);
    assertFailed(client, "bad-message");
  }
});

Deno.test("another wire version is named on both sides", async () => {
  const { server, client } = await start();
  server.frame(new Uint8Array([0x02, 1, 1, 2, 3]));
  client.frame(new Uint8Array([0x01, 1, 1, 2, 3]));
  assertFailed(server, "wrong-version");
  assertFailed(client, "wrong-version");
});

Deno.test("who needs a feature that the other side does not know is told so, and nobody goes on", async () => {
  const { server, client } = await start();
  const [hello] = server.messages as MessageOf<"hello">[];
  client.message({ ...hello!, knows: 5, needs: 4 });
  assertFailed(client, "wrong-version");
  const nonce = new Uint8Array(32);
  server.message({
    is: "prove",
    knows: 0,
    needs: 2 ** 31,
    nonce,
    window: limits.windowBytes,
    certificates: [],
    signature: new Uint8Array(64),
  });
  assertFailed(server, "wrong-version");
});

Deno.test("a client whose server sends records that it must know, and does not, goes no further", async () => {
  const { client } = await live();
  const newer = { kind: 31, bytes: new Uint8Array(60) };
  client.message({
    ...records(newer),
    progress: undefined,
  } as Message);
  assertFailed(client, "wrong-version");
});

Deno.test("frames of a later version are skipped once both are known, and none is a greeting", async () => {
  const skipped = new Uint8Array([0x80, 1, 2, 3]);
  const { server, client } = await live();
  for (const side of [server, client]) {
    side.frame(skipped);
    side.frame(new Uint8Array([0xff]));
    assert.equal(side.ended, undefined);
    side.message({ is: "ping", token: 7 });
    assert.equal(side.sent.at(-1)![0], 0x41, "it goes on");
  }
  const early = await start();
  early.server.frame(skipped);
  assertFailed(early.server, "bad-message");
  early.client.frame(skipped);
  assertFailed(early.client, "bad-message");
});

Deno.test("a proof that is replayed is worth nothing", async () => {
  const { server, client, world, serving } = await start();
  client.frame(server.take()[0]!);
  const [prove] = client.take();
  const other = new ServerSide(world, serving);
  other.frame(prove!.slice());
  assertFailed(other, "bad-proof");
  const elsewhere = new ServerSide(world, serving, { name: "elsewhere" });
  elsewhere.frame(prove!.slice());
  assertFailed(elsewhere, "bad-proof");
});

Deno.test("a certificate that is forged, weak, expired, missing or one of too many is refused", async () => {
  const session = sessionOf(1);
  const stranger = bareSession(66);
  const prover = proverFor(session);
  const expired = issueCertificate({
    sessionKey: prover.publicKey,
    user: "a",
    claims: "{}",
    mayIssue: false,
    notBefore: 0,
    notAfter: 1_000,
  }, createSigner(rootSecret())).bytes;
  const flipped = session.certificate!.slice();
  flipped[40]! ^= 1;
  const cases: [Uint8Array[], string][] = [
    [[certificateFor(session, stranger.secretKey)], "bad-certificate"],
    [[flipped], "bad-certificate"],
    [[], "bad-certificate"],
    [[new Uint8Array(200)], "bad-certificate"],
    [[expired], "expired-session"],
    [new Array(5).fill(session.certificate!), "bad-message"],
    // Issued by a session that may not issue.
    [[
      certificateFor(session, bareSession(2).secretKey),
      sessionOf(2).certificate!,
    ], "bad-certificate"],
  ];
  for (const [certificates, code] of cases) {
    const world = new ManualWorld();
    const serving = await Serving.open(world);
    const place = await Place.open({ world, seed: 1 });
    const server = new ServerSide(world, serving);
    const client = new ClientSide(world, place, undefined, {
      session: { ...prover, certificates },
    });
    client.frame(server.take()[0]!);
    for (const frame of client.take()) server.frame(frame);
    assertFailed(server, code);
  }
});

/** Root of the kit's places: the dice of seed 7. */
function rootSecret(): Uint8Array {
  const secret = new Uint8Array(32);
  new ManualWorld(7).random(secret);
  return secret;
}

Deno.test("a session that is unwelcome hears the code that it was given", async () => {
  const unwelcome = { code: "forbidden", detail: "revoked" };
  const { server, client } = await start({ admits: () => unwelcome });
  client.frame(server.take()[0]!);
  for (const frame of client.take()) server.frame(frame);
  assertFailed(server, "forbidden");
});

Deno.test("a client talks to no server of another root key, and to none that may not issue", async () => {
  const { server, client } = await start();
  const [hello] = server.messages as Extract<Message, { is: "hello" }>[];
  client.message({ ...hello!, rootKey: new Uint8Array(32) });
  assertFailed(client, "root-key-mismatch");
  const impostor = await start({ session: proverFor(sessionOf(5)) });
  await impostor.talk.settle();
  assert.equal(impostor.client.ended?.code, "bad-certificate");
});

Deno.test("a client sends its proof and nothing more until the server has proved itself, now and to it", async () => {
  const { world, place, server, client, serving } = await start();
  await place.write("mine", "1");
  const hello = server.take()[0]!;
  client.frame(hello.slice());
  const [prove, ...more] = client.take();
  assert.deepEqual([more, decodeMessage(prove!).is], [[], "prove"]);
  server.frame(prove!.slice());
  const welcome = server.take()[0]!;
  // Hello and welcome of one conversation are worth nothing in another.
  const other = new ClientSide(world, place);
  other.frame(hello.slice());
  other.frame(welcome.slice());
  assertFailed(other, "bad-proof");
  assert.deepEqual(other.messages.map(({ is }) => is), ["prove", "failed"]);
  assert.equal(serving.place.replica.graph.commits, 0);
  client.frame(welcome.slice());
  assert.equal(client.messages[0]?.is, "open");
});

Deno.test("who proves nothing in time, says nothing for long, or never reads, is closed", async () => {
  const { talk, server, client, world } = await start();
  world.advance(limits.proveMsMax);
  server.tick();
  client.tick();
  assertFailed(server, "timeout");
  assertFailed(client, "timeout");
  assert.equal(talk.flights, 0);

  const silent = await live();
  for (let i = 1; i <= 3; i++) {
    silent.world.advance(limits.heartbeatMs);
    silent.server.tick();
    silent.client.tick();
    const pings = silent.server.messages.filter(({ is }) => is === "ping");
    assert.equal(pings.length, Math.min(i, 2));
  }
  assertFailed(silent.server, "timeout");
  assertFailed(silent.client, "timeout");
});

Deno.test("a server has the longer to answer, the more a slow wire has to carry to it", async () => {
  const { world, place, client } = await live();
  const bytes = 10 * limits.wireBytesPerSecond;
  await place.write("long", "x".repeat(bytes));
  client.core.shareable(place.replica.port().name, client.moment);
  const asks = (ms: number) => {
    world.advance(ms);
    client.tick();
    return client.messages.filter(({ is }) => is === "ping").length;
  };
  assert.equal(asks(10_000), 0);
  assert.equal(asks(2 * limits.answerMs), 1);
  assert.equal(client.told("silence").length, 0);
  asks(limits.answerMs);
  assert.deepEqual(client.told("silence"), [{
    tell: "silence",
    isSilent: true,
  }]);
  client.frame(encodeMessage({ is: "pong", token: 0 }));
  assert.equal(client.told("silence").at(-1)?.isSilent, false);
  asks(1);
  for (const ms of [10_000, 2_000, limits.answerMsMax]) asks(ms);
  assertFailed(client, "timeout");
});

Deno.test("a peer that never reads gets its window's bytes and no more, then is closed", async () => {
  const { world, serving, server, client } = await live();
  for (let i = 0; i < 40; i++) {
    void serving.place.write(`b${i}`, "x".repeat(100_000));
  }
  await serving.place.replica.durable();
  await disks();
  const bytes = server.sent.reduce((sum, { length }) => sum + length, 0);
  assert.ok(bytes > limits.windowBytesMin && bytes <= limits.windowBytes + 64);
  for (let ms = 0; ms < limits.stallMsMax; ms += 5_000) {
    world.advance(5_000);
    server.message({ is: "ping", token: 1 });
    server.tick();
  }
  assertFailed(server, "too-slow");
  assert.equal(client.ended, undefined);
});

Deno.test("records without credit end a conversation", async () => {
  const { server } = await live({ holdsCredit: true });
  const part = {
    is: "part",
    channel: 1,
    kind: recordKind.signedBatch,
    total: 8_000_000,
  } as const;
  const bytes = new Uint8Array(200_000);
  for (let i = 0; i < 5; i++) {
    server.message({ ...part, offset: i * bytes.length, bytes });
    assert.equal(server.ended, undefined);
  }
  server.message({ ...part, offset: 5 * bytes.length, bytes });
  assertFailed(server, "window-exceeded");
});

Deno.test("a window outside of the limits is no proof", async () => {
  for (
    const windowBytes of [
      1,
      limits.windowBytesMin - 1,
      limits.windowBytesMax + 1,
    ]
  ) {
    const { talk, server } = await start({}, {}, { windowBytes });
    await talk.settle();
    assert.equal(server.ended?.code, "bad-message");
    const other = await start({ windowBytes });
    await other.talk.settle();
    assert.equal(other.client.ended?.code, "bad-message");
  }
});

Deno.test("vectors of too many chains end a conversation, wherever they stand", async () => {
  const vector = new Map(
    Array.from({ length: limits.vectorChainsMax + 1 }, (_, i) => {
      const chain = new Uint8Array(40);
      new DataView(chain.buffer).setUint32(0, i);
      return [chainName(chain), 1] as const;
    }),
  );
  const first = await live();
  const { genesisId } = first.place.replica.port();
  const start = { from: "vector", vector } as const;
  first.server.message({ is: "open", channel: 2, name: "b", genesisId, start });
  assertFailed(first.server, "too-large");
  const second = await live();
  second.server.message({ is: "vector", channel: 1, vector });
  assertFailed(second.server, "too-large");
  const million = new Uint8Array(2_000_000).fill(255);
  million.set([0x12, 1, 0xc0, 0x84, 0x3d]);
  const third = await live();
  third.server.frame(million);
  assertFailed(third.server, "bad-message");
});

Deno.test("names that are none, and channels beyond the limit, are declined and the rest goes on", async () => {
  const { server } = await live();
  const genesisId = new Uint8Array(32);
  const start = { from: "vector", vector: new Map() } as const;
  const names = ["../etc", "", "a//b", "ä", "a/".repeat(9) + "a", "place/.."];
  let channel = 1;
  for (const name of names) {
    server.message({ is: "open", channel: ++channel, name, genesisId, start });
  }
  const declined = server.messages.filter(({ is }) => is === "declined");
  assert.equal(declined.length, names.length);
  assert.ok(
    declined.every((one) =>
      one.is === "declined" && one.code === "invalid-name"
    ),
  );
  server.take();
  for (let i = 0; i < limits.channelsMax + 10; i++) {
    server.message({
      is: "open",
      channel: ++channel,
      name: `r${i}`,
      genesisId,
      start,
    });
    // Another mode, so nothing stays open; the limit is tested below.
  }
  assert.equal(server.ended, undefined);
  const codes = new Set(
    server.messages.map((one) => one.is === "declined" ? one.code : one.is),
  );
  assert.deepEqual([...codes], ["mode-mismatch"]);
});

Deno.test("channels that nobody answers count, and are declined beyond the limit", async () => {
  const { server } = await live();
  server.hear = () => {};
  const genesisId = new Uint8Array(32);
  const start = { from: "vector", vector: new Map() } as const;
  for (let i = 0; i < limits.channelsMax; i++) {
    server.message({
      is: "open",
      channel: 2 + i,
      name: `r${i}`,
      genesisId,
      start,
    });
  }
  const [declined] = server.messages;
  assert.ok(
    declined?.is === "declined" && declined.code === "too-many-channels",
  );
  assert.equal(server.messages.length, 1);
});

Deno.test("a transplanted batch is refused and its sender dropped", async () => {
  const { world, serving, server, place } = await live();
  const session = place.replica.session;
  const genesisId = new Uint8Array(32).fill(9);
  server.message(records(forge({ session, genesisId, wall: world.now() })));
  const [refusal] = refusals(server);
  assert.equal(refusal?.reason, "bad-signature");
  assertFailed(server, "bad-message");
  assert.equal(serving.place.replica.graph.commits, 0);
});

Deno.test("a server that forges or alters commits is told of and dropped, and nothing of them shows", async () => {
  const lies = ["none", "altered", "transplanted", "unsigned"] as const;
  for (const lie of lies) {
    const { world, serving, client, place } = await live();
    const { session } = serving;
    const { genesisId } = place.replica.port();
    const of = lie === "transplanted" ? new Uint8Array(32) : genesisId;
    const { bytes } = forge({ session, genesisId: of, wall: world.now() });
    if (lie === "altered") bytes[bytes.length - 70]! ^= 1;
    const cursor = client.resume!.cursor!;
    const { position } = cursor;
    client.message({
      is: "records",
      channel: 1,
      records: [
        { kind: recordKind.certificate, bytes: session.certificate! },
        {
          kind: lie === "unsigned"
            ? recordKind.unsignedBatch
            : recordKind.signedBatch,
          bytes,
        },
      ],
      progress: {
        flushes: [{ accepted: 1, batches: [] }],
        place: {
          position: position + 1,
          order: orderAfter(cursor.order, { accepted: 1, batches: [] }),
        },
      },
    });
    await place.replica.durable();
    const moved = client.resume!.cursor!.position - position;
    assert.equal(moved, lie === "none" ? 1 : 0, "it is sent again");
    const { commits } = place.replica.graph;
    const incidents = client.told("incident").map(({ kind }) => kind);
    if (lie === "none") assert.deepEqual([commits, incidents], [1, []]);
    else {
      assert.deepEqual([commits, incidents], [0, ["bad-record"]], lie);
      assertFailed(client, "bad-message");
    }
  }
});

Deno.test("unsigned batches, and garbage that calls itself one, drop their sender", async () => {
  const { unsignedBatch, signedBatch, revocation } = recordKind;
  for (const kind of [unsignedBatch, signedBatch, revocation]) {
    const { server } = await live();
    server.message(records({ kind, bytes: new Uint8Array(60).fill(1) }));
    const [refusal] = refusals(server);
    const reason = kind === recordKind.unsignedBatch ? "unsigned" : "malformed";
    assert.equal(refusal?.reason, reason);
    assertFailed(server, "bad-message");
  }
});

Deno.test("a fork is refused, the rest of its chain ignored, and acks go on", async () => {
  const { world, serving, server, place } = await live();
  const session = place.replica.session;
  const { genesisId } = place.replica.port();
  const forgery = { session, genesisId, wall: world.now() };
  server.message(records(forge(forgery)));
  server.message(records(forge({ ...forgery, text: "y" })));
  server.message(records(forge({ ...forgery, first: 1 })));
  server.message(records(forge({ ...forgery, incarnation: 2 })));
  await disks();
  const [refusal, ...others] = refusals(server);
  assert.equal(refusal?.reason, "fork");
  assert.equal(refusal?.sequence, 2);
  assert.deepEqual(others, []);
  const acks = server.messages.filter((one) => one.is === "ack");
  assert.equal(acks.at(-1)?.sequence, 4);
  assert.equal(serving.place.replica.graph.commits, 2);
  assert.equal(server.ended, undefined);
});

Deno.test("a seal that does not fit behind what is known is a gap: the rest of that chain is ignored, and nothing of it shows", async () => {
  const { world, serving, server, place } = await live();
  const session = place.replica.session;
  const { genesisId } = place.replica.port();
  const forgery = { session, genesisId, wall: world.now() };
  server.message(records(forge(forgery)));
  for (let i = 1; i <= 3; i++) {
    server.message(records(forge({ ...forgery, first: 1, text: `${i}` })));
  }
  server.message(records(forge({ ...forgery, incarnation: 2 })));
  await disks();
  const [refusal, ...others] = refusals(server);
  assert.equal(refusal?.reason, "gap");
  assert.deepEqual(others, []);
  assert.equal(serving.place.replica.graph.commits, 2);
  assert.equal(server.ended, undefined);
});

Deno.test("a server that forges behind what is known is told of, and asked for that chain anew once", async () => {
  const { world, serving, client, place } = await live();
  const { session } = serving;
  const { genesisId } = place.replica.port();
  const forgery = { session, genesisId, wall: world.now() };
  const send = (channel: number, first: number, text?: string) =>
    client.message({
      is: "records",
      channel,
      records: [forge({ ...forgery, first, ...text && { text } })],
      progress: undefined,
    });
  client.message({
    is: "records",
    channel: 1,
    records: [{ kind: recordKind.certificate, bytes: session.certificate! }],
    progress: undefined,
  });
  send(1, 0);
  const before = place.replica.graph.commits;
  assert.ok(before > 0);
  send(1, 1, "forged");
  const asked = client.messages.filter(({ is }) => is === "open");
  assert.equal(asked.length, 1);
  assert.equal(place.replica.graph.commits, before);
  assert.equal(client.ended, undefined);
  assert.deepEqual(client.told("incident"), []);
  const vector = new Map<string, number>();
  const epoch = serving.order.epoch;
  client.message({
    is: "opened",
    channel: 2,
    rights: 3,
    epoch,
    commits: before,
    vector,
    enforced: [],
  });
  send(2, 1, "forged again");
  const [incident, ...more] = client.told("incident");
  assert.equal(incident?.kind, "bad-record");
  assert.deepEqual(more, []);
  assert.equal(place.replica.graph.commits, before);
  assert.equal(client.ended, undefined);
});

Deno.test("a gap and a parent that never comes are parked, keep their credit, and are refused in the end", async () => {
  const { world, server, place } = await live({ holdsCredit: true });
  const ungranted = server.core.ungranted;
  const session = place.replica.session;
  const { genesisId } = place.replica.port();
  const forgery = { session, genesisId, wall: world.now() };
  const parents = [{ chain: "\xff".repeat(40), number: 3 }];
  server.message(records(forge({ ...forgery, first: 5 })));
  server.message(records(forge({ ...forgery, incarnation: 2, parents })));
  await disks();
  assert.deepEqual(refusals(server), []);
  assert.ok(
    server.core.ungranted - ungranted < 40,
    "what is parked keeps its credit",
  );
  world.advance(limits.parkMsMax);
  server.message({ is: "ping", token: 1 });
  server.tick();
  assert.deepEqual(refusals(server).map(({ reason }) => reason), [
    "missing-parent",
    "missing-parent",
  ]);
  assert.ok(
    server.messages.some((one) => one.is === "ack" && one.sequence === 2),
  );
  assert.ok(server.core.ungranted - ungranted > 200);
});

Deno.test("half a record keeps the budget until its sender is gone, and what does not go on ends", async () => {
  const budget = new PartBudget(1_000_000);
  const { server } = await live({ budget });
  const part = {
    is: "part",
    channel: 1,
    kind: recordKind.signedBatch,
    total: 900_000,
  } as const;
  const bytes = new Uint8Array(200_000);
  server.message({ ...part, offset: 0, bytes });
  server.message({ ...part, offset: 200_000, bytes });
  assert.equal(budget.used, 400_000);
  server.message({ ...part, offset: 0, bytes });
  assert.equal(budget.used, 200_000, "it begins anew");
  server.message({ ...part, offset: 600_000, bytes });
  assertFailed(server, "bad-message");
  assert.equal(budget.used, 0);
});

Deno.test("parts that no budget has room for close their sender, to come back later", async () => {
  const { server } = await live({ budget: new PartBudget(300_000) });
  const part = {
    is: "part",
    channel: 1,
    kind: recordKind.signedBatch,
    total: 900_000,
  } as const;
  const bytes = new Uint8Array(200_000);
  server.message({ ...part, offset: 0, bytes });
  server.message({ ...part, offset: 200_000, bytes });
  assertFailed(server, "unavailable");
});

Deno.test("a record over its limit is refused without being kept", async () => {
  const budget = new PartBudget();
  const { world, server, place } = await live({ budget });
  const session = place.replica.session;
  const { genesisId } = place.replica.port();
  const forgery = { session, genesisId, wall: world.now() };
  const head = forge(forgery).bytes;
  const total = limits.recordBytesMax + 1;
  const part = {
    is: "part",
    channel: 1,
    kind: recordKind.signedBatch,
    total,
  } as const;
  server.message({ ...part, offset: 0, bytes: head });
  const chunk = new Uint8Array(256 * 1024);
  for (let offset = head.length; offset < total;) {
    const bytes = chunk.subarray(0, Math.min(chunk.length, total - offset));
    server.message({ ...part, offset, bytes });
    assert.ok(budget.used <= head.length);
    offset += bytes.length;
  }
  const [refusal] = refusals(server);
  assert.equal(refusal?.reason, "too-large");
  assert.equal(refusal?.chain, forgedChain(forgery));
  assert.equal(budget.used, 0);
  assert.equal(server.ended, undefined);
});

Deno.test("presence over its limit ends a conversation", async () => {
  const { server } = await live();
  const bytes = new Uint8Array(limits.presenceBytesMax + 1);
  server.message({ is: "present", channel: 1, bytes });
  assertFailed(server, "too-large");
  const { client } = await live();
  client.message({ is: "presence", channel: 1, peer: 1, user: "", bytes });
  assertFailed(client, "too-large");
});

Deno.test("without the right to read, nothing leaves but acks and refusals", async () => {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  await serving.place.write("secret", "1");
  const place = await Place.open({ world, seed: 1 });
  await place.write("mine", "1");
  const server = new ServerSide(world, serving, {}, { rights: rights.write });
  const client = new ClientSide(world, place);
  const talk = new Talk(world, server, client);
  const heard: string[] = [];
  for (let i = 0; i < 10; i++) {
    heard.push(...server.messages.map(({ is }) => is));
    for (const message of server.messages) {
      if (message.is !== "opened") continue;
      assert.deepEqual([message.commits, message.vector?.size], [0, 0]);
      assert.deepEqual(message.epoch, new Uint8Array(16));
    }
    await talk.flight();
    await disks();
  }
  await talk.pass(limits.witnessMs);
  await serving.place.write("secret 2", "1");
  await disks();
  heard.push(...server.messages.map(({ is }) => is));
  assert.deepEqual([...new Set(heard)].sort(), [
    "ack",
    "hello",
    "opened",
    "welcome",
  ]);
  assert.equal(serving.place.text("mine"), "1");
  assert.equal(place.text("secret"), undefined);
  server.message({
    is: "audit",
    channel: 1,
    question: 1,
    query: { ask: "summary" },
  });
  assertFailed(server, "forbidden");
});

Deno.test("a flood of pings and of frames for closed channels changes nothing", async () => {
  const { server, client, place } = await live();
  for (let token = 0; token < 10_000; token++) {
    server.message({ is: "ping", token });
  }
  assert.equal(
    server.messages.filter(({ is }) => is === "pong").length,
    10_000,
  );
  server.take();
  server.message({ is: "close", channel: 1 });
  for (let i = 0; i < 100; i++) server.message(records());
  assert.equal(server.ended, undefined);
  assert.equal(server.told("closed").length, 1);
  assert.equal(client.ended, undefined);
  assert.equal(place.replica.graph.commits, 0);
});

Deno.test("a server that fails is not a server that throws: its client hears 'unavailable'", async () => {
  const { server, world, serving, place } = await live();
  await serving.place.replica.close();
  const session = place.replica.session;
  const { genesisId } = place.replica.port();
  const frame = encodeMessage(
    records(forge({ session, genesisId, wall: world.now() })),
  );
  server.frame(frame.slice());
  assertFailed(server, "unavailable");
});
