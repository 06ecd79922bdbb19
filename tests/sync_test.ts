/**
 * Devices that converge through a server in the same program: the public API
 * from end to end, over memory wires.
 */

import {
  deepEqual,
  equal,
  notDeepEqual,
  ok,
  rejects,
  throws,
} from "node:assert/strict";
import {
  type Collection,
  type Connection,
  type Database,
  type DatabaseOptions,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  rulesFor,
} from "../mod.ts";
import { createSigner } from "../crypto/mod.ts";
import { system } from "../src/base/system.ts";
import type { Connector } from "../sync/transport/transport.ts";
import { MemoryServer, type MemoryServerOptions } from "./kit/memory_server.ts";
import { trips, type What, within } from "./kit/patience.ts";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
  votes: field.counter(),
});

const users = { a: "ann", b: "bob", c: "cyd" };

function serve(options: MemoryServerOptions = {}): MemoryServer {
  return new MemoryServer({ users, ...options });
}

function open(
  server: MemoryServer,
  options: DatabaseOptions = { storage: memoryStorage() },
): Promise<Database> {
  return openDatabase({ rootKey: server.rootKey, schemas: [Task], ...options });
}

function connect(
  db: Database,
  server: MemoryServer,
  token: string,
): Connection {
  const { connector, login } = server;
  return db.connect(connector, { session: { token }, login });
}

interface Observable {
  subscribe(listener: () => void): unknown;
}

