/**
 * Rights to read that are looked up, on a server that lost its disk: who can
 * prove what there was brings it back, whoever he is, and gets nothing else by it.
 */

import { deepEqual, equal } from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
  type Storage,
} from "../mod.ts";
import { createServer, type Server } from "../server/mod.ts";
import { limits } from "../src/base/limits.ts";
import { system } from "../src/base/system.ts";
import type { World } from "../src/base/world.ts";
import { replicaOf } from "../src/db/internals.ts";
import { rights } from "../sync/conversation.ts";
import { forge } from "./kit/forge.ts";
import { until } from "./kit/patience.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { ANN, BOB, serverOptions } from "./server_place.ts";
import { recordKind } from "../repo/log/format.ts";

const TEAM = "team/a";
const Member = defineSchema("member", { role: field.string() });
const Note = defineSchema("note", { text: field.string() });
const schemas = [Member, Note];

/** Members read; of an empty team anybody could write the first one. */
const rules = defineRules({
  "team/{team}": {
    read: ({ get, session }) =>
      get(Member, session.user) !== undefined || "not a member",
    collections: [
      rulesFor(Member, {
        create: ({ get, session }) =>
          get(Member, "ann") === undefined ||
          get(Member, session.user)?.role === "admin",
      }),
      rulesFor(Note, { create: () => true }),
    ],
  },
});

