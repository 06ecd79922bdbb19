/**
 * Salted payloads: the hash of what was erased cannot be guessed back, and a
 * server that says so takes no others.
 */

import {
  deepEqual,
  equal,
  notDeepEqual,
  ok,
  rejects,
} from "node:assert/strict";
import { createSigner, sha256 } from "../crypto/mod.ts";
import { toHex } from "../src/base/bytes.ts";
import { isSalted } from "../src/schema/stub.ts";
import { replicaOf } from "../src/db/internals.ts";
import {
  type DatabaseOptions,
  memoryStorage,
  openDatabase,
  type Repository,
} from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { creating, HostileChain } from "./kit/forge.ts";
import { filesWith } from "./kit/found_text.ts";
import { until } from "./kit/patience.ts";
import { recordKind } from "../repo/log/format.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { clientOf, connect, Note } from "./server_clients.ts";
import { serverOptions } from "./server_place.ts";

const root = createSigner(ROOT_SECRET);
const shape = {
  ...{ collection: Note.name, version: 1 },
  fields: [{ name: "text", kind: "string" as const }],
};

function payloadsOf(repository: Repository): Uint8Array[] {
  const payloads: Uint8Array[] = [];
  replicaOf(repository).commits.each(({ batch, from }) => {
    for (const { payloadAt, end } of batch.commits.slice(from)) {
      payloads.push(batch.bytes.slice(payloadAt, end));
    }
  });
  return payloads;
}

function serverWith(salt: boolean) {
  const storage = memoryStorage();
  const options = { storage, rootSecret: ROOT_SECRET, salt };
  return createServer(serverOptions(options, []));
}

function mismatches({ sync }: Repository): unknown[] {
  return sync.status.incidents
    .filter(({ kind }) => kind === "salt-mismatch")
    .map(({ details }) => details);
}

Deno.test("salt: the hash that a redaction keeps is not that of any guess, and the salt is gone from every file", async () => {
  const [there, mine] = [memoryStorage(), memoryStorage()];
  const options = { storage: there, rootSecret: ROOT_SECRET, salt: true };
  const server = await createServer(serverOptions(options, []));
  const a = await clientOf(server, { storage: mine, salt: true });
  const write = a.notes.create({ id: "n1", text: "yes" });
  await write.synced;
  await a.notes.create({ id: "n2", text: "no" }).synced;
  const [payload] = payloadsOf(a.repo);
  ok(isSalted(payload!));
  const salt = payload!.slice(-16);
  for (const storage of [there, mine]) ok(filesWith(storage, salt).length > 0);

  const repository = await server.database.repository("team/a");
  const items = [{ collection: "note", id: "n1" }];
  equal(await replicaOf(repository).redact(items, root, ""), 1);
  await until(() => a.notes.get("n1")?.text === undefined, "it is gone");
  await replicaOf(a.repo).redacted;
  for (const storage of [there, mine]) deepEqual(filesWith(storage, salt), []);
  const [redaction] = replicaOf(a.repo).loaded.credentials.redactions;
  const { was } = redaction!.chains[0]!.commits[0]!;
  deepEqual(was, sha256(payload!));
  // Who guesses the text has a hash for each salt that there could be.
  const guess = payload!.slice();
  guess[guess.length - 1]! ^= 1;
  notDeepEqual(was, sha256(guess));
  await a.repo.verify();
  await using b = await clientOf(server, { salt: true });
  await until(() => b.notes.get("n2")?.text === "no", "b has the rest");
  deepEqual([mismatches(a.repo), mismatches(b.repo)], [[], []]);
  await a.db.close();
  await server.close();
});

Deno.test("salt: no two are the same, also of what says the same, and without the option there is none", async () => {
  for (const salt of [true, false]) {
    await using db = await openDatabase({
      ...{ storage: memoryStorage(), schemas: [Note] },
      ...salt && { salt },
    });
    const repo = await db.repository("r");
    const notes = repo.collection(Note);
    for (let i = 0; i < 20; i++) {
      await notes.create({ id: "n", text: "x" }).durable;
      await notes.delete("n").durable;
    }
    const payloads = payloadsOf(repo);
    equal(payloads.length, 40);
    ok(payloads.every((payload) => isSalted(payload) === salt));
    const salts = new Set(payloads.map((one) => toHex(one.slice(-16))));
    if (salt) equal(salts.size, 40);
    await repo.verify();
  }
  const bad = { storage: memoryStorage(), salt: "yes" };
  await rejects(openDatabase(bad as unknown as DatabaseOptions), {
    code: "invalid-option",
  });
});

