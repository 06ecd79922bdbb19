/**
 * Bad input and bad luck: each gets a coded error, and nothing acknowledged is
 * lost.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  count,
  DatabaseError,
  type DatabaseOptions,
  defineSchema,
  diskStorage,
  field,
  memoryConnector,
  memoryStorage,
  openDatabase,
  serverInfo,
} from "../mod.ts";
import { createServer, embedServer } from "../server/mod.ts";
import { crc32 } from "../src/base/crc32.ts";
import { openDatabase as openPage } from "../src/browser/mod.ts";
import { openKv } from "../src/kv/mod.ts";
import { openBrowserStorage } from "../src/storage/browser_open.ts";
import { codemirror } from "../src/text/codemirror.ts";
import { bindTextarea, text, textCursors } from "../src/text/mod.ts";
import { FakePage, FakeTextarea } from "./kit/fake_textarea.ts";

const Task = defineSchema("task", {
  title: field.string(),
  rank: field.number().default(0),
  due: field.date().optional(),
  tags: field.set(field.string()),
  extra: field.json().optional(),
  blob: field.bytes().optional(),
  note: text(),
  steps: field.list(field.string()),
});

async function fails(
  action: () => unknown,
  code: string,
): Promise<DatabaseError> {
  try {
    await action();
  } catch (error) {
    ok(
      error instanceof DatabaseError,
      `expected a DatabaseError, got ${error}`,
    );
    equal(error.code, code, error.message);
    ok(error.message.length > 10, "the message says what to do");
    return error;
  }
  throw new Error(`Expected ${code}`);
}

async function fresh(options: Partial<DatabaseOptions> = {}) {
  const db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
    ...options,
  });
  const repo = await db.repository("test");
  return { db, repo, tasks: repo.collection(Task) };
}

async function inFolder(test: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir();
  try {
    await test(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

/** Calls a typed function as untyped JavaScript would. */
function untyped<R>(call: (value: never) => R, value: unknown): R {
  return call(value as never);
}

Deno.test("repository() refuses names that could leave the folder", async () => {
  const { db } = await fresh();
  const names = [
    "",
    "/",
    "a//b",
    "../x",
    "a/../b",
    "a b",
    "a\0b",
    "é",
    "x".repeat(65),
    "a/".repeat(9) + "a",
  ];
  for (const name of names) {
    await fails(() => db.repository(name), "invalid-name");
  }
  for (const name of [undefined, null, 7, {}, ["a"]]) {
    await fails(
      () => untyped((value) => db.repository(value), name),
      "invalid-name",
    );
  }
  await db.close();
});

Deno.test("create() refuses ids that are no ids", async () => {
  const { db, tasks } = await fresh();
  for (
    const id of ["", "\ud800", "a\nb", "\0", "x".repeat(257), "é".repeat(129)]
  ) {
    await fails(() => tasks.create({ id, title: "x" }), "invalid-id");
  }
  for (const id of [7, null, {}, ["a"]]) {
    await fails(
      () => untyped((value) => tasks.create(value), { id, title: "x" }),
      "invalid-id",
    );
  }
  equal(tasks.count(), 0);
  await db.close();
});

Deno.test("ids and keys may be named like parts of a JavaScript object", async () => {
  const storage = memoryStorage();
  const db = await openDatabase({ storage, schemas: [Task] });
  const tasks = (await db.repository("test")).collection(Task);
  for (const id of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    equal(tasks.get(id), undefined);
    await tasks.create({
      id,
      title: id,
      extra: JSON.parse('{"__proto__": {"evil": true}}'),
    });
    equal(tasks.get(id)?.title, id);
  }
  equal(({} as { evil?: boolean }).evil, undefined);
  await db.close();
  const again = await openDatabase({ storage, schemas: [Task] });
  const reopened = (await again.repository("test")).collection(Task);
  const extra = reopened.get("__proto__")?.extra;
  equal(JSON.stringify(extra), '{"__proto__":{"evil":true}}');
  equal((extra as { evil?: boolean }).evil, undefined);
  await again.close();
});

