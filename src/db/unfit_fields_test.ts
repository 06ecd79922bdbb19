import { deepEqual, equal, ok, throws } from "node:assert/strict";
import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Storage,
} from "../../mod.ts";
import { MemoryServer } from "../../tests/kit/memory_server.ts";
import { until } from "../../tests/kit/patience.ts";
import { fold } from "../schema/merge.ts";
import type { Operation, Shape } from "../schema/patch.ts";
import { createView } from "../schema/view.ts";

const Before = defineSchema("task", {
  title: field.string(),
  rank: field.number(),
  tag: field.string(),
  state: field.string(),
});

const After = defineSchema("task", {
  title: field.string(),
  rank: field.string().default("none"),
  tag: field.set(field.string()),
  state: field.enum(["open"]),
});

const input = { title: "x", rank: 1, tag: "a", state: "open" };

async function writtenBefore(...names: readonly string[]): Promise<Storage> {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: [Before] });
  for (const name of names) {
    const repository = await db.repository(name);
    await repository.collection(Before).create({ id: "a", ...input });
    deepEqual(repository.sync.status.incidents, []);
  }
  return storage;
}

Deno.test("a field that changed its kind is an incident that names it, once", async () => {
  const storage = await writtenBefore("one");
  await using db = await openDatabase({ storage, schemas: [After] });
  const repository = await db.repository("one");
  const tasks = repository.collection(After);
  const item = tasks.get("a");
  deepEqual([item?.rank, item?.tag, item?.state], ["none", [], "open"]);
  await tasks.update("a", { title: "y" });
  tasks.where({ state: "open" }).run();
  const { incidents } = repository.sync.status;
  deepEqual(
    incidents.map(({ kind, details }) => [kind, details]),
    [
      ["wrong-kind", { collection: "task", field: "rank", kind: "string" }],
      ["wrong-kind", { collection: "task", field: "tag", kind: "set" }],
    ],
  );
  ok(incidents[0]?.message.startsWith('"task.rank" holds values'));
});

const Tally = defineSchema("tally", { votes: field.counter() });

Deno.test("a counter that devices bring past what numbers hold together reads alike on each, and is an incident that names it", async () => {
  await using server = new MemoryServer({ users: { t: "ann" } });
  const { connector, login, rootKey } = server;
  const most = Number.MAX_SAFE_INTEGER;
  const storages = [memoryStorage(), memoryStorage(), memoryStorage()];
  const open = (storage: Storage) =>
    openDatabase({ storage, rootKey, schemas: [Tally] });
  const seen: unknown[] = [];
  const look = async (db: Database) => {
    const repository = await db.repository("one");
    const tallies = repository.collection(Tally);
    const over = { code: "value-too-large" };
    throws(() => tallies.update("a", { votes: { increment: 1 } }), over);
    const { incidents } = repository.sync.status;
    const told = incidents.map(({ kind, details }) => [kind, details]);
    seen.push([tallies.get("a")!.votes, told]);
    return tallies;
  };
  {
    const devices = await Promise.all(storages.map(open));
    const repositories = await Promise.all(
      devices.map((db) => db.repository("one")),
    );
    for (const [i, repository] of repositories.entries()) {
      const tallies = repository.collection(Tally);
      if (i < 2) tallies.upsert({ id: "a", votes: most });
    }
    for (const db of devices) {
      db.connect(connector, { session: { token: "t" }, login });
    }
    for (const repository of repositories) {
      const tallies = repository.collection(Tally);
      const isThere = () => tallies.get("a")?.votes === 2 * most;
      await until(isThere, "both increments");
    }
    for (const db of devices) (await look(db), await db.close());
  }
  const details = { collection: "tally", field: "votes", id: "a" };
  const one = [2 * most, [["counter-overflow", details]]];
  deepEqual(seen, [one, one, one]);
  await using again = await open(storages[2]!);
  const tallies = await look(again);
  deepEqual(seen.at(-1), one, "also after a reopening");
  tallies.update("a", { votes: { increment: -most } });
  equal(tallies.get("a")!.votes, most);
});