Deno.test("salt: a client that salts more than its server is told so, with both values, and goes on salting", async () => {
  await using server = await serverWith(false);
  await using a = await clientOf(server, { salt: true });
  await a.notes.create({ id: "n1", text: "a" }).synced;
  deepEqual(mismatches(a.repo), [{ here: true, server: false }]);
  const [told] = a.repo.sync.status.incidents;
  ok(told!.message.includes("salt is true here and false at the server"));
  await a.notes.create({ id: "n2", text: "a" }).synced;
  ok(payloadsOf(a.repo).every((payload) => isSalted(payload)));
});

Deno.test("salt: what has none is refused by a server that asks for it, which says so, and is written again with one", async () => {
  await using server = await serverWith(true);
  const storage = memoryStorage();
  const a = await clientOf(server, { storage });
  await rejects(a.notes.create({ id: "n1", text: "bare" }).synced, {
    code: "refused",
  });
  deepEqual(mismatches(a.repo), [{ here: false, server: true }]);
  equal(a.notes.get("n1"), undefined);
  await a.db.close();

  await using b = await clientOf(server, {
    storage,
    salt: true,
    offline: true,
  });
  const [refused] = b.repo.sync.status.refusals;
  equal(refused!.rule, "salt");
  connect(b.db, server);
  await refused!.retry().synced;
  deepEqual(mismatches(b.repo), []);
  equal(b.notes.get("n1")?.text, "bare");
  const repository = await server.database.repository("team/a");
  deepEqual(
    payloadsOf(repository).filter((one) => one[0] !== 2).map((one) =>
      isSalted(one)
    ),
    [true],
  );
});

Deno.test("salt: who leaves it out is refused, who writes zeros or another length is closed", async () => {
  await using server = await serverWith(true);
  await using a = await clientOf(server, { salt: true });
  await a.notes.create({ id: "n0", text: "there" }).synced;
  const genesisId = genesisOf(server, "team/a");
  const tried: readonly (readonly [Uint8Array | undefined, string])[] = [
    [new Uint8Array(16).fill(7), "taken"],
    [undefined, "denied"],
    [new Uint8Array(16), "malformed"],
    [new Uint8Array(15).fill(7), "malformed"],
    [new Uint8Array(17).fill(7), "malformed"],
  ];
  const repository = await server.database.repository("team/a");
  for (const [i, [salt, expected]] of tried.entries()) {
    const before = payloadsOf(repository).length;
    const session = rawSession({ user: `u${i}` });
    await using peer = await RawPeer.opened(server, "team/a", session);
    const signer = createSigner(session.secretKey);
    const chain = new HostileChain(genesisId, signer, 1);
    const operations = [creating({ shape, id: `h${i}` }, { text: "x" })];
    const good = new Uint8Array(16).fill(9);
    const first = [creating({ shape, id: `g${i}` }, { text: "x" })];
    const wall = Date.now() - 1_000;
    peer.records(
      { kind: recordKind.certificate, bytes: session.certificate },
      chain.batch(
        { wall, operations: first, salt: good },
        { wall: wall + 1, operations, salt },
      ),
    );
    peer.send({ is: "ping", token: 1 });
    const heard = await peer.hearTo(
      expected === "malformed" ? "failed" : "pong",
    );
    const reasons = heard.flatMap((one) =>
      one.is === "refuse" ? [`${one.reason} ${one.number} ${one.rule}`] : []
    );
    if (expected === "taken") deepEqual(reasons, []);
    if (expected === "denied") deepEqual(reasons, ["denied 1 salt"]);
    const after = payloadsOf(repository).length;
    equal(after - before, expected === "taken" ? 2 : 0, expected);
  }
});