Deno.test("create() refuses values that do not fit their field", async () => {
  const { db, tasks } = await fresh();
  const bad: unknown[] = [
    { title: 7 },
    { title: null },
    {},
    { title: "\udfff" },
    { title: "x", rank: NaN },
    { title: "x", rank: Infinity },
    { title: "x", rank: "7" },
    { title: "x", rank: 7n },
    { title: "x", due: new Date(NaN) },
    { title: "x", due: "2026-11-20" },
    { title: "x", tags: "abc" },
    { title: "x", tags: [1] },
    { title: "x", tags: ["\ud800"] },
    { title: "x", blob: [1, 2] },
    { title: "x", extra: () => 1 },
    { title: "x", extra: { a: NaN } },
    { title: "x", extra: { a: undefined } },
    null,
    undefined,
    "title",
    [],
  ];
  for (const input of bad) {
    await fails(
      () => untyped((value) => tasks.create(value), input),
      "invalid-value",
    );
  }
  equal(tasks.count(), 0);
  await db.close();
});

Deno.test("create() and update() refuse fields that the schema does not have", async () => {
  const { db, tasks } = await fresh();
  await tasks.create({ id: "a", title: "x" });
  const inputs = [{ titel: "x" }, JSON.parse('{"__proto__": 1}'), {
    constructor: 1,
  }];
  for (const extra of inputs) {
    const create = { title: "x" };
    for (const key of Object.keys(extra)) {
      Object.defineProperty(create, key, {
        value: extra[key],
        enumerable: true,
      });
    }
    await fails(() => tasks.create(create), "unknown-field");
    await fails(
      () => untyped((value) => tasks.update("a", value), extra),
      "unknown-field",
    );
  }
  deepEqual(tasks.keys(), ["a"]);
  await db.close();
});

Deno.test("create() refuses values over their limit", async () => {
  const { db, tasks } = await fresh();
  const big = "x".repeat(5 * 1024 * 1024);
  await fails(() => tasks.create({ title: big }), "value-too-large");
  await fails(
    () => tasks.create({ title: "x", blob: new Uint8Array(big.length) }),
    "value-too-large",
  );
  await fails(
    () => tasks.create({ title: "x", extra: [big] }),
    "value-too-large",
  );
  let deep: unknown = 1;
  for (let i = 0; i < 1_000; i++) deep = [deep];
  await fails(
    () => untyped((value) => tasks.create(value), { title: "x", extra: deep }),
    "invalid-value",
  );
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const error = await fails(
    () =>
      untyped((value) => tasks.create(value), { title: "x", extra: cyclic }),
    "invalid-value",
  );
  match(error.message, /extra/);
  await db.close();
});

Deno.test("the caller cannot corrupt the database through what it gets", async () => {
  const { db, tasks } = await fresh();
  const due = new Date(5);
  const blob = new Uint8Array([1, 2, 3]);
  const extra = { list: [1] };
  await tasks.create({ id: "a", title: "x", due, blob, extra, tags: ["t"] });
  due.setTime(9);
  blob[0] = 9;
  extra.list.push(2);
  const item = tasks.get("a")!;
  item.due!.setTime(7);
  item.blob![1] = 7;
  for (
    const spoil of [
      () =>
        untyped((value: { title: string }) => void (value.title = "y"), item),
      () => untyped((value: string[]) => void value.push("u"), item.tags),
      () =>
        untyped(
          (value: { list: number[] }) => void value.list.push(3),
          item.extra,
        ),
    ]
  ) {
    let threw = false;
    try {
      spoil();
    } catch (error) {
      threw = error instanceof TypeError;
    }
    ok(threw, "frozen values throw");
  }
  const again = tasks.get("a")!;
  equal(again.title, "x");
  equal(again.due!.getTime(), 5);
  deepEqual([...again.blob!], [1, 2, 3]);
  deepEqual(again.extra, { list: [1] });
  deepEqual(again.tags, ["t"]);
  tasks.all()[0]!.due!.setTime(1);
  tasks.where({ title: "x" }).run()[0]!.due!.setTime(1);
  equal(tasks.get("a")!.due!.getTime(), 5);
  await db.close();
});

Deno.test("field.*() take no options", async () => {
  for (const [kind, make] of Object.entries({ ...field, text })) {
    const rest = [...new Array(make.length), field.string(), {
      optional: true,
    }];
    const { message } = await fails(
      () => Reflect.apply(make, field, rest),
      "invalid-schema",
    );
    match(message, new RegExp(`^field.${kind}\\(\\) takes no options`));
  }
});

