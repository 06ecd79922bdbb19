/** Chains that nobody writes any more, at real servers: who ends them, who hears of it, and what a device may then begin. */

import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { memoryStorage, type Storage } from "../mod.ts";
import { createServer, type Server } from "../server/mod.ts";
import { chainBytes } from "../repo/commit/commit.ts";
import { retirementLayout } from "../repo/commit/retirement.ts";
import { recordKind } from "../repo/log/format.ts";
import { limits } from "../src/base/limits.ts";
import { replicaOf } from "../src/db/internals.ts";
import { forge, forgedChain } from "./kit/forge.ts";
import { filesOf, restored } from "./kit/images.ts";
import { until, within } from "./kit/patience.ts";
import { Card, ServedOrigin, titlesOf } from "./kit/tab_cards.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import {
  type Client,
  clientOf,
  connect,
  hasNote,
  textsOf,
} from "./server_clients.ts";
import { ANN, BOB, serverOptions, withServer } from "./server_place.ts";
import { lateRefusing } from "../repo/mod.ts";

const REPOSITORY = "team/a";
const FAST = { quotas: { chainsPerMinute: 1e6 } };

function replicaAt(server: Server) {
  return server.database.repository(REPOSITORY).then(replicaOf);
}

function retiredAt({ loaded }: ReturnType<typeof replicaOf>) {
  return loaded.credentials.retirements;
}

/** A client begins a new chain: what it wrote last could not go on, and is written again. */
async function beginAnew({ repo, notes }: Client, text: string) {
  await lateRefusing.load();
  const replica = replicaOf(repo);
  const [chain] = [replica.device.chain];
  const from = replica.graph.lengthOf(chain);
  const write = notes.create({ text });
  replica.cut([{ chain, from }]);
  await within(write.synced, "it is written again");
  notEqual(replica.device.chain, chain);
  return { chain, from };
}

Deno.test("a device retires the chain that it went on from, once the server has all of it; everybody hears of that, over restarts and checkpoints", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    const storage = memoryStorage();
    const ann = await clientOf(server, { token: ANN, storage });
    await within(ann.notes.create({ text: "first" }).synced, "it is synced");
    const served = await replicaAt(server);
    equal([...retiredAt(served)].length, 0, "the chain in use goes on");
    const { chain, from } = await beginAnew(ann, "second");
    await until(() => retiredAt(served).isRetired(chain), "it is retired");
    equal(retiredAt(served).lengthOf(chain), from);
    await using bob = await clientOf(server, { token: BOB });
    await hasNote(bob, "second");
    equal(retiredAt(replicaOf(bob.repo)).lengthOf(chain), from);
    await replicaOf(ann.repo).checkpoint();
    await ann.db.close();
    await using back = await clientOf(server, { token: ANN, storage });
    const replica = replicaOf(back.repo);
    equal(retiredAt(replica).lengthOf(chain), from);
    notEqual(replica.device.chain, chain);
    await within(back.notes.create({ text: "third" }).synced, "it goes on");
    equal([...retiredAt(served)].length, 1, "and ends nothing more");
    await hasNote(bob, "third");
    deepEqual(bob.repo.sync.status.incidents, []);
  }));

Deno.test("a folder that is set back to before its chain was retired loses nothing that it writes then", () =>
  withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
    const storage = memoryStorage();
    const ann = await clientOf(server, { token: ANN, storage });
    await within(ann.notes.create({ text: "first" }).synced, "it is synced");
    await ann.repo.durable();
    const files = filesOf(storage);
    const { chain } = await beginAnew(ann, "second");
    const served = await replicaAt(server);
    await until(() => retiredAt(served).isRetired(chain), "it is retired");
    await ann.db.close();
    for (const isOffline of [false, true]) {
      const before = restored(files, storage.identity());
      await using back = await clientOf(server, {
        token: ANN,
        storage: before,
        offline: isOffline,
      });
      const text = `set back, offline: ${isOffline}`;
      const write = back.notes.create({ text });
      if (isOffline) {
        equal(replicaOf(back.repo).device.chain, chain);
        connect(back.db, server, ANN);
      }
      await within(write.synced, text);
      const all = ["first", "second", text].sort();
      ok(all.every((one) => textsOf(back).includes(one)), `${textsOf(back)}`);
    }
    equal(served.graph.lengthOf(chain), retiredAt(served).lengthOf(chain));
  }));

Deno.test("a server that lost its disk hears again which chains are over, and takes them up to their ends", async () => {
  const serve = (storage: Storage, port = 0) =>
    createServer(
      serverOptions({ rootSecret: ROOT_SECRET, storage, port }, []),
    );
  const first = await serve(memoryStorage());
  const port = Number(new URL(first.url).port);
  await using ann = await clientOf(first, { token: ANN });
  await within(ann.notes.create({ text: "first" }).synced, "it is synced");
  const { chain, from } = await beginAnew(ann, "second");
  const served = await replicaAt(first);
  await until(() => retiredAt(served).isRetired(chain), "it is retired");
  await first.close();
  await using second = await serve(memoryStorage(), port);
  ann.db.connection!.retry();
  const back = async () => {
    const replica = await replicaAt(second);
    return retiredAt(replica).isRetired(chain) &&
      replica.graph.lengthOf(chain) === from;
  };
  await within(ann.notes.create({ text: "third" }).synced, "it is synced");
  ok(await back());
  await using bob = await clientOf(second, { token: BOB });
  await hasNote(bob, "third");
  deepEqual(textsOf(bob), ["first", "second", "third"]);
});

