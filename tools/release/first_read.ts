/**
 * A program that opens a database, reads an item by its id, and ends: what it
 * calls, the scripts have compiled beforehand ({@linkcode hintFirstRead}). It makes the
 * database where there is none, and then reads nothing.
 *
 * @module
 */

type Core = typeof import("../../mod.ts");

const [address, path] = Deno.args as [string, string];
const ITEMS = 1_000;

const { defineSchema, field, openDatabase }: Core = await import(address);
const notes = defineSchema("note", {
  text: field.string(),
  rank: field.number(),
  done: field.boolean(),
  tags: field.set(field.string()),
});
const isNew = await Deno.stat(path).then(() => false, () => true);
const database = await openDatabase({ path, schemas: [notes], user: "ada" });
const repository = await database.repository("notes");
const collection = repository.collection(notes);
if (isNew) {
  await collection.createMany(
    Array.from({ length: ITEMS }, (_, rank) => ({
      id: `note${rank}`,
      text: `number ${rank}`,
      rank,
      done: false,
      tags: ["new"],
    })),
  ).durable;
} else if (collection.get("note7")?.rank !== 7) {
  throw new Error("the item is not there");
}
await database.close();
