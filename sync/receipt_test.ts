/** Receipts: what a server signs of the commits of their author, what takes their place when it lies, and who else may read them. */

import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { chainBytes } from "../repo/commit/commit.ts";
import { fromHex, toHex } from "../src/base/bytes.ts";
import type { Signer } from "../crypto/mod.ts";
import { refuseAt } from "../src/base/errors.ts";
import { encodeFile } from "../src/base/layout.ts";
import { limits } from "../src/base/limits.ts";
import { filesOf, restored } from "../tests/kit/images.ts";
import {
  bareSession,
  certificateFor,
  type ManualWorld,
  Place,
  rootSigner,
  sessionOf,
} from "../tests/kit/replica_place.ts";
import {
  meet,
  proverFor,
  Serving,
  start,
  type Talk,
} from "../tests/kit/talk.ts";
import { checkEvidence } from "./evidence.ts";
import type { SentReceipt } from "./frame_fields.ts";
import type { Message } from "./message.ts";
import { evidenceFile, giveReceipts, ReceiptDesk } from "./receipt.ts";
import { decodeResume, encodeResume } from "./resume.ts";
import { encodeSummary, readSummary } from "./summary.ts";
import { newestReceipt } from "./shown_receipt.ts";
import { encodeMessage } from "./message_codec.ts";
import type { Output } from "./conversation.ts";
import { witnessBytes } from "./witness.ts";

function incidents({ client }: Talk): string[] {
  return client.told("incident").map(({ kind }) => kind);
}

function acked({ client }: Talk): number {
  return client.told("acked").at(-1)?.count ?? 0;
}

function chainOf({ replica }: Place): string {
  const [key] = [replica.session.signer.publicKey];
  const name = String.fromCharCode(...key);
  return [...replica.port().vector().keys()].find((one) =>
    one.startsWith(name)
  )!;
}

/** From now on the server's words are what somebody makes of them. */
function lie(talk: Talk, change: (message: Message) => Message): void {
  const { server } = talk;
  server.take = () => {
    const { messages } = server;
    server.sent = [];
    return messages.map((message) => encodeMessage(change(message)).slice());
  };
}

/** Without receipts, and without witnesses that would do. */
function stripped(message: Message): Message {
  if (message.is === "ack" || message.is === "live") {
    return { ...message, receipt: undefined };
  }
  if (message.is !== "witness") return message;
  const { channel } = message;
  return {
    is: "presence",
    channel,
    peer: 1,
    user: "x",
    bytes: new Uint8Array(),
  };
}

const evidenceOf = (talk: Talk, kind: string) =>
  fromHex(
    String(
      talk.client.told("incident").find((one) => one.kind === kind)!.details
        .receipt,
    ),
  );

Deno.test("a write is acknowledged with a receipt, which the author keeps and the root key alone shows to be true", async () => {
  const { world, serving, place } = await start();
  const talk = meet(serving, place);
  await talk.settle();
  await place.write("a", "1");
  await place.write("b", "1");
  await talk.settle();
  equal(acked(talk), 2);
  deepEqual(incidents(talk), []);
  const { receipts } = decodeResume(encodeResume(talk.client.resume!));
  equal(receipts.length, 1);
  const port = place.replica.port();
  const context = { rootKey: port.rootKey, nowMs: world.now() };
  const file = encodeFile(evidenceFile, receipts[0]!);
  const { type, statement, ends } = checkEvidence(file, context)!;
  equal(type, "receipt");
  deepEqual(statement.genesisId, port.genesisId);
  deepEqual(statement.order, serving.order.last.order);
  equal(statement.position, serving.order.last.position);
  const chain = chainOf(place);
  deepEqual([...ends], [[chain, port.endOf(chain, 2)!]]);
  // One byte of it, or another root: it shows nothing.
  for (let at = 10; at < receipts[0]!.statement.length; at += 5) {
    const statement = receipts[0]!.statement.slice();
    statement[at]! ^= 1;
    const changed = encodeFile(evidenceFile, { ...receipts[0]!, statement });
    equal(checkEvidence(changed, context), undefined, `byte ${at}`);
  }
  const rootKey = sessionOf(77).signer.publicKey;
  equal(checkEvidence(file, { ...context, rootKey }), undefined);
  const isRevoked = () => true;
  equal(checkEvidence(file, { ...context, isRevoked }), undefined);
  talk.end();
});

