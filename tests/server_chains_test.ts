/** Who begins chains without end at a real server, by hand; and what that does to everybody else. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { defineRules, memoryStorage, openDatabase, rulesFor } from "../mod.ts";
import { createServer, type Server } from "../server/mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { limits } from "../src/base/limits.ts";
import { forge, forgedChain } from "./kit/forge.ts";
import { until, within } from "./kit/patience.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { type Client, clientOf, Note } from "./server_clients.ts";
import { ANN, serverOptions, withServer } from "./server_place.ts";
import { recordKind } from "../repo/log/format.ts";

const REPOSITORY = "team/a";
const FAST = { quotas: { chainsPerMinute: 1e6 } };

/** Many chains of one session, by hand: those up to the first that is refused, and why that was. */
async function flood(
  peer: RawPeer,
  session: ReturnType<typeof rawSession>,
  { from = 1, count, text }: { from?: number; count: number; text?: string },
): Promise<string[]> {
  const genesisId = genesisOf(peer.server, REPOSITORY);
  const wall = Date.now() - 1_000;
  const reasons: string[] = [];
  for (let i = from; i < from + count; i++) {
    const one = { session, genesisId, wall, incarnation: i };
    peer.records(forge(text === undefined ? one : { ...one, text }));
  }
  for (let done = 0; done < peer.sent;) {
    const answer = await peer.hear("ack", "refuse");
    if (answer.is === "ack") done = answer.sequence;
    else reasons.push(answer.reason);
  }
  return reasons;
}

function chainsOf(server: Server, key: Uint8Array): Promise<number> {
  const prefix = String.fromCharCode(...key);
  return server.database.repository(REPOSITORY).then((repository) =>
    [...replicaOf(repository).graph.chains()]
      .filter(({ name }) => name.startsWith(prefix)).length
  );
}

/** Revocations that a client has. */
function recordsOf({ repo }: Client): number {
  return replicaOf(repo).loaded.credentials.revocations.size;
}

Deno.test("attack: empty commits, by somebody who may write nothing, begin no chain", () => {
  const rules = defineRules({
    [REPOSITORY]: { read: () => true, others: false },
  });
  return withServer({ rootSecret: ROOT_SECRET, rules }, async ({ server }) => {
    const session = rawSession();
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const reasons = await flood(peer, session, { count: 200, text: "" });
    deepEqual(reasons, Array(200).fill("denied"));
    equal(await chainsOf(server, session.signer.publicKey), 0);
    const genesisId = genesisOf(server, REPOSITORY);
    const wall = Date.now() - 1_000;
    const some = { session, genesisId, wall, commits: 3, incarnation: 999 };
    peer.records(forge({ ...some, text: "" }));
    equal((await peer.hear("refuse")).number, 0);
    const sessionKey = session.signer.publicKey;
    await within(server.revoke({ sessionKey }), "revoked");
  });
});

Deno.test("attack: a session begins so many chains and no more, over restarts; others begin theirs", async () => {
  const storage = memoryStorage();
  const options = { rootSecret: ROOT_SECRET, storage, ...FAST };
  const session = rawSession();
  const key = session.signer.publicKey;
  const max = limits.sessionChainsMax;
  await withServer(options, async ({ server }) => {
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const reasons = await flood(peer, session, { count: max + 3 });
    deepEqual(reasons, ["quota", "quota", "quota"]);
    equal(await chainsOf(server, key), max);
  });
  await withServer(options, async ({ server }) => {
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const more = { from: max + 10, count: 2 };
    deepEqual(await flood(peer, session, more), ["quota", "quota"]);
    // By another connection of another session it is no better.
    const friend = rawSession();
    await using relay = await RawPeer.opened(server, REPOSITORY, friend);
    deepEqual(await flood(relay, session, { from: max + 20, count: 1 }), [
      "quota",
    ]);
    deepEqual(await flood(relay, friend, { count: 5 }), []);
    await using ann = await clientOf(server, { token: ANN });
    await within(ann.notes.create({ text: "still here" }).synced, "ann");
    equal(ann.repo.status().commits, max + 6);
    await within(server.revoke({ sessionKey: key }), "revoked");
    equal(await chainsOf(server, key), max, "what was accepted stands");
  });
});

Deno.test("attack: a session begins chains no faster than it may, whatever becomes of others", () =>
  withServer(
    { rootSecret: ROOT_SECRET, quotas: { chainsPerMinute: 5 } },
    async ({ server }) => {
      const session = rawSession();
      await using peer = await RawPeer.opened(server, REPOSITORY, session);
      const reasons = await flood(peer, session, { count: 9 });
      deepEqual(reasons, Array(4).fill("quota"));
      const other = rawSession();
      await using second = await RawPeer.opened(server, REPOSITORY, other);
      deepEqual(await flood(second, other, { count: 5 }), []);
    },
  ));

Deno.test("500 tabs of one honest session lock nobody out", async () => {
  const storage = memoryStorage();
  const options = { rootSecret: ROOT_SECRET, storage, ...FAST };
  const session = rawSession();
  const chains = 500;
  await withServer(options, async ({ server }) => {
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    deepEqual(await flood(peer, session, { count: chains }), []);
  });
  await withServer(options, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await within(ann.notes.create({ text: "a" }).synced, "ann");
    const key = session.signer.publicKey;
    const { repositories } = await server.revoke({ sessionKey: key });
    equal(repositories, 1);
    const arrived = () => recordsOf(ann) === 1;
    await until(arrived, "the record is at ann's");
    await within(ann.notes.create({ text: "b" }).synced, "ann, after it");
    equal(ann.repo.status().commits, chains + 2);
  });
});

