/**
 * Constraints with a real server and real clients: who comes second is refused,
 * is told why, and everybody has the same afterwards.
 */

import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import {
  type Collection,
  type Database,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  type Mode,
  openDatabase,
  type Repository,
  rulesFor,
  type Schema,
  type Storage,
} from "../mod.ts";
import {
  createServer,
  type LogRecord,
  type ServerOptions,
} from "../server/mod.ts";
import { until, within } from "./kit/patience.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { Origin } from "./kit/origin.ts";
import { Tab } from "./kit/tab_place.ts";
import { connect } from "./server_clients.ts";
import { createSigner } from "../crypto/mod.ts";
import { recordKind } from "../repo/log/format.ts";
import type { Shape } from "../src/schema/patch.ts";
import { changing, HostileChain } from "./kit/forge.ts";
import {
  genesisOf,
  RawPeer,
  type RawSession,
  rawSession,
  ROOT_SECRET,
} from "./raw_peer.ts";
import {
  ANN,
  BOB,
  type Place,
  serverOptions,
  withServer,
} from "./server_place.ts";

const User = defineSchema("user", {
  email: field.string(),
  name: field.string().optional(),
}, { unique: [["email"]] });

const Post = defineSchema("post", {
  author: field.ref("user").exists(),
  readers: field.list(field.ref("user").exists()),
});

const Show = defineSchema("show", { free: field.counter().min(0) });

const schemas = [User, Post, Show];

/** The same collections as an app that knows nothing of constraints. */
const Bare = defineSchema("user", { email: field.string() });

interface Device extends AsyncDisposable {
  readonly db: Database;
  readonly repo: Repository;
  readonly users: Collection<typeof User>;
  readonly posts: Collection<typeof Post>;
  readonly shows: Collection<typeof Show>;
  online(token?: string): void;
  /** Everything that it has. */
  state(): unknown;
}

interface DeviceOptions {
  readonly storage?: Storage;
  readonly repository?: string;
  readonly mode?: Mode;
}

/** A device that is offline until it is told not to be. */
async function deviceOf(
  { server }: Pick<Place, "server">,
  { storage = memoryStorage(), repository = "team/a", mode }: DeviceOptions =
    {},
): Promise<Device> {
  const db = await openDatabase({
    ...{ storage, rootKey: server.rootKey, schemas },
    ...mode && { mode },
  });
  const repo = await db.repository(repository);
  const [users, posts] = [repo.collection(User), repo.collection(Post)];
  const shows = repo.collection(Show);
  const byId = (a: { id: string }, b: { id: string }) => a.id < b.id ? -1 : 1;
  return {
    ...{ db, repo, users, posts, shows },
    online: (token) => connect(db, server, token),
    state: () => [users, posts, shows].map((one) => one.all().sort(byId)),
    [Symbol.asyncDispose]: () => db.close(),
  };
}

function withSchemas(
  work: (place: Place) => Promise<void>,
  options: ServerOptions = {},
): Promise<void> {
  return withServer({ schemas, ...options }, work);
}

/** The refusals that a device shows. */
function refusalsOf({ repo }: Device): unknown[] {
  return repo.sync.status.refusals.map(({ reason, rule, detail }) => ({
    reason,
    rule,
    detail,
  }));
}

async function agree(...devices: readonly Device[]): Promise<void> {
  for (const { repo } of devices) await within(repo.sync.ready, "it is ready");
  const states = () => devices.map((one) => JSON.stringify(one.state()));
  await until(() => new Set(states()).size === 1, "all have the same");
}

const EMAIL = {
  reason: "constraint",
  rule: "user.unique(email)",
  detail: '"user" item "bob": "ann" has the same email',
};

