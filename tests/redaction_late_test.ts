/** Redactions that come late: to who was set back to a backup from before, and to who knows the record before the commits. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { createSigner, sha256 } from "../crypto/mod.ts";
import { decodeBatch, payloadOf } from "../repo/commit/batch.ts";
import { redactionLayout } from "../repo/commit/redaction.ts";
import { recordKind } from "../repo/log/format.ts";
import { isOf } from "../repo/redaction/erased.ts";
import { erase } from "../src/schema/erasure.ts";
import { createServer } from "../server/mod.ts";
import { memoryStorage } from "../mod.ts";
import type { Storage } from "../src/storage/storage.ts";
import { replicaOf } from "../src/db/internals.ts";
import { filesWith } from "./kit/found_text.ts";
import { creating, HostileChain } from "./kit/forge.ts";
import { filesOf, restored } from "./kit/images.ts";
import { until } from "./kit/patience.ts";
import { clientOf, Note } from "./server_clients.ts";
import { serverOptions } from "./server_place.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";

const SECRET = "wild rose lane";

type Who = "server" | "ann" | "bob";

/** Three folders before and after a redaction of which all have heard. */
async function told() {
  const folders: Record<Who, Storage> = {
    server: memoryStorage(),
    ann: memoryStorage(),
    bob: memoryStorage(),
  };
  const open = async (storages: Readonly<Record<Who, Storage>>) => {
    const options = serverOptions(
      { storage: storages.server, rootSecret: ROOT_SECRET },
      [],
    );
    const server = await createServer(options);
    const client = (who: "ann" | "bob") =>
      clientOf(server, { storage: storages[who] });
    return { server, client };
  };
  const { server, client } = await open(folders);
  const [ann, bob] = [await client("ann"), await client("bob")];
  await ann.notes.create({ id: "n1", text: SECRET }).synced;
  await until(() => bob.notes.has("n1"), "bob has it");
  await bob.notes.update("n1", { text: `${SECRET} by bob` }).synced;
  await until(() => ann.notes.get("n1")?.text !== SECRET, "ann has his");
  await ann.repo.durable();
  await bob.repo.durable();
  const repository = await server.database.repository("team/a");
  await repository.durable();
  const before = imagesOf(folders);
  const n1 = { collection: "note", id: "n1" };
  const root = createSigner(ROOT_SECRET);
  await replicaOf(repository).redact([n1], root, "asked by ann");
  for (const { repo, notes } of [ann, bob]) {
    await until(() => notes.get("n1")?.text === undefined, "all hear");
    await replicaOf(repo).redacted;
  }
  await ann.db.close();
  await bob.db.close();
  await server.close();
  for (const storage of Object.values(folders)) {
    deepEqual(filesWith(storage, SECRET), []);
  }
  return { before, after: imagesOf(folders), open, folders };
}

function imagesOf(folders: Readonly<Record<Who, Storage>>) {
  const { server, ann, bob } = folders;
  return { server: filesOf(server), ann: filesOf(ann), bob: filesOf(bob) };
}

const sets: readonly (readonly Who[])[] = [
  ["server"],
  ["ann"],
  ["bob"],
  ["server", "ann"],
  ["server", "bob"],
  ["ann", "bob"],
];

for (const place of ["in place", "elsewhere"] as const) {
  for (const old of sets) {
    Deno.test(`redaction: ${old.join(" and ")}, set back ${place} to a backup from before it, erase once more what they have`, async () => {
      const { before, after, open, folders } = await told();
      const storageOf = (who: Who) => {
        const identity = folders[who].identity();
        const image = old.includes(who) ? before[who] : after[who];
        const isMoved = place === "elsewhere" && old.includes(who);
        return restored(image, isMoved ? `${identity} moved` : identity);
      };
      const storages = {
        server: storageOf("server"),
        ann: storageOf("ann"),
        bob: storageOf("bob"),
      };
      for (const who of old) ok(filesWith(storages[who], SECRET).length > 0);
      const { server, client } = await open(storages);
      const clients = [await client("bob"), await client("ann")];
      const repository = await server.database.repository("team/a");
      const replicas = [repository, ...clients.map(({ repo }) => repo)].map(
        replicaOf,
      );
      for (const [i, replica] of replicas.entries()) {
        const { redactions } = replica.loaded.credentials;
        await until(() => redactions.size === 1, `${i} hears`);
        await replica.redacted;
        await replica.durable();
      }
      for (const { notes } of clients) {
        equal(notes.get("n1")?.text, undefined);
      }
      for (const { db } of clients) await db.close();
      await server.close();
      for (const storage of Object.values(storages)) {
        deepEqual(filesWith(storage, SECRET), []);
      }
    });
  }
}

Deno.test("redaction: quarantine keeps without values what comes of a revoked session once they are erased", async () => {
  const there = memoryStorage();
  const options = serverOptions(
    { storage: there, rootSecret: ROOT_SECRET },
    [],
  );
  const root = createSigner(ROOT_SECRET);
  await using server = await createServer(options);
  await using ann = await clientOf(server, {});
  await ann.notes.create({ id: "n2", text: "stays" }).synced;
  const thief = rawSession({ user: "mal" });
  const other = rawSession({ user: "bob" });
  const genesisId = genesisOf(server, "team/a");
  const signer = createSigner(thief.secretKey);
  const chain = new HostileChain(genesisId, signer, 1);
  const shape = {
    ...{ collection: Note.name, version: 1 },
    fields: [{ name: "text", kind: "string" as const }],
  };
  const create = (id: string, text: string) =>
    chain.batch({
      wall: Date.now() - 1_000,
      operations: [creating({ shape, id }, { text })],
    });
  const meant = create("n1", SECRET);
  const later = create("n3", "of another one");
  // Somebody else's server had the first of them, and it was erased there.
  const batch = decodeBatch(meant.bytes, true);
  const payload = payloadOf(batch, batch.commits[0]!);
  const items = [{ collection: "note", id: "n1" }];
  const was = sha256(payload);
  const is = sha256(erase(payload, isOf(items))!);
  const { bytes } = redactionLayout.sign({
    ...{ genesisId, wall: Date.now(), reason: "", items },
    chains: [{ chain: batch.chain, commits: [{ number: 0, was, is }] }],
  }, root);
  await server.revoke({ user: "mal" }, "stolen");
  await using peer = await RawPeer.opened(server, "team/a", other);
  peer.records({ kind: recordKind.redaction, bytes });
  const replica = replicaOf(await server.database.repository("team/a"));
  const { redactions } = replica.loaded.credentials;
  await until(() => redactions.size === 1, "it hears");
  await replica.redacted;
  peer.records(
    { kind: recordKind.certificate, bytes: thief.certificate },
    meant,
    later,
  );
  peer.send({ is: "ping", token: 1 });
  await peer.hearTo("pong");
  const [kept] = server.quarantine();
  equal(kept?.first, 0);
  deepEqual(filesWith(there, SECRET), []);
  // What is kept is still what its author sealed, and can be taken.
  await server.accept(kept!.id);
  equal(replica.graph.lengthOf(batch.chain), 1);
  equal(ann.notes.get("n2")?.text, "stays");
  deepEqual(filesWith(there, SECRET), []);
});
