import assert from "node:assert/strict";
import { defineSchema, field, type Repository } from "../mod.ts";
import { lateRich } from "../src/schema/late_rich.ts";
import { text } from "../src/text/mod.ts";
import { forgetRich } from "./kit/forget_rich.ts";
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