Deno.test("a witness that was found equal takes the place of receipts, of which the newest stays for the app", async () => {
  const { serving, place } = await start();
  const talk = meet(serving, place);
  await talk.settle();
  for (let i = 0; i < 3; i++) {
    await place.write(`a${i}`, "1");
    await talk.settle();
  }
  equal(talk.client.resume!.receipts.length, 1, "the newest covers the others");
  await talk.pass(limits.witnessMs);
  equal(talk.client.told("equal").length > 0, true);
  const { receipts } = talk.client.resume!;
  deepEqual(receipts.map(({ summary }) => lengthsIn(summary)), [[3]]);
  // What a witness says more does not fit the file of a repository of many chains: that one does.
  const summary = new Uint8Array(limits.resumeBytesMax);
  const { proved } = talk.client.resume!;
  const large = { ...talk.client.resume!, proved: { ...proved!, summary } };
  const { replica } = place;
  const { session } = replica;
  const port = replica.port();
  const holder = { check: () => {}, session, port: () => port };
  const kept = () => encodeResume(large);
  const receipt = (await newestReceipt({ replica: holder, kept }))!;
  deepEqual(receipt.bytes, encodeFile(evidenceFile, receipts[0]!));
  deepEqual(receipt.commits, [`${toHex(chainBytes(chainOf(place)))}:2`]);
  equal(receipt.position, serving.order.last.position);
  equal(receipt.order, toHex(serving.order.last.order));
  // Nothing of a folder that has not what was signed for, nor of another device, nor of other bytes.
  const lacks = {
    ...holder,
    port: () => ({ ...port, endOf: () => undefined }),
  };
  const stranger = { ...holder, session: sessionOf(9) };
  for (const replica of [lacks, stranger]) {
    equal(await newestReceipt({ replica, kept }), undefined);
  }
  for (const bytes of [new Uint8Array(9), undefined]) {
    equal(await newestReceipt({ replica, kept: () => bytes }), undefined);
  }
  talk.end();
});

function lengthsIn(summary: Uint8Array): number[] {
  return [...readSummary(summary).values()].map(({ count }) => count);
}

Deno.test("a server that signs no receipts is named, and nothing counts as synced, whatever else it says", async () => {
  const { serving, place } = await start();
  await place.write("before", "1");
  const talk = meet(serving, place);
  lie(talk, stripped);
  await talk.settle();
  await place.write("a", "1");
  await talk.settle();
  equal(serving.place.text("a"), "1", "it has it");
  equal(acked(talk), 0);
  deepEqual(incidents(talk), ["bad-receipt"]);
  deepEqual(talk.client.resume!.receipts, []);
  talk.end();
  // By its vector, too, it has all of it.
  const again = meet(serving, place);
  lie(again, stripped);
  await again.settle();
  equal(acked(again), 0);
  deepEqual(incidents(again), ["bad-receipt"]);
  again.end();
  // The truth heals it.
  const honest = meet(serving, place);
  await honest.settle();
  equal(acked(honest), 2);
  deepEqual(incidents(honest), []);
  honest.end();
});

/** Devices that write at once, so that one flush of the server has what they wrote; what the server signed for that. */
async function together(count: number) {
  const { world, serving } = await start();
  const { signer } = serving.session;
  const signed: Uint8Array[] = [];
  const server = {
    ...serving.session.signer,
    sign(message: Uint8Array) {
      signed.push(message);
      return (signer as Signer).sign(message);
    },
  };
  const port = serving.place.replica.port();
  const { order } = serving;
  const prover = { ...proverFor(serving.session), sign: server.sign };
  const receipts = new ReceiptDesk({ port, prover, order });
  const talks: Talk[] = [];
  for (let i = 0; i < count; i++) {
    const place = await Place.open({ world, seed: 200 + i });
    const talk = meet(serving, place, undefined, { receipts });
    talks.push(talk);
    await talk.settle();
  }
  signed.length = 0;
  await Promise.all(
    talks.map(({ client }, i) => client.place.write(`${i}`, "")),
  );
  for (const { client, server } of talks) {
    for (const frame of client.take()) server.frame(frame.slice());
  }
  return { world, serving, talks, signed };
}

