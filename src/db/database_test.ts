import {
  deepEqual,
  equal,
  notEqual,
  ok,
  rejects,
  throws,
} from "node:assert/strict";
import { defineSchema, field, type Mode, openDatabase } from "../../mod.ts";
import {
  ManualWorld,
  SlowStorage,
  turns,
} from "../../tests/kit/replica_place.ts";
import { diskStorage } from "../storage/disk_storage.ts";
import { memoryStorage } from "../storage/memory_storage.ts";

const Note = defineSchema("note", { text: field.string() });
const schemas = [Note];

Deno.test("repository() gives one object for one name until it is closed", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas });
  const [first, second] = await Promise.all([
    db.repository("a"),
    db.repository("a"),
  ]);
  equal(first, second);
  notEqual(await db.repository("b"), first);
  deepEqual(db.storage.status().open, ["a", "b"]);
  const write = first.collection(Note).create({ id: "n", text: "one" });
  await first.close();
  await write;
  deepEqual(db.storage.status().open, ["b"]);
  const again = await db.repository("a");
  notEqual(again, first);
  equal(again.collection(Note).get("n")?.text, "one");
  throws(() => first.collection(Note), { code: "closed" });
  throws(() => first.history(), { code: "closed" });
  throws(() => first.at(new Date(0)), { code: "closed" });
});

Deno.test("repository() of one that is being closed waits, and opens it anew", async () => {
  const storage = new SlowStorage();
  const db = await openDatabase({ storage, schemas });
  const first = await db.repository("a");
  storage.isSlow = true;
  const write = first.collection(Note).create({ id: "n", text: "one" });
  const closing = first.close();
  let [isOpen, looks] = [false, 0];
  const list = storage.list.bind(storage);
  storage.list = (folder) => (looks++, list(folder));
  const opening = db.repository("a");
  opening.finally(() => isOpen = true);
  equal(db.repository("a"), opening);
  await turns(50);
  deepEqual([isOpen, looks], [false, 0], "its files are not looked at yet");
  storage.isSlow = false;
  storage.finish();
  await Promise.all([closing, write]);
  const again = await opening;
  notEqual(again, first);
  equal(again.collection(Note).get("n")?.text, "one");
  await db.close();
});

Deno.test("close() closes what is open, being opened and being closed, and gives the lock back", async () => {
  const storage = new SlowStorage();
  const db = await openDatabase({ storage, schemas });
  const [a, b] = [await db.repository("a"), await db.repository("b")];
  storage.isSlow = true;
  const writes = [a, b].map((one) =>
    one.collection(Note).create({ text: "x" })
  );
  const early = a.close();
  const opening = db.repository("c");
  let isClosed = false;
  const closing = db.close().then(() => isClosed = true);
  await turns(50);
  equal(isClosed, false);
  throws(() => storage.lock(), { code: "database-locked" });
  storage.isSlow = false;
  storage.finish();
  await Promise.all([closing, early, opening, ...writes]);
  storage.lock()();
  await db.close();
  await rejects(db.repository("a"), { code: "closed" });
  throws(() => b.collection(Note), { code: "closed" });
});

Deno.test("a repository that could not be opened may be opened later", async () => {
  const storage = memoryStorage();
  const open = storage.open.bind(storage);
  await using db = await openDatabase({ storage, schemas });
  storage.open = () => {
    throw new Error("not now");
  };
  await rejects(db.repository("a"), /not now/);
  storage.open = open;
  equal((await db.repository("a")).name, "a");
});

Deno.test("two databases of one process do not know of each other", async () => {
  const dbs = await Promise.all(
    [1, 2].map((seed) =>
      openDatabase({
        storage: memoryStorage(),
        schemas,
        world: new ManualWorld(seed),
      })
    ),
  );
  const [one, two] = dbs.map(async (db, i) => {
    const notes = (await db.repository("same")).collection(Note);
    await notes.create({ id: "n", text: `of ${i}` });
    return notes;
  });
  equal((await one)?.get("n")?.text, "of 0");
  equal((await two)?.get("n")?.text, "of 1");
  notEqual(dbs[0]!.rootKey.toHex(), dbs[1]!.rootKey.toHex());
  await Promise.all(dbs.map((db) => db.close()));
});

Deno.test("without a mode what is there is opened as it is; new ones are in Default mode", async () => {
  const storage = memoryStorage();
  for (const mode of ["trusted", "fast", "default"] as const) {
    await using db = await openDatabase({ storage, schemas, mode });
    await db.repository(mode);
  }
  await using db = await openDatabase({ storage, schemas });
  for (const mode of ["trusted", "fast", "default"] satisfies Mode[]) {
    equal((await db.repository(mode)).mode, mode);
  }
  equal((await db.repository("new")).mode, "default");
  deepEqual(db.repositories(), ["default", "fast", "new", "trusted"]);
});

Deno.test("the history names each user by the certificate of the time", async () => {
  const storage = memoryStorage();
  for (const user of ["ada", "bob", "ada"]) {
    await using db = await openDatabase({ storage, schemas, user });
    const notes = (await db.repository("a")).collection(Note);
    await notes.upsert({ id: "n", text: `by ${user}` });
  }
  await using db = await openDatabase({ storage, schemas, user: "eve" });
  const repo = await db.repository("a");
  const history = repo.collection(Note).history("n");
  deepEqual(history.map(({ user }) => user), ["ada", "bob", "ada"]);
  equal(history[0]!.chain, history[2]!.chain, "ada's chain goes on");
  equal((await repo.verify()).ok, true);
});

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

