/** Revoked devices against servers that lost their books, or were set back to a backup. */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { memoryStorage, type Storage } from "../mod.ts";
import { createSigner } from "../crypto/mod.ts";
import { chainBytes } from "../repo/commit/commit.ts";
import { digestOfSummary } from "../repo/graph/graph.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { replicaOf } from "../src/db/internals.ts";
import {
  copyDatabase,
  createServer,
  type Server,
  type ServerOptions,
} from "../server/mod.ts";
import type { MessageOf } from "../sync/message.ts";
import { witnessLayout } from "../sync/witness.ts";
import { forge } from "./kit/forge.ts";
import { until } from "./kit/patience.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { clientOf } from "./server_clients.ts";
import {
  ANN,
  BOB,
  knowKey,
  loginBody,
  post,
  serverOptions,
} from "./server_place.ts";
import { recordKind } from "../repo/log/format.ts";

const signWitness = (...asked: Parameters<typeof witnessLayout.sign>) =>
  witnessLayout.sign(...asked).bytes;

const [SHARED, SECRET] = ["team/a", "team/b"] as const;
const WRITE = 2;
const READ_AND_WRITE = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;

function serve(options: ServerOptions = {}): Promise<Server> {
  const all = { rootSecret: ROOT_SECRET, ...options };
  return createServer(serverOptions(all, []));
}

/** The port of a server, for its successor. */
function portOf({ url }: Server): number {
  return Number(new URL(url).port);
}

type Device = ReturnType<typeof rawSession>;

function keyOf({ secretKey }: Device): string {
  return createSigner(secretKey).publicKey.toHex();
}

/** What a device may do in a repository. */
async function rightsOf(
  server: Server,
  device: Device,
  name: string = SECRET,
): Promise<number> {
  await using peer = await RawPeer.proven(server, device);
  peer.open(1, name);
  return (await peer.hear("opened")).rights;
}

/** Hands in something that a device wrote, in a new chain each time; resolves with why it was refused. */
async function handIn(
  server: Server,
  device: Device,
  incarnation: number,
  by = device,
): Promise<string | undefined> {
  await using peer = await RawPeer.opened(server, SHARED, by);
  const genesisId = genesisOf(server, SHARED);
  const wall = Date.now();
  const record = forge({ session: device, genesisId, wall, incarnation });
  peer.records(
    { kind: recordKind.certificate, bytes: device.certificate },
    record,
  );
  peer.send({ is: "ping", token: 1 });
  const refusals = (await peer.hearTo("pong")).filter(({ is }) =>
    is === "refuse"
  ) as MessageOf<"refuse">[];
  return refusals[0]?.reason;
}

/** What a login of a device by hand is answered. */
async function loginOf(
  server: Server,
  device: Device,
  certificate: string | undefined,
): Promise<number> {
  knowKey(keyOf(device), device.secretKey);
  const sessionKey = keyOf(device);
  const credentials = { token: ANN };
  const body = { sessionKey, credentials, certificate };
  const answer = await fetch(
    `${server.url}/login`,
    post(loginBody(server.rootKey, body)),
  );
  await answer.body?.cancel();
  return answer.status;
}

/** A server where a device of Ann's wrote, and was revoked; Bob has the record of it, and a backup of before has not. */
async function revokedBefore(bobs: Storage) {
  const [storage, backup] = [memoryStorage(), memoryStorage()];
  const server = await serve({ storage });
  const device = rawSession({ user: "ann" });
  await using bob = await clientOf(server, { token: BOB, storage: bobs });
  equal(await handIn(server, device, 1), undefined);
  const { loaded, graph } = replicaOf(bob.repo);
  await until(() => graph.commits === 1, "Bob has what it wrote");
  await copyDatabase(storage, backup);
  await server.revoke({ sessionKey: keyOf(device) }, "stolen");
  await until(
    () => loaded.credentials.revocations.size === 1,
    "Bob hears of it",
  );
  await bob.repo.sync.audit(); // And has it durably.
  return { server, device, backup };
}

Deno.test("a revoked device reads nowhere on a server that lost its disk, once its record came back to one repository", async () => {
  const bobs = memoryStorage();
  const { server: first, device } = await revokedBefore(bobs);
  const port = portOf(first);
  await first.close();
  await using second = await serve({ port });
  equal(await rightsOf(second, device), READ_AND_WRITE, "it cannot know yet");
  await using reading = await RawPeer.opened(second, SECRET, device);
  await using _bob = await clientOf(second, { token: BOB, storage: bobs });
  equal((await reading.hear("failed")).code, "unavailable");
  equal(await rightsOf(second, device), WRITE);
  equal(await loginOf(second, device, undefined), 403);
});

Deno.test("a server that was restored from a backup knows whom records in repositories revoke, over a restart too", async () => {
  const bobs = memoryStorage();
  const { server: first, device, backup } = await revokedBefore(bobs);
  const port = portOf(first);
  await first.close();
  const storage = backup;
  {
    await using second = await serve({ port, storage });
    await using reading = await RawPeer.opened(second, SECRET, device);
    await using _bob = await clientOf(second, { token: BOB, storage: bobs });
    equal((await reading.hear("failed")).code, "unavailable");
  }
  await using third = await serve({ port, storage });
  deepEqual(third.status().open, []);
  equal(await rightsOf(third, device), WRITE);
});

Deno.test("a user is revoked before his device returns, to a server that never heard of it", async () => {
  await using server = await serve();
  const device = rawSession({ user: "ann" });
  const other = rawSession({ user: "bob" });
  equal(await handIn(server, other, 1), undefined);
  deepEqual(await server.revoke({ user: "ann" }, "left us"), {
    sessions: [],
    repositories: 0,
  });
  // Somebody else brings what it wrote, and then it comes itself.
  equal(await handIn(server, device, 1, other), "revoked");
  equal(server.quarantine()[0]?.user, "ann");
  equal(await rightsOf(server, device), WRITE);
  equal(await loginOf(server, device, device.certificate.toHex()), 403);
  equal(await handIn(server, other, 2), undefined, "others write on");
});