for (const count of [1, 2, 7, 64]) {
  Deno.test(`one signature is for all of ${count} whose commits one flush made durable, and each shows it by itself`, async () => {
    const { world, serving, talks, signed } = await together(count);
    for (const talk of talks) await talk.settle();
    equal(signed.length, 1);
    const { rootKey } = serving.place.replica.port();
    const context = { rootKey, nowMs: world.now() };
    const kept = talks.map(({ client }) => client.resume!.receipts.at(-1)!);
    const positions = new Set<number>();
    for (const [i, talk] of talks.entries()) {
      equal(acked(talk), 1, `device ${i}`);
      deepEqual(incidents(talk), []);
      const file = encodeFile(evidenceFile, kept[i]!);
      const { type, statement, ends } = checkEvidence(file, context)!;
      equal(type, "receipt");
      const chain = chainOf(talk.client.place);
      deepEqual([...ends.keys()], [chain]);
      positions.add(statement.position);
      ok(kept[i]!.path.length <= Math.ceil(Math.log2(count)));
      // Under another's way up, or with a step more or less, it shows nothing.
      const { path } = kept[i]!;
      const others = [
        ...(count > 1 ? [kept[(i + 1) % count]!.path, path.slice(1)] : []),
        [...path, new Uint8Array(32)].slice(-limits.receiptPathMax),
        path.map((hash) => hash.toReversed()),
      ].filter((other) => String(other) !== String(path));
      for (const path of others) {
        const file = encodeFile(evidenceFile, { ...kept[i]!, path });
        equal(checkEvidence(file, context), undefined);
      }
    }
    equal(positions.size, 1);
    for (const talk of talks) talk.end();
  });
}

Deno.test("who has more to come than was acknowledged is signed for with others all the same", async () => {
  const { talks, signed } = await together(3);
  const [first] = talks;
  await first!.settle();
  equal(signed.length, 1);
  // What follows is on its way before the others were told.
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      talks.map(({ client }, i) => client.place.write(`${round} ${i}`, "")),
    );
    for (const { client, server } of talks) {
      for (const frame of client.take()) server.frame(frame.slice());
    }
    for (const talk of talks) await talk.settle();
    equal(signed.length, 2 + round, `round ${round}`);
  }
  deepEqual(talks.map(acked), [4, 4, 4]);
  deepEqual(talks.flatMap(incidents), []);
  for (const talk of talks) talk.end();
});

Deno.test("who brings more before he is told is signed for with that, and the others are not signed for again", async () => {
  const { talks, signed } = await together(3);
  const slow = talks[2]!;
  const { server, client } = slow;
  // His turn comes late: until then the server says nothing to him.
  const { perform } = server;
  const held: Output[] = [];
  server.perform = (outputs) => void held.push(...outputs);
  await talks[0]!.settle();
  await talks[1]!.settle();
  equal(signed.length, 1);
  server.perform = perform;
  server.perform(held);
  await client.place.write("more", "1");
  await slow.settle();
  equal(acked(slow), 2);
  equal(signed.length, 2);
  deepEqual(talks.flatMap(incidents), []);
  for (const talk of talks) talk.end();
});

Deno.test("a way up that is longer than one can be is no message", async () => {
  const { world, serving, place } = await start();
  const talk = meet(serving, place);
  await talk.settle();
  lie(talk, (message) => {
    if (message.is !== "ack" || message.receipt === undefined) return message;
    const path = Array.from(
      { length: limits.receiptPathMax + 1 },
      () => new Uint8Array(32),
    );
    return { ...message, receipt: { ...message.receipt, path } };
  });
  await place.write("a", "1");
  await talk.settle();
  equal(talk.client.ended?.code, "bad-message");
  equal(acked(talk), 0);
  ok(world.now() > 0);
  talk.end();
});

