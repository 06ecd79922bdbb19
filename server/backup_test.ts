import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import type { Storage } from "../mod.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import { faultyStorage } from "../tests/kit/faulty_storage.ts";
import {
  parseRepositoryName,
  replicaFolder,
  REPOSITORIES,
} from "../repo/mod.ts";
import { copyDatabase } from "./backup.ts";

const Note = defineSchema("note", { text: field.string() });

async function textsIn(storage: Storage, name: string): Promise<string[]> {
  await using db = await openDatabase({ storage, schemas: [Note] });
  const notes = (await db.repository(name)).collection(Note);
  return notes.all().map(({ text }) => text).sort();
}

Deno.test("copyDatabase() copies what an open database has made durable", async () => {
  const [source, target] = [memoryStorage(), memoryStorage()];
  await using db = await openDatabase({ storage: source, schemas: [Note] });
  const one = (await db.repository("one")).collection(Note);
  const two = (await db.repository("two/deep")).collection(Note);
  for (let i = 0; i < 5; i++) await one.create({ text: `one ${i}` });
  await two.create({ text: "two" });
  const report = await copyDatabase(source, target);
  equal(report.repositories, 2);
  equal(report.commits, 6);
  deepEqual(report.suspicious, []);
  await one.create({ text: "later" });
  deepEqual(
    await textsIn(target, "one"),
    ["one 0", "one 1", "one 2", "one 3", "one 4"],
  );
  deepEqual(await textsIn(target, "two/deep"), ["two"]);
});

Deno.test("copyDatabase() copies a server's books last: they note a revocation before others have its record", async () => {
  const [source, target] = [memoryStorage(), memoryStorage()];
  await using db = await openDatabase({ storage: source, schemas: [Note] });
  const names = ["_server", "one", "two", "three", "four", "five"];
  for (const name of names) {
    await (await db.repository(name)).collection(Note).create({ text: name });
  }
  const made: string[] = [];
  const { makeFolder } = target;
  target.makeFolder = (path) => {
    made.push(path);
    makeFolder.call(target, path);
  };
  await copyDatabase(source, target);
  const own = replicaFolder(parseRepositoryName("_server"));
  equal(made.length, 1 + names.length);
  equal(made.at(-1), own);
  const listed = source.folders(REPOSITORIES).at(-1);
  notEqual(`${REPOSITORIES}/${listed}`, own, "it would not be last by itself");
});

Deno.test("copyDatabase() leaves a copy that a power cut does not take", async () => {
  const source = memoryStorage();
  await using db = await openDatabase({ storage: source, schemas: [Note] });
  await (await db.repository("one")).collection(Note).create({ text: "a" });
  for (const kept of ["synced", 1, 2] as const) {
    const target = faultyStorage();
    await copyDatabase(source, target);
    const left = target.powerCut(kept);
    deepEqual(await textsIn(left, "one"), ["a"]);
    await using copy = await openDatabase({ storage: left, schemas: [Note] });
    deepEqual(copy.rootKey, db.rootKey);
  }
});

Deno.test("copyDatabase() makes a replica with a session of its own under the same root", async () => {
  const [source, target] = [memoryStorage(), memoryStorage()];
  await using db = await openDatabase({ storage: source, schemas: [Note] });
  await (await db.repository("one")).collection(Note).create({ text: "a" });
  await copyDatabase(source, target);
  await using copy = await openDatabase({ storage: target, schemas: [Note] });
  deepEqual(copy.rootKey, db.rootKey);
  notEqual(copy.sessionKey.toHex(), db.sessionKey.toHex());
});

Deno.test("copyDatabase() leaves no file of the copy open", async () => {
  const [source, target] = [memoryStorage(), memoryStorage()];
  await using db = await openDatabase({ storage: source, schemas: [Note] });
  await (await db.repository("one")).collection(Note).create({ text: "a" });
  const left: string[] = [];
  const open = target.open.bind(target);
  target.open = (path, options) => {
    const file = open(path, options);
    if (file === undefined) return undefined;
    const close = file.close.bind(file);
    left.push(path);
    file.close = () => {
      left.splice(left.indexOf(path), 1);
      close();
    };
    return file;
  };
  const { repositories } = await copyDatabase(source, target);
  equal(repositories, 1);
  deepEqual(left, []);
});

Deno.test("copyDatabase() refuses a target that holds anything", async () => {
  const [source, target] = [memoryStorage(), memoryStorage()];
  await using _db = await openDatabase({ storage: source, schemas: [Note] });
  await using _other = await openDatabase({ storage: target });
  await rejects(copyDatabase(source, target), { code: "invalid-path" });
});

Deno.test("copyDatabase() refuses a source that is no database", async () => {
  await rejects(copyDatabase(memoryStorage(), memoryStorage()), {
    code: "invalid-path",
  });
});

Deno.test("copyDatabase() stops at damage and names the folder", async () => {
  const [source, target] = [memoryStorage(), memoryStorage()];
  {
    await using db = await openDatabase({ storage: source, schemas: [Note] });
    const notes = (await db.repository("one")).collection(Note);
    for (let i = 0; i < 5; i++) await notes.create({ text: `${i}` });
  }
  const [folder] = source.folders("repositories");
  const file = source.open(`repositories/${folder}/log-00000000`)!;
  const at = file.size() - 300;
  file.writeAt(new Uint8Array([0xaa, 0x55]), at);
  file.close();
  const report = await copyDatabase(source, target);
  deepEqual(report.suspicious, [folder]);
  equal(report.commits < 5, true);
});

Deno.test({
  name: "copyDatabase() keeps the keys readable by their owner only",
  ignore: Deno.build.os === "windows",
  async fn() {
    const path = await Deno.makeTempDir();
    try {
      const source = diskStorage(`${path}/a`);
      const db = await openDatabase({ storage: source, schemas: [Note] });
      await (await db.repository("one")).collection(Note).create({ text: "a" });
      await copyDatabase(diskStorage(`${path}/a`), diskStorage(`${path}/b`));
      equal(Deno.statSync(`${path}/b/database`).mode! & 0o777, 0o600);
      await db.close();
    } finally {
      await Deno.remove(path, { recursive: true });
    }
  },
});
