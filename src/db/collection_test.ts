import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { countReads } from "../../tests/kit/counted_reads.ts";
import {
  type Collection,
  defineSchema,
  field,
  openDatabase,
} from "../../mod.ts";
import { memoryStorage } from "../storage/memory_storage.ts";

const Note = defineSchema("note", {
  text: field.string(),
  when: field.date().optional(),
  tags: field.set(field.string()),
});

async function withNotes(
  run: (notes: Collection<typeof Note>) => Promise<void> | void,
): Promise<void> {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Note],
  });
  await run((await db.repository("a")).collection(Note));
}

Deno.test("create() is visible at once and gives the item", () =>
  withNotes(async (notes) => {
    const write = notes.create({ text: "one" });
    equal(notes.get(write.id)?.text, "one");
    equal(write.item, write.result);
    equal((await write).id, write.id);
    throws(() => notes.create({ id: write.id, text: "two" }), {
      code: "item-exists",
    });
  }));

Deno.test("createMany() is one commit, and none when the iterator throws midway", () =>
  withNotes(async (notes) => {
    const { result } = notes.createMany([{ id: "a", text: "1" }, {
      id: "b",
      text: "2",
    }]);
    deepEqual(result.map(({ id }) => id), ["a", "b"]);
    throws(() =>
      notes.createMany(function* () {
        yield { id: "c", text: "3" };
        throw new RangeError("no more");
      }()), RangeError);
    throws(
      () => notes.createMany([{ id: "d", text: "4" }, { id: "a", text: "5" }]),
      {
        code: "item-exists",
      },
    );
    deepEqual(notes.keys(), ["a", "b"]);
    await notes.createMany([{ id: "d", text: "6" }, { id: "c", text: "7" }]);
    deepEqual(notes.all().map(({ id, text }) => [id, text]), [
      ["a", "1"],
      ["b", "2"],
      ["d", "6"],
      ["c", "7"],
    ]);
    equal(notes.history("a")[0]!.operations.length, 1);
  }));

Deno.test("createMany() refuses an iterator that writes, and does not show it half of itself", () =>
  withNotes((notes) => {
    throws(() =>
      notes.createMany(function* () {
        yield { id: "a", text: "1" };
        notes.create({ id: "b", text: "2" });
      }()), { code: "invalid-option" });
    equal(notes.count(), 0);
    const seen: unknown[] = [];
    notes.createMany(function* () {
      yield { id: "a", text: "1" };
      seen.push(
        notes.has("a"),
        notes.get("a"),
        notes.count(),
        notes.keys().length,
      );
      yield { id: "b", text: "2" };
    }());
    deepEqual(seen, [false, undefined, 0, 0]);
    equal(notes.count(), 2);
  }));

Deno.test("update() writes only what differs, and nothing where nothing does", () =>
  withNotes((notes) => {
    notes.create({ id: "a", text: "one", tags: ["x"] });
    notes.update("a", { text: "one", tags: ["x", "y"] });
    const [, update] = notes.history("a");
    deepEqual(update!.operations[0]!.fields.map(({ name }) => name), ["tags"]);
    equal(notes.update("a", { text: "one" }).item.text, "one");
    equal(notes.history("a").length, 2);
    throws(() => notes.update("b", { text: "x" }), { code: "item-missing" });
  }));

Deno.test("delete() ends an item; only a create brings it back", () =>
  withNotes(async (notes) => {
    notes.create({ id: "a", text: "one" });
    equal(await notes.delete("a"), undefined);
    equal(notes.has("a"), false);
    throws(() => notes.update("a", { text: "x" }), { code: "item-missing" });
    throws(() => notes.delete("a"), { code: "item-missing" });
    notes.upsert({ id: "a", text: "again" });
    equal(notes.get("a")?.text, "again");
  }));

Deno.test("getMany(), all() and iteration give what get() gives", () =>
  withNotes((notes) => {
    const when = new Date(5);
    notes.createMany([{ id: "a", text: "1", when }, { id: "b", text: "2" }]);
    deepEqual(
      notes.getMany(["b", "none", "a", "b"]).map((note) => note?.text),
      ["2", undefined, "1", "2"],
    );
    deepEqual([...notes], notes.all());
    deepEqual([...notes.stream()], notes.all());
    for (const note of notes.stream()) note.when?.setTime(0);
    notes.get("a")!.when!.setTime(0);
    notes.all()[0]!.when!.setTime(0);
    when.setTime(0);
    equal(notes.get("a")?.when?.getTime(), 5);
  }));

Deno.test("stream() keeps nothing of what it has read", async () => {
  const storage = memoryStorage();
  await using before = await openDatabase({ storage, schemas: [Note] });
  const written = (await before.repository("a")).collection(Note);
  const text = "x".repeat(100);
  for (let i = 0; i < 5; i++) {
    written.createMany(Array.from({ length: 1_000 }, () => ({ text })));
  }
  await before.close();
  const reads = countReads(storage);
  await using db = await openDatabase({ storage, schemas: [Note] });
  const notes = (await db.repository("a")).collection(Note);
  const bytes = [1, 2, 3].map(() => {
    reads.bytes = 0;
    equal([...notes.stream()].length, 5_000);
    return reads.bytes;
  });
  ok(bytes[0]! > 500_000);
  ok(Math.min(...bytes) === bytes[0], `it reads as much again: ${bytes}`);
});

Deno.test("stream() of a repository that is closed meanwhile fails as reading does", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Note],
  });
  const repository = await db.repository("a");
  const notes = repository.collection(Note);
  notes.createMany([{ id: "a", text: "1" }, { id: "b", text: "2" }]);
  const stream = notes.stream();
  equal(stream.next().value?.id, "a");
  await repository.close();
  throws(() => stream.next(), { code: "closed" });
  throws(() => notes.stream().next(), { code: "closed" });
});

Deno.test("getMany() of a collection with items reserved by a failed write knows none of them", () =>
  withNotes((notes) => {
    throws(
      () => notes.createMany([{ id: "a", text: "1" }, { id: "a", text: "2" }]),
      {
        code: "item-exists",
      },
    );
    deepEqual(notes.getMany(["a"]), [undefined]);
    notes.create({ id: "b", text: "2" });
    deepEqual(notes.getMany(["a", "b"]).map((note) => note?.id), [
      undefined,
      "b",
    ]);
  }));