Deno.test("receipts of something else, of somebody else or of nothing are named, and cover nothing", async () => {
  const { world, serving, place } = await start();
  const server = proverFor(serving.session);
  const stranger = proverFor(sessionOf(9));
  const port = () => place.replica.port();
  const chain = () => chainOf(place);
  const at = () => serving.order.last;
  const { epoch } = serving.order;
  const genuine = (
    changes: {
      port?: object;
      prover?: typeof server;
      epoch?: Uint8Array;
      at?: object;
      count?: number;
      chain?: string;
      wall?: number;
    } = {},
  ): SentReceipt => {
    const end = port().endOf(chain(), 1)!;
    const answers = {
      genesisId: port().genesisId,
      digestOf: (bytes: Uint8Array) => port().digestOf(bytes),
      endOf: () => ({ ...end, count: changes.count ?? end.count }),
      ...changes.port,
    };
    return giveReceipts({
      port: answers as never,
      prover: changes.prover ?? server,
      epoch: changes.epoch ?? epoch,
    }, {
      at: { ...at(), ...changes.at },
      wall: changes.wall ?? world.now(),
      authors: [[[changes.chain ?? chain(), changes.count ?? 1]]],
    })[0]!;
  };
  const elsewhere = { ...at(), position: at().position + 64 };
  const signedBy = (lie: SentReceipt, like: SentReceipt): SentReceipt => ({
    ...like,
    signature: lie.signature,
  });
  const lies: Record<string, () => SentReceipt> = {
    "of another repository": () =>
      genuine({ port: { genesisId: new Uint8Array(32).fill(3) } }),
    "of another epoch": () => genuine({ epoch: new Uint8Array(16).fill(3) }),
    "of another place": () => signedBy(genuine({ at: elsewhere }), genuine()),
    "of another chain": () =>
      signedBy(genuine({ chain: "\x07".repeat(40) }), genuine()),
    "of another chain, as it is": () => genuine({ chain: "\x07".repeat(40) }),
    "of another number": () => signedBy(genuine({ count: 2 }), genuine()),
    "of more than there is": () => genuine({ count: 9 }),
    "of another commit": () =>
      genuine({
        port: { endOf: () => ({ count: 1, id: new Uint8Array(32).fill(5) }) },
      }),
    "signed by a session that may not issue": () =>
      genuine({ prover: stranger }),
    "signed by the root, which is not this server": () =>
      genuine({ prover: { ...rootSigner, certificates: [] } }),
    "dated ahead of its time": () => genuine({ wall: world.now() + 1e6 }),
    "huge": () => ({
      ...genuine(),
      summary: new Uint8Array(limits.receiptBytesMax + 1),
    }),
    "with a way up that leads elsewhere": () => ({
      ...genuine(),
      path: [new Uint8Array(32)],
    }),
    "garbage": () => ({ ...genuine(), summary: new Uint8Array(99).fill(255) }),
  };
  for (const [what, made] of Object.entries(lies)) {
    const talk = meet(serving, place);
    lie(talk, stripped);
    await talk.settle();
    deepEqual(new Set(incidents(talk)).size < 2, true);
    const before = incidents(talk).length;
    lie(
      talk,
      (message) =>
        message.is === "ack"
          ? { ...message, receipt: made() }
          : stripped(message),
    );
    await place.write(what, "1");
    await talk.settle();
    equal(acked(talk), 0, what);
    deepEqual(talk.client.resume!.receipts, [], what);
    const all = incidents(talk);
    deepEqual(new Set(all), new Set(["bad-receipt"]), what);
    ok(all.length >= Math.max(1, before), what);
    talk.end();
  }
});

for (const type of ["receipt", "witness"] as const) {
  Deno.test(`a server that refuses what it had signed for is named with the ${type}, which the root key shows to be true`, async () => {
    const { world, serving, place } = await start();
    const image = filesOf(serving.place.storage);
    const talk = meet(serving, place);
    await talk.settle();
    await place.write("a", "1");
    await talk.settle();
    equal(acked(talk), 1);
    if (type === "witness") await talk.pass(limits.witnessMs);
    const kept = talk.client.resume!;
    equal(kept.receipts.length, 1);
    // What a witness shows is enough without.
    const resume = type === "witness" ? { ...kept, receipts: [] } : kept;
    talk.end();
    // It was set back, and judges otherwise now.
    const back = await Serving.open(world, {
      storage: restored(image, serving.place.storage.identity()),
    });
    const gate = () => refuseAt(0, "denied", "no more");
    const denied = meet(back, place, resume, { gate });
    await denied.settle();
    await denied.pass(limits.witnessMs);
    ok(incidents(denied).includes("receipt-denied"), incidents(denied).join());
    const port = place.replica.port();
    const context = { rootKey: port.rootKey, nowMs: world.now() };
    const shown = checkEvidence(evidenceOf(denied, "receipt-denied"), context)!;
    equal(shown.type, type);
    deepEqual([...shown.ends.values()].map(({ count }) => count), [1]);
    deepEqual(denied.client.resume!.receipts, [], "it is in the incident");
    denied.end();
  });
}

