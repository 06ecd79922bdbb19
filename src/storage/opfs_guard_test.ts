import { deepEqual, equal, throws } from "node:assert/strict";
import { FakeOpfs } from "../../tests/kit/fake_opfs.ts";
import { DatabaseError } from "../base/errors.ts";
import { Fence } from "./opfs_guard.ts";
import { Guard } from "./opfs_guard.ts";
import { encodeIntent, fileId } from "./opfs_table.ts";
import type { AccessHandle } from "./opfs_types.ts";

const open = { mode: "readwrite-unsafe" } as const;

/** A guard whose fence and table are files, and what is written into the table. */
async function start() {
  const folder = new FakeOpfs().process().directory;
  const handleOf = async (name: string) => {
    const entry = await folder.getFileHandle(name, { create: true });
    return await entry.createSyncAccessHandle(open);
  };
  const fence = new Fence(await handleOf("fence"));
  fence.raise(undefined, 7);
  const file = await handleOf("table");
  const written: Uint8Array[] = [];
  const table: AccessHandle = {
    read: (...args) => file.read(...args),
    write(bytes, at) {
      written.push(bytes.slice());
      return file.write(bytes, at);
    },
    truncate: (size) => file.truncate(size),
    getSize: () => file.getSize(),
    flush: () => file.flush(),
    close: () => file.close(),
  };
  const failures: string[] = [];
  const guard = new Guard(fence, table, ({ code }) => failures.push(code));
  /** Somebody else has the files from now on. */
  const rob = async () =>
    new Fence(await handleOf("fence")).raise(undefined, 9);
  return { guard, written, failures, rob };
}

const [ONE, TWO] = [fileId(7, 1), fileId(7, 2)];

Deno.test("Guard writes an intent before the first change of each file, and takes it back at rest", async () => {
  const { guard, written } = await start();
  guard.before(ONE);
  guard.before(ONE);
  guard.before(TWO);
  deepEqual(written, [encodeIntent(ONE), encodeIntent(TWO)]);
  guard.rest();
  equal(written.length, 2, "something was written since");
  guard.rest();
  guard.rest();
  deepEqual(written.slice(2), [encodeIntent(undefined)]);
});

Deno.test("Guard writes nothing more after a failure, not even an intent", async () => {
  const { guard, written, failures } = await start();
  guard.before(ONE);
  const full = new DatabaseError("storage-failed", "The disk is gone");
  equal(guard.fail(full), full);
  throws(() => guard.before(TWO), full);
  throws(() => guard.check(), full);
  guard.end();
  deepEqual(written, [encodeIntent(ONE)]);
  deepEqual(failures, ["storage-failed"]);
});

Deno.test("Guard that was robbed announces its change, makes none, and is over", async () => {
  const { guard, written, failures, rob } = await start();
  await rob();
  throws(() => guard.before(ONE), { code: "database-locked" });
  deepEqual(
    written,
    [encodeIntent(ONE)],
    "the thief copies a file for nothing",
  );
  throws(() => guard.before(TWO), { code: "database-locked" });
  guard.end();
  equal(written.length, 1);
  deepEqual(failures, ["database-locked"], "told once");
});