Deno.test("constraints: of two that take an address offline the second is refused with the reason, and both converge", () =>
  withSchemas(async (place) => {
    await using ann = await deviceOf(place);
    await using bob = await deviceOf(place);
    const first = ann.users.create({ id: "ann", email: "a@b" });
    const second = bob.users.create({ id: "bob", email: "a@b" });
    equal(bob.users.get("bob")?.email, "a@b", "it is visible at once");
    ann.online(ANN);
    await first.synced;
    bob.online(BOB);
    await rejects(second.synced, {
      code: "refused",
      message: /"ann" has the same email/,
    });
    deepEqual(refusalsOf(bob), [EMAIL]);
    await agree(ann, bob);
    equal(bob.users.has("bob"), false);
    const [refused] = bob.repo.sync.status.refusals;
    throws(() => refused!.retry(), { code: "constraint" });
    await ann.users.update("ann", { email: "new@b" }).synced;
    await until(() => bob.users.get("ann")?.email === "new@b", "it is free");
    await refused!.retry().synced;
    await agree(ann, bob);
    deepEqual(refusalsOf(bob), []);
    equal(ann.users.get("bob")?.email, "a@b");
  }));

Deno.test("constraints: of two that take the last seat offline one is refused, and both converge", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    await withSchemas(async (place) => {
      await using ann = await deviceOf(place, { mode });
      await using bob = await deviceOf(place, { mode });
      ann.online(ANN);
      bob.online(BOB);
      await ann.shows.create({ id: "s", free: 1 }).synced;
      await until(() => bob.shows.has("s"), "the show is there");
      await ann.db.connection!.close();
      await bob.db.connection!.close();
      const taken = [ann, bob].map(({ shows }) =>
        shows.update("s", { free: { increment: -1 } })
      );
      throws(() => ann.shows.update("s", { free: { increment: -1 } }), {
        code: "constraint",
        message:
          'Cannot update "show" item "s": free would be -1 (show.free.min(0))',
      });
      ann.online(ANN);
      bob.online(BOB);
      const told = await Promise.allSettled(taken.map(({ synced }) => synced));
      const reasons = told.flatMap((one) =>
        one.status === "rejected" ? [String(one.reason)] : []
      );
      equal(reasons.length, 1, mode);
      match(reasons[0]!, /free would be -1/);
      await agree(ann, bob);
      equal(ann.shows.get("s")?.free, 0);
    }, { mode });
  }
});

const free: Shape = {
  collection: "show",
  version: 1,
  fields: [{ name: "free", kind: "counter" }],
};

/** A sealed commit of a session that takes one seat. */
function takingOne({ server }: Place, { secretKey }: RawSession) {
  const genesisId = genesisOf(server, "team/a");
  const chain = new HostileChain(genesisId, createSigner(secretKey));
  const change = { what: "increment", amount: -1 } as const;
  const seat = changing({ shape: free, id: "s" }, { free: change });
  return chain.batch({ wall: Date.now(), operations: [seat] });
}

Deno.test("constraints: the last seat is sold once, whichever way a second buyer comes in", () =>
  withSchemas(async (place) => {
    const { server } = place;
    await using ann = await deviceOf(place);
    ann.online(ANN);
    await ann.shows.create({ id: "s", free: 1 }).synced;
    await ann.shows.update("s", { free: { increment: -1 } }).synced;
    const edge = rawSession({ user: "edge", mayIssue: true });
    const [bob, cid] = [
      rawSession({ user: "bob" }),
      rawSession({ user: "cid" }),
    ];
    const handed = async (by: RawSession, author: RawSession) => {
      await using peer = await RawPeer.opened(server, "team/a", by);
      const { certificate: bytes } = author;
      peer.records({ kind: recordKind.certificate, bytes });
      return (await peer.hand(takingOne(place, author)))?.reason;
    };
    deepEqual([
      await handed(bob, bob),
      await handed(edge, edge),
      await handed(edge, bob),
    ], ["constraint", "constraint", "constraint"]);
    await server.revoke({ user: "cid" });
    equal(await handed(edge, cid), "revoked");
    const [kept] = server.quarantine();
    await rejects(server.accept(kept!.id), { code: "constraint" });
    equal(ann.shows.get("s")?.free, 0);
    deepEqual(refusalsOf(ann), []);
  }, { rootSecret: ROOT_SECRET }));