Deno.test("a user who was revoked and logs in later has a session like any other, and so has one that was certified elsewhere later", async () => {
  await using server = await serve({ sessionDays: 1 });
  await server.revoke({ user: "ann" });
  await using ann = await clientOf(server, { token: ANN });
  await ann.notes.create({ text: "with a new session" }).synced;
  const notAfter = Date.now() + 2 * DAY_MS;
  const elsewhere = rawSession({ user: "ann", notAfter });
  equal(await rightsOf(server, elsewhere), READ_AND_WRITE);
  await server.revoke({ user: "ann" });
  await rejects(ann.notes.create({ text: "late" }).synced, { code: "refused" });
  equal(await rightsOf(server, elsewhere), WRITE);
});

Deno.test("a user stays revoked over a restart, and in repositories that were closed", async () => {
  const storage = memoryStorage();
  const device = rawSession({ user: "ann" });
  {
    await using server = await serve({ storage, idleMs: 1 });
    equal(await handIn(server, device, 1), undefined);
    await until(() => server.status().open.length === 0, "it is closed");
  }
  {
    await using forgetful = await serve({ storage });
    await forgetful.revoke({ user: "ann" }, "left us");
  }
  await using server = await serve({ storage });
  await using bob = await clientOf(server, { token: BOB });
  await bob.repo.sync.ready;
  const reasons = [...replicaOf(bob.repo).loaded.credentials.revocations].map((
    one,
  ) => one.reason);
  deepEqual(reasons, ["left us"]);
  equal(await handIn(server, device, 2), "revoked");
});

Deno.test("a revoked user's connections end, also of sessions that are in no book", async () => {
  await using server = await serve();
  const issuer = rawSession({ user: "edge", mayIssue: true });
  const device = rawSession({ user: "edge" });
  const bob = rawSession({ user: "bob" });
  const peers = await Promise.all(
    [issuer, device, bob].map((who) => RawPeer.opened(server, SECRET, who)),
  );
  deepEqual((await server.revoke({ user: "edge" })).sessions, [keyOf(device)]);
  for (const peer of peers.slice(0, 2)) {
    equal((await peer.hear("failed")).code, "unavailable");
    await peer.ended;
  }
  const again = await RawPeer.greeted(server);
  again.send(await again.proof(issuer));
  equal((await again.hear("failed")).code, "forbidden");
  await again.ended;
  equal(peers[2]!.isOver, false);
  await peers[2]![Symbol.asyncDispose]();
});

Deno.test("a revoked session that may issue is not let in: no rule is asked of what a server brings", async () => {
  await using server = await serve();
  const issuer = rawSession({ user: "edge", mayIssue: true });
  equal(await handIn(server, issuer, 1), undefined);
  await server.revoke({ sessionKey: keyOf(issuer) });
  const peer = await RawPeer.greeted(server);
  peer.send(await peer.proof(issuer));
  equal((await peer.hear("failed")).code, "forbidden");
  await peer.ended;
});

Deno.test("what a revoked server signs of what there was holds nobody up", async () => {
  await using server = await serve();
  const [edge, other] = [
    rawSession({ user: "edge", mayIssue: true }),
    rawSession({ user: "other", mayIssue: true }),
  ];
  await server.revoke({ sessionKey: keyOf(edge) }, "stolen");
  await using ann = await clientOf(server, { token: ANN });
  await ann.notes.create({ text: "hers" }).synced;
  const genesisId = genesisOf(server, SHARED);
  const [chain] = replicaOf(ann.repo).graph.vector().keys();
  const entry = new ByteWriter();
  entry.bytes(chainBytes(chain!));
  entry.u48(1_000);
  entry.bytes(new Uint8Array(32));
  const summary = entry.copy();
  for (const thief of [edge, other]) {
    const { publicKey, sign } = createSigner(thief.secretKey);
    const certificates = [thief.certificate];
    const witness = signWitness({
      genesisId,
      epoch: new Uint8Array(16).fill(9),
      position: 1,
      commits: 1_000,
      digest: digestOfSummary(genesisId, summary),
      order: new Uint8Array(32),
      wall: Date.now(),
    }, { publicKey, sign });
    await using peer = await RawPeer.opened(server, SHARED);
    peer.send({
      ...{ is: "proof", channel: 1 },
      ...{ statement: witness, certificates, summary },
    });
    peer.send({ is: "ping", token: 1 });
    await peer.hear("pong");
    const isHeld = server.status().restoring.length > 0;
    equal(isHeld, thief === other);
    if (!isHeld) await ann.notes.create({ text: "more" }).synced;
  }
});

Deno.test("a revoked server is recorded where its certificate came, though it never wrote there: clients leave it", async () => {
  await using server = await serve();
  const [edge, device] = [
    rawSession({ user: "edge", mayIssue: true }),
    rawSession(),
  ];
  await using ann = await clientOf(server, { token: ANN });
  await ann.notes.create({ text: "hers" }).synced;
  await using peer = await RawPeer.opened(server, SHARED, device);
  peer.records({ kind: recordKind.certificate, bytes: edge.certificate });
  await peer.hear("ack");
  equal((await server.revoke({ sessionKey: keyOf(edge) })).repositories, 1);
  const port = replicaOf(ann.repo).port();
  const { publicKey } = createSigner(edge.secretKey);
  await until(() => port.isRevoked(publicKey), "Ann hears of it");
  equal((await server.revoke({ sessionKey: keyOf(edge) })).repositories, 0);
});
