import { deepEqual, equal, ok, throws } from "node:assert/strict";
import {
  defineSchema,
  field,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import { memoryStorage } from "../storage/memory_storage.ts";

const Note = defineSchema("note", {
  text: field.string(),
  rank: field.number().default(0),
});
const Tag = defineSchema("tag", { name: field.string() });

async function withRepository(
  run: (
    repo: Repository,
    reopen: () => Promise<Repository>,
  ) => Promise<void> | void,
): Promise<void> {
  const options = { storage: memoryStorage(), schemas: [Note, Tag] };
  let db = await openDatabase(options);
  try {
    await run(await db.repository("a"), async () => {
      await db.close();
      db = await openDatabase(options);
      return await db.repository("a");
    });
  } finally {
    await db.close();
  }
}

Deno.test("transact() over two collections is one commit, after a reopen too", () =>
  withRepository(async (repo, reopen) => {
    const write = repo.transact((tx) => {
      tx.collection(Note).create({ id: "n", text: "one" });
      tx.collection(Tag).create({ id: "t", name: "red" });
      return "done";
    });
    equal(write.result, "done");
    equal(await write, "done");
    const [commit] = repo.history();
    deepEqual(
      commit!.operations.map(({ collection, id }) => [collection, id]),
      [
        ["note", "n"],
        ["tag", "t"],
      ],
    );
    const again = await reopen();
    equal(again.collection(Note).get("n")?.text, "one");
    equal(again.collection(Tag).get("t")?.name, "red");
    equal(again.history().length, 1);
  }));

Deno.test("transact() that throws at its end leaves no trace in either collection", () =>
  withRepository(async (repo, reopen) => {
    await repo.collection(Note).create({ id: "kept", text: "one" });
    throws(() =>
      repo.transact((tx) => {
        tx.collection(Note).update("kept", { text: "changed" });
        tx.collection(Note).create({ id: "n", text: "two" });
        tx.collection(Tag).create({ id: "t", name: "red" });
        throw new RangeError("no");
      }), RangeError);
    const check = (repo: Repository) => {
      deepEqual(repo.collection(Note).all().map(({ id, text }) => [id, text]), [
        ["kept", "one"],
      ]);
      equal(repo.collection(Tag).count(), 0);
      equal(repo.history().length, 1);
    };
    check(repo);
    check(await reopen());
    throws(() => repo.collection(Note), { code: "closed" });
  }));

Deno.test("transact() takes create, update, delete and create of one item", () =>
  withRepository(async (repo, reopen) => {
    repo.transact((tx) => {
      const notes = tx.collection(Note);
      notes.create({ id: "n", text: "one" });
      notes.update("n", { rank: 7 });
      equal(notes.get("n")?.rank, 7);
      notes.delete("n");
      equal(notes.has("n"), false);
      notes.create({ id: "n", text: "two" });
      notes.update("n", { rank: 9 });
    });
    const check = (repo: Repository) =>
      deepEqual({ ...repo.collection(Note).get("n") }, {
        id: "n",
        text: "two",
        rank: 9,
      });
    check(repo);
    check(await reopen());
  }));

Deno.test("transact() refuses asynchronous callbacks and transactions within", () =>
  withRepository((repo) => {
    // @ts-expect-error The type says it, too.
    throws(() => repo.transact(() => Promise.resolve()), {
      code: "invalid-option",
    });
    const sometimes = (isLate: boolean) => isLate ? Promise.resolve() : 5;
    // @ts-expect-error A promise now and then is one, too.
    throws(() => repo.transact(() => sometimes(true)), {
      code: "invalid-option",
    });
    // @ts-expect-error It gives a write, which can be awaited.
    throws(() => repo.transact(() => repo.transact(() => {})), {
      code: "invalid-option",
    });
    throws(
      // @ts-expect-error It gives a write, too.
      () => repo.transact(() => repo.collection(Note).create({ text: "x" })),
      {
        code: "invalid-option",
      },
    );
    equal(repo.collection(Note).count(), 0);
    equal(repo.transact(() => 5).result, 5);
    equal(repo.history().length, 0, "an empty transaction is no commit");
  }));

Deno.test("an asynchronous callback that fails ends nothing but itself", () =>
  withRepository(async (repo) => {
    const heard: unknown[] = [];
    const listen = (event: PromiseRejectionEvent) => {
      heard.push(event.reason);
      event.preventDefault();
    };
    addEventListener("unhandledrejection", listen);
    throws(() =>
      // @ts-expect-error It gives a promise.
      repo.transact(async (tx) => {
        await Promise.resolve();
        tx.collection(Note).create({ text: "late" });
      }), { code: "invalid-option" });
    await new Promise((resolve) => setTimeout(resolve, 0));
    removeEventListener("unhandledrejection", listen);
    deepEqual(heard, []);
    equal(repo.collection(Note).count(), 0);
  }));

Deno.test("a transaction kept beyond its callback takes nothing", () =>
  withRepository((repo) => {
    const { result: notes } = repo.transact((tx) => tx.collection(Note));
    throws(() => notes.create({ id: "late", text: "x" }), { code: "closed" });
    equal(repo.collection(Note).has("late"), false);
    repo.collection(Note).create({ id: "late", text: "now" });
    equal(repo.collection(Note).get("late")?.text, "now");
  }));

Deno.test("a getter that uses the transaction cannot mix up its items", () =>
  withRepository(async (repo, reopen) => {
    const notes = repo.collection(Note);
    await notes.createMany([{ id: "a", text: "a" }, { id: "b", text: "b" }]);
    repo.transact((tx) => {
      const inside = tx.collection(Note);
      inside.update("a", {
        get text() {
          return `${inside.get("b")?.text} seen`;
        },
      });
      throws(() =>
        inside.update("b", {
          get text() {
            inside.update("b", { rank: 1 });
            return "lost";
          },
        }), { code: "invalid-option" });
    });
    const check = (repo: Repository) =>
      deepEqual(
        repo.collection(Note).getMany(["a", "b"]).map((
          note,
        ) => [note?.id, note?.text, note?.rank]),
        [["a", "b seen", 0], ["b", "b", 1]],
      );
    check(repo);
    check(await reopen());
  }));

Deno.test("a huge transaction is one commit and comes back whole", () =>
  withRepository(async (repo, reopen) => {
    const count = 50_000;
    await repo.transact((tx) => {
      const notes = tx.collection(Note);
      for (let i = 0; i < count; i++) {
        notes.create({ id: `n${i}`, text: "x", rank: i });
      }
    });
    const again = await reopen();
    equal(again.collection(Note).count(), count);
    equal(again.collection(Note).get("n49999")?.rank, 49_999);
    equal(again.status().commits, 1);
  }));

Deno.test("a callback of a live query may write, close and throw", () =>
  withRepository(async (repo, reopen) => {
    const [notes, tags] = [repo.collection(Note), repo.collection(Tag)];
    let closing: Promise<void> | undefined;
    const heard: number[] = [];
    notes.query().subscribe(({ rows }) => {
      heard.push(rows.length);
      if (rows.length < 3) notes.create({ text: "more" });
      tags.upsert({ id: "last", name: `${rows.length} and ${tags.count()}` });
      if (rows.length === 3) closing = repo.close();
    });
    notes.create({ text: "first" });
    await closing;
    deepEqual(heard, [1, 2, 3]);
    const again = await reopen();
    equal(again.collection(Note).count(), 3);
    equal(again.collection(Tag).get("last")?.name, "3 and 1");
  }));

Deno.test("callbacks run when all collections have heard of a transaction", () =>
  withRepository((repo) => {
    const [notes, tags] = [repo.collection(Note), repo.collection(Tag)];
    const liveTags = tags.query().subscribe(() => {});
    const seen: number[] = [];
    notes.query().subscribe(() => seen.push(liveTags.rows.length));
    repo.transact((tx) => {
      tx.collection(Note).create({ text: "x" });
      tx.collection(Tag).create({ name: "y" });
    });
    deepEqual(seen, [1]);
  }));

Deno.test("collection() says why it does not take a schema", () =>
  withRepository((repo) => {
    const cases: [unknown, RegExp][] = [
      [defineSchema("other", {}), /"other" was not given to openDatabase/],
      [defineSchema("note", {}), /another schema named "note"/],
      ["note", /asked for by its schema/],
      [undefined, /asked for by its schema/],
    ];
    for (const [schema, message] of cases) {
      // What no type checker has seen.
      throws(() => repo.collection(schema as typeof Note), {
        code: "unknown-collection",
        message,
      });
    }
    return Promise.resolve();
  }));

Deno.test("storedCollection() and collections() read what has no schema", () =>
  withRepository(async (repo) => {
    await repo.collection(Note).create({ id: "n", text: "one" });
    deepEqual(repo.collections().map(({ name, count }) => [name, count]), [[
      "note",
      1,
    ]]);
    equal(repo.storedCollection("note").get("n")?.text, "one");
    throws(() => repo.storedCollection("nothing"), {
      code: "unknown-collection",
    });
  }));

Deno.test("checkpoint(), verify() and status() agree on what there is", () =>
  withRepository(async (repo) => {
    await repo.collection(Note).create({ text: "one" });
    await repo.checkpoint();
    const report = await repo.verify();
    ok(report.ok);
    equal(report.bytes, repo.status().logBytes);
    equal(report.commits, repo.status().commits);
    ok(repo.status().checkpointBytes > 0);
  }));

Deno.test("what a listener throws goes to onListenerError, and reaches nobody else", async () => {
  const errors: unknown[] = [];
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Note],
    onListenerError: (error) => errors.push(error),
  });
  const notes = (await db.repository("r")).collection(Note);
  const heard: number[] = [];
  using _first = notes.query().subscribe(() => {
    throw new RangeError("spoilt");
  });
  using _second = notes.query().subscribe(({ rows }) =>
    heard.push(rows.length)
  );
  await notes.create({ text: "a" });
  deepEqual(heard, [1]);
  deepEqual(errors.map(String), ["RangeError: spoilt"]);
});