Deno.test("constraints: a reference and a delete that race, and what was built on what is refused", () =>
  withSchemas(async (place) => {
    await using ann = await deviceOf(place);
    await using bob = await deviceOf(place);
    ann.online(ANN);
    bob.online(BOB);
    await ann.users.createMany([
      { id: "ann", email: "a" },
      { id: "u", email: "u" },
    ]).synced;
    await until(() => bob.users.has("u"), "it is there");
    await bob.db.connection!.close();
    bob.users.delete("u");
    const dead = bob.users.create({ id: "bob", email: "a2" });
    bob.users.create({ id: "bert", email: "b" });
    const post = bob.posts.create({ id: "p2", author: "bert" });
    await ann.posts.create({ id: "p", author: "ann", readers: ["u"] }).synced;
    await ann.users.create({ id: "cid", email: "b" }).synced;
    bob.online(BOB);
    await rejects(post.synced, /there is no "user" item "bert"/);
    await dead.synced;
    deepEqual(
      refusalsOf(bob).map((one) => (one as typeof EMAIL).rule).sort(),
      ["post.author.exists()", "post.readers.exists()", "user.unique(email)"],
    );
    await agree(ann, bob);
    deepEqual(ann.users.keys().sort(), ["ann", "bob", "cid", "u"]);
  }));

Deno.test("constraints: who swaps two values in one transaction is refused nothing; an undo that would take a value is", () =>
  withSchemas(async (place) => {
    await using ann = await deviceOf(place);
    ann.online(ANN);
    const { undo } = ann.repo;
    await undo.ready;
    ann.users.createMany([{ id: "a", email: "1" }, { id: "b", email: "2" }]);
    ann.repo.transact((tx) => {
      const users = tx.collection(User);
      users.update("a", { email: "2" });
      users.update("b", { email: "1" });
    });
    await undo.undo()!.synced;
    deepEqual(ann.users.getMany(["a", "b"]).map((one) => one?.email), [
      "1",
      "2",
    ]);
    await undo.redo()!.synced;
    undo.clear();
    await ann.users.update("a", { email: "3" }).synced;
    const server = await place.server.database.repository("team/a");
    await server.collection(User).create({ id: "c", email: "2" });
    await until(() => ann.users.has("c"), "somebody has it now");
    throws(() => undo.undo(), { code: "constraint" });
    equal(undo.canUndo, false, "it would never go");
    equal(ann.users.get("a")?.email, "3");
    deepEqual(refusalsOf(ann), []);
  }));

Deno.test("constraints hold in each repository for itself", () =>
  withSchemas(async (place) => {
    await using ann = await deviceOf(place);
    await using bob = await deviceOf(place, { repository: "team/b" });
    ann.online(ANN);
    bob.online(BOB);
    await ann.users.create({ id: "x", email: "a@b" }).synced;
    await bob.users.create({ id: "y", email: "a@b" }).synced;
  }));

Deno.test("constraints come from the schemas of rules as well, where the server was given no others", async () => {
  const all = { create: () => true, update: () => true, delete: () => true };
  const rules = defineRules({
    "team/{team}": {
      read: () => true,
      collections: [rulesFor(User, all)],
      others: true,
    },
  });
  await withServer({ rules }, async (place) => {
    await using ann = await deviceOf(place);
    await using bob = await deviceOf(place);
    bob.users.create({ id: "bob", email: "a@b" });
    ann.online(ANN);
    await ann.users.create({ id: "ann", email: "a@b" }).synced;
    bob.online(BOB);
    await until(() => refusalsOf(bob).length === 1, "it is refused");
    deepEqual(refusalsOf(bob), [EMAIL]);
  });
});

Deno.test("constraints: a client that knows none is refused, and a server's own writes are asked, too", () =>
  withSchemas(async ({ server }) => {
    const db = await openDatabase({
      storage: memoryStorage(),
      rootKey: server.rootKey,
      schemas: [Bare],
    });
    connect(db, server, ANN);
    const repo = await db.repository("team/a");
    const users = repo.collection(Bare);
    await users.create({ id: "ann", email: "a@b" }).synced;
    await rejects(users.create({ email: "a@b" }).synced, { code: "refused" });
    const own = await server.database.repository("team/a");
    throws(() => own.collection(User).create({ email: "a@b" }), {
      code: "constraint",
    });
    await db.close();
  }));

