/**
 * Somebody who gives up what he wrote, or what he did not: to say it later, to
 * blank what was accepted, or to fill a server with it.
 */

import { deepEqual, equal } from "node:assert/strict";
import { createServer, type Server } from "../server/mod.ts";
import { createSigner } from "../crypto/mod.ts";
import { decodeMessage, encodeMessage } from "../sync/message_codec.ts";
import { replicaOf } from "../src/db/internals.ts";
import { limits } from "../src/base/limits.ts";
import type { Message, WireRecord } from "../sync/message.ts";
import type { Shape } from "../src/schema/patch.ts";
import { defineRules, rulesFor } from "../mod.ts";
import { voidLayout, type VoidRange } from "../repo/commit/void.ts";
import { ByteWriter, concatBytes } from "../src/base/bytes.ts";
import { chainBytes } from "../repo/commit/commit.ts";
import { recordKind } from "../repo/log/format.ts";
import { creating, givingUp, HostileChain, stubbed } from "./kit/forge.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { Note } from "./server_clients.ts";
import { serverOptions, withServer } from "./server_place.ts";

const REPOSITORY = "team/a";
const shape: Shape = {
  collection: Note.name,
  version: 1,
  fields: [{ name: "text", kind: "string" }],
};

/** A session that writes by hand, on one chain. */
class Author {
  readonly session;
  readonly signer;
  readonly genesisId: Uint8Array;
  readonly chain: HostileChain;
  readonly #startMs = Date.now() - 100_000;

  constructor(
    server: Server,
    incarnation = 1,
    session = rawSession({ user: "mal" }),
  ) {
    this.session = session;
    this.signer = createSigner(session.secretKey);
    this.genesisId = genesisOf(server, REPOSITORY);
    this.chain = new HostileChain(this.genesisId, this.signer, incarnation);
  }

  /** The next commit. */
  says(id: string): WireRecord {
    const operations = [creating({ shape, id }, { text: id })];
    const wall = this.#startMs + this.chain.length;
    return this.chain.batch({ wall, operations });
  }

  givesUp(...numbers: number[]): WireRecord {
    const { signer, genesisId, chain } = this;
    return givingUp(signer, genesisId, chain.name, ...numbers);
  }
}

function peerOf(server: Server, { session }: Author): Promise<RawPeer> {
  return RawPeer.opened(server, REPOSITORY, session);
}

/** What a client of a server shows to the next one. */
async function proofOf(server: Server): Promise<Message> {
  const replica = replicaOf(await server.database.repository(REPOSITORY));
  await replica.durable();
  await using peer = await RawPeer.greeted(server);
  peer.send(await peer.proof(rawSession()));
  const { certificates } = await peer.hear("welcome");
  peer.open(1, REPOSITORY);
  for (;;) {
    const { witness } = await peer.hear("witness");
    const summary = replica.port().summary()!;
    const proof = {
      ...{ is: "proof", channel: 1 },
      ...{ statement: witness, certificates, summary },
    };
    return decodeMessage(encodeMessage(proof as Message)) as Message;
  }
}

/** A server that has lost all that another one had accepted, and was shown what that was. */
async function afterLoss(
  before: (server: Server) => Promise<void>,
  after: (server: Server) => Promise<void>,
): Promise<void> {
  const options = () => serverOptions({ rootSecret: ROOT_SECRET }, []);
  const first = await createServer(options());
  await before(first);
  const proof = await proofOf(first);
  await first.close();
  await using second = await createServer(options());
  await using witness = await RawPeer.opened(second, REPOSITORY);
  witness.send(proof);
  witness.records(); // What was sent before it was dealt with, when that is.
  witness.send({
    is: "audit",
    channel: 1,
    question: 1,
    query: { ask: "summary" },
  });
  await witness.hear("audited");
  await after(second);
}

Deno.test("who gave up what was never judged cannot say it after a loss", async () => {
  let author: Author | undefined;
  let said: WireRecord[] = [];
  await afterLoss(async (server) => {
    author = new Author(server);
    said = [author.says("a"), author.says("b"), author.says("c")];
    await using peer = await peerOf(server, author);
    equal(await peer.hand(said[0]!), undefined);
    equal(await peer.hand(author.givesUp(1)), undefined);
    equal(await peer.hand(stubbed(said[1]!, 1)), undefined);
    equal(await peer.hand(said[2]!), undefined);
  }, async (server) => {
    const replica = replicaOf(await server.database.repository(REPOSITORY));
    {
      await using peer = await peerOf(server, author!);
      for (const one of said) peer.records(one);
      const { reason, number } = await peer.hear("refuse");
      deepEqual([reason, number], ["fork", 1]);
    }
    equal(replica.graph.lengthOf(author!.chain.name), 1);
    await using peer = await peerOf(server, author!);
    for (const one of [author!.givesUp(1), stubbed(said[1]!, 1), said[2]!]) {
      peer.records(one);
    }
    while ((await peer.hear("ack")).sequence < 3);
    const { length, voids } = replica.graph.chain(author!.chain.name)!;
    deepEqual([length, [...voids!]], [3, [[1, 2]]]);
  });
});