/** Waits until something observable is so. */
async function until(
  what: What,
  { subscribe }: Observable,
  isSo: () => boolean,
): Promise<void> {
  if (isSo()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  subscribe(() => void (isSo() && resolve()));
  if (isSo()) resolve();
  await within(promise, what);
}

/** Waits until a collection's items are so. */
function untilItems(
  tasks: Collection<typeof Task>,
  what: string,
  isSo: () => boolean,
): Promise<void> {
  const observable = {
    subscribe: (listener: () => void) => tasks.where({}).subscribe(listener),
  };
  return until(what, observable, isSo);
}

/** Waits until a repository's sync is so. */
function untilSync(
  { sync, name }: Repository,
  what: string,
  isSo: () => boolean,
): Promise<void> {
  const observable = {
    subscribe: (listener: () => void) => sync.subscribe(listener),
  };
  const words = () => `${name}: ${what}, not ${show(sync.status)}`;
  return until(words, observable, isSo);
}

function show(value: unknown): string {
  return Deno.inspect(value, { depth: 3 });
}

interface Device extends AsyncDisposable {
  readonly db: Database;
  readonly repo: Repository;
  readonly tasks: Collection<typeof Task>;
}

/** A device with its repository open, connected when it has a token. */
async function device(
  server: MemoryServer,
  token?: string,
  options?: DatabaseOptions,
): Promise<Device> {
  const db = await open(server, options);
  if (token !== undefined) connect(db, server, token);
  const repo = await db.repository("team/a");
  const tasks = repo.collection(Task);
  return { db, repo, tasks, [Symbol.asyncDispose]: () => db.close() };
}

Deno.test("a live query on one device moves after a write on another", async () => {
  await using server = serve();
  await using a = await device(server, "a");
  await using b = await device(server, "b");
  const heard: string[] = [];
  b.tasks.where({ done: false }).subscribe(({ added }) => {
    heard.push(...added.map(({ row }) => row.title));
  });
  const write = a.tasks.create({ id: "t", title: "Ship it" });
  await write.synced;
  await untilItems(b.tasks, "the item came", () => b.tasks.has("t"));
  deepEqual(heard, ["Ship it"]);
  b.tasks.update("t", { done: true });
  await untilItems(a.tasks, "it is done", () => a.tasks.get("t")!.done);
  deepEqual([a.db.user, b.db.user], ["ann", "bob"]);
  deepEqual(a.repo.history().map(({ user }) => user), ["ann", "bob"]);
});

Deno.test("what was written in this very turn is unsent, though nothing of it is on its way", async () => {
  await using server = serve();
  await using a = await device(server, "a");
  await a.repo.sync.ready;
  equal(a.repo.sync.status.unsent.commits, 0);
  const write = a.tasks.create({ title: "Ship it" });
  const { unsent } = a.repo.sync.status;
  equal(unsent.commits, 1);
  ok(unsent.oldest instanceof Date);
  equal(a.repo.sync.status.unsent, unsent, "the same object until it changes");
  await write.synced;
  equal(a.repo.sync.status.unsent.commits, 0);
});

Deno.test("what three devices write offline converges when they meet", async () => {
  await using server = serve();
  await using a = await device(server);
  await using b = await device(server);
  await using c = await device(server);
  const devices = [a, b, c];
  a.tasks.create({ id: "t", title: "One" });
  connect(a.db, server, "a");
  await a.repo.sync.ready;
  connect(b.db, server, "b");
  await untilItems(b.tasks, "t came to b", () => b.tasks.has("t"));
  await a.db.connection!.close();
  await b.db.connection!.close();
  a.tasks.update("t", { votes: { increment: 2 }, title: "From a" });
  b.tasks.update("t", { votes: { increment: 3 } });
  for (const [i, { tasks }] of devices.entries()) {
    for (let n = 0; n < 20; n++) tasks.create({ title: `${i} ${n}` });
  }
  for (const [i, { db }] of devices.entries()) connect(db, server, "abc"[i]!);
  for (const { tasks } of devices) {
    await untilItems(
      tasks,
      "61 items",
      () => tasks.count() === 61 && tasks.get("t")!.votes === 5,
    );
  }
  const all = devices.map(({ tasks }) =>
    show(tasks.all().sort((x, y) => x.id < y.id ? -1 : 1))
  );
  equal(all[0], all[1]);
  equal(all[0], all[2]);
  for (const { repo } of devices) {
    await untilSync(
      repo,
      "equal",
      () =>
        repo.sync.status.equalAt !== undefined &&
        repo.sync.status.unsent.commits === 0,
    );
    deepEqual(repo.sync.status.incidents, []);
  }
});

Deno.test("writes that were made before the connection are synced by it", async () => {
  await using server = serve();
  await using a = await device(server);
  const writes = [1, 2, 3].map((n) => a.tasks.create({ title: `${n}` }));
  const early = writes[0]!.synced;
  await Promise.all(writes);
  deepEqual(
    [a.repo.sync.status.state, a.repo.sync.status.unsent.commits],
    ["offline", 3],
  );
  connect(a.db, server, "a");
  await early;
  await Promise.all(writes.map((write) => write.synced));
  equal((await server.replica("team/a")).graph.commits, 3);
  equal(a.repo.sync.status.unsent.commits, 0);
});

Deno.test("a device counts what is unsent over restarts, and goes on from there", async () => {
  await using server = serve();
  const storage = memoryStorage();
  {
    await using a = await device(server, "a", { storage });
    await a.tasks.create({ id: "sent", title: "Sent" }).synced;
    await a.db.connection!.close();
    await a.tasks.create({ id: "later", title: "Later" });
    equal(a.repo.sync.status.unsent.commits, 1);
  }
  await using a = await device(server, undefined, { storage });
  const { unsent, state } = a.repo.sync.status;
  deepEqual([state, unsent.commits], ["offline", 1]);
  ok(unsent.bytes > 0 && unsent.oldest instanceof Date);
  connect(a.db, server, "a");
  await untilSync(
    a.repo,
    "nothing unsent",
    () =>
      a.repo.sync.status.state === "live" &&
      a.repo.sync.status.unsent.commits === 0,
  );
  equal(server.logins, 1);
});

Deno.test("a connection that is cut comes back, and nothing is missing", async () => {
  await using server = serve();
  await using a = await device(server, "a");
  await using b = await device(server, "b");
  await Promise.all([a.repo.sync.ready, b.repo.sync.ready]);
  for (let round = 0; round < 3; round++) {
    server.cut();
    const write = a.tasks.create({ id: `r${round}`, title: "x" });
    a.db.connection!.retry();
    b.db.connection!.retry();
    await write.synced;
    await untilItems(b.tasks, `round ${round}`, () => b.tasks.has(`r${round}`));
  }
  equal(server.logins, 2);
});

Deno.test("several repositories ride on one connection, whenever they are opened", async () => {
  await using server = serve();
  await using a = await device(server);
  await using b = await device(server, "b");
  const early = (await a.db.repository("early")).collection(Task);
  const writes = [early.create({ id: "e", title: "Early" })];
  connect(a.db, server, "a");
  const late = (await a.db.repository("late")).collection(Task);
  writes.push(late.create({ id: "l", title: "Late" }));
  await Promise.all(writes.map((write) => write.synced));
  for (const [name, id] of [["early", "e"], ["late", "l"]] as const) {
    const tasks = (await b.db.repository(name)).collection(Task);
    await untilItems(tasks, `${name} came`, () => tasks.has(id));
  }
  const repo = await a.db.repository("late");
  await repo.close();
  equal(repo.sync.status.state, "closed");
  await early.create({ title: "Goes on" }).synced;
  const again = await a.db.repository("late");
  await again.sync.ready;
});

Deno.test("connecting and disconnecting at any moment loses and repeats nothing", async () => {
  await using server = serve();
  await using a = await device(server);
  await using b = await device(server, "b");
  let count = 0;
  for (let round = 0; round < 40; round++) {
    a.tasks.create({ id: `${count++}`, title: "x" });
    const connection = connect(a.db, server, "a");
    for (let turn = 0; turn < round; turn++) await Promise.resolve();
    if (round % 5 === 0) await trips(1 + round / 5);
    a.tasks.create({ id: `${count++}`, title: "y" });
    await connection.close();
    equal(connection.status.state, "closed");
    equal(a.db.connection, undefined);
  }
  connect(a.db, server, "a");
  await untilItems(b.tasks, "all came", () => b.tasks.count() === count);
  await untilSync(
    a.repo,
    "nothing unsent",
    () => a.repo.sync.status.unsent.commits === 0,
  );
  equal((await server.replica("team/a")).graph.commits, count);
});

Deno.test("a database closes at once while it is connecting, and while it is live", async () => {
  await using server = serve();
  for (let turns = 0; turns < 60; turns += 3) {
    const storage = memoryStorage();
    const a = await device(server, "a", { storage });
    const write = a.tasks.create({ title: "x" });
    const waiting = write.synced.then(() => "synced", ({ code }) => code);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await a.db.close();
    ok(["synced", "closed"].includes(await waiting));
    equal(a.repo.sync.status.state, "closed");
    await (await device(server, undefined, { storage })).db.close();
  }
});

Deno.test("a login, or a wire, that never answers keeps no database from closing", async () => {
  await using server = serve();
  for (const mute of ["login", "wire"]) {
    const asked = Promise.withResolvers<void>();
    const never = () => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const silent = { address: "memory:silent", connect: never };
    await using a = await device(server);
    await a.tasks.create({ title: "x" });
    const { connector, login } = server;
    if (mute === "login") a.db.connect(connector, { login: never });
    else a.db.connect(silent, { session: { token: "a" }, login });
    await within(asked.promise, `the ${mute} is asked`);
    equal(a.db.connection!.status.state, "connecting");
    const retried = a.db.connection!;
    retried.retry();
    await a.db.close();
    equal(retried.status.state, "closed");
  }
});

Deno.test("a database has one connection at a time", async () => {
  await using server = serve();
  await using a = await device(server, "a");
  throws(() => connect(a.db, server, "a"), { code: "already-connected" });
  throws(() => a.db.connect("gopher://x"), { code: "already-connected" });
  await a.db.connection!.close();
  throws(() => a.db.connect("gopher://x"), { code: "invalid-option" });
  const bad = { session: { password: "x" } } as never;
  throws(() => a.db.connect(server.connector, bad), { code: "invalid-option" });
  equal(a.db.connection, undefined);
  await a.db.close();
  throws(() => connect(a.db, server, "a"), { code: "closed" });
});

Deno.test("a server of another root is refused by name, and nothing is sent to it", async () => {
  await using server = serve();
  await using other = serve();
  await using a = await device(server);
  connect(a.db, server, "a");
  await a.repo.sync.ready;
  await a.db.connection!.close();
  const write = a.tasks.create({ title: "Ours" });
  await write;
  connect(a.db, other, "a");
  await untilSync(
    a.repo,
    "refused",
    () => a.repo.sync.status.state === "refused",
  );
  equal(a.repo.sync.status.reason?.code, "root-key-mismatch");
  equal(a.db.connection!.status.reason?.code, "root-key-mismatch");
  equal((await other.replica("team/a")).graph.commits, 0);
});

Deno.test("a repository of another mode is refused by name, and the others go on", async () => {
  await using server = serve();
  await using a = await device(server, "a", {
    storage: memoryStorage(),
    mode: "fast",
  });
  await untilSync(
    a.repo,
    "refused",
    () => a.repo.sync.status.state === "refused",
  );
  equal(a.repo.sync.status.reason?.code, "mode-mismatch");
  equal(a.db.connection!.status.state, "ready");
});

Deno.test("a repository that the session may not read says so, and the others go on", async () => {
  await using server = serve();
  server.declines = (name) =>
    name === "secret"
      ? { code: "forbidden", detail: "Not for you" }
      : undefined;
  await using a = await device(server, "a");
  const secret = await a.db.repository("secret");
  await untilSync(
    secret,
    "refused",
    () => secret.sync.status.state === "refused",
  );
  equal(secret.sync.status.reason?.code, "forbidden");
  await a.tasks.create({ title: "Fine" }).synced;
});

Deno.test("a device works uncertified, offline and over restarts, and what it wrote goes out after its login", async () => {
  await using server = serve();
  const storage = memoryStorage();
  {
    await using a = await device(server, undefined, { storage, user: "me" });
    equal(a.db.user, "me");
    await a.tasks.create({ id: "one", title: "One" });
  }
  await using a = await device(server, undefined, { storage, user: "me" });
  const key = a.db.sessionKey;
  await a.tasks.update("one", { title: "Two" });
  server.isDown = true;
  connect(a.db, server, "a");
  await untilSync(
    a.repo,
    "a reason",
    () => a.repo.sync.status.reason?.code === "login-failed",
  );
  server.isDown = false;
  a.db.connection!.retry();
  await a.repo.sync.ready;
  await untilSync(
    a.repo,
    "nothing unsent",
    () => a.repo.sync.status.unsent.commits === 0,
  );
  equal(a.db.user, "ann");
  deepEqual(a.db.sessionKey, key);
  deepEqual(a.repo.history().map(({ user }) => user), ["ann", "ann"]);
  equal((await server.replica("team/a")).graph.commits, 2);
});

Deno.test("repositories that are opened while the login is under way sign with its certificate", async () => {
  await using server = serve();
  for (let turns = 0; turns < 30; turns++) {
    await using db = await open(server);
    connect(db, server, "a");
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const repo = await db.repository(`r${turns}`);
    await repo.collection(Task).create({ title: "x" }).synced;
    equal(repo.history()[0]!.user, "ann");
  }
});

/** A wire whose client's frames can be read. */
function tapped(connector: Connector, frames: Uint8Array[]): Connector {
  return {
    ...connector,
    async connect(signal) {
      const wire = await connector.connect(signal);
      const send = wire.send.bind(wire);
      wire.send = (frame) => {
        frames.push(frame.slice());
        send(frame);
      };
      return wire;
    },
  };
}

Deno.test("a session key is made on its device and never leaves it", async () => {
  await using server = serve();
  const drawn: Uint8Array[] = [];
  const world = {
    ...system,
    random(target: Uint8Array) {
      system.random(target);
      drawn.push(target.slice());
    },
  };
  await using a = await device(server, undefined, {
    storage: memoryStorage(),
    world,
  });
  const key = a.db.sessionKey!;
  const secret = drawn.find((bytes) =>
    bytes.length === 32 && createSigner(bytes).publicKey.toHex() === key.toHex()
  );
  ok(secret !== undefined, "it is made of this device's dice");
  const frames: Uint8Array[] = [];
  const asked: string[] = [];
  a.db.connect(tapped(server.connector, frames), {
    session: { token: "a" },
    login: (request) => {
      const hex = (_: string, value: unknown) =>
        value instanceof Uint8Array ? value.toHex() : value;
      asked.push(JSON.stringify(request, hex));
      return server.login(request);
    },
  });
  await a.tasks.create({ title: "x" }).synced;
  await a.repo.sync.audit();
  const said = [...frames.map((frame) => frame.toHex()), ...asked].join();
  ok(said.includes(key.toHex()), "what leaves is seen");
  equal(said.includes(secret.toHex()), false);
});

Deno.test("a device whose claims change gets a new key, and keeps what it wrote with the old one", async () => {
  await using server = serve();
  const storage = memoryStorage();
  await using a = await device(server, "a", { storage });
  await a.tasks.create({ id: "one", title: "One" }).synced;
  const key = a.db.sessionKey;
  await a.db.connection!.close();
  await a.tasks.create({ id: "two", title: "Offline" });
  server.claims = '{"role":"admin"}';
  const { connector, login } = server;
  const session = { token: "a" };
  await a.db.connect(connector, { session, login }).close();
  a.db.connect(connector, { session, login, renew: true });
  await untilSync(
    a.repo,
    "nothing unsent",
    () =>
      a.repo.sync.status.state === "live" &&
      a.repo.sync.status.unsent.commits === 0,
  );
  notDeepEqual(a.db.sessionKey, key);
  await a.tasks.create({ id: "three", title: "As admin" }).synced;
  await using b = await device(server, "b");
  await untilItems(b.tasks, "all came", () => b.tasks.count() === 3);
  const history = b.repo.history();
  deepEqual(history.map(({ user }) => user), ["ann", "ann", "ann"]);
  equal(new Set(history.map(({ chain }) => chain)).size, 2);
});

/** What the server allows, and the devices do not know of. */
const strict = defineRules({
  "team/{team}": {
    read: () => true,
    collections: [rulesFor(Task, {
      create: ({ after }) => !after.title.startsWith("!") || "No shouting",
      update: ({ after }) => !after.title.startsWith("!") || "No shouting",
      delete: () => true,
    })],
  },
});

Deno.test("a refused write is shown and undone on its device and nowhere else, and later writes go on", async () => {
  await using server = serve({ rules: strict });
  await using a = await device(server, "a");
  await using b = await device(server, "b");
  await Promise.all([a.repo.sync.ready, b.repo.sync.ready]);
  const seen: string[] = [];
  b.tasks.where({}).subscribe(({ rows }) => {
    seen.push(...rows.map(({ title }) => title));
  });
  a.tasks.create({ id: "calm", title: "One" });
  const bad = a.tasks.create({ id: "loud", title: "!Two" });
  const follow = a.tasks.update("loud", { votes: { increment: 1 } });
  const later = a.tasks.create({ id: "later", title: "Three" });
  const message = /team\/\{team\} task\.create.*No shouting/;
  await rejects(bad.synced, { code: "refused", message });
  await later.synced;
  await untilItems(b.tasks, "later came", () => b.tasks.has("later"));
  deepEqual(a.tasks.keys().sort(), ["calm", "later"]);
  ok(!seen.some((title) => title.startsWith("!")), show(seen));
  const [refused] = a.repo.sync.status.refusals;
  deepEqual(
    [refused!.reason, refused!.rule, refused!.detail, refused!.kept],
    ["denied", "team/{team} task.create", "No shouting", false],
  );
  await follow.synced.catch(({ code }) => equal(code, "refused"));
  for (const { repo } of [a, b]) {
    await untilSync(repo, "equal", () => {
      const { equalAt, unsent, state } = repo.sync.status;
      return equalAt !== undefined && unsent.commits === 0 && state === "live";
    });
    deepEqual(repo.sync.status.incidents, []);
    equal((await repo.sync.audit()).equal, true);
  }
});

Deno.test("a device with other rules takes what the server accepted, and may itself write what both allow", async () => {
  await using server = serve();
  await using a = await device(server, "a");
  const storage = memoryStorage();
  await using b = await device(server, "b", { storage, rules: strict });
  await a.tasks.create({ id: "calm", title: "One" }).synced;
  await a.tasks.create({ id: "loud", title: "!Two" }).synced;
  await untilItems(b.tasks, "both came", () => b.tasks.has("loud"));
  await b.tasks.create({ id: "own", title: "Goes on" }).synced;
  throws(() => b.tasks.create({ id: "no", title: "!Three" }), {
    code: "denied",
  });
  await untilItems(a.tasks, "own came", () => a.tasks.has("own"));
  deepEqual(b.tasks.keys().sort(), ["calm", "loud", "own"]);
  const { incidents } = b.repo.sync.status;
  deepEqual(incidents.map(({ kind }) => kind), ["not-enforced"]);
});

Deno.test("what is refused for a reason that a client does not know is taken back as well", async () => {
  await using server = serve();
  const refused = "reason-of-the-future" as "denied";
  server.gate = () => ({ refused, detail: "Who knows" });
  await using a = await device(server, "a");
  const { synced } = a.tasks.create({ id: "x", title: "x" });
  await rejects(synced, { code: "refused", message: /Who knows/ });
  equal(a.tasks.count(), 0);
  equal(a.repo.sync.status.refusals[0]?.reason, refused);
});

Deno.test("refusals survive a restart; one is retried when it is allowed, one exported and discarded", async () => {
  await using server = serve();
  server.gate = () => ({ refused: "denied", detail: "Not today" });
  const storage = memoryStorage();
  {
    await using a = await device(server, "a", { storage });
    const writes = ["x", "y"].map((id) => a.tasks.create({ id, title: id }));
    for (const { synced } of writes) await rejects(synced, { code: "refused" });
    equal(a.repo.sync.status.refusals.length, 2);
    equal(a.tasks.count(), 0);
  }
  server.gate = undefined;
  await using a = await device(server, "a", { storage });
  equal(a.tasks.count(), 0);
  const [x, y] = a.repo.sync.status.refusals;
  equal(x!.detail, "Not today");
  const retried = x!.retry();
  ok(a.tasks.has("x"));
  await retried.synced;
  equal(y!.export().detail, "Not today");
  await y!.discard();
  deepEqual(a.repo.sync.status.refusals, []);
  await using b = await device(server, "b");
  await untilItems(b.tasks, "x came", () => b.tasks.has("x"));
  deepEqual(b.tasks.keys(), ["x"]);
});

Deno.test("what a device's own rules deny is thrown before it is written", async () => {
  await using server = serve({ rules: strict });
  const options = { storage: memoryStorage(), rules: strict };
  await using a = await device(server, "a", options);
  await a.repo.sync.ready;
  const loud = { title: "!" };
  throws(() => a.tasks.create(loud), {
    code: "denied",
    message: /No shouting/,
  });
  const answer = a.repo.can("create", Task, loud);
  deepEqual(answer, {
    allowed: false,
    reason: "No shouting",
    rule: "team/{team} task.create",
  });
  await a.tasks.create({ title: "calm" }).synced;
  equal(a.repo.status().commits, 1);
});

Deno.test("a database that was closed while it was live is clean, and resumes with its cursor", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    await using other = serve({ mode });
    const storage = memoryStorage();
    {
      await using a = await device(other, "a", { storage, mode });
      await a.tasks.create({ id: "x", title: mode }).synced;
    }
    await using a = await device(other, "a", { storage, mode });
    deepEqual(a.repo.status().recovery.clean, true, mode);
    equal(a.repo.sync.status.unsent.commits, 0, mode);
    await a.repo.sync.ready;
    await a.tasks.update("x", { done: true }).synced;
  }
});

