import assert from "node:assert/strict";
import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import { type Frame, observe } from "../src/db/observe.ts";
import { MemoryServer } from "./kit/memory_server.ts";

const Task = defineSchema("task", { title: field.string() });

const deaf = { wrote: () => () => {}, frame: () => {} };

async function open(server: MemoryServer) {
  const db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
    rootKey: server.rootKey,
  });
  const repository = await db.repository("team");
  return { db, repository, tasks: repository.collection(Task) };
}

Deno.test("observe() tells how long a write took until it was visible, durable and synced", async () => {
  await using server = new MemoryServer({ users: { a: "ann" } });
  const { db, tasks } = await open(server);
  await using _ = db;
  const stages: string[] = [];
  const observed = observe(db, {
    ...deaf,
    wrote: (ms) => {
      assert.ok(ms >= 0);
      stages.push("write");
      return (stage, later) => {
        assert.ok(later >= ms);
        stages.push(stage);
      };
    },
  });
  db.connect(server.connector, {
    session: { token: "a" },
    login: server.login,
  });
  await tasks.create({ title: "one" }).synced;
  assert.deepEqual(stages, ["write", "durable", "synced"]);
  observed[Symbol.dispose]();
  await tasks.create({ title: "two" });
  assert.equal(stages.length, 3, "nothing is measured afterwards");
});

Deno.test("observe() names the frames of the connection and counts their bytes", async () => {
  await using server = new MemoryServer({ users: { a: "ann" } });
  const { db, tasks } = await open(server);
  await using _ = db;
  const frames: Frame[] = [];
  using _observed = observe(db, {
    ...deaf,
    frame: (frame) => void frames.push(frame),
  });
  db.connect(server.connector, {
    session: { token: "a" },
    login: server.login,
  });
  await tasks.create({ title: "one" }).synced;
  const names = frames.map(({ way, kind }) => `${way} ${kind}`);
  for (const name of ["in hello", "out prove", "out open", "out records"]) {
    assert.ok(names.includes(name), `${name} in ${names}`);
  }
  assert.ok(frames.every(({ bytes }) => bytes > 0));
});

Deno.test("observe() says what live queries ask, and what keeping them up to date cost", async () => {
  await using server = new MemoryServer();
  const { db, tasks } = await open(server);
  await using _ = db;
  using live = tasks.where({ title: { prefix: "a" } }).orderBy("title")
    .limit(5).subscribe(() => {});
  const observed = observe(db, deaf);
  tasks.create({ title: "ab" });
  tasks.create({ title: "b" });
  const [cost, ...others] = observed.costs();
  assert.deepEqual(others, []);
  assert.equal(cost?.collection, "task");
  assert.equal(
    cost.asks,
    'title starts with "a", by title, limit 5',
  );
  assert.equal(cost.rows, live.rows.length);
  assert.equal(cost.changes, 2);
  assert.ok(cost.totalMs >= cost.maxMs && cost.maxMs >= cost.lastMs);
  observed[Symbol.dispose]();
  assert.deepEqual(observed.costs(), []);
});

Deno.test("observe() sees repositories that are opened later", async () => {
  await using server = new MemoryServer();
  const { db } = await open(server);
  await using _ = db;
  using observed = observe(db, deaf);
  const other = await db.repository("other");
  assert.deepEqual(
    observed.repositories().map(({ name }) => name),
    ["team", "other"],
  );
  using _live = other.collection(Task).where({}).subscribe(() => {});
  other.collection(Task).create({ title: "x" });
  assert.equal(observed.costs()[0]?.changes, 1);
});