Deno.test("a transaction that throws leaves nothing behind", async () => {
  const { db, repo, tasks } = await fresh();
  let caught: unknown;
  try {
    repo.transact((tx) => {
      tx.collection(Task).create({ id: "a", title: "x" });
      throw new Error("no");
    });
  } catch (error) {
    caught = error;
  }
  equal((caught as Error).message, "no");
  equal(tasks.count(), 0);
  equal(repo.status().commits, 0);
  const late: () => unknown = () => Promise.resolve(1);
  await fails(() => repo.transact(late), "invalid-option");
  await fails(() => repo.transact(undefined as never), "invalid-option");
  let escaped: Parameters<Parameters<typeof repo.transact>[0]>[0] | undefined;
  repo.transact((tx) => void (escaped = tx));
  await fails(
    () => escaped!.collection(Task).create({ title: "late" }),
    "closed",
  );
  await fails(
    () => repo.transact(() => void tasks.create({ title: "nested" })),
    "invalid-option",
  );
  equal(tasks.count(), 0);
  await tasks.create({ title: "still works" });
  await db.close();
});

Deno.test("a closed database says so", async () => {
  const { db, repo, tasks } = await fresh();
  await db.close();
  await db.close();
  await fails(() => tasks.create({ title: "x" }), "closed");
  await fails(() => tasks.get("x"), "closed");
  await fails(() => tasks.where({ title: "x" }), "closed");
  await fails(() => repo.transact(() => 1), "closed");
  await fails(() => db.repository("x"), "closed");
});

Deno.test("openDatabase() refuses options that contradict each other", async () => {
  await fails(() => openDatabase({}), "invalid-option");
  await fails(
    () => openDatabase({ path: "x", storage: memoryStorage() }),
    "invalid-option",
  );
  await fails(() => openDatabase({ path: "" }), "invalid-path");
  await fails(() => openDatabase({ path: "a\0b" }), "invalid-path");
  await fails(
    () =>
      untyped((value) => openDatabase(value), {
        storage: memoryStorage(),
        mode: "quick",
      }),
    "invalid-option",
  );
  await fails(
    () => openDatabase({ storage: memoryStorage(), schemas: [Task, Task] }),
    "invalid-schema",
  );
  for (const schemas of [Task, [{}], [undefined], "task"]) {
    const options = { storage: memoryStorage(), schemas };
    await fails(
      () => untyped((value) => openDatabase(value), options),
      "invalid-schema",
    );
  }
  await fails(
    () => openDatabase({ storage: memoryStorage(), user: "" }),
    "invalid-option",
  );
});

/** The methods of an object's classes. */
function methodsOf(owner: object): string[] {
  const names = new Set<string>();
  for (
    let one = Object.getPrototypeOf(owner);
    one !== Object.prototype;
    one = Object.getPrototypeOf(one)
  ) {
    for (const name of Object.getOwnPropertyNames(one)) {
      const { value } = Object.getOwnPropertyDescriptor(one, name)!;
      if (typeof value === "function") names.add(name);
    }
  }
  names.delete("constructor");
  return [...names];
}

Deno.test("no method takes options that it does not have", async () => {
  const { db, repo, tasks } = await fresh();
  const kv = openKv(repo);
  const [query, sums] = [
    tasks.query(),
    tasks.query().aggregate({ n: count() }),
  ];
  const { inside, entries } = repo.transact((tx) => ({
    inside: [tx, tx.collection(Task)],
    entries: kv.within(tx),
  })).result;
  await using server = await embedServer({
    data: await Deno.makeTempDir(),
    log: () => {},
  });
  const owners: object[] = [
    db,
    db.connect(memoryConnector("a", { accept: () => {} })),
    db.storage,
    repo,
    repo.sync,
    repo.presence,
    repo.undo,
    repo.at(new Date()),
    repo.at(new Date()).collection(Task),
    tasks,
    tasks.create({ id: "a", title: "A" }),
    ...inside,
    query,
    query.groupBy("rank"),
    query.subscribe(() => {}),
    sums,
    kv,
    kv.at(new Date()),
    entries,
    server,
    textCursors(repo.presence, { name: "ann", color: "red" }),
  ];
  for (const owner of owners) {
    const names = methodsOf(owner);
    ok(names.length > 0);
    for (const name of names) {
      const call = Reflect.get(owner, name);
      const given = new Array(call.length).fill(undefined);
      const wrong = () => Reflect.apply(call, owner, [...given, { ttlMs: 5 }]);
      const { message } = await fails(wrong, "invalid-option");
      equal(
        message,
        `${name}() takes neither options nor a list there`,
        owner.constructor.name,
      );
    }
  }
  await db.close();
});

