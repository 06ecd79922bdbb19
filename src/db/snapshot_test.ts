import { deepEqual, equal, throws } from "node:assert/strict";
import { defineSchema, field, openDatabase } from "../../mod.ts";
import { ManualWorld } from "../../tests/kit/replica_place.ts";
import { memoryStorage } from "../storage/memory_storage.ts";

const Note = defineSchema("note", {
  text: field.string(),
  author: field.ref("person").optional(),
}, { indexes: [["text"]] });
const Person = defineSchema("person", { name: field.string() });
const Other = defineSchema("other", { name: field.string() });

Deno.test("at() is the repository as it was, whatever is written later", async () => {
  const world = new ManualWorld();
  const options = { storage: memoryStorage(), schemas: [Note, Person], world };
  await using db = await openDatabase(options);
  const repo = await db.repository("a");
  const notes = repo.collection(Note);
  repo.collection(Person).create({ id: "p", name: "Ada" });
  notes.create({ id: "a", text: "one", author: "p" });
  const moment = new Date(world.time);
  const then = repo.at(moment);
  world.time += 1;
  notes.update("a", { text: "two" });
  notes.create({ id: "b", text: "three" });
  repo.collection(Person).delete("p");
  const past = then.collection(Note);
  deepEqual(past.all().map(({ id, text }) => [id, text]), [["a", "one"]]);
  equal(past.count(), 1);
  deepEqual(
    (await past.where({ text: "one" }).include({ author: Person }))[0]?.author
      ?.name,
    "Ada",
  );
  deepEqual(await past.where({ text: "two" }), []);
  equal(repo.at(new Date(world.time)).collection(Note).count(), 2);
  equal(repo.at(new Date(moment.getTime() - 1)).collection(Note).count(), 0);
  throws(() => then.collection(Other), { code: "unknown-collection" });
  await repo.close();
  equal(past.get("a")?.text, "one", "it does not need the repository any more");
});

Deno.test("at() of the newest commit is the state of now, checkpoint or not", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Note, Person],
  });
  let repo = await db.repository("a");
  const notes = repo.collection(Note);
  for (let i = 0; i < 100; i++) {
    notes.upsert({ id: `n${i % 30}`, text: `text ${i}` });
  }
  for (let i = 0; i < 10; i++) notes.delete(`n${i}`);
  const rows = (all: Iterable<{ id: string; text: string }>) =>
    Array.from(all, ({ id, text }) => `${id} ${text}`).sort();
  const now = rows(notes);
  const { commit } = repo.history({ limit: 1 })[0]!;
  deepEqual(rows(repo.at(commit).collection(Note)), now);
  await repo.close();
  repo = await db.repository("a");
  deepEqual(rows(repo.at(commit).collection(Note)), now);
  deepEqual(rows(repo.collection(Note)), now);
});