/** The time of this machine, but what waits for long waits for `skip()`. */
class SkippingWorld implements World {
  #skipped = 0;
  readonly #late = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return system.now();
  }

  monotonic(): number {
    return system.monotonic() + this.#skipped;
  }

  random(target: Uint8Array): void {
    system.random(target);
  }

  after(ms: number, run: () => void): () => void {
    if (ms < limits.restoreWaitMs) return system.after(ms, run);
    const one = { at: this.monotonic() + ms, run };
    this.#late.add(one);
    return () => this.#late.delete(one);
  }

  /** Lets time go by. */
  skip(ms: number): void {
    this.#skipped += ms;
    for (const one of [...this.#late]) {
      if (one.at > this.monotonic() || !this.#late.delete(one)) continue;
      one.run();
    }
  }
}

async function memberOf(server: Server, token: string, storage: Storage) {
  const db = await openDatabase({ storage, rootKey: server.rootKey, schemas });
  const repo = await db.repository(TEAM);
  db.connect(server.url, { session: { token } });
  const notes = repo.collection(Note);
  const texts = () => notes.all().map(({ text }) => text).sort();
  return { db, repo, notes, texts, [Symbol.asyncDispose]: () => db.close() };
}

/** Resolves when a witness has shown a member that the server has all, so many notes among it. */
async function provedWith(
  { notes, repo: { sync } }: Awaited<ReturnType<typeof memberOf>>,
  count: number,
): Promise<void> {
  let heardMs = Infinity;
  const hear = () => {
    if (notes.count() === count && heardMs === Infinity) heardMs = Date.now();
  };
  const end = notes.where({}).subscribe(hear);
  hear();
  const isProved = () => Number(sync.status.equalAt ?? 0) > heardMs;
  await until(isProved, "a witness comes for all of it");
  end[Symbol.dispose]();
}

/** A team of Ann and Bob, who wrote a note each, on a server that has lost it since. */
async function lostTeam() {
  const options = { rootSecret: ROOT_SECRET };
  const first = await createServer(serverOptions(options, []));
  const [anns, bobs] = [memoryStorage(), memoryStorage()];
  const ann = await memberOf(first, ANN, anns);
  const members = ann.repo.collection(Member);
  await members.create({ id: "ann", role: "admin" }).synced;
  await members.create({ id: "bob", role: "reader" }).synced;
  const bob = await memberOf(first, BOB, bobs);
  const proved = [provedWith(ann, 2), provedWith(bob, 2)];
  await ann.notes.create({ text: "from ann" }).synced;
  await bob.notes.create({ text: "from bob" }).synced;
  await Promise.all(proved);
  for (const { db } of [ann, bob]) await db.close();
  await first.close();
  const port = Number(new URL(first.url).port);
  const world = new SkippingWorld();
  const restored = { ...options, rules, port, world, restored: true };
  const server = await createServer(serverOptions(restored, []));
  return { server, world, anns, bobs };
}

Deno.test("a stranger on a restored server gets nothing of a team, and puts nothing into it", async () => {
  const { server: started, world } = await lostTeam();
  await using server = started;
  const eve = rawSession({ user: "eve" });
  await using peer = await RawPeer.proven(server, eve);
  peer.open(1, TEAM);
  const opened = await peer.hear("opened");
  equal(opened.rights, rights.write | rights.restore);
  deepEqual([opened.commits, opened.vector], [0, new Map()]);
  peer.open(2, "team/none");
  equal((await peer.hear("opened")).rights, opened.rights, "there is none");
  const genesisId = genesisOf(server, TEAM);
  const record = forge({ session: eve, genesisId, wall: Date.now() });
  peer.records({ kind: recordKind.certificate, bytes: eve.certificate });
  equal((await peer.hand(record))?.reason, "restoring");
  const replica = replicaOf(await server.database.repository(TEAM));
  deepEqual(
    [...replica.loaded.credentials.certificates].map(({ user }) => user),
    [
      "server",
    ],
  );
  equal(replica.graph.commits, 0);
  for (let i = 0; i < 3; i++) {
    world.skip(limits.restoreWaitMs);
    peer.send({ is: "ping", token: i });
    await peer.hear("pong");
  }
  peer.open(3, TEAM);
  equal((await peer.hear("declined")).code, "forbidden");
});

Deno.test("members bring a lost team back by what they can prove, and then read it", async () => {
  const { server: started, world, anns, bobs } = await lostTeam();
  await using server = started;
  await using eve = await RawPeer.opened(server, TEAM, rawSession());
  await using ann = await memberOf(server, ANN, anns);
  await using bob = await memberOf(server, BOB, bobs);
  await until(() => server.status().open.length > 0, "they come");
  const replica = replicaOf(await server.database.repository(TEAM));
  await until(() => replica.graph.commits === 4, "all is back");
  for (const { repo } of [ann, bob]) {
    deepEqual(repo.sync.status.reason?.code, "unavailable");
  }
  world.skip(limits.restoreWaitMs);
  world.skip(limits.restoreWaitMs);
  equal((await eve.hear("declined")).code, "forbidden");
  for (const one of [ann, bob]) {
    await until(() => one.repo.sync.status.state === "live", "they read again");
    await one.notes.create({ text: "since" }).synced;
  }
  await until(() => ann.texts().length === 4, "all is there");
  deepEqual(ann.repo.sync.status.refusals, []);
  deepEqual(bob.texts(), ["from ann", "from bob", "since", "since"]);
});

Deno.test("a member brings back what makes him one, though somebody else wrote it, who does not come", async () => {
  const { server: started, world, bobs } = await lostTeam();
  await using server = started;
  await using bob = await memberOf(server, BOB, bobs);
  await until(() => server.status().open.length > 0, "he comes");
  const replica = replicaOf(await server.database.repository(TEAM));
  await until(() => replica.graph.commits === 4, "he brings back all of it");
  world.skip(2 * limits.restoreWaitMs);
  await until(() => bob.repo.sync.status.state === "live", "he reads again");
  deepEqual(bob.texts(), ["from ann", "from bob"]);
});

Deno.test("who has no proof brings nothing, and keeps what he wrote for when he can be judged", async () => {
  const { server: started } = await lostTeam();
  await using server = started;
  await using ann = await memberOf(server, ANN, memoryStorage());
  const { sync } = ann.repo;
  await until(() => sync.status.reason?.code === "unavailable", "she waits");
  await ann.notes.create({ text: "new" });
  const device = rawSession({ user: "ann" });
  await using peer = await RawPeer.opened(server, TEAM, device);
  const genesisId = genesisOf(server, TEAM);
  const record = forge({ session: device, genesisId, wall: Date.now() });
  equal((await peer.hand(record))?.reason, "restoring");
  const replica = replicaOf(await server.database.repository(TEAM));
  equal(replica.graph.commits, 0);
  equal(sync.status.unsent.commits, 1);
  deepEqual([sync.status.refusals, ann.texts()], [[], ["new"]]);
});
