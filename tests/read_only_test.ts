/** A database on a medium that can be read and not written. */

import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { DatabaseError, defineSchema, field, openDatabase } from "../mod.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import type { OpenFileOptions, Storage } from "../src/storage/storage.ts";
import { StorageOver } from "../src/storage/storage_over.ts";
import { faultyStorage } from "./kit/faulty_storage.ts";
import { filesOf } from "./kit/images.ts";

const Note = defineSchema("note", { text: field.string() });
const schemas = [Note];

/** A medium that was mounted to be read. */
class Mounted extends StorageOver {
  override open(name: string, options: OpenFileOptions = {}) {
    if (options.create === true) throw refused();
    const file = super.open(name);
    return file && {
      size: () => file.size(),
      readAt: (target: Uint8Array, offset: number) =>
        file.readAt(target, offset),
      writeAt: refuse,
      truncate: refuse,
      sync: refuse,
      close: () => file.close(),
    };
  }
  override makeFolder = refuse;
  override syncFolder = refuse;
  override rename = refuse;
  override remove = refuse;
  override lock = refuse;
}

function refused(): DatabaseError {
  return new DatabaseError("storage-readonly", "The medium is mounted so");
}

function refuse(): never {
  throw refused();
}

/** Notes in a storage, closed well or left as a crash leaves it. */
async function written(storage: Storage, isClosed: boolean): Promise<void> {
  const db = await openDatabase({ storage, schemas });
  const repo = await db.repository("a");
  for (let i = 0; i < 20; i++) {
    await repo.collection(Note).create({ id: `n${i}`, text: `${i}` });
  }
  if (isClosed) await db.close();
}

Deno.test("readOnly reads a medium that cannot be written, whether it was closed well or not, and refuses writes", async () => {
  for (const isClosed of [true, false]) {
    const inner = faultyStorage({});
    await written(inner, isClosed);
    if (!isClosed) inner.freeze();
    const medium = new Mounted(inner);
    await rejects(openDatabase({ storage: medium, schemas }), {
      code: "storage-readonly",
    });
    const before = new Map(filesOf(inner));
    const db = await openDatabase({ storage: medium, schemas, readOnly: true });
    deepEqual(db.repositories(), ["a"]);
    const repo = await db.repository("a");
    equal(repo.collection(Note).count(), 20);
    equal(repo.collection(Note).get("n7")?.text, "7");
    equal((await repo.verify()).ok, true);
    throws(() => repo.collection(Note).create({ text: "no" }), {
      code: "storage-readonly",
      message: /readOnly/,
    });
    throws(() => db.connect("ws://127.0.0.1:1/"), { code: "storage-readonly" });
    await rejects(db.repository("b"), { code: "storage-readonly" });
    const again = await openDatabase({
      storage: medium,
      schemas,
      readOnly: true,
    });
    equal((await again.repository("a")).collection(Note).count(), 20);
    await again.close();
    await db.close();
    deepEqual(new Map(filesOf(inner)), before);
  }
});

Deno.test("readOnly opens files without the right to write, beside a process that has them open", async () => {
  const path = await Deno.makeTempDir();
  try {
    const storage = diskStorage(path);
    const db = await openDatabase({ storage, schemas });
    const repo = await db.repository("a");
    await repo.collection(Note).create({ id: "x", text: "there" });
    const program = `
      import { openDatabase } from ${
      JSON.stringify(new URL("../mod.ts", import.meta.url).href)
    };
      const path = ${JSON.stringify(path)};
      const said = await openDatabase({ path }).catch((error) => error);
      const db = await openDatabase({ path, readOnly: true });
      console.log(said.code, said.message.includes("readOnly"), db.repositories(),
        (await db.repository("a")).status().commits);
      await db.close();
    `;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["eval", "--no-check"],
        program,
      ],
      env: { NO_COLOR: "1" },
    }).output();
    const said = new TextDecoder().decode(stdout) +
      new TextDecoder().decode(stderr);
    match(said, /^database-locked .* \[ "a" \] 1/);
    await db.close();
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});

Deno.test("sheaf reads a folder that it may not write, and changes nothing there", async () => {
  const path = await Deno.makeTempDir();
  try {
    await written(diskStorage(path), true);
    const before = new Map(filesOf(diskStorage(path)));
    for (const command of ["stats", "verify", "query"]) {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "--no-prompt", "--allow-read"],
          ...["--allow-env", "--allow-sys", "src/cli/main.ts"],
          ...[command, "--data", path, "--repo", "a"],
          ...command === "query" ? ["--collection", "note"] : [],
        ],
        env: { NO_COLOR: "1" },
      }).output();
      const said = new TextDecoder().decode(stderr);
      equal(code, 0, `${command}: ${said}`);
      match(new TextDecoder().decode(stdout), /20|n7/, command);
    }
    deepEqual(new Map(filesOf(diskStorage(path))), before);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});

Deno.test("readOnly makes no database where there is none", async () => {
  const inner = memoryStorage();
  const medium = new Mounted(inner);
  const db = await openDatabase({ storage: medium, schemas, readOnly: true });
  deepEqual(db.repositories(), []);
  await db.close();
  equal([...filesOf(inner)].length, 0);
});
