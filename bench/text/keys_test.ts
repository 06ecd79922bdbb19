import { deepEqual, equal, ok } from "node:assert/strict";
import { FakePage } from "../../tests/kit/fake_textarea.ts";
import { LiveText } from "../../src/text/live_text.ts";
import { field } from "../../src/text/mod.ts";
import { defineSchema, memoryStorage, openDatabase } from "../../mod.ts";
import { gapsOf, keysOf, typedCommits } from "./keys.ts";

Deno.test("typedCommits() are those of a bound editor while nobody else is there", async () => {
  const Note = defineSchema("note", { body: field.text() });
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Note],
  });
  const repo = await db.repository("r");
  const collection = repo.collection(Note);
  collection.create({ id: "n", body: "" });
  const page = new FakePage();
  const live = new LiveText({
    collection,
    id: "n",
    field: "body",
    delayMs: 500,
    isWatched: () => false,
    after: (delayMs, task) => {
      const timer = page.setTimeout(task, delayMs);
      return () => page.clearTimeout(timer);
    },
    onChange: () => {},
    onError: (error) => {
      throw error;
    },
  });
  const commits = typedCommits(500);
  for (const gap of gapsOf(500)) {
    page.pass(gap);
    live.edit([{ at: live.text.length, delete: 0, insert: "x" }]);
    live.wait();
  }
  live.close();
  const written = collection.history("n").slice(1).map(({ operations }) => {
    const change = operations[0]?.fields[0]?.change;
    return change?.what === "edit" ? change.inserted.length : change;
  });
  deepEqual(written, commits);
  equal(commits.reduce((sum, strokes) => sum + strokes), 500);
});

Deno.test("keysOf() gives the same strokes again, each within the text", () => {
  const keys = keysOf(20_000);
  equal(keys.length, 20_000);
  deepEqual(keysOf(20_000), keys);
  let length = 0;
  for (const { at, delete: gone, insert } of keys) {
    ok(at >= 0 && at + gone <= length, `${at} of ${length}`);
    length += insert.length - gone;
  }
  const typed = keys.filter(({ insert }) => insert.length === 1).length;
  ok(
    typed > keys.length / 2 && length > keys.length / 5,
    `${typed}, ${length}`,
  );
});
