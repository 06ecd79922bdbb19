/**
 * What is erased is gone: on the server, on every client, in every file.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { createSigner } from "../crypto/mod.ts";
import { issueCertificate } from "../repo/commit/certificate.ts";
import { redactionLayout } from "../repo/commit/redaction.ts";
import { recordKind } from "../repo/log/format.ts";
import { composeRedactions } from "../repo/redaction/compose.ts";
import { toHex } from "../src/base/bytes.ts";
import { replicaOf } from "../src/db/internals.ts";
import { memoryStorage, type Repository } from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { filesWith } from "./kit/found_text.ts";
import { creating, HostileChain } from "./kit/forge.ts";
import { until } from "./kit/patience.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { clientOf, connect, Note } from "./server_clients.ts";
import { serverOptions } from "./server_place.ts";

const SECRET = "ann lives in Wild Rose Lane";
const root = createSigner(ROOT_SECRET);

async function redact(repository: Repository, ...ids: string[]) {
  const items = ids.map((id) => ({ collection: "note", id }));
  return await replicaOf(repository).redact(items, root, "asked by ann");
}

Deno.test("redaction: what is erased on a server is erased on every client, in every file", async () => {
  const [there, here, mine] = [0, 1, 2].map(() => memoryStorage());
  const options = serverOptions(
    { storage: there!, rootSecret: ROOT_SECRET },
    [],
  );
  const server = await createServer(options);
  const a = await clientOf(server, { storage: here! });
  const b = await clientOf(server, { storage: mine! });
  await a.notes.create({ id: "n1", text: SECRET }).synced;
  await a.notes.create({ id: "n2", text: "stays" }).synced;
  await a.notes.update("n1", { text: `${SECRET}, they say` }).synced;
  await until(
    () => b.notes.get("n1")?.text === `${SECRET}, they say`,
    "b has it",
  );
  await replicaOf(b.repo).checkpoint();
  for (const storage of [there!, here!, mine!]) {
    equal(filesWith(storage, SECRET).length > 0, true);
  }

  const repository = await server.database.repository("team/a");
  equal(await redact(repository, "n1"), 2);

  const isGone = (notes: typeof a.notes) => notes.get("n1")?.text === undefined;
  await until(() => isGone(a.notes) && isGone(b.notes), "it is gone");
  equal(b.notes.get("n2")?.text, "stays");
  for (const client of [a, b]) await replicaOf(client.repo).redacted;
  for (const storage of [there!, here!, mine!]) {
    deepEqual(filesWith(storage, SECRET), []);
  }

  await b.notes.update("n1", { text: "said anew" }).synced;
  await until(() => a.notes.get("n1")?.text === "said anew", "it goes on");
  await a.repo.verify();
  await b.repo.verify();
  await using c = await clientOf(server, {});
  await until(() => c.notes.get("n1")?.text === "said anew", "c has it");
  equal(c.notes.get("n2")?.text, "stays");
  await c.repo.verify();
  await a.db.close();
  await b.db.close();
  await server.close();
  for (const storage of [there!, here!, mine!]) {
    deepEqual(filesWith(storage, SECRET), []);
  }
});

Deno.test("redaction: a device that was away erases it when it comes, and what it wrote meanwhile counts", async () => {
  const [there, mine] = [memoryStorage(), memoryStorage()];
  const options = serverOptions(
    { storage: there, rootSecret: ROOT_SECRET },
    [],
  );
  const server = await createServer(options);
  await using a = await clientOf(server, {});
  const b = await clientOf(server, { storage: mine });
  await a.notes.create({ id: "n1", text: SECRET }).synced;
  await until(() => b.notes.has("n1"), "b has it");
  await b.repo.undo.ready;
  await b.notes.update("n1", { text: `${SECRET} b` }).synced;
  await b.db.close();
  const kept = filesWith(mine, SECRET);
  ok(kept.some((name) => name.includes("undo")), String(kept));
  await redact(await server.database.repository("team/a"), "n1");

  const away = await clientOf(server, { storage: mine, offline: true });
  equal(away.notes.get("n1")?.text, `${SECRET} b`);
  const write = away.notes.update("n1", { text: "what b says" });
  const other = away.notes.create({ id: "n2", text: "from afar" });
  connect(away.db, server);
  await write.synced;
  await other.synced;
  const replica = replicaOf(away.repo);
  await until(
    () => replica.loaded.credentials.redactions.size === 1,
    "it hears",
  );
  await replica.redacted;
  equal(away.notes.get("n1")?.text, "what b says");
  await until(() => a.notes.get("n1")?.text === "what b says", "a has it");
  deepEqual(filesWith(mine, SECRET), []);
  deepEqual(filesWith(there, SECRET), []);
  await away.repo.verify();
  await away.db.close();
  await server.close();
});

Deno.test("redaction: a server that lost its disk gets it back without what was erased, from who erased it and who did not hear", async () => {
  const [mine, hers] = [memoryStorage(), memoryStorage()];
  const place = () =>
    serverOptions({ storage: memoryStorage(), rootSecret: ROOT_SECRET }, []);
  const first = await createServer(place());
  const a = await clientOf(first, { storage: mine });
  const b = await clientOf(first, { storage: hers });
  await a.notes.create({ id: "n1", text: SECRET }).synced;
  await a.notes.create({ id: "n2", text: "stays" }).synced;
  await until(() => b.notes.has("n2"), "b has both");
  await b.db.close();
  await redact(await first.database.repository("team/a"), "n1");
  await until(() => a.notes.get("n1")?.text === undefined, "a hears");
  await replicaOf(a.repo).redacted;
  await a.db.close();
  await first.close();

  for (const order of [[mine, hers], [hers, mine]]) {
    const options = place();
    const server = await createServer(options);
    const clients = [];
    for (const storage of order) {
      clients.push(await clientOf(server, { storage }));
    }
    const repository = await server.database.repository("team/a");
    const replica = replicaOf(repository);
    const isDone = () =>
      replica.loaded.credentials.redactions.size === 1 &&
      replica.graph.commits === 2;
    await until(isDone, "the server has it back");
    await replica.redacted;
    for (const { notes } of clients) {
      await until(() => notes.get("n1")?.text === undefined, "all hear");
      equal(notes.get("n2")?.text, "stays");
    }
    for (const { repo } of clients) await replicaOf(repo).redacted;
    await repository.durable();
    deepEqual(filesWith(options.storage!, SECRET), []);
    for (const { db } of clients) await db.close();
    await server.close();
  }
  deepEqual(filesWith(hers, SECRET), []);
});

Deno.test("redaction: quarantine forgets it, and the server's own log does", async () => {
  const there = memoryStorage();
  const options = serverOptions(
    { storage: there, rootSecret: ROOT_SECRET },
    [],
  );
  await using server = await createServer(options);
  await using a = await clientOf(server, {});
  await a.notes.create({ id: "n1", text: "before" }).synced;
  const thief = rawSession({ user: "mal" });
  const other = rawSession({ user: "bob" });
  await server.revoke({ user: "mal" }, "stolen");
  const handIn = async (incarnation: number, id: string, text: string) => {
    await using peer = await RawPeer.opened(server, "team/a", other);
    const genesisId = genesisOf(server, "team/a");
    const signer = createSigner(thief.secretKey);
    const chain = new HostileChain(genesisId, signer, incarnation);
    const shape = {
      ...{ collection: Note.name, version: 1 },
      fields: [{ name: "text", kind: "string" as const }],
    };
    const operations = [creating({ shape, id }, { text })];
    peer.records(
      { kind: recordKind.certificate, bytes: thief.certificate },
      chain.batch({ wall: Date.now() - 1_000, operations }),
    );
    peer.send({ is: "ping", token: 1 });
    await peer.hearTo("pong");
  };
  await handIn(1, "n1", SECRET);
  await handIn(2, "n3", "of another one");
  equal(server.quarantine().length, 2);
  ok(filesWith(there, SECRET).length > 0);
  await redact(await server.database.repository("team/a"), "n1");
  deepEqual(server.quarantine().length, 1);
  deepEqual(filesWith(there, SECRET), []);
});

Deno.test("redaction: one that is made on a device goes to the server, and from there to the others", async () => {
  const [there, mine] = [memoryStorage(), memoryStorage()];
  await using server = await createServer(
    serverOptions({ storage: there, rootSecret: ROOT_SECRET }, []),
  );
  const a = await clientOf(server, { storage: mine });
  await using b = await clientOf(server, {});
  await a.notes.create({ id: "n1", text: SECRET }).synced;
  await until(() => b.notes.has("n1"), "b has it");
  await a.db.close();
  await using away = await clientOf(server, { storage: mine, offline: true });
  equal(await redact(away.repo, "n1"), 1);
  deepEqual(filesWith(mine, SECRET), []);
  equal(b.notes.get("n1")?.text, SECRET);
  connect(away.db, server);
  await until(() => b.notes.get("n1")?.text === undefined, "b hears");
  const replica = replicaOf(await server.database.repository("team/a"));
  await replica.redacted;
  await replicaOf(b.repo).redacted;
  deepEqual(filesWith(there, SECRET), []);
  await b.repo.verify();
});

Deno.test("redaction: a stolen redactor's key erases nothing more once it is revoked, however it is dated", async () => {
  await using server = await createServer(
    serverOptions({ storage: memoryStorage(), rootSecret: ROOT_SECRET }, []),
  );
  await using a = await clientOf(server, {});
  const before = Date.now();
  for (const id of ["n1", "n2"]) {
    await a.notes.create({ id, text: SECRET }).synced;
  }
  const redactor = createSigner(new Uint8Array(32).fill(77));
  const { bytes: certificate } = issueCertificate({
    ...{ sessionKey: redactor.publicKey, user: "privacy", claims: "{}" },
    ...{ mayIssue: false, mayRedact: true },
    ...{ notBefore: before, notAfter: before + 1_000_000 },
  }, root);
  const replica = replicaOf(await server.database.repository("team/a"));
  const redactionOf = (id: string, wall: number) => {
    const { loaded } = replica;
    const items = [{ collection: "note", id }];
    const [said] = composeRedactions(loaded, items, {
      ...{ wall, reason: "" },
    });
    const { bytes } = redactionLayout.sign(said!, redactor);
    return { kind: recordKind.redaction, bytes };
  };
  await using peer = await RawPeer.opened(server, "team/a", rawSession({}));
  const first = redactionOf("n1", before);
  const stolen = redactionOf("n2", before);
  peer.records({ kind: recordKind.certificate, bytes: certificate }, first);
  peer.send({ is: "ping", token: 1 });
  await peer.hearTo("pong");
  await until(() => a.notes.get("n1")?.text === undefined, "it is gone");
  await server.revoke({ sessionKey: toHex(redactor.publicKey) }, "stolen");
  peer.records(first, stolen);
  const heard = await peer.hearTo("refuse");
  deepEqual(
    heard.flatMap((one) => one.is === "refuse" ? [one.reason] : []),
    ["revoked"],
  );
  equal(a.notes.get("n2")?.text, SECRET);
});