Deno.test("attack: a session that retires its chains has no more than it may at a time, and ends nothing before what was accepted", () =>
  withServer({ rootSecret: ROOT_SECRET, ...FAST }, async ({ server }) => {
    const session = rawSession();
    const { signer } = session;
    const genesisId = genesisOf(server, REPOSITORY);
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const answers = async () => {
      const reasons: string[] = [];
      for (let done = 0; done < peer.sent;) {
        const answer = await peer.hear("ack", "refuse");
        if (answer.is === "ack") done = answer.sequence;
        else reasons.push(answer.reason);
      }
      return reasons;
    };
    const begin = (from: number, count: number) => {
      const wall = Date.now() - 1_000;
      for (let i = from; i < from + count; i++) {
        peer.records(forge({ session, genesisId, wall, incarnation: i }));
      }
      return answers();
    };
    const end = async (from: number, count: number, commits: number) => {
      const ends = Array.from({ length: count }, (_, i) => {
        const chain = forgedChain({
          ...{ session, genesisId, wall: 0 },
          incarnation: from + i,
        });
        return { incarnation: chainBytes(chain).slice(32), commits };
      });
      const said = { genesisId, ends };
      const { bytes } = await retirementLayout.signLater(said, signer);
      peer.records({ kind: recordKind.retirement, bytes });
      return answers();
    };
    const max = limits.sessionChainsMax;
    const long = { session, genesisId, wall: Date.now() - 500, commits: 3 };
    peer.records(forge({ ...long, incarnation: 9_000 }));
    deepEqual(await answers(), []);
    deepEqual(await begin(1, max), ["quota"]);
    deepEqual(await end(1, 100, 1), []);
    deepEqual(await begin(1_001, 101), ["quota"]);
    deepEqual(await end(1, 1, 2), ["fork"], "it has ended elsewhere");
    // Of chains that never began it is nothing that makes room.
    deepEqual(await end(5_001, 10, 1), []);
    deepEqual(await begin(2_001, 1), ["quota"]);
    deepEqual(await end(9_000, 1, 2), ["fork"], "it is longer");
    const served = await replicaAt(server);
    const chain = forgedChain({ ...long, incarnation: 9_000 });
    equal(served.graph.lengthOf(chain), 3, "what was accepted stands");
    await using ann = await clientOf(server, { token: ANN });
    await within(ann.notes.create({ text: "beside" }).synced, "Ann's");
    equal(ann.repo.status().commits, served.graph.commits);
    equal(retiredAt(replicaOf(ann.repo)).isRetired(chain), false);
    // A revoked session ends nothing more.
    await within(server.revoke({ sessionKey: signer.publicKey }), "revoked");
    await using again = await RawPeer.opened(server, REPOSITORY, session);
    const said = {
      genesisId,
      ends: [{ incarnation: chainBytes(chain).slice(32), commits: 3 }],
    };
    const { bytes } = await retirementLayout.signLater(said, signer);
    again.records({ kind: recordKind.retirement, bytes });
    equal((await again.hear("refuse")).reason, "revoked");
    equal([...retiredAt(served)].length, 2);
  }));

Deno.test("the owner of a device's files retires chains of pages that are gone beyond those that it keeps, and none of a living page", async () => {
  const place = new ServedOrigin();
  const count = limits.idleChainsKept + 6;
  const [first, one] = await place.tab();
  const chainOf = (repository: typeof one) =>
    replicaOf(repository).device.chain;
  const opened = [];
  for (let i = 0; i < count; i++) {
    const [database, repository] = await place.tab();
    await repository.collection(Card).create({ title: `${i}` }).durable;
    opened.push({ database, chain: chainOf(repository) });
  }
  await one.collection(Card).create({ title: "first" }).durable;
  place.connect(first);
  await one.collection(Card).create({ title: "connected" }).synced;
  const served = await place.server.replica(one.name);
  equal([...retiredAt(served)].length, 0, "every page lives");
  for (const { database } of opened) await database.close();
  const [, late] = await place.tab();
  await late.collection(Card).create({ title: "late" }).synced;
  await until(() => [...retiredAt(served)].length > 0, "some are retired");
  const living = [chainOf(one), chainOf(late)];
  for (const chain of living) {
    equal(retiredAt(served).isRetired(chain), false, "it is written");
  }
  const over = opened.filter(({ chain }) => retiredAt(served).isRetired(chain));
  ok(over.length > 0 && over.length <= 6, `${over.length}`);
  for (const { chain } of over) {
    equal(retiredAt(served).lengthOf(chain), served.graph.lengthOf(chain));
  }
  const pages = [one, late];
  for (let i = 0; i < 4; i++) {
    const [, next] = await place.tab();
    pages.push(next);
    await next.collection(Card).create({ title: `next ${i}` }).synced;
    equal(retiredAt(served).isRetired(chainOf(next)), false);
  }
  const titles = titlesOf(one);
  for (const page of pages) {
    await until(() => titlesOf(page).length === titles.length, "equal");
  }
  await place.close();
});
