import { deepEqual, equal, throws } from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
} from "../../mod.ts";

const Note = defineSchema("note", {
  text: field.string(),
  owner: field.string(),
});

const rules = defineRules({
  "team/{team}": {
    collections: [rulesFor(Note, {
      create: ({ session, after }) =>
        after.owner === session.user || "Only for yourself",
      update: ({ session, before }) => before.owner === session.user,
      delete: ({ params }) => params.team === "a" || "Only in team a",
    })],
  },
});

const schemas = [Note];

Deno.test("can() answers as the write does, and writes nothing", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas, rules, user: "ann" });
  const repo = await db.repository("team/b");
  const notes = repo.collection(Note);
  const hers = { id: "n", text: "x", owner: "ann" };
  deepEqual(repo.can("create", Note, hers), { allowed: true });
  equal(notes.count(), 0);
  notes.create(hers);
  const his = { text: "x", owner: "bob" };
  deepEqual(repo.can("create", Note, his), {
    allowed: false,
    reason: "Only for yourself",
    rule: "team/{team} note.create",
  });
  throws(() => notes.create(his), {
    code: "denied",
    message: /Only for yourself/,
  });
  deepEqual(repo.can("update", Note, "n", { text: "y" }), { allowed: true });
  equal(notes.get("n")!.text, "x");
  const deletion = repo.can("delete", Note, "n");
  equal(deletion.allowed, false);
  throws(() => notes.delete("n"), { code: "denied" });
  equal(repo.status().commits, 1);
});

Deno.test("can() throws what is no question of rules", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas, rules });
  const repo = await db.repository("team/a");
  throws(() => repo.can("delete", Note, "none"), { code: "item-missing" });
  const bad = { text: 5, owner: "local" } as never;
  throws(() => repo.can("create", Note, bad), { code: "invalid-value" });
});

Deno.test("without rules everything may be written", async () => {
  await using db = await openDatabase({ storage: memoryStorage(), schemas });
  const repo = await db.repository("team/a");
  const input = { text: "x", owner: "somebody" };
  deepEqual(repo.can("create", Note, input), { allowed: true });
});