Deno.test("16,400 chains of one session that a log has already are revoked, and the repository opens again", async () => {
  const storage = memoryStorage();
  const options = serverOptions({ rootSecret: ROOT_SECRET, storage }, []);
  const session = rawSession();
  const key = session.signer.publicKey;
  const chains = limits.revocationCutsMax + 16;
  const begin = await createServer(options);
  const genesisId = genesisOf(begin, REPOSITORY);
  const old = replicaOf(await begin.database.repository(REPOSITORY));
  const wall = Date.now() - 1_000;
  old.receive([
    { kind: recordKind.certificate, bytes: session.certificate },
    ...Array.from(
      { length: chains },
      (_, i) => forge({ session, genesisId, wall, incarnation: i + 1 }),
    ),
  ]);
  await old.durable();
  await begin.close();
  const server = await createServer(options);
  {
    await using ann = await clientOf(server, { token: ANN });
    await within(ann.repo.sync.ready, "ann");
    const { repositories } = await server.revoke({ sessionKey: key });
    equal(repositories, 1);
    await until(() => recordsOf(ann) === 2, "both records");
    const { revocations } = replicaOf(ann.repo).loaded.credentials;
    const last = forgedChain({ session, genesisId, wall, incarnation: chains });
    equal(revocations.cutOf(last), 1);
    equal(revocations.heldBeyond(replicaOf(ann.repo).graph), 0);
  }
  await server.close();
  await using again = await createServer(options);
  await using bob = await clientOf(again, { token: ANN });
  await within(bob.notes.create({ text: "opens" }).synced, "bob");
  await until(() => bob.repo.status().commits === chains + 1, "all of it");
});

Deno.test("40,100 chains: a fresh client comes in, and one that has them all comes back to another life of the server", async () => {
  const chains = limits.vectorChainsMax + 100;
  const storage = memoryStorage();
  const options = serverOptions({ storage, mode: "trusted" }, []);
  const server = await createServer(options);
  const genesisId = genesisOf(server, REPOSITORY, "trusted");
  const full = replicaOf(await server.database.repository(REPOSITORY));
  const wall = Date.now() - 1_000;
  const session = rawSession();
  full.receive(
    Array.from(
      { length: chains },
      (_, i) =>
        forge({
          session,
          genesisId,
          wall,
          incarnation: i + 1,
          isSigned: false,
        }),
    ),
  );
  await full.durable();
  const own = memoryStorage();
  const device = () =>
    openDatabase({
      storage: own,
      rootKey: server.rootKey,
      mode: "trusted",
      schemas: [Note],
    });
  {
    await using db = await device();
    const repo = await db.repository(REPOSITORY);
    db.connect(server.url);
    await within(repo.sync.ready, "live");
    equal(repo.status().commits, chains);
    await within(repo.collection(Note).create({ text: "a" }).synced, "a");
  }
  await server.close();
  // Its resume is gone: it names as many chains as fit.
  for (const name of own.list("")) {
    if (name.includes("resume")) own.remove(name);
  }
  await using again = await createServer(options);
  await using db = await device();
  const repo = await db.repository(REPOSITORY);
  db.connect(again.url);
  await within(repo.sync.ready, "live again");
  await within(repo.collection(Note).create({ text: "b" }).synced, "b");
  const { incidents } = repo.sync.status;
  deepEqual(incidents, []);
  ok((await repo.sync.audit()).equal);
});

Deno.test("attack: a session that writes nothing leaves no repository behind, one that writes does", () => {
  const rules = defineRules({
    "{team}/{name}": {
      read: () => true,
      others: false,
      collections: [
        rulesFor(Note, { create: ({ params }) => params.team === "w" }),
      ],
    },
  });
  const storage = memoryStorage();
  const options = { rootSecret: ROOT_SECRET, rules, storage, idleMs: 1 };
  return withServer(options, async ({ server }) => {
    const names = () =>
      server.database.repositories().filter((name) => !name.startsWith("_"));
    const before = storage.folders("repositories").length;
    const session = rawSession();
    {
      await using peer = await RawPeer.proven(server, session);
      for (let i = 1; i <= 20; i++) {
        peer.open(i, `r/${i}`);
        await peer.hear("opened");
      }
      // What is refused begins none, either.
      const genesisId = genesisOf(server, "r/1");
      const wall = Date.now() - 1_000;
      peer.records(forge({ session, genesisId, wall }));
      equal((await peer.hear("refuse")).reason, "denied");
    }
    await until(() => names().length === 0, "they are gone");
    equal(storage.folders("repositories").length, before);
    await using ann = await clientOf(server, { token: ANN, repository: "w/1" });
    await within(ann.notes.create({ text: "first" }).synced, "synced");
    await ann.repo.close();
    const open = () => server.status().open.length;
    await until(() => open() === 0, "it was idle");
    deepEqual(names(), ["w/1"]);
    // Nor is one that somebody reads at the same moment as it goes.
    for (let turn = 0; turn < 5; turn++) {
      await using _peer = await RawPeer.opened(server, "w/2", session);
      await until(() => names().includes("w/2"), "begun anew");
    }
    await using bob = await clientOf(server, { token: ANN, repository: "w/2" });
    await within(bob.notes.create({ text: "second" }).synced, "synced");
    await bob.repo.close();
    await until(() => open() === 0, "idle again");
    deepEqual(names(), ["w/1", "w/2"]);
  });
});
