import { deepEqual, equal, ok, throws } from "node:assert/strict";
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

/** Memory that counts what is read of it. */
function countingStorage() {
  const storage = memoryStorage();
  const counted = { storage, bytes: 0 };
  const open = storage.open.bind(storage);
  storage.open = (name, options) => {
    const file = open(name, options);
    const readAt = file?.readAt.bind(file);
    if (file === undefined || readAt === undefined) return file;
    file.readAt = (target, at) => {
      const read = readAt(target, at);
      counted.bytes += read;
      return read;
    };
    return file;
  };
  return counted;
}

Deno.test("at() folds the items that are read by their ids, and everything for a query", async () => {
  const counted = countingStorage();
  const options = { storage: counted.storage, schemas: [Note, Person] };
  await using db = await openDatabase(options);
  let repo = await db.repository("a");
  let notes = repo.collection(Note);
  for (let i = 0; i < 6_000; i++) {
    notes.upsert({ id: `n${i % 600}`, text: `text ${i}` });
  }
  notes.delete("n8");
  const middle = notes.history("n7")[4]!.commit;
  await repo.close();
  repo = await db.repository("a");
  notes = repo.collection(Note);
  counted.bytes = 0;
  const then = repo.at(middle);
  const past = then.collection(Note);
  equal(past.get("n7")?.text, "text 2407");
  equal(past.get("n6")?.text, "text 2406");
  equal(past.get("n8")?.text, "text 1808");
  deepEqual([past.has("n8"), past.has("n601")], [true, false]);
  deepEqual(past.getMany(["n9", "none"]).map((note) => note?.text), [
    "text 1809",
    undefined,
  ]);
  const { bytes } = counted;
  ok(bytes > 0 && bytes < 200_000, `${bytes} bytes were read`);
  equal(past.count(), 600);
  ok(counted.bytes > bytes + 200_000, `${counted.bytes} bytes were read`);
  deepEqual(past.get("n7"), past.all().find(({ id }) => id === "n7"));
  const one = repo.at(middle).collection(Note);
  for (const { id, text } of past) equal(one.get(id)?.text, text);
});

Deno.test("at() does not show what came after it was asked for, in the same millisecond", async () => {
  const world = new ManualWorld();
  const options = { storage: memoryStorage(), schemas: [Note, Person], world };
  await using db = await openDatabase(options);
  const repo = await db.repository("a");
  const notes = repo.collection(Note);
  notes.create({ id: "a", text: "one" });
  const [one, all] = [1, 2].map(() => repo.at(new Date(world.time)));
  notes.create({ id: "b", text: "two" });
  notes.update("a", { text: "three" });
  equal(one!.collection(Note).get("a")?.text, "one");
  equal(one!.collection(Note).get("b"), undefined);
  deepEqual(all!.collection(Note).all().map(({ text }) => text), ["one"]);
});

Deno.test("what nobody has read of the past when its repository is closed is said to be closed", async () => {
  const options = { storage: memoryStorage(), schemas: [Note, Person] };
  await using db = await openDatabase(options);
  const repo = await db.repository("a");
  const notes = repo.collection(Note);
  for (let i = 0; i < 20; i++) notes.create({ id: `n${i}`, text: "one" });
  const past = repo.at(repo.history()[9]!.commit).collection(Note);
  equal(past.get("n3")?.text, "one");
  await repo.close();
  equal(past.get("n3")?.text, "one", "it was read");
  throws(() => past.get("n4"), { code: "closed" });
  throws(() => past.count(), { code: "closed" });
});