const parts = (kind: "string" | "number", version: number) => {
  const one = kind === "string" ? field.string() : field.number();
  return defineSchema("task", {
    tags: field.set(one as ReturnType<typeof field.string>),
    steps: field.list(one as ReturnType<typeof field.string>),
    notes: field.map(one as ReturnType<typeof field.string>),
  }, { version });
};

Deno.test("elements of another kind than their field's now are an incident that names it, once", async () => {
  const storage = memoryStorage();
  {
    const Old = parts("string", 1);
    await using db = await openDatabase({ storage, schemas: [Old] });
    const repository = await db.repository("one");
    const tasks = repository.collection(Old);
    await tasks.create({ id: "a", tags: ["x"], steps: ["y"] });
    await tasks.create({ id: "b", notes: { k: "z" } });
    await tasks.update("b", { tags: { add: ["x"] } });
    deepEqual(repository.sync.status.incidents, []);
  }
  const New = parts("number", 1);
  for (const read of ["a b", "b a"]) {
    await using db = await openDatabase({ storage, schemas: [New] });
    const repository = await db.repository("one");
    const tasks = repository.collection(New);
    for (const id of [...read.split(" "), "a"]) void tasks.get(id);
    tasks.all();
    const { incidents } = repository.sync.status;
    const told = incidents.map(({ details }) => JSON.stringify(details));
    deepEqual(
      told.sort(),
      [["notes", "map"], ["steps", "list"], ["tags", "set"]].map(
        ([field, kind]) => JSON.stringify({ collection: "task", field, kind }),
      ),
    );
    ok(incidents[0]?.message.includes("elements of another kind than number"));
  }
});

Deno.test("a default that is put together anew is nothing that anybody wrote", () => {
  const told: string[] = [];
  const view = createView(After, undefined, ({ name }) => told.push(name));
  const shapeOf = (name: string): Shape => ({
    collection: "task",
    version: 1,
    fields: [{ name, kind: "string" }],
  });
  const common = { id: "a", generation: 0 };
  const origin = (wall: number) => ({
    wall,
    count: 0,
    chain: "ann",
    operationsAt: -1,
  });
  const item = Object.freeze({ id: "a", title: "x" });
  const born = { ...common, what: "create", shape: shapeOf("title"), item };
  const cell = fold(undefined, born as Operation, origin(1), -1, view);
  // No schema here has it, so that the item is put together anew.
  const shape = shapeOf("extra");
  const change = { what: "set", value: "e" };
  const changes = [{ field: shape.fields[0], change }];
  const later = { ...common, what: "update", shape, changes };
  const after = fold(cell, later as Operation, origin(2), -1, view);
  deepEqual(after.item, {
    ...{ id: "a", title: "x", rank: "none", tag: [], extra: "e" },
    state: undefined,
  });
  deepEqual(told, []);
});

Deno.test("a field that is updated as another kind is an incident, too", async () => {
  const storage = memoryStorage();
  {
    await using db = await openDatabase({ storage, schemas: [After] });
    const tasks = (await db.repository("one")).collection(After);
    await tasks.create({ id: "a", title: "x", state: "open" });
  }
  {
    await using db = await openDatabase({ storage, schemas: [Before] });
    const tasks = (await db.repository("one")).collection(Before);
    await tasks.update("a", { rank: 5 });
  }
  await using db = await openDatabase({ storage, schemas: [After] });
  const repository = await db.repository("one");
  equal(repository.collection(After).get("a")?.rank, "none");
  deepEqual(
    repository.sync.status.incidents.map(({ details }) => details),
    [{ collection: "task", field: "rank", kind: "string" }],
  );
});

Deno.test("an incident of a kind is told to who listens, and of its own repository", async () => {
  const storage = await writtenBefore("one");
  await using db = await openDatabase({ storage, schemas: [After] });
  const fresh = await db.repository("fresh");
  await fresh.collection(After).create({ title: "x", state: "open" });
  const one = await db.repository("one");
  const told = Promise.withResolvers<void>();
  using _ = { [Symbol.dispose]: one.sync.subscribe(() => told.resolve()) };
  deepEqual(one.sync.status.incidents, []);
  one.collection(After).get("a");
  await told.promise;
  equal(one.sync.status.incidents.length, 2);
  deepEqual(fresh.sync.status.incidents, []);
});
