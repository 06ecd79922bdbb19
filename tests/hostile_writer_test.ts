/**
 * An ordinary user of a real server who keeps no rule of ours: he chooses
 * parents, ids, kinds, generations, chains and clocks of what he seals.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import {
  type Collection,
  type Database,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  rulesFor,
} from "../mod.ts";
import { createSigner } from "../crypto/mod.ts";
import { limits } from "../src/base/limits.ts";
import { replicaOf } from "../src/db/internals.ts";
import { absentDigest, entrySchema } from "../src/kv/entry.ts";
import { openKv } from "../src/kv/mod.ts";
import { positionAt } from "../src/schema/position.ts";
import type { Change, Operation, Shape, Value } from "../src/schema/patch.ts";
import type { ServerOptions } from "../server/mod.ts";
import {
  changing,
  creating,
  ending,
  HostileChain,
  type HostileCommit,
} from "./kit/forge.ts";
import { until } from "./kit/patience.ts";
import {
  genesisOf,
  RawPeer,
  type RawSession,
  rawSession,
  ROOT_SECRET,
} from "./raw_peer.ts";
import { ANN, type Place, withServer } from "./server_place.ts";
import { headsOf } from "./kit/digest.ts";
import { recordKind } from "../repo/log/format.ts";

const REPOSITORY = "team/a";

const Task = defineSchema("task", {
  owner: field.string(),
  title: field.string().default(""),
  isLocked: field.boolean().default(false),
  votes: field.counter(),
  tags: field.set(field.string()),
});

const rules = defineRules({
  [REPOSITORY]: {
    read: () => true,
    collections: [
      rulesFor(Task, {
        create: ({ session, after }) => after.owner === session.user,
        update: ({ session, before, after, changed }) =>
          before.owner === session.user ||
          !before.isLocked && after.owner === before.owner &&
            !changed.includes("owner"),
        delete: ({ session, before }) => before.owner === session.user,
      }),
    ],
    others: true,
  },
});

/** A shape of the collection that no app declares. */
function shapeOf(
  fields: Readonly<Record<string, Shape["fields"][number]["kind"]>>,
  collection: string = Task.name,
): Shape {
  const all = Object.entries(fields).map(([name, kind]) => ({ name, kind }));
  return { collection, version: 1, fields: all };
}

/** What a create by hand says. */
const shape = shapeOf({ owner: "string", title: "string" });

const set = (value: Value): Change => ({
  what: "set",
  value,
});

/** The honest user. */
interface Honest {
  readonly db: Database;
  readonly repository: Repository;
  readonly tasks: Collection<typeof Task>;
}

/** The hostile one, in one connection. */
class Hostile {
  readonly peer: RawPeer;
  readonly session: RawSession;
  readonly #genesisId: Uint8Array;
  #chains = 0;

  constructor(peer: RawPeer, session: RawSession) {
    this.peer = peer;
    this.session = session;
    this.#genesisId = genesisOf(peer.server, REPOSITORY);
  }