Deno.test("a server that lost what it had signed for alone is told of with the receipt, until it has it again", async () => {
  const { world, serving, place } = await start();
  const talk = meet(serving, place);
  await talk.settle();
  await place.write("a", "1");
  await talk.settle();
  const resume = talk.client.resume!;
  talk.end();
  const empty = await Serving.open(world);
  notEqual(empty.order.epoch, serving.order.epoch);
  const lost = meet(empty, place, resume);
  await lost.settle();
  await lost.pass(limits.witnessMs);
  const told = lost.client.told("restoring");
  deepEqual(told.map(({ missing }) => missing), [1, 0]);
  const { rootKey } = place.replica.port();
  const context = { rootKey, nowMs: world.now() };
  const shown = checkEvidence(fromHex(told[0]!.receipt), context)!;
  deepEqual(shown.statement.epoch, serving.order.epoch);
  equal(empty.place.text("a"), "1");
  equal(acked(lost), 1);
  lost.end();
});

Deno.test("a receipt of another order than the one that was told is evidence of two orders", async () => {
  const { world, serving, place } = await start();
  const talk = meet(serving, place);
  await talk.settle();
  lie(talk, (message) => {
    if (message.is !== "ack" || message.receipt === undefined) return message;
    const { last, epoch } = serving.order;
    const [receipt] = giveReceipts({
      port: serving.place.replica.port(),
      prover: proverFor(serving.session),
      epoch,
    }, {
      at: { ...last, order: new Uint8Array(32) },
      wall: world.now(),
      authors: [[[chainOf(place), 1]]],
    });
    return { ...message, receipt };
  });
  await place.write("a", "1");
  await talk.settle();
  await talk.pass(limits.witnessMs);
  deepEqual(incidents(talk), ["server-forked"]);
  const { rootKey } = place.replica.port();
  const context = { rootKey, nowMs: world.now() };
  const shown = checkEvidence(evidenceOf(talk, "server-forked"), context)!;
  deepEqual(shown.statement.order, new Uint8Array(32));
  talk.end();
});

Deno.test("a receipt says what is void, and covers a chain that went on meanwhile", async () => {
  const { serving, place } = await start();
  const talk = meet(serving, place, undefined, {
    gate: (batch, from) => {
      const index = batch.commits.findIndex(({ isVoid }, i) =>
        i >= from && !isVoid && batch.first + i === 1
      );
      return index < 0 ? undefined : refuseAt(1, "denied", "no");
    },
  });
  await talk.settle();
  for (let i = 0; i < 5; i++) {
    void place.write(`a${i}`, "1");
    await talk.flight();
  }
  await talk.settle();
  const chain = chainOf(place);
  equal(acked(talk), 5);
  deepEqual(incidents(talk), []);
  const [receipt] = talk.client.resume!.receipts;
  const { count, voids } = readSummary(receipt!.summary).get(chain)!;
  deepEqual([count, [...voids!]], [5, [[1, 2]]]);
  talk.end();
});

Deno.test("receipts that are kept are bounded, and the last ones stay", async () => {
  const { place } = await start();
  await place.write("a", "1");
  const chain = chainOf(place);
  const port = place.replica.port();
  const server = bareSession(90);
  const certificate = certificateFor(server, undefined, true);
  const prover = proverFor({ ...server, certificate });
  const end = { ...port.endOf(chain, 1)!, count: 600 };
  const many = new Map(
    Array.from(
      { length: 500 },
      (_, i) => [
        chain.slice(0, 38) + String.fromCharCode(i >> 8, i & 255),
        end,
      ],
    ),
  );
  const kept = Array.from({ length: 16 }, (_, i) => ({
    statement: new Uint8Array(witnessBytes).fill(i),
    certificates: prover.certificates,
    summary: encodeSummary(many),
    path: [],
  }));
  const { client } = meet(
    await Serving.open(place.world as ManualWorld),
    place,
  );
  const state = { ...client.resume!, receipts: kept };
  const bytes = encodeResume(state);
  ok(bytes.length <= limits.resumeBytesMax);
  const { receipts } = decodeResume(bytes);
  ok(receipts.length >= 2);
  deepEqual(receipts, kept.slice(-receipts.length));
  client.end();
});