Deno.test("constraints that are declared over violations report them; who adds none goes on, and who mends is taken", async () => {
  const storage = memoryStorage();
  const made: string[] = [];
  await withServer({ storage }, async (place) => {
    for (const id of ["ann", "bob", "cid"]) {
      await using device = await deviceOf(place);
      device.online(ANN);
      await device.users.create({ id, email: id === "cid" ? "c" : "a@b" })
        .synced;
      made.push(id);
    }
  });
  await withSchemas(async (place) => {
    await using ann = await deviceOf(place);
    ann.online(ANN);
    await until(() => ann.users.count() === made.length, "all came");
    const violations = [
      { constraint: EMAIL.rule, id: "ann", detail: '"bob" has the same email' },
      { constraint: EMAIL.rule, id: "bob", detail: '"ann" has the same email' },
    ];
    const byId = (a: { id: string }, b: { id: string }) => a.id < b.id ? -1 : 1;
    deepEqual([...ann.users.violations()].sort(byId), violations);
    await ann.users.update("bob", { name: "Bob" }).synced;
    throws(() => ann.users.update("cid", { email: "a@b" }), {
      code: "constraint",
    });
    const told = place.records.filter(({ event }) =>
      event === "constraint-violations"
    );
    equal(told.length, 1);
    const { level, repository, collection, count, constraint } = told[0]!;
    deepEqual([level, repository, collection, count, constraint], [
      ...["warn", "team/a", "user", 2, EMAIL.rule],
    ]);
    await ann.users.update("bob", { email: "b@b" }).synced;
    deepEqual(ann.users.violations(), []);
    throws(() => ann.users.update("cid", { email: "b@b" }), {
      code: "constraint",
    });
  }, { storage });
});

Deno.test("constraints: what a lost server had accepted comes back unjudged, what comes beyond it waits and is judged then", async () => {
  const rootSecret = crypto.getRandomValues(new Uint8Array(32));
  const options = { rootSecret, schemas };
  const first = await createServer(serverOptions(options, []));
  const port = Number(new URL(first.url).port);
  await using ann = await deviceOf({ server: first });
  await using bob = await deviceOf({ server: first });
  ann.online(ANN);
  bob.online(BOB);
  await ann.users.create({ id: "ann", email: "a@b" }).synced;
  await until(() => bob.users.has("ann"), "it came");
  const since = new Date();
  await ann.users.create({ id: "x", email: "x" }).synced;
  await until(
    () => (ann.repo.sync.status.equalAt ?? new Date(0)) >= since,
    "a witness shows it",
  );
  await bob.db.connection!.close();
  await first.close();
  const stale = await deviceOf({ server: first });
  stale.users.create({ id: "bob", email: "a@b" });
  const records: LogRecord[] = [];
  await using _second = await createServer(
    serverOptions({ ...options, port }, records),
  );
  const isBack = () =>
    records.some(({ event }) => event === "restore-complete");
  await until(isBack, "all is back");
  stale.online(BOB);
  await until(() => refusalsOf(stale).length === 1, "it is refused");
  deepEqual(refusalsOf(stale), [EMAIL]);
  bob.online(BOB);
  await agree(ann, bob, stale);
  deepEqual(refusalsOf(ann), []);
  await stale.db.close();
});

Deno.test("openDatabase() refuses a schema whose references name a collection without one", async () => {
  const ref = field.ref("usr");
  const misspelled = [ref, ref.optional(), ref.exists(), field.set(ref)];
  for (const author of misspelled) {
    const schemas = [User, defineSchema("post", { author })];
    await rejects(openDatabase({ storage: memoryStorage(), schemas }), {
      code: "invalid-schema",
      message: /"post.author(\[\])?" refers to "usr", of which there is no/,
    });
  }
});