Deno.test("who had something accepted cannot blank it after a loss, and nobody for him", async () => {
  let author: Author | undefined;
  let said: WireRecord[] = [];
  await afterLoss(async (server) => {
    author = new Author(server);
    said = [author.says("a"), author.says("b")];
    await using peer = await peerOf(server, author);
    for (const one of said) equal(await peer.hand(one), undefined);
    equal(await peer.hand(author.givesUp(0)), undefined);
    const refusal = await peer.hand(stubbed(said[0]!, 0));
    deepEqual([refusal?.reason, refusal?.number], ["fork", 0]);
  }, async (server) => {
    await using peer = await peerOf(server, author!);
    for (const one of [author!.givesUp(0), stubbed(said[0]!, 0), said[1]!]) {
      peer.records(one);
    }
    const { reason, number } = await peer.hear("refuse");
    deepEqual([reason, number], ["fork", 0]);
    await using other = await peerOf(server, author!);
    for (const one of said) other.records(one);
    while ((await other.hear("ack")).sequence < 2);
    const replica = replicaOf(await server.database.repository(REPOSITORY));
    equal(replica.graph.chain(author!.chain.name)?.voids, undefined);
  });
});

/** One who is no author of what it brings. */
async function relayTo(server: Server, author: Author): Promise<RawPeer> {
  const peer = await RawPeer.opened(server, REPOSITORY);
  const bytes = author.session.certificate;
  await peer.hand({ kind: recordKind.certificate, bytes });
  return peer;
}

Deno.test("what a revoked session gives up of what never came is kept nowhere, whoever brings it", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    const author = new Author(server);
    const said = [author.says("a"), author.says("b")];
    const before = await peerOf(server, author);
    equal(await before.hand(author.givesUp(0)), undefined);
    for (const one of [stubbed(said[0]!, 0), said[1]!]) {
      equal(await before.hand(one), undefined);
    }
    const sessionKey = author.signer.publicKey.toHex();
    await server.revoke({ sessionKey }, "stolen");
    await before.ended;
    await using own = await peerOf(server, author);
    await using other = await relayTo(server, author);
    const { loaded } = await replicaAt(server);
    const { end } = loaded.log;
    for (const peer of [own, other]) {
      for (const numbers of [[1], [2], [0, 2, 7], [1_000, 1_002]]) {
        const refusal = await peer.hand(author.givesUp(...numbers));
        equal(refusal?.reason, "revoked", numbers.join());
      }
      equal(await peer.hand(author.givesUp(0)), undefined, "it is known");
    }
    equal(loaded.log.end, end);
    equal(server.quarantine().length, 0);
  }));

Deno.test("who has void what another server accepted hears so, also where the author's word is no longer taken", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    const author = new Author(server);
    const said = author.says("a");
    const before = await peerOf(server, author);
    equal(await before.hand(said), undefined);
    const sessionKey = author.signer.publicKey.toHex();
    await server.revoke({ sessionKey }, "stolen");
    await before.ended;
    await using other = await relayTo(server, author);
    equal((await other.hand(author.givesUp(0)))?.reason, "revoked");
    const refusal = await other.hand(stubbed(said, 0));
    deepEqual([refusal?.reason, refusal?.number], ["fork", 0]);
    const { graph } = await replicaAt(server);
    const { length, voids } = graph.chain(author.chain.name)!;
    deepEqual([length, voids], [1, undefined]);
  }));

Deno.test("what a user gives up who was revoked before he came is kept nowhere", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    await server.revoke({ user: "mal" });
    const author = new Author(server);
    await using other = await relayTo(server, author);
    equal((await other.hand(author.givesUp(0)))?.reason, "revoked");
    const { loaded } = await replicaAt(server);
    equal([...loaded.credentials.voids].length, 0);
  }));