async function chainsAfterWrite(
  path: string,
  names: string[],
): Promise<string[]> {
  await using db = await openDatabase({ path, schemas });
  const chains: string[] = [];
  for (const name of names) {
    const repo = await db.repository(name);
    await repo.collection(Note).create({ text: path });
    chains.push(repo.history().at(-1)!.chain);
  }
  return chains;
}

Deno.test("a copied folder begins chains of its own, whenever its repositories are opened", async () => {
  const root = Deno.makeTempDirSync();
  try {
    const [original, copy] = [`${root}/original`, `${root}/copy`];
    const before = await chainsAfterWrite(original, ["a", "b"]);
    copyFolder(original, copy);
    const inCopy = [
      ...await chainsAfterWrite(copy, ["a"]),
      ...await chainsAfterWrite(copy, ["b"]), // Opened a second time by now.
    ];
    deepEqual(await chainsAfterWrite(original, ["a", "b"]), before);
    for (const chain of inCopy) ok(!before.includes(chain));
    deepEqual(await chainsAfterWrite(copy, ["a", "b"]), inCopy);
    await using db = await openDatabase({ path: copy, schemas });
    equal((await (await db.repository("a")).verify()).ok, true);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("repair goes from openDatabase() down to the log", async () => {
  const root = Deno.makeTempDirSync();
  try {
    const storage = diskStorage(root);
    let at = 0;
    {
      await using db = await openDatabase({ storage, schemas });
      const repo = await db.repository("a");
      await repo.collection(Note).create({ id: "one", text: "before" });
      at = repo.status().logBytes;
      await repo.collection(Note).create({ id: "two", text: "damaged" });
      await repo.collection(Note).create({ id: "three", text: "behind" });
    }
    const [folder] = storage.folders("repositories");
    const file = storage.open(`repositories/${folder}/log-00000000`)!;
    file.writeAt(new Uint8Array([1, 2, 3, 4, 5]), at + 30);
    file.close();
    for (const name of storage.list(`repositories/${folder}`)) {
      if (name.startsWith("checkpoint")) {
        storage.remove(`repositories/${folder}/${name}`);
      }
    }
    {
      await using db = await openDatabase({ storage, schemas });
      await rejects(
        db.repository("a"),
        (error: Error & { code?: string }) =>
          error.code === "log-damaged" && error.message.includes(`${at}`),
      );
    }
    {
      await using db = await openDatabase({ storage, schemas, repair: true });
      const repo = await db.repository("a");
      deepEqual(repo.collection(Note).keys(), ["one", "three"]);
      const { quarantine } = repo.status().recovery;
      ok(storage.list(`repositories/${folder}`).includes(quarantine!));
      await repo.collection(Note).create({ id: "two", text: "again" });
    }
    await using db = await openDatabase({ storage, schemas });
    const repo = await db.repository("a");
    equal(repo.status().recovery.clean, true);
    deepEqual(repo.collection(Note).keys().sort(), ["one", "three", "two"]);
    equal(repo.status().recovery.lost?.commits, 1);
    equal((await repo.verify()).ok, true);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("an empty folder becomes a client of the root key that it is given, in bytes or digits", async () => {
  await using server = await openDatabase({ storage: memoryStorage() });
  const digits = server.rootKey.toHex();
  for (const rootKey of [server.rootKey, digits, digits.toUpperCase()]) {
    const storage = memoryStorage();
    const db = await openDatabase({ storage, schemas, rootKey, user: "ann" });
    const notes = (await db.repository("a")).collection(Note);
    await notes.create({ id: "n", text: "offline" });
    deepEqual(db.rootKey, server.rootKey);
    const { user, sessionKey } = db;
    await db.close();
    await using again = await openDatabase({ storage, schemas, user: "ann" });
    deepEqual([again.user, again.sessionKey], [user, sessionKey]);
    ok((await again.repository("a")).collection(Note).has("n"));
  }
});

Deno.test("a root key that is none is refused before the folder is touched", async () => {
  const storage = memoryStorage();
  for (
    const rootKey of [new Uint8Array(31), "ab", "g".repeat(64), 5 as never]
  ) {
    await rejects(openDatabase({ storage, rootKey }), {
      code: "invalid-option",
    });
  }
  deepEqual(storage.list(""), []);
});

Deno.test("a database that never connects has no connection and refuses what is no address", async () => {
  const db = await openDatabase({ storage: memoryStorage(), schemas });
  equal(db.connection, undefined);
  throws(() => db.connect("file:///x"), { code: "invalid-option" });
  throws(() => db.connect("ws://x", { login: "nowhere" }), {
    code: "invalid-option",
  });
  equal(db.connection, undefined);
  await db.close();
  throws(() => db.connect("ws://x"), { code: "closed" });
});

Deno.test("repository() waits until one of that name has closed", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: [Note] });
  const first = await db.repository("a");
  for (let i = 0; i < 200; i++) {
    void first.collection(Note).create({ id: `n${i}`, text: "x" });
  }
  const order: string[] = [];
  const closing = first.close().then(() => order.push("closed"));
  const second = await db.repository("a");
  order.push("opened");
  await closing;
  deepEqual(order, ["closed", "opened"]);
  equal(second.collection(Note).count(), 200);
});
