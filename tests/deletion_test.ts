/**
 * Deleting a repository: all of it goes, nothing else does, nothing is lost that
 * was not said to be lost, and a power cut leaves all of it or nothing.
 *
 * @module
 */

import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  type Storage,
} from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { openFiles } from "../src/db/open_files.ts";
import { openKv } from "../src/kv/mod.ts";
import { openOpfs } from "../src/storage/opfs_open.ts";
import { FakeOpfs, type FakeProcess } from "./kit/fake_opfs.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { type FaultyStorage, faultyStorage, type Kept } from "./kit/mod.ts";
import { filesOf } from "./kit/images.ts";
import { within } from "./kit/patience.ts";
import { sized } from "./kit/tier.ts";

const Note = defineSchema("note", { text: field.string() });
const discard = { unsent: "discard" } as const;

const open = (storage: Storage) => openDatabase({ storage, schemas: [Note] });

/** Writes a bit of everything that lies beside a log, and closes. */
async function fill(db: Database, name: string): Promise<void> {
  await using repository = await db.repository(name);
  const notes = repository.collection(Note);
  const { undo } = repository;
  for (const id of ["a", "b", "c"]) await notes.create({ id, text: name });
  await repository.checkpoint();
  await openKv(repository).set("k", name);
  ok(undo.canUndo);
}

function idsIn(repository: Repository): string[] {
  return repository.collection(Note).keys().sort();
}

Deno.test("deleteRepository() removes every file of one repository and none of another", async () => {
  const storage = memoryStorage();
  await using db = await open(storage);
  await fill(db, "keep");
  const before = filesOf(storage);
  await fill(db, "go/away");
  ok(filesOf(storage).length > before.length + 2);
  await db.deleteRepository("go/away", discard);
  deepEqual(filesOf(storage), before);
  deepEqual(db.repositories(), ["keep"]);
  deepEqual(idsIn(await db.repository("keep")), ["a", "b", "c"]);
});