Deno.test("what a revoked session had given up comes back after a loss where a witness shows it, and no more than that", async () => {
  let author: Author | undefined;
  let said: WireRecord[] = [];
  await afterLoss(async (server) => {
    author = new Author(server);
    const [a, b, c] = ["a", "b", "c"].map((id) => author!.says(id));
    said = [a!, author.givesUp(1), stubbed(b!, 1), c!];
    await using peer = await peerOf(server, author);
    for (const one of said) equal(await peer.hand(one), undefined);
  }, async (server) => {
    await using other = await relayTo(server, author!);
    const sessionKey = author!.signer.publicKey.toHex();
    await server.revoke({ sessionKey }, "stolen");
    for (const numbers of [[3], [1_000, 1_002]]) {
      const refusal = await other.hand(author!.givesUp(...numbers));
      equal(refusal?.reason, "revoked", numbers.join());
    }
    const first = other.sent + 1;
    other.records(...said);
    while ((await other.hear("ack")).sequence < first + said.length - 1);
    const { graph } = await replicaAt(server);
    const { length, voids } = graph.chain(author!.chain.name)!;
    deepEqual([length, [...voids!]], [3, [[1, 2]]]);
    equal((await other.hand(author!.givesUp(2)))?.reason, "revoked");
  });
});

/** He may write nothing. */
const closed = defineRules({
  [REPOSITORY]: { read: () => true, collections: [rulesFor(Note, {})] },
});

function replicaAt(server: Server) {
  return server.database.repository(REPOSITORY).then(replicaOf);
}

Deno.test("who may write nothing keeps a few stubs, in a few chains, whatever he gives up", () =>
  withServer({
    rootSecret: ROOT_SECRET,
    rules: closed,
    quotas: { chainsPerMinute: 1e6 },
  }, async ({ server }) => {
    const session = rawSession();
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const begin = async (incarnation: number) => {
      const author = new Author(server, incarnation, session);
      await peer.hand(author.givesUp(0));
      return (await peer.hand(stubbed(author.says("a"), 0)))?.reason;
    };
    for (let i = 1; i <= limits.voidChainsMax; i++) {
      equal(await begin(i), undefined);
    }
    equal(await begin(limits.voidChainsMax + 1), "quota");
    const { graph } = await replicaAt(server);
    equal(graph.size, limits.voidChainsMax);
  }));

Deno.test("a void that is handed in again and again is kept once, however much of it is known", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    const author = new Author(server);
    await using peer = await peerOf(server, author);
    const { loaded } = await replicaAt(server);
    const record = (first: number, ...more: VoidRange[]) => {
      const ranges = [{ first: 0, count: first }, ...more];
      const chain = chainBytes(author.chain.name);
      const said = { genesisId: author.genesisId, chain, ranges };
      const { bytes } = voidLayout.sign(said, author.signer);
      return { kind: recordKind.void, bytes };
    };
    equal(await peer.hand(record(8_000)), undefined);
    const before = loaded.log.end;
    for (let i = 0; i < 100; i++) peer.records(record(8_000 - i));
    equal(await peer.hand(record(1)), undefined);
    equal(loaded.log.end, before);
    equal([...loaded.credentials.voids].length, 1);
    const refusal = await peer.hand(record(limits.voidsOfKeyMax + 1));
    equal(refusal?.reason, "too-large");
    equal(await peer.hand(record(limits.voidsOfKeyMax)), undefined);
    const one = { first: limits.voidsOfKeyMax, count: 1 };
    equal((await peer.hand(record(1, one)))?.reason, "too-large");
  }));

Deno.test("what is given up takes room in a repository as commits do", () =>
  withServer({
    rootSecret: ROOT_SECRET,
    quotas: { repositoryBytes: 2_000 },
  }, async ({ server }) => {
    const author = new Author(server);
    await using peer = await peerOf(server, author);
    equal(await peer.hand(author.says("x".repeat(200))), undefined);
    while ((await replicaAt(server)).loaded.log.end <= 2_000) {
      equal(await peer.hand(author.says("x".repeat(200))), undefined);
    }
    const { length } = author.chain;
    equal((await peer.hand(author.givesUp(length)))?.reason, "quota");
    const stub = stubbed(author.says("a"), length);
    equal((await peer.hand(stub))?.reason, "quota");
    equal([...(await replicaAt(server)).loaded.credentials.voids].length, 0);
  }));

Deno.test("a void of numbers that nobody can count to ends its sender, and costs the others nothing", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    const author = new Author(server);
    const peer = await peerOf(server, author);
    const writer = new ByteWriter();
    writer.u8(1);
    writer.bytes(author.genesisId);
    writer.bytes(chainBytes(author.chain.name));
    writer.varint(1);
    writer.varint(Number.MAX_SAFE_INTEGER);
    writer.varint(3);
    writer.bytes(author.signer.publicKey);
    const unsigned = writer.copy();
    const domain = new TextEncoder().encode("sheaf void 1\n");
    const signature = author.signer.sign(concatBytes(domain, unsigned));
    const bytes = concatBytes(unsigned, signature);
    equal(
      (await peer.hand({ kind: recordKind.void, bytes }))?.reason,
      "malformed",
    );
    equal(await peer.ended, "bad-message");
    await using other = await peerOf(server, author);
    equal(await other.hand(author.says("a")), undefined);
  }));
