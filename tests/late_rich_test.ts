import assert from "node:assert/strict";
import {
  type DatabaseOptions,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
} from "../mod.ts";
import { lateRich } from "../src/schema/late_rich.ts";
import { text } from "../src/text/mod.ts";
import { forgetRich } from "./kit/forget_rich.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { Origin } from "./kit/origin.ts";
import { until } from "./kit/patience.ts";
import { Tab } from "./kit/tab_place.ts";

/** Schemas of one collection: of a page that knows registers only, and of one that knows all. */
function schemasOf(collection: string) {
  const Plain = defineSchema(collection, { title: field.string() });
  const Full = defineSchema(collection, {
    title: field.string(),
    votes: field.counter(),
    tags: field.set(field.string()),
    notes: field.map(field.string()),
    steps: field.list(field.string()),
    body: text(),
  });
  return { Plain, Full };
}

type Full = ReturnType<typeof schemasOf>["Full"];

/** Writes every rich kind, by a create and by a change. */
function writeAll(repository: Repository, Full: Full): string {
  const items = repository.collection(Full);
  const { id } = items.create({ title: "all", tags: ["a"], body: "one" });
  items.update(id, {
    votes: { increment: 2 },
    tags: { add: ["b"] },
    notes: { put: { x: "y" } },
    steps: { insert: [{ at: 0, value: "first" }] },
    body: { splice: [{ at: 3, insert: " two" }] },
  });
  return id;
}

function checkAll(repository: Repository, Full: Full, id: string): void {
  const { title, votes, tags, notes, steps, body } = repository
    .collection(Full).get(id)!;
  assert.deepEqual([title, votes, body], ["all", 2, "one two"]);
  assert.deepEqual([[...tags], [...steps]], [["a", "b"], ["first"]]);
  assert.deepEqual({ ...notes }, { x: "y" });
}

Deno.test("pages and their owner that know registers only take what another page's rich schema brings", async () => {
  const origin = new Origin();
  const { Plain, Full } = schemasOf("mixed");
  let id: string;
  {
    await using owner = new Tab(origin, { schemas: [Plain] });
    const plain = (await owner.repository()).collection(Plain);
    await using other = new Tab(origin, { schemas: [Full] });
    const repository = await other.repository();
    id = writeAll(repository, Full);
    forgetRich(); // As it is in a worker and in a page without such a schema.
    const later = repository.collection(Full).create({ title: "later" });
    await until(() => plain.get(id)?.title === "all", "it is seen");
    await later.durable;
    assert.equal(plain.get(later.id)?.title, "later", "in its order");
    assert.ok(lateRich.isLoaded, "what folds it was loaded");
    checkAll(repository, Full, id);
  }
  forgetRich();
  {
    await using plain = new Tab(origin, { schemas: [Plain] });
    const items = (await plain.repository()).collection(Plain);
    assert.equal(items.get(id)?.title, "all");
    await items.update(id, { title: "all" }).durable;
  }
  forgetRich();
  await using full = new Tab(origin, { schemas: [Full] });
  checkAll(await full.repository(), Full, id);
});

Deno.test("a device that knows registers only takes what its server brings of other kinds", async () => {
  const { Plain, Full } = schemasOf("served");
  await using server = new MemoryServer({ users: { a: "ann", b: "bob" } });
  const { rootKey, connector, login } = server;
  const device = async (
    token: string,
    options: Pick<DatabaseOptions, "schemas" | "onListenerError" | "storage">,
  ) => {
    const db = await openDatabase({ rootKey, ...options });
    db.connect(connector, { session: { token }, login });
    return db;
  };
  await using a = await device("a", {
    schemas: [Full],
    storage: memoryStorage(),
  });
  const repository = await a.repository("board");
  const id = writeAll(repository, Full);
  await repository.collection(Full).update(id, { title: "all" }).synced;
  const storage = memoryStorage();
  forgetRich();
  {
    const broken: unknown[] = [];
    const onListenerError = (error: unknown) => void broken.push(error);
    const options = { schemas: [Plain], storage, onListenerError };
    await using b = await device("b", options);
    const items = (await b.repository("board")).collection(Plain);
    await until(() => items.get(id)?.title === "all", "it has come");
    assert.deepEqual(broken, []);
  }
  forgetRich();
  await using b = await openDatabase({ rootKey, schemas: [Full], storage });
  checkAll(await b.repository("board"), Full, id);
});
