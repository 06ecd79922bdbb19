import { deepEqual, equal } from "node:assert/strict";
import { field } from "../schema/field.ts";
import { defineSchema } from "../schema/schema.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import { openDatabase } from "./database.ts";

const Old = defineSchema("note", { text: field.string() }, { version: 1 });
const New = defineSchema("note", {
  text: field.string(),
  size: field.number().optional(),
}, { version: 2 });
const Word = defineSchema("word", { text: field.string() });

Deno.test("collections() tells the same before and after a checkpoint, without any schema", async () => {
  const storage = memoryStorage();
  const expected = [{
    name: "note",
    fields: [{ name: "text", kind: "string" }, {
      name: "size",
      kind: "number",
    }],
    count: 2,
  }, {
    name: "word",
    fields: [{ name: "text", kind: "string" }],
    count: 0,
  }];
  {
    await using db = await openDatabase({ storage, schemas: [Old, Word] });
    const repo = await db.repository("a");
    repo.collection(Old).create({ text: "old" });
    repo.collection(Word).create({ id: "gone", text: "gone" });
    repo.collection(Word).delete("gone");
  }
  {
    // The older shape comes from the checkpoint, the newer one from memory.
    await using db = await openDatabase({ storage, schemas: [New] });
    const repo = await db.repository("a");
    repo.collection(New).create({ text: "new", size: 3 });
    deepEqual(repo.collections(), expected);
  }
  await using db = await openDatabase({ storage });
  const repo = await db.repository("a");
  equal(repo.status().checkpointBytes > 0, true);
  deepEqual(repo.collections(), expected);
});