  /** A chain that he begins. */
  chain(): HostileChain {
    const signer = createSigner(this.session.secretKey);
    return new HostileChain(this.#genesisId, signer, ++this.#chains);
  }

  /** Hands commits in, on a chain of their own: the reason of their refusal. */
  async hand(
    ...commits: readonly (Omit<HostileCommit, "wall"> & { wall?: number })[]
  ): Promise<string | undefined> {
    const firstMs = Date.now() - commits.length + 1; // None of them is early.
    const all = commits.map((commit, i) => ({ wall: firstMs + i, ...commit }));
    const refusal = await this.peer.hand(this.chain().batch(...all));
    return refusal?.reason;
  }
}

/** A server with rules, an honest user and a hostile one; in the end all is as the honest one left it. */
function against(
  attack: (ann: Honest, mal: Hostile, place: Place) => Promise<void>,
  options: ServerOptions = {},
): Promise<void> {
  const all = { rootSecret: ROOT_SECRET, rules, ...options };
  return withServer(all, async (place) => {
    const { server } = place;
    const db = await openDatabase({
      storage: memoryStorage(),
      rootKey: server.rootKey,
      schemas: [Task],
    });
    const repository = await db.repository(REPOSITORY);
    db.connect(server.url, { session: { token: ANN } });
    await repository.sync.ready;
    const ann = { db, repository, tasks: repository.collection(Task) };
    const session = rawSession({ user: "mal" });
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    await attack(ann, new Hostile(peer, session), place);
    await ann.tasks.create({ owner: "ann", title: "goes on" }).synced;
    deepEqual(repository.sync.status.refusals, []);
    deepEqual(repository.sync.status.incidents, []);
    await db.close();
  });
}

Deno.test("hostile writer: takes nobody's item by creating it again, from nowhere, and deletes none", () =>
  against(async (ann, mal) => {
    const { id, synced } = own(ann);
    await synced;
    const item = { owner: "mal", title: "mine" };
    const it = { shape, id };
    const mine = creating(it, item);
    const reasons = [
      await mal.hand({ operations: [mine] }),
      await mal.hand({ operations: [mine] }, { operations: [ending(it)] }),
      await mal.hand({ operations: [ending(it)] }),
      await mal.hand({ operations: [ending(it), mine] }),
      // The same, as if he had seen nothing and as if he had seen all.
      await mal.hand({ operations: [mine], parents: headsIn(ann) }),
      await mal.hand({ operations: [mine], wall: 1 }),
    ];
    deepEqual(reasons, Array(6).fill("denied"));
    equal(ann.tasks.get(id)?.owner, "ann");
  }));

/** An item of the honest user. */
function own({ tasks }: Honest, fields = {}) {
  const write = tasks.create({ owner: "ann", title: "hers", ...fields });
  return { id: write.result.id, synced: write.synced };
}

const headsIn = ({ repository }: Honest) =>
  headsOf(replicaOf(repository).graph);

Deno.test("hostile writer: a create over what is there says every field of its shape, also those without a value", () =>
  against(async (ann, mal) => {
    const { id, synced } = own(ann, { votes: 3 });
    await synced;
    const silent = shapeOf({ owner: "string" });
    const again = creating({ shape: silent, id }, { owner: undefined });
    equal(await mal.hand({ operations: [again] }), "denied");
    const title = shapeOf({ title: "string" });
    const erases = creating({ shape: title, id }, { title: undefined });
    equal(await mal.hand({ operations: [erases] }), undefined, "he may");
    await until(() => ann.tasks.get(id)?.title !== "hers", "the change comes");
    const { owner, votes } = ann.tasks.get(id)!;
    deepEqual([owner, votes], ["ann", 3]);
  }));

Deno.test("hostile writer: no generation is skipped, replaced or used up", () =>
  against(async (ann, mal) => {
    const { id, synced } = own(ann);
    await synced;
    const item = { owner: "mal", title: "mine" };
    const { generationMax } = limits;
    for (const generation of [1, 2, generationMax]) {
      const it = { shape, id, generation };
      const lies = [creating(it, item), changing(it, { title: set("mine") })];
      for (const operation of [...lies, ending(it)]) {
        equal(await mal.hand({ operations: [operation] }), "denied");
      }
      const fresh = { shape, id: "fresh", generation };
      equal(await mal.hand({ operations: [creating(fresh, item)] }), "denied");
    }
    await ann.tasks.delete(id).synced;
    const again = creating({ shape, id, generation: 1 }, item);
    equal(await mal.hand({ operations: [again] }), undefined);
    const twice = creating({ shape, id: "ann-2", generation: 1 }, item);
    equal(await mal.hand({ operations: [twice] }), "denied");
  }));

Deno.test("hostile writer: keeps no right by naming old parents or an old date", () =>
  against(async (ann, mal) => {
    const { id, synced } = own(ann);
    await synced;
    const before = headsIn(ann);
    const wall = Date.now();
    const edit = { operations: [changing({ shape, id }, { title: set("x") })] };
    equal(await mal.hand({ ...edit, parents: before }), undefined, "he may");
    await ann.tasks.update(id, { isLocked: true, title: "locked" }).synced;
    const stale = [
      { ...edit, parents: before, wall },
      { ...edit, parents: [], wall },
      { ...edit, wall: 1 },
    ];
    for (const one of stale) equal(await mal.hand(one), "denied");
    equal(ann.tasks.get(id)?.title, "locked");
  }));

Deno.test("hostile writer: makes no collections that leave others without room, and none in vain", () =>
  against(async (ann, mal, { server }) => {
    const { id, synced } = own(ann);
    await synced;
    const operations = Array.from(
      { length: limits.collectionsMax },
      (_, i) => creating({ shape: shapeOf({}, `made-${i}`), id }, {}),
    );
    const { state } = replicaOf(await server.database.repository(REPOSITORY));
    const { size } = state;
    equal(await mal.hand({ operations }), "too-large");
    equal(state.size, size);
  }));

Deno.test("hostile writer: an entry's lease lasts as long as the server's clock says", () =>
  against(async (ann, mal) => {
    const kv = openKv(ann.repository);
    await kv.set("lock", "ann", { ttlMs: 30_000 }).synced;
    const entry = entrySchema(undefined).shape;
    const it = { shape: entry, id: "lock" };
    const taken = changing(it, {
      value: set("mal"),
      expected: set(absentDigest),
    });
    const wall = Date.now() + 59_000;
    const reasons = [
      await mal.hand({ operations: [taken], wall }),
      // Touched by himself first, the entry has a time of its own for him.
      await mal.hand(
        { operations: [changing(it, { data: set(undefined) })], wall },
        { operations: [taken], wall: wall + 1 },
      ),
    ];
    ok(reasons.every((reason) => reason !== undefined), `${reasons}`);
    equal(kv.get("lock"), "ann");
  }));

Deno.test("hostile writer: brings what an expired session signed for no date, by no other session", () =>
  against(async (ann, mal, { server }) => {
    const expired = rawSession({ user: "old", notAfter: Date.now() - 1_000 });
    const genesisId = genesisOf(server, REPOSITORY);
    const chain = new HostileChain(genesisId, createSigner(expired.secretKey));
    const task = creating({ shape, id: "old" }, { owner: "old" });
    const record = chain.batch({
      wall: Date.now() - 60_000,
      operations: [task],
    });
    const { certificate } = expired;
    mal.peer.records({ kind: recordKind.certificate, bytes: certificate });
    equal((await mal.peer.hand(record))?.reason, "expired-session");
    equal(ann.tasks.get("old"), undefined);
  }));

Deno.test("hostile writer: declares no field as what it is not", () =>
  against(async (ann, mal) => {
    const { id, synced } = own(ann);
    await synced;
    const element = { element: "e", position: positionAt(0), value: "x" };
    const lies = [
      changing({ shape: shapeOf({ title: "list" }), id }, {
        title: { what: "insert", elements: [element] },
      }),
      changing({ shape: shapeOf({ votes: "string" }), id }, {
        votes: set("many"),
      }),
      changing({ shape: shapeOf({ tags: "map" }), id }, {
        tags: { what: "put", entries: [["a", "b"]] },
      }),
      creating({ shape: shapeOf({ owner: "counter" }), id }, { owner: 1 }),
    ];
    for (const lie of lies) {
      equal(await mal.hand({ operations: [lie] }), "wrong-kind");
    }
    ann.tasks.update(id, { title: "hers still", tags: { add: ["a"] } });
    equal(ann.tasks.get(id)?.title, "hers still");
  }));

Deno.test("hostile writer: a date ahead of the server's wins against nobody's later write", () =>
  against(async (ann, mal, { server }) => {
    const { id, synced } = own(ann);
    await synced;
    const operations = [changing({ shape, id }, { title: set("ahead") })];
    await mal.hand({ operations, wall: Date.now() + 50_000 });
    // Of a device of hers that has not seen it.
    const session = rawSession({ user: "ann" });
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const later = [changing({ shape, id }, { title: set("later") })];
    const hers = new Hostile(peer, session);
    equal(await hers.hand({ operations: later }), undefined);
    const { state } = replicaOf(await server.database.repository(REPOSITORY));
    equal(state.cellOf(Task.name, id)?.item?.title, "later");
  }));

Deno.test("hostile writer: writes nothing to what was deleted where he may write nothing, in any way", () => {
  const own = ({ session }: { session: { user: string } }) =>
    session.user === "ann";
  const all = { create: own, update: own, delete: own };
  const collections = [rulesFor(Task, all)];
  const rules = defineRules({
    [REPOSITORY]: { read: () => true, collections },
  });
  return against(async (ann, mal, { server }) => {
    const { tasks } = ann;
    const { result: { id } } = tasks.create({ owner: "ann", title: "hers" });
    await tasks.delete(id).synced;
    const { loaded } = replicaOf(await server.database.repository(REPOSITORY));
    const big = "x".repeat(100_000);
    const late = changing({ shape, id }, { title: set(big) });
    const attacks: Operation[][] = [
      [late],
      [ending({ shape, id })],
      [creating({ shape, id }, { owner: "mal", title: big })],
      [late, ending({ shape, id }), late],
    ];
    for (const operations of attacks) {
      equal(await mal.hand({ operations }), "denied");
      equal(await mal.hand({ operations }, { operations }), "denied");
    }
    ok(loaded.log.end < 50_000, "nothing of it is in the log");
  }, { rules });
});

Deno.test("hostile writer: says nothing of fields by what he writes to a deleted item", () =>
  against(async (ann, mal, { server }) => {
    const { tasks } = ann;
    const { result: { id } } = tasks.create({ owner: "ann" });
    await tasks.delete(id).synced;
    const his = { shape, id: "his" };
    equal(
      await mal.hand(
        { operations: [creating(his, { owner: "mal" })] },
        {
          operations: [
            changing({ shape: shapeOf({ color: "list" }), id }, {
              color: {
                what: "insert",
                elements: [{ element: "e", position: positionAt(0), value: 1 }],
              },
            }),
            ending({ shape: shapeOf({ color: "list", size: "map" }), id }),
          ],
        },
      ),
      undefined,
    );
    const session = rawSession({ user: "ann" });
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const fields = shapeOf({ owner: "string", color: "string", size: "set" });
    const next = creating({ shape: fields, id: "next" }, {
      ...{ owner: "ann", color: "red", size: ["s"] },
    });
    equal(
      await new Hostile(peer, session).hand({ operations: [next] }),
      undefined,
    );
  }));

Deno.test("hostile writer: begins collections as long as there are any, and entries find room", () =>
  against(async (ann, mal, { server }) => {
    const { synced } = own(ann);
    await synced;
    const { state } = replicaOf(await server.database.repository(REPOSITORY));
    const room = limits.collectionsMax - state.size - 2; // Of "kv" and "kv-jobs".
    const operations = Array.from(
      { length: room },
      (_, i) => creating({ shape: shapeOf({}, `made-${i}`), id: "x" }, {}),
    );
    const one = creating({ shape: shapeOf({}, "kv-else"), id: "x" }, {});
    equal(await mal.hand({ operations: [...operations, one] }), "too-large");
    equal(await mal.hand({ operations }), undefined);
    equal(await mal.hand({ operations: [one] }), "too-large");
    await openKv(ann.repository).set("key", "hers").synced;
    await openKv(ann.repository, { name: "jobs" }).set("key", "hers").synced;
  }, { schemas: [defineSchema("kv-jobs", {})] }));

Deno.test("hostile writer: uses up no generation of what no rule is asked about", () =>
  against(async (ann, mal) => {
    const kv = openKv(ann.repository);
    const it = { shape: entrySchema(undefined).shape, id: "key" };
    for (const generation of [1, limits.generationMax]) {
      await mal.hand({ operations: [ending({ ...it, generation })] });
    }
    await kv.set("key", "hers").synced;
    equal(kv.get("key"), "hers");
  }));