Deno.test("deleteRepository() on a disk leaves no folder, and works where its log is damaged", async () => {
  const path = await Deno.makeTempDir();
  try {
    await using db = await openDatabase({ path, schemas: [Note] });
    await fill(db, "a");
    const [{ name }] = [...Deno.readDirSync(`${path}/repositories`)] as [
      Deno.DirEntry,
    ];
    const log = `${path}/repositories/${name}/log-00000000`;
    Deno.writeFileSync(log, Deno.readFileSync(log).fill(7, 100, 200));
    await rejects(db.deleteRepository("a"), { code: "log-damaged" });
    await db.deleteRepository("a", discard);
    deepEqual([...Deno.readDirSync(`${path}/repositories`)], []);
    deepEqual(
      Array.from(Deno.readDirSync(path), ({ name }) => name).sort(),
      ["database", "database.copy", "lock", "repositories"],
    );
    deepEqual(idsIn(await db.repository("a")), []);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});

Deno.test("deleteRepository() keeps what no server has, unless it is to be discarded", async () => {
  await using db = await open(memoryStorage());
  const repository = await db.repository("a");
  repository.collection(Note).create({ id: "a", text: "x" });
  await rejects(db.deleteRepository("a"), {
    code: "unsent",
    message: /"a": it has unsent commits \(1\).* \{ unsent: "discard" \}/,
  });
  deepEqual(idsIn(repository), ["a"]);
  await repository.close();
  await rejects(db.deleteRepository("a"), { code: "unsent" });
  deepEqual(idsIn(await db.repository("a")), ["a"]);
  await db.deleteRepository("a", discard);
  deepEqual(db.repositories(), []);
});

Deno.test("deleteRepository() keeps what is written while it closes", async () => {
  await using db = await open(memoryStorage());
  const repository = await db.repository("a");
  repository.sync.subscribe(() => {
    if (repository.sync.status.state !== "closed") return;
    repository.collection(Note).create({ id: "late", text: "x" });
  });
  await rejects(db.deleteRepository("a"), { code: "unsent" });
  deepEqual(idsIn(await db.repository("a")), ["late"]);
});

Deno.test("deleteRepository() closes it for everybody who has it open", async () => {
  await using db = await open(memoryStorage());
  const repository = await db.repository("a");
  const notes = repository.collection(Note);
  await notes.create({ id: "a", text: "x" });
  const [one, two] = [
    db.deleteRepository("a", discard),
    db.deleteRepository("a", discard),
  ];
  await one;
  throws(() => notes.get("a"), { code: "closed" });
  throws(() => notes.create({ text: "y" }), { code: "closed" });
  await two;
  const again = await db.repository("a");
  ok(again !== repository);
  deepEqual([idsIn(again), openKv(again).keys()], [[], []]);
  equal(again.undo.canUndo, false);
});

Deno.test("repository() waits for a deletion that runs, and opens what is new", async () => {
  await using db = await open(memoryStorage());
  await fill(db, "a");
  for (let turns = 0; turns < 60; turns++) {
    const deleting = Promise.all([
      db.deleteRepository("a", discard),
      db.deleteRepository("a", discard),
    ]);
    for (let i = 0; i < turns; i++) await Promise.resolve();
    const opening = db.repository("a");
    await deleting;
    const opened = await opening.catch(() => undefined);
    const repository = await db.repository("a");
    deepEqual(idsIn(repository), [], `${turns} turns`);
    if (opened !== repository) throws(() => idsIn(opened!), { code: "closed" });
    await repository.collection(Note).create({ id: "b", text: "b" });
    equal((await repository.verify()).ok, true);
  }
});

Deno.test("deleteRepository() refuses what is wrong, and minds nothing that is missing", async () => {
  const storage = memoryStorage();
  const db = await open(storage);
  await db.deleteRepository("none");
  deepEqual(db.repositories(), []);
  await rejects(db.deleteRepository("../a"), { code: "invalid-name" });
  const bad = [{ unsent: true }, { unsnt: "discard" }, null, "discard"];
  for (const options of bad) {
    await rejects(db.deleteRepository("a", options as never), {
      code: "invalid-option",
    });
  }
  await fill(db, "a");
  await db.close();
  await rejects(db.deleteRepository("a", discard), { code: "closed" });
  await using reader = await openDatabase({ storage, readOnly: true });
  await rejects(reader.deleteRepository("a", discard), {
    code: "storage-readonly",
  });
  deepEqual(reader.repositories(), ["a"]);
});

Deno.test("deleteRepository() of a server is refused: its clients would bring it back", async () => {
  await using server = await createServer({
    storage: memoryStorage(),
    port: 0,
    log: () => {},
  });
  const { database } = server;
  await (await database.repository("a")).durable();
  for (const name of ["a", "_server"]) {
    await rejects(database.deleteRepository(name, discard), {
      code: "invalid-option",
      message: /bring back what it lacks/,
    });
  }
  deepEqual(database.repositories(), ["_server", "a"]);
});

Deno.test("a deleted repository stays deleted on a connection, and comes anew when it is opened", async () => {
  const server = new MemoryServer({ users: { a: "ann", b: "bob" } });
  const { rootKey, connector, login } = server;
  const join = async (token: string) => {
    const storage = memoryStorage();
    const db = await openDatabase({ storage, rootKey, schemas: [Note] });
    db.connect(connector, { session: { token }, login });
    return { db, repository: await db.repository("a") };
  };
  const ann = await join("a");
  const bob = await join("b");
  for (const [id, { repository }] of Object.entries({ ann, bob })) {
    await within(
      repository.collection(Note).create({ id, text: id }).synced,
      id,
    );
  }
  await within(ann.db.deleteRepository("a"), "the server has all of it");
  equal(ann.db.connection?.status.state, "ready");
  await within(
    bob.repository.collection(Note).create({ id: "late", text: "x" }).synced,
    "bob goes on",
  );
  deepEqual(ann.db.repositories(), []);

  const again = await ann.db.repository("a");
  await within(again.sync.ready, "it comes again");
  deepEqual(idsIn(again), ["ann", "bob", "late"]);
  await within(
    again.collection(Note).create({ id: "next", text: "x" }).synced,
    "and goes on",
  );
  deepEqual(idsIn(bob.repository), ["ann", "bob", "late", "next"]);
  deepEqual(again.sync.status.incidents, []);
  equal((await again.verify()).ok, true);

  // Offline, what was sent needs not be discarded.
  await ann.db.connection?.close();
  await ann.db.deleteRepository("a");
  await ann.db.close();
  await bob.db.close();
  await server[Symbol.asyncDispose]();
});

/** A database with two repositories on a storage. */
async function prepared(storage: FaultyStorage): Promise<void> {
  await using db = await open(storage);
  await fill(db, "keep");
  await fill(db, "go");
}

const images: readonly Kept[] = ["synced", "all", ...Array(8).keys()];

Deno.test("a power cut at any step of a deletion leaves all of the repository or nothing", async () => {
  const base = faultyStorage();
  await prepared(base);
  const found = { whole: 0, nothing: 0 };
  let isDeleted = false;
  for (let step = 1; !isDeleted; step++) {
    for (const kept of images) {
      const storage = base.afterPowerCut("all");
      const db = await open(storage);
      storage.failIn(step);
      isDeleted = await db.deleteRepository("go", discard)
        .then(() => true, () => false);
      storage.freeze();
      const after = storage.powerCut(kept);
      const image = filesOf(after);
      await using reader = await openDatabase({
        storage: memoryStorage(image),
        readOnly: true,
      });
      await using again = await open(after);
      deepEqual(reader.repositories(), again.repositories());
      const names = again.repositories();
      ok(names.includes("keep"));
      const isWhole = names.includes("go");
      ok(!isWhole || !isDeleted, `step ${step}, kept ${kept}`);
      found[isWhole ? "whole" : "nothing"]++;
      const files = filesOf(after).map(([name]) => name);
      ok(isWhole || files.every((name) => !name.includes("deleted")));
      const expected = isWhole ? ["a", "b", "c"] : [];
      const repository = await again.repository("go");
      deepEqual(idsIn(repository), expected, `step ${step}, kept ${kept}`);
      deepEqual(openKv(repository).keys(), isWhole ? ["k"] : []);
      await repository.undo.ready;
      equal(repository.undo.canUndo, isWhole, `step ${step}, kept ${kept}`);
      equal((await repository.verify()).ok, true);
    }
  }
  ok(found.whole > 5 && found.nothing > 20, JSON.stringify(found));
});

Deno.test("deleteRepository() that a medium fails at any step leaves all of it or nothing, in the same process too", async () => {
  const base = faultyStorage();
  await prepared(base);
  let isDeleted = false;
  for (let step = 1; !isDeleted; step++) {
    const storage = base.afterPowerCut("all");
    await using db = await open(storage);
    storage.failIn(step);
    isDeleted = await db.deleteRepository("go", discard)
      .then(() => true, () => false);
    storage.failIn(Infinity);
    const isWhole = db.repositories().includes("go");
    const repository = await db.repository("go");
    deepEqual(idsIn(repository), isWhole ? ["a", "b", "c"] : []);
    equal((await repository.verify()).ok, true);
    await repository.collection(Note).create({ id: "new", text: "x" });
    await using after = await open(storage.powerCut("synced"));
    ok(idsIn(await after.repository("go")).includes("new"), `step ${step}`);
    await db.deleteRepository("go", discard);
    deepEqual(db.repositories(), ["keep"]);
  }
});

Deno.test("what is written anew stays, wherever the process that deleted had died", async () => {
  for (const isOwner of [false, true]) {
    const base = faultyStorage();
    await prepared(base);
    const openAs = (storage: Storage) =>
      openFiles({ storage, schemas: [Note], isOwner });
    let isDeleted = false;
    for (let step = 1; !isDeleted; step++) {
      const dying = base.afterPowerCut("all", { freezeAt: step });
      isDeleted = await openAs(dying)
        .then((db) => db.deleteRepository("go", discard))
        .then(() => true, () => false);
      const storage = dying.nextProcess();
      const db = await openAs(storage);
      for (const kept of images) {
        await using after = await openAs(storage.powerCut(kept));
        const isWhole = after.repositories().includes("go");
        const { undo } = await after.repository("go");
        await undo.ready;
        equal(undo.canUndo, isWhole, `died at ${step}, kept ${kept}`);
      }
      const notes = (await db.repository("go")).collection(Note);
      await notes.create({ id: "new", text: "x" });
      for (const kept of images) {
        await using after = await openAs(storage.powerCut(kept));
        const ids = idsIn(await after.repository("go"));
        ok(ids.includes("new"), `died at ${step}, kept ${kept}: ${ids}`);
      }
    }
  }
});

Deno.test("deleteRepository() needs no room on a medium that is full", async () => {
  const storage = faultyStorage();
  await prepared(storage);
  await using db = await open(storage);
  const repository = await db.repository("go");
  storage.isFull = true;
  repository.collection(Note).create({ text: "x".repeat(100_000) })
    .durable.catch(() => {});
  await db.deleteRepository("go", discard);
  deepEqual(db.repositories(), ["keep"]);
});

/** A database over a pool of OPFS files, as the owner of a device opens it or as anybody else. */
async function withPool(
  process: FakeProcess,
  isOwner: boolean,
  task: (db: Database) => Promise<void>,
): Promise<void> {
  const storage = await openOpfs(process.directory, "db", 0);
  try {
    const db = await openFiles({ storage, schemas: [Note], isOwner });
    try {
      await task(db);
    } finally {
      await db.close();
    }
  } finally {
    await storage.close();
  }
}

for (const isOwner of [false, true]) {
  Deno.test(`a deletion over OPFS leaves all of the repository or nothing, wherever it ended (${isOwner ? "owner" : "alone"})`, async () => {
    const base = new FakeOpfs();
    await withPool(base.process(), isOwner, async (db) => {
      await fill(db, "keep");
      await fill(db, "go");
    });
    const found = { whole: 0, nothing: 0 };
    let isDeleted = false;
    for (let dieAt = 1; !isDeleted; dieAt += sized(3, 1)) {
      for (const kept of ["synced", "all", dieAt] as const) {
        const opfs = base.powerCut("all");
        const process = opfs.process(dieAt);
        await withPool(process, isOwner, async (db) => {
          await db.deleteRepository("go", discard);
          isDeleted = true;
        }).catch((error) => ok(process.isDead, error));
        const after = opfs.powerCut(kept);
        await withPool(after.process(), isOwner, async (db) => {
          const isWhole = db.repositories().includes("go");
          ok(!isWhole || !isDeleted, `died at ${dieAt}, kept ${kept}`);
          found[isWhole ? "whole" : "nothing"]++;
          const repository = await db.repository("go");
          deepEqual(idsIn(repository), isWhole ? ["a", "b", "c"] : []);
          deepEqual(idsIn(await db.repository("keep")), ["a", "b", "c"]);
        });
      }
    }
    ok(found.whole > 5 && found.nothing > 2, JSON.stringify(found));
  });
}
