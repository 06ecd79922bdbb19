/**
 * Devices and a server over real WebSockets on this machine: what an app sees
 * from `serverInfo()` to a server that goes away and comes back.
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  serverInfo,
  type Storage,
} from "../mod.ts";
import { createServer, type Server } from "../server/mod.ts";
import { within } from "./kit/patience.ts";

const Task = defineSchema("task", { title: field.string() });

function serve(storage: Storage, port = 0): Promise<Server> {
  return createServer({
    storage,
    port,
    login: { anonymous: true, tokens: { "b-secret": { user: "bob" } } },
    log: () => {},
  });
}

function open(server: Server): Promise<Database> {
  const storage = memoryStorage();
  return openDatabase({ storage, rootKey: server.rootKey, schemas: [Task] });
}

/** Waits until a repository's sync is so. */
async function until(repo: Repository, isSo: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = repo.sync.subscribe(() => void (isSo() && resolve()));
  if (isSo()) resolve();
  const is = () => `${isSo}; it is ${Deno.inspect(repo.sync.status)}`;
  await within(promise, is).finally(end);
}

/** Waits until a repository has an item. */
async function untilHas(repo: Repository, id: string): Promise<void> {
  const tasks = repo.collection(Task);
  const { promise, resolve } = Promise.withResolvers<void>();
  const live = tasks.where({}).subscribe(() => tasks.has(id) && resolve());
  if (tasks.has(id)) resolve();
  await within(promise, `item "${id}" comes`);
  live.dispose();
}

Deno.test("a server tells its root key, and two devices that have it converge", async () => {
  await using server = await serve(memoryStorage());
  const info = await serverInfo(server.url);
  equal(info.rootKey, server.rootKey.toHex());
  deepEqual([info.mode, info.login], ["default", ["anonymous", "token"]]);
  await using a = await open(server);
  await using b = await open(server);
  a.connect(server.url);
  b.connect(new URL(server.url), { session: { token: "b-secret" } });
  const [left, right] = [
    await a.repository("team"),
    await b.repository("team"),
  ];
  await left.collection(Task).create({ id: "t", title: "Ship it" }).synced;
  await untilHas(right, "t");
  equal(b.user, "bob");
});

Deno.test("a token that the server does not know is named, and the next one is asked for", async () => {
  await using server = await serve(memoryStorage());
  await using db = await open(server);
  const tokens = ["wrong", "b-secret"];
  const connection = db.connect(server.url, {
    session: () => ({ token: tokens.shift()! }),
  });
  const repo = await db.repository("team");
  const write = repo.collection(Task).create({ title: "x" });
  await until(repo, () => repo.sync.status.reason?.code === "login-failed");
  equal(connection.status.reason?.code, "login-failed");
  connection.retry();
  await write.synced;
  equal(db.user, "bob");
});

Deno.test("a server that goes away and comes back finds its devices again", async () => {
  const storage = memoryStorage();
  let server = await serve(storage);
  const { port } = new URL(server.url);
  await using db = await open(server);
  const connection = db.connect(server.url);
  const repo = await db.repository("team");
  await repo.collection(Task).create({ id: "a", title: "Before" }).synced;
  await server.close();
  await until(repo, () => repo.sync.status.state !== "live");
  const write = repo.collection(Task).create({ id: "b", title: "Meanwhile" });
  await write;
  server = await serve(storage, Number(port));
  connection.retry();
  await write.synced;
  await until(repo, () => repo.sync.status.state === "live");
  deepEqual(repo.sync.status.incidents, []);
  await server.close();
});

Deno.test("where nobody listens a device waits, and says why", async () => {
  const server = await serve(memoryStorage());
  const { url } = server;
  await using db = await open(server);
  await server.close();
  db.connect(url);
  const repo = await db.repository("team");
  await repo.collection(Task).create({ title: "x" });
  await until(repo, () => repo.sync.status.reason?.code === "unreachable");
  equal(repo.sync.status.unsent.commits, 1);
  await rejects(serverInfo(url), { code: "unreachable" });
  await rejects(serverInfo("file:///x"), { code: "invalid-option" });
});