Deno.test("an option that nobody knows is refused by name, wherever options are given", async () => {
  const { db, repo, tasks } = await fresh();
  const kv = openKv(repo);
  const path = await Deno.makeTempDir();
  const [storage, fields] = [memoryStorage(), { a: field.string() }];
  const place = { collection: tasks, id: "a", field: "note" } as const;
  const element = new FakeTextarea(new FakePage());
  tasks.create({ id: "a", title: "A" });
  const calls: Record<string, (no: never) => unknown> = {
    "openDatabase()": (no) => openDatabase({ ...no as object, storage }),
    "openDatabase() of a page": (no) =>
      openPage({ ...no as object, name: "a", storage: "memory" }),
    "openBrowserStorage()": (no) =>
      openBrowserStorage({ ...no as object, name: "a" }),
    "openDatabase() scrub": (no) => openDatabase({ storage, scrub: no }),
    "defineSchema()": (no) => defineSchema("a", fields, no),
    "createServer()": (no) => createServer({ ...no as object, data: path }),
    "createServer() quotas": (no) => createServer({ data: path, quotas: no }),
    "createServer() scrub": (no) => createServer({ data: path, scrub: no }),
    "createServer() login": (no) => createServer({ data: path, login: no }),
    "createServer() jwt": (no) =>
      createServer({ data: path, login: { jwt: no } }),
    "connect()": (no) => db.connect("http://127.0.0.1:1", no),
    "serverInfo()": (no) => serverInfo("http://127.0.0.1:1", no),
    "history()": (no) => repo.history(no),
    "verify()": (no) => repo.verify(no),
    "subscribe()": (no) => tasks.query().subscribe(() => {}, no),
    "live()": (no) => tasks.query().live(no),
    "subscribe() of groups": (no) =>
      tasks.query().aggregate({ n: count() }).subscribe(() => {}, no),
    "live() of groups": (no) =>
      tasks.query().aggregate({ n: count() }).live(no),
    "openKv()": (no) => openKv(repo, no),
    "kv.set()": (no) => kv.set("k", 1, no),
    "kv.setMany()": (no) => kv.setMany([["k", 1]], no),
    "kv.update()": (no) => kv.update("k", () => 1, no),
    "kv.compareAndSet()": (no) => kv.compareAndSet("k", undefined, 1, no),
    "kv.within().set()": (no) =>
      repo.transact((tx) => kv.within(tx).set("k", 1, no)),
    "kv.keys()": (no) => kv.keys(no),
    "kv.list()": (no) => kv.list(no),
    "kv.subscribe()": (no) => kv.subscribe(no, () => {}),
    "bindTextarea()": (no) =>
      bindTextarea(element, { ...no as object, ...place }),
    "codemirror()": (no) => codemirror({ ...no as object, ...place }),
    "textCursors()": (no) => textCursors(repo.presence, no),
    "a splice": (no) =>
      tasks.update("a", { note: { splice: [{ ...no as object, at: 0 }] } }),
    "a list's insert": (no) =>
      tasks.update("a", {
        steps: { insert: [{ ...no as object, at: 0, value: "x" }] },
      }),
    "a list's replace": (no) =>
      tasks.update("a", {
        steps: { replace: [{ ...no as object, at: 0, value: "x" }] },
      }),
    "a list's move": (no) =>
      tasks.update("a", {
        steps: { move: [{ ...no as object, from: 0, to: 0 }] },
      }),
  };
  for (const [name, call] of Object.entries(calls)) {
    const given = { encryptionKey: "secret" } as never;
    const { message } = await fails(() => call(given), "invalid-option");
    match(message, /There is no option `[a-z.]*encryptionKey`: use `/, name);
  }
  const near: [() => unknown, string][] = [
    [() => calls["openDatabase()"]!({ schema: [] } as never), "schemas"],
    [() => calls["kv.set()"]!({ ttl: 5 } as never), "ttlMs"],
    [() => calls["createServer()"]!({ host: "::" } as never), "hostname"],
    [() => calls["defineSchema()"]!({ index: [] } as never), "indexes"],
  ];
  for (const [call, meant] of near) {
    const { message } = await fails(call, "invalid-option");
    ok(message.endsWith(`did you mean \`${meant}\`?`), message);
  }
  for (
    const input of [{ title: "B" }, { title: "C" }].map(tasks.create, tasks)
  ) {
    equal(typeof input.id, "string");
  }
  equal(tasks.count(), 3);
  equal(kv.size, 0);
  deepEqual([...Deno.readDirSync(path), ...storage.list("")], []);
  await Deno.remove(path);
  await db.close();
});