Deno.test("a resume file that is damaged, cut or missing costs nothing but a comparison", async () => {
  await using server = serve();
  const storage = memoryStorage();
  {
    await using a = await device(server, "a", { storage });
    await a.repo.sync.ready;
  }
  const [folder] = storage.folders("repositories");
  const name = `repositories/${folder}/resume`;
  const spoil = (change: (bytes: Uint8Array) => Uint8Array) => {
    const file = storage.open(name)!;
    const bytes = new Uint8Array(file.size());
    file.readAt(bytes, 0);
    file.truncate(0);
    file.writeAt(change(bytes), 0);
    file.close();
  };
  const accidents = [
    () => spoil((bytes) => bytes.map((byte, i) => i === 60 ? ~byte : byte)),
    () => spoil((bytes) => bytes.subarray(0, 40)),
    () => spoil(() => new Uint8Array(9)),
    () => storage.remove(name),
  ];
  for (const [i, happen] of accidents.entries()) {
    happen();
    await using a = await device(server, undefined, { storage });
    equal(a.repo.sync.status.unsent.commits, i, "nothing is known: all counts");
    connect(a.db, server, "a");
    await a.tasks.create({ id: `${i}`, title: "x" }).synced;
    await untilSync(a.repo, "live", () => a.repo.sync.status.state === "live");
    equal(a.repo.sync.status.unsent.commits, 0);
    deepEqual(a.repo.sync.status.incidents, []);
  }
  await using a = await device(server, undefined, { storage });
  equal(a.repo.sync.status.unsent.commits, 0, "an undamaged one is believed");
});

Deno.test("presence rides along and is gone with its connection", async () => {
  await using server = serve();
  await using a = await device(server);
  await using b = await device(server, "b");
  a.repo.presence.set({ at: "title" });
  connect(a.db, server, "a");
  const { presence } = b.repo;
  const observable = {
    subscribe: (listener: () => void) => presence.subscribe(listener),
  };
  await until("a is here", observable, () => presence.others.length === 1);
  deepEqual(
    presence.others.map(({ user, data }) => [user, data]),
    [["ann", { at: "title" }]],
  );
  server.cut();
  await until("a is gone", observable, () => presence.others.length === 0);
  a.db.connection!.retry();
  b.db.connection!.retry();
  await until("a is back", observable, () => presence.others.length === 1);
  await a.db.connection!.close();
  await until("a left", observable, () => presence.others.length === 0);
});

Deno.test("an audit of two equal sides finds them equal; without a connection there is none", async () => {
  await using server = serve();
  await using a = await device(server, "a");
  await a.tasks.create({ title: "x" }).synced;
  equal((await a.repo.sync.audit()).equal, true);
  await a.db.connection!.close();
  await rejects(a.repo.sync.audit(), { code: "unreachable" });
});
