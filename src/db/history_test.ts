import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import {
  type Collection,
  type CommitSummary,
  defineSchema,
  field,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import {
  ManualWorld,
  SlowStorage,
  turns,
} from "../../tests/kit/replica_place.ts";
import { countReads } from "../../tests/kit/counted_reads.ts";
import { memoryStorage } from "../storage/memory_storage.ts";

const Note = defineSchema("note", {
  text: field.string(),
  votes: field.counter(),
});
type Notes = Collection<typeof Note>;

async function withNotes(
  run: (
    notes: Notes,
    repo: Repository,
    world: ManualWorld,
  ) => Promise<void> | void,
): Promise<void> {
  const world = new ManualWorld();
  const options = {
    storage: memoryStorage(),
    schemas: [Note],
    world,
    user: "ada",
  };
  await using db = await openDatabase(options);
  const repo = await db.repository("a");
  await run(repo.collection(Note), repo, world);
}

Deno.test("history() tells who did what when, in the very tick of the write", () =>
  withNotes((notes, repo, world) => {
    notes.create({ id: "a", text: "one" });
    const [commit] = repo.history();
    equal(commit?.user, "ada");
    equal(commit?.at.getTime(), world.time);
    equal(commit?.number, 0);
    match(commit!.commit, /^[0-9a-f]{80}:0$/);
    deepEqual(commit?.operations[0]?.what, "create");
    notes.update("a", { text: "two" });
    equal(repo.history().length, 2);
    equal(notes.history("a").length, 2);
  }));

Deno.test("at(), diff() and an item's history see a write of the very tick", () =>
  withNotes((notes, repo, world) => {
    const before = new Date(world.time - 1);
    notes.create({ id: "a", text: "one" });
    equal(repo.at(new Date(world.time)).collection(Note).count(), 1);
    notes.create({ id: "b", text: "two" });
    equal(notes.history("b").length, 1);
    notes.create({ id: "c", text: "three" });
    equal(notes.diff("c", before, new Date(world.time)).length > 0, true);
  }));

Deno.test("history() and at() know of writes whose sync is under way", async () => {
  const storage = new SlowStorage();
  await using db = await openDatabase({ storage, schemas: [Note] });
  const repo = await db.repository("a");
  const notes = repo.collection(Note);
  storage.isSlow = true;
  const writes = [notes.create({ id: "a", text: "one" })];
  await turns();
  writes.push(notes.update("a", { text: "two" }));
  const history = repo.history();
  equal(history.length, 2);
  const snapshot = repo.at(history[1]!.commit).collection(Note);
  equal(snapshot.get("a")?.text, "two");
  deepEqual(
    notes.diff("a", history[0]!.commit, history[1]!.commit).map(({ name }) =>
      name
    ),
    ["text"],
  );
  storage.isSlow = false;
  storage.finish();
  await Promise.all(writes);
  equal((await repo.verify()).ok, true);
});

Deno.test("history() gives the newest ones, oldest first, as many as asked for", () =>
  withNotes((notes, repo) => {
    for (let i = 0; i < 5; i++) notes.create({ id: `n${i}`, text: "x" });
    const numbers = (limit?: number) =>
      repo.history(limit === undefined ? {} : { limit }).map(({ number }) =>
        number
      );
    deepEqual(numbers(), [0, 1, 2, 3, 4]);
    deepEqual(numbers(2), [3, 4]);
    deepEqual(numbers(0), []);
    deepEqual(numbers(Infinity), [0, 1, 2, 3, 4]);
    for (const limit of [-1, 1.5, NaN]) {
      throws(() => numbers(limit), { code: "invalid-option" });
    }
  }));

Deno.test("history() reads the page that it shows, also the first one after a reopening", async () => {
  const storage = memoryStorage();
  const text = "x".repeat(500);
  const before = await openDatabase({ storage, schemas: [Note] });
  const written = (await before.repository("a")).collection(Note);
  for (let i = 0; i < 6_000; i++) {
    const write = written.create({ id: `n${i}`, text });
    if (i % 20 === 0) await write.durable;
  }
  await before.close();
  const reads = countReads(storage);
  await using db = await openDatabase({ storage, schemas: [Note] });
  const repo = await db.repository("a");
  const notes = repo.collection(Note);
  reads.bytes = 0;
  equal(repo.history({ limit: 70 })[0]!.number, 6_000 - 70);
  ok(reads.bytes < 300_000, `${reads.bytes} of 3,000,000 bytes at first`);
  const all = repo.history({ limit: Infinity });
  equal(all.length, 6_000);
  const pages: CommitSummary[][] = [repo.history({ limit: 70 })];
  for (let start = 6_000 - 70; start > 0; start -= 70) {
    const before = pages[0]![0]!.commit;
    reads.bytes = 0;
    pages.unshift(repo.history({ limit: 70, before }));
    ok(reads.bytes < 1_000_000, `${reads.bytes} of 3,000,000 bytes`);
  }
  deepEqual(pages.flat(), all);
  // One that no page began with, and one that came since.
  const middle = all[2_345]!.commit;
  deepEqual(
    repo.history({ limit: 5, before: middle }),
    all.slice(2_340, 2_345),
  );
  await notes.create({ id: "new", text }).durable;
  const [newest] = repo.history({ limit: 1 });
  equal(newest!.number, 6_000);
  deepEqual(repo.history({ limit: 1, before: newest!.commit }), all.slice(-1));
});

Deno.test("history() of an item leaves out what else its commits did", () =>
  withNotes((notes, repo) => {
    notes.createMany([{ id: "a", text: "x" }, { id: "ab", text: "a" }]);
    notes.update("ab", { text: "b" });
    notes.delete("a");
    const item = { collection: "note", id: "a" };
    const whats = (limit: number) =>
      repo.history({ item, limit }).flatMap(({ operations }) =>
        operations.map(({ id, what }) => [id, what])
      );
    deepEqual(whats(10), [["a", "create"], ["a", "delete"]]);
    deepEqual(whats(1), [["a", "delete"]]);
    deepEqual(whats(0), []);
    deepEqual(notes.history("nothing"), []);
  }));

Deno.test("history() is turned page by page, of an item and of all", () =>
  withNotes((notes, repo) => {
    notes.create({ id: "a", text: "0" });
    for (let i = 1; i < 7; i++) {
      notes.create({ id: `n${i}`, text: "x" });
      notes.update("a", { text: `${i}` });
    }
    const all = notes.history("a");
    equal(all.length, 7);
    const newest = notes.history("a", { limit: 3 });
    deepEqual(newest, all.slice(4));
    const before = newest[0]!.commit;
    deepEqual(notes.history("a", { limit: 3, before }), all.slice(1, 4));
    deepEqual(notes.history("a", { before }), all.slice(0, 4));
    deepEqual(notes.history("a", { before: all[0]!.commit }), []);
    deepEqual(notes.history("a", { limit: 0 }), []);
    const item = { collection: "note", id: "a" };
    deepEqual(repo.history({ item, limit: 2, before }), all.slice(2, 4));
    const whole = repo.history();
    equal(whole.length, 13);
    for (const [i, { commit }] of whole.entries()) {
      const from = Math.max(0, i - 4);
      const page = repo.history({ limit: 4, before: commit });
      deepEqual(page, whole.slice(from, i));
    }
  }));

Deno.test("pages that cannot be are refused with a code", () =>
  withNotes((notes, repo) => {
    notes.create({ id: "a", text: "one" });
    notes.create({ id: "b", text: "two" });
    const [{ commit: a }, { commit: b }] = notes.history("a")
      .concat(notes.history("b")) as [CommitSummary, CommitSummary];
    throws(() => notes.history("a", { before: b }), { code: "commit-missing" });
    throws(() => notes.history("none", { before: a }), {
      code: "commit-missing",
    });
    for (const before of ["", "ffff:0", a.replace(/.$/, "7")]) {
      throws(() => notes.history("a", { before }), { code: "commit-missing" });
      throws(() => repo.history({ before }), { code: "commit-missing" });
    }
    for (const limit of [-1, 1.5, NaN]) {
      throws(() => notes.history("a", { limit }), { code: "invalid-option" });
    }
    // @ts-expect-error: there is no such option.
    throws(() => notes.history("a", { limits: 1 }), { code: "invalid-option" });
  }));

Deno.test("diff() names the fields that differ, in both directions", () =>
  withNotes((notes, repo, world) => {
    notes.create({ id: "a", text: "one" });
    const created = new Date(world.time);
    world.time += 10;
    notes.update("a", { text: "two", votes: { increment: 2 } });
    const [first, second] = repo.history().map(({ commit }) => commit);
    const there = notes.diff("a", first!, second!);
    deepEqual(there.map(({ name, before, after }) => [name, before, after]), [
      ["text", "one", "two"],
      ["votes", 0, 2],
    ]);
    const back = notes.diff("a", new Date(world.time), created);
    deepEqual(back.map(({ name, before, after }) => [name, before, after]), [
      ["text", "two", "one"],
      ["votes", 2, 0],
    ]);
    deepEqual(notes.diff("a", first!, created), []);
  }));

Deno.test("points that are none are refused with a code", () =>
  withNotes((notes, repo) => {
    notes.create({ id: "a", text: "one" });
    const { commit } = repo.history()[0]!;
    equal(
      repo.at(`${commit.slice(0, 6)}:0`).collection(Note).count(),
      1,
      "a beginning is enough",
    );
    const chain = commit.split(":")[0];
    for (
      const name of [
        "",
        "abc:0",
        `${chain}:1`,
        `${chain}:-1`,
        `${chain}`,
        "ffff:0",
        `${chain}:9007199254740993`,
      ]
    ) {
      throws(() => repo.at(name), { code: "commit-missing" });
    }
    throws(() => repo.at(new Date(NaN)), { code: "invalid-option" });
    // @ts-expect-error: a number is no point.
    throws(() => repo.at(5), { code: "invalid-option" });
  }));

Deno.test("items of one id in two collections have histories of their own, also when asked again", async () => {
  const Page = defineSchema("page", { text: field.string() });
  const options = { storage: memoryStorage(), schemas: [Note, Page] };
  await using db = await openDatabase({ ...options, user: "ada" });
  const repo = await db.repository("a");
  const [notes, pages] = [repo.collection(Note), repo.collection(Page)];
  notes.create({ id: "a", text: "one" });
  pages.create({ id: "a", text: "two" });
  for (let version = 1; version < 4; version++) {
    equal(notes.history("a").length, version);
    equal(repo.history({ item: { collection: "page", id: "a" } }).length, 1);
    notes.update("a", { votes: { increment: 1 } });
  }
  deepEqual(pages.history("a")[0]?.operations.map(({ what }) => what), [
    "create",
  ]);
});