Deno.test("a collection that was not declared is refused", async () => {
  const { db, repo } = await fresh();
  const Other = defineSchema("other", { a: field.string() });
  const Impostor = defineSchema("task", { a: field.string() });
  await fails(() => repo.collection(Other), "unknown-collection");
  await fails(() => repo.collection(Impostor), "unknown-collection");
  await db.close();
});

Deno.test("a path that is a file is refused and left alone", async () => {
  await inFolder(async (path) => {
    const file = `${path}/notes.txt`;
    await Deno.writeTextFile(file, "precious");
    await fails(() => openDatabase({ path: file }), "invalid-path");
    await fails(() => openDatabase({ path: `${file}/below` }), "invalid-path");
    equal(await Deno.readTextFile(file), "precious");
  });
});

Deno.test("a second owner of the folder gets database-locked", async () => {
  await inFolder(async (path) => {
    const db = await openDatabase({ path });
    const error = await fails(() => openDatabase({ path }), "database-locked");
    match(error.message, /close|process|open/i);
    await db.close();
    await (await openDatabase({ path })).close();
  });
});

Deno.test("another root key and another mode are refused", async () => {
  const storage = memoryStorage();
  const db = await openDatabase({ storage });
  await db.repository("a");
  const { rootKey } = db;
  await db.close();
  await fails(
    () => openDatabase({ storage, rootKey: new Uint8Array(32) }),
    "root-key-mismatch",
  );
  const fast = await openDatabase({ storage, rootKey, mode: "fast" });
  await fails(() => fast.repository("a"), "mode-mismatch");
  await fast.close();
});

Deno.test("a folder of a newer format is refused and left alone", async () => {
  await inFolder(async (path) => {
    await (await openDatabase({ path })).close();
    const bytes = await Deno.readFile(`${path}/database`);
    const view = new DataView(bytes.buffer);
    view.setUint16(8, 4, true);
    const sumAt = bytes.length - 4;
    view.setUint32(sumAt, crc32(bytes.subarray(0, sumAt)), true);
    await Deno.writeFile(`${path}/database`, bytes);
    await fails(() => openDatabase({ path }), "format-too-new");
    deepEqual(await Deno.readFile(`${path}/database`), bytes);
  });
});

Deno.test("rules that are none are refused before anything is touched", async () => {
  await inFolder(async (path) => {
    for (const rules of [{}, null, "all"]) {
      const options = { path, rules } as unknown as { path: string };
      await fails(() => openDatabase(options), "invalid-option");
    }
    deepEqual([...Deno.readDirSync(path)], []);
  });
});

Deno.test("a damaged key file without a copy is refused, not replaced", async () => {
  await inFolder(async (path) => {
    await (await openDatabase({ path })).close();
    await Deno.remove(`${path}/database.copy`);
    const bytes = await Deno.readFile(`${path}/database`);
    bytes[20]! ^= 1;
    await Deno.writeFile(`${path}/database`, bytes);
    await fails(() => openDatabase({ path }), "format-unknown");
    deepEqual(await Deno.readFile(`${path}/database`), bytes);
    await Deno.remove(`${path}/database`);
    await (await openDatabase({ path })).close();
  });
});

Deno.test("keys that are gone are not made anew over repositories that are there", async () => {
  await inFolder(async (path) => {
    const db = await openDatabase({ path, schemas: [Task] });
    await (await db.repository("a")).collection(Task).create({ title: "a" });
    await db.close();
    const copy = await Deno.readFile(`${path}/database.copy`);
    for (const name of [".copy", ""]) {
      await Deno.remove(`${path}/database${name}`);
    }
    await fails(() => openDatabase({ path }), "format-unknown");
    await Deno.writeFile(`${path}/database.copy`, copy);
    const again = await openDatabase({ path, schemas: [Task] });
    equal((await again.repository("a")).collection(Task).count(), 1);
    equal(again.storage.status().incidents[0]?.code, "keys-mended");
    await again.close();
  });
});

Deno.test("the file with the keys is readable by its owner only", async () => {
  await inFolder(async (path) => {
    await (await openDatabase({ path })).close();
    if (Deno.build.os === "windows") return;
    for (const name of [".copy", ""]) {
      const { mode } = await Deno.stat(`${path}/database${name}`);
      equal(mode! & 0o777, 0o600);
    }
  });
});

Deno.test("diskStorage() names never leave the folder", async () => {
  await inFolder(async (path) => {
    const storage = diskStorage(path);
    await fails(() => storage.open("../x", { create: true }), "invalid-path");
  });
});