Deno.test("constraints are asked alone on a device, too, and survive its reopening", async () => {
  const storage = memoryStorage();
  const open = () => openDatabase({ storage, schemas: schemas as Schema[] });
  const db = await open();
  const users = (await db.repository("team/a")).collection(User);
  await users.create({ id: "ann", email: "a@b" });
  deepEqual(users.violations(), []);
  throws(() => users.create({ email: "a@b" }), { code: "constraint" });
  await db.close();
  const again = await open();
  const there = (await again.repository("team/a")).collection(User);
  throws(() => there.create({ email: "a@b" }), { code: "constraint" });
  there.delete("ann");
  await there.create({ email: "a@b" });
  await again.close();
});

Deno.test("constraints are asked in each page of a device, of what all of them wrote", async () => {
  const origin = new Origin();
  await using one = new Tab(origin, { schemas });
  await using two = new Tab(origin, { schemas });
  const [first, second] = [await one.repository(), await two.repository()];
  await first.collection(User).create({ id: "ann", email: "a@b" });
  const users = second.collection(User);
  await until(() => users.has("ann"), "the other page has it");
  throws(() => users.create({ email: "a@b" }), { code: "constraint" });
  users.delete("ann");
  await users.create({ email: "a@b" });
});

const ASKED = [
  "user.unique(email)",
  "post.author.exists()",
  "post.readers.exists()",
  "show.free.min(0)",
];

/** What a repository was told that its server does not ask for. */
function unenforced({ sync }: Repository): unknown[] {
  return sync.status.incidents
    .filter(({ kind }) => kind === "not-enforced")
    .map(({ details }) => (details as { lacks: unknown }).lacks);
}

Deno.test("constraints that the server does not ask for are told once, by name, and rules likewise", async () => {
  const rules = defineRules({ "**": { read: () => true, others: true } });
  await withServer({ schemas: [User] }, async ({ server }) => {
    await using db = await openDatabase({
      ...{ storage: memoryStorage(), rootKey: server.rootKey, schemas, rules },
    });
    const repo = await db.repository("team/a");
    connect(db, server, ANN);
    await repo.sync.ready;
    deepEqual(repo.sync.status.enforced, ["user.unique(email)"]);
    const lacks = ["rules", ...ASKED.slice(1)];
    deepEqual(unenforced(repo), [lacks]);
    db.connection?.close();
    connect(db, server, ANN);
    await until(() => repo.sync.status.state === "live", "it is live again");
    deepEqual(unenforced(repo), [lacks]);
  });
});

Deno.test("rules that nobody asks, because the mode does not tell who wrote, are told", async () => {
  const rules = defineRules({ "**": { read: () => true } });
  await withServer({ rules, mode: "trusted" }, async ({ server }) => {
    const place = { storage: memoryStorage(), rootKey: server.rootKey };
    await using db = await openDatabase({
      ...{ ...place, schemas: [Show], rules, mode: "trusted" },
    });
    const repo = await db.repository("team/a");
    connect(db, server, ANN);
    await repo.collection(Show).create({ free: 1 }).synced;
    deepEqual(unenforced(repo), [["rules", "show.free.min(0)"]]);
  });
});

Deno.test("constraints that the server asks for are shown, and nothing is told", async () => {
  const rules = defineRules({ "**": { read: () => true, others: true } });
  await withServer({ schemas, rules }, async (place) => {
    await using ann = await deviceOf(place);
    ann.online(ANN);
    await ann.repo.sync.ready;
    deepEqual(ann.repo.sync.status.enforced, ["rules", ...ASKED]);
    deepEqual(unenforced(ann.repo), []);
  });
});

Deno.test("constraints that the server does not ask for are told in each page of a device", async () => {
  await using server = new MemoryServer({
    mode: "default",
    users: { t: "ann" },
  });
  const origin = new Origin({ connectorOf: server.connectorOf });
  const options = {
    schemas,
    mode: "default",
    rootKey: server.rootKey,
  } as const;
  for (let i = 0; i < 2; i++) {
    const tab = new Tab(origin, options);
    const database = await tab.opening;
    server.connect(database);
    const repo = await tab.repository();
    await until(() => repo.sync.status.state === "live", "it is live");
    deepEqual(unenforced(repo), [ASKED]);
  }
  origin[Symbol.dispose]();
});
