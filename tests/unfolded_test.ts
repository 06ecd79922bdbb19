/** A real server without rules and constraints: it holds no items until somebody asks it for one. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { openKv } from "../src/kv/mod.ts";
import { createServer, type Server } from "../server/mod.ts";
import { defineRules, rulesFor } from "../src/schema/rules.ts";
import { until } from "./kit/patience.ts";
import { serverOptions } from "./server_place.ts";

const Task = defineSchema("task", {
  title: field.string(),
  n: field.counter(),
});
const NAME = "team/a";

async function joined(server: Server) {
  const { rootKey } = server;
  const storage = memoryStorage();
  const database = await openDatabase({ storage, rootKey, schemas: [Task] });
  const repository = await database.repository(NAME);
  const session = { anonymous: true } as const;
  const connection = database.connect(server.url, { session });
  await repository.sync.ready;
  const tasks = repository.collection(Task);
  const close = () => database.close();
  return {
    database,
    connection,
    repository,
    tasks,
    [Symbol.asyncDispose]: close,
  };
}

/** The server's own replica, which nobody asks for an item by that. */
async function itemsOf({ database }: Server) {
  const repository = await database.repository(NAME);
  return { repository, items: replicaOf(repository).loaded.items };
}

Deno.test("a server without rules hands on what it never folds, also after a restart, and shows it to its own app", async () => {
  const storage = memoryStorage();
  const options = serverOptions({ storage }, []);
  {
    await using server = await createServer(options);
    await using ann = await joined(server);
    await using bob = await joined(server);
    for (let i = 0; i < 30; i++) {
      await ann.tasks.create({ id: `t${i}`, title: `task ${i}` }).synced;
    }
    await bob.tasks.update("t3", { n: { increment: 2 } }).synced;
    await ann.tasks.delete("t4").synced;
    equal(bob.tasks.count(), 29);
    const audit = await bob.repository.sync.audit();
    equal(audit.equal, true);
    match(audit.message, /holds no items/);
    equal((await itemsOf(server)).items.folded, undefined);
  }
  await using server = await createServer(options);
  await using cam = await joined(server);
  equal(cam.tasks.count(), 29);
  const { repository, items } = await itemsOf(server);
  equal(items.folded, undefined);
  const stored = repository.storedCollection("task");
  equal(stored.count(), 29);
  deepEqual(stored.get("t3"), cam.tasks.get("t3"));
  await cam.tasks.create({ id: "new", title: "later" }).synced;
  ok(stored.get("new"), "from then on it follows");
  const audit = await cam.repository.sync.audit();
  deepEqual([audit.equal, /same state/.test(audit.message)], [true, true]);
});

Deno.test("a server without rules folds for the first conditional write, and judges it by what there was", async () => {
  await using server = await createServer(serverOptions({}, []));
  await using ann = await joined(server);
  const kv = openKv(ann.repository);
  await kv.set("lock", "ann").synced;
  const { items } = await itemsOf(server);
  equal(items.folded, undefined);
  await using bob = await joined(server);
  ok(openKv(bob.repository).compareAndSet("lock", "ann", "bob").result);
  await openKv(bob.repository).set("other", 1).synced;
  ok(items.folded);
  await using late = await joined(server);
  await late.connection.close();
  const own = openKv(late.repository).compareAndSet("lock", "bob", "late");
  await kv.set("lock", "ann again").synced;
  late.database.connect(server.url, { session: { anonymous: true } });
  await rejects(own.synced, { code: "refused" });
  await until(() => openKv(late.repository).get("lock") === "ann again", "it");
});

Deno.test("a server with rules or constraints folds from the start", async () => {
  const rules = defineRules({
    "team/{team}": {
      read: () => true,
      collections: [rulesFor(Task, { create: () => true })],
    },
  });
  const Seat = defineSchema("seat", { free: field.counter().min(0) });
  for (const more of [{ rules }, { schemas: [Seat] }]) {
    await using server = await createServer(serverOptions(more, []));
    await using _ann = await joined(server);
    const { items } = await itemsOf(server);
    ok(items.folded);
    equal(items.outline, undefined);
  }
});
