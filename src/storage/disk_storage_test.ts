import {
  deepEqual,
  equal,
  match,
  ok,
  rejects,
  throws,
} from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import fs from "node:fs";
import { type DiskCalls, diskCalls } from "./disk_calls.ts";
import { DiskFile, type FileCalls, SyncPace } from "./disk_file.ts";
import { diskStorage, diskStorageOver } from "./disk_storage.ts";
import { storageFailure } from "./failure.ts";
import { Child } from "../../tests/kit/child.ts";
import { pause } from "../../tests/kit/patience.ts";

async function withFolder(
  task: (path: string) => void | Promise<void>,
): Promise<void> {
  const path = Deno.makeTempDirSync();
  try {
    await task(path);
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
}

Deno.test("diskStorage() refuses a path that is no path", () => {
  throws(() => diskStorage(""), { code: "invalid-path" });
  throws(() => diskStorage("a\0b"), { code: "invalid-path" });
});

Deno.test("lock() makes the folder of a new database", () =>
  withFolder((path) => {
    const unlock = diskStorage(`${path}/deep/data/`).lock();
    ok(Deno.statSync(`${path}/deep/data/lock`).isFile);
    unlock();
  }));

/** Runs a task and gives the paths of the folders that it synced. */
function syncedBy(task: (calls: DiskCalls) => void): string[] {
  const calls = diskCalls()!;
  const paths = new Map<number, string>();
  const synced: string[] = [];
  task({
    ...calls,
    openSync(path, flags, mode) {
      const descriptor = calls.openSync(path, flags, mode);
      paths.set(descriptor, path);
      return descriptor;
    },
    fsyncSync(descriptor) {
      synced.push(paths.get(descriptor)!);
      calls.fsyncSync(descriptor);
    },
  });
  return synced;
}

Deno.test({
  name:
    "lock() makes the names of new folders durable, up to one that was there",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFolder((path) => {
      const make = (calls: DiskCalls) =>
        diskStorageOver(calls, `${path}/deep/data`).lock()();
      deepEqual(syncedBy(make), [`${path}/deep`, path]);
      deepEqual(syncedBy(make), []);
    }),
});

Deno.test("lock() of a path that is a file fails with invalid-path", () =>
  withFolder((path) => {
    Deno.writeTextFileSync(`${path}/file`, "x");
    throws(() => diskStorage(`${path}/file`).lock(), { code: "invalid-path" });
    throws(() => diskStorage(`${path}/file/sub`).lock(), {
      code: "invalid-path",
    });
    throws(() => diskStorage(`${path}/file`).list(""), {
      code: "invalid-path",
    });
    equal(Deno.readTextFileSync(`${path}/file`), "x");
  }));

Deno.test("lock() is refused while another process has it, and free after its end", () =>
  withFolder(async (path) => {
    const module = new URL("./disk_storage.ts", import.meta.url).href;
    const program = `
      import { diskStorage } from ${JSON.stringify(module)};
      diskStorage(${JSON.stringify(path)}).lock();
      console.log("locked");
      await Deno.stdin.readable.getReader().read();
    `;
    await using child = new Child(["eval", program], { hasInput: true });
    await child.said(/locked/);
    throws(() => diskStorage(path).lock(), { code: "database-locked" });
    child.kill();
    await child.ended;
    diskStorage(path).lock()();
  }));

Deno.test("identity() differs for a copy of the folder", () =>
  withFolder((path) => {
    const one = diskStorage(`${path}/one`);
    const unlock = one.lock();
    Deno.mkdirSync(`${path}/two`);
    Deno.copyFileSync(`${path}/one/lock`, `${path}/two/lock`);
    const two = diskStorage(`${path}/two`);
    const unlockTwo = two.lock();
    ok(one.identity() !== two.identity());
    unlock();
    equal(one.identity(), diskStorage(`${path}/one`).identity());
    unlockTwo();
  }));

Deno.test({
  name: "files and folders are readable by their owner only",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFolder((path) => {
      const storage = diskStorage(`${path}/new/folder`);
      const unlock = storage.lock();
      storage.makeFolder("logs");
      storage.open("logs/one", { create: true })!.close();
      unlock();
      const modeOf = (name: string) =>
        Deno.statSync(`${path}/new${name}`).mode! & 0o777;
      for (const name of ["", "/folder", "/folder/logs"]) {
        equal(modeOf(name), 0o700, name);
      }
      for (const name of ["/folder/lock", "/folder/logs/one"]) {
        equal(modeOf(name), 0o600, name);
      }
    }),
});

Deno.test("open() without permission fails with permission-denied", {
  permissions: { read: true, write: false },
}, () => {
  const storage = diskStorage(".");
  throws(() => storage.open("never", { create: true }), {
    code: "permission-denied",
  });
});

/** What a sync of {@linkcode SlowFile} takes: a medium is slow by the clock. */
const SYNC_MS = 8;

/** Calls that are counted and cut short, in front of the real ones. */
class SlowCalls implements FileCalls {
  syncs = 0;
  together = 0;
  running = 0;
  failing = false;
  /** What the system says of the next write or sync. */
  refusal: string | undefined;
  readonly closeSync = fs.closeSync;
  readonly fstatSync = fs.fstatSync;
  readonly ftruncateSync = fs.ftruncateSync;

  readonly readSync = ((
    file: number,
    target: Uint8Array,
    at: number,
    length: number,
    position: number,
  ) =>
    fs.readSync(
      file,
      target,
      at,
      Math.min(length, 3),
      position,
    )) as typeof fs.readSync;

  readonly writeSync = ((
    file: number,
    bytes: Uint8Array,
    at: number,
    length: number,
    position: number,
  ) => {
    this.#refuse();
    return fs.writeSync(file, bytes, at, Math.min(length, 3), position);
  }) as typeof fs.writeSync;

  fdatasyncSync(): void {
    this.#refuse();
    this.syncs++;
    const until = performance.now() + SYNC_MS;
    while (performance.now() < until);
  }

  readonly fdatasync = ((
    _file: number,
    done: (cause: Error | null) => void,
  ) => {
    this.syncs++;
    this.together = Math.max(this.together, ++this.running);
    pause(SYNC_MS).then(() => {
      this.running--;
      done(this.failing ? new Error("no more") : null);
    });
  }) as typeof fs.fdatasync;

  #refuse(): void {
    if (this.refusal === undefined) return;
    throw Object.assign(new Error("refused"), { code: this.refusal });
  }
}

function openSlow(path: string): { slow: SlowCalls; file: DiskFile } {
  const slow = new SlowCalls();
  const descriptor = fs.openSync(`${path}/slow`, "w+");
  const file = new DiskFile(slow, descriptor, "slow", new SyncPace());
  return { slow, file };
}

Deno.test("writeAt() and readAt() continue where the system stops short", () =>
  withFolder((path) => {
    const { file } = openSlow(path);
    const bytes = Uint8Array.from({ length: 20 }, (_, i) => i);
    file.writeAt(bytes, 2);
    const target = new Uint8Array(20);
    equal(file.readAt(target, 2), 20);
    deepEqual(target, bytes);
    file.close();
  }));

Deno.test("writeAt() on a full medium fails, and may succeed later", () =>
  withFolder((path) => {
    const { slow, file } = openSlow(path);
    slow.refusal = "ENOSPC";
    throws(() => file.writeAt(new Uint8Array(10), 0), (error) => {
      ok(error instanceof DatabaseError);
      equal(error.code, "storage-full");
      match(error.message, /Free some space/);
      ok(error.cause instanceof Error);
      return true;
    });
    slow.refusal = undefined;
    file.writeAt(new Uint8Array(10), 0);
    equal(file.size(), 10);
    file.close();
  }));

Deno.test("sync() that failed makes its handle read-only, though the next would succeed", () =>
  withFolder((path) => {
    const { slow, file } = openSlow(path);
    slow.refusal = "EIO";
    throws(() => file.sync(), { code: "storage-failed" });
    slow.refusal = undefined;
    throws(() => file.sync(), { code: "storage-readonly" });
    throws(() => file.writeAt(new Uint8Array(1), 0), {
      code: "storage-readonly",
    });
    throws(() => file.truncate(0), { code: "storage-readonly" });
    file.close();
  }));

Deno.test("sync() leaves the thread once the medium is slow, one at a time", () =>
  withFolder(async (path) => {
    const { slow, file } = openSlow(path);
    equal(file.sync(), undefined, "the first one is tried synchronously");
    const all = Array.from({ length: 10 }, () => file.sync());
    ok(all.every((one) => one instanceof Promise));
    await Promise.all(all);
    equal(slow.together, 1);
    equal(slow.syncs, 3, "one, one more, and one for all who asked meanwhile");
    file.close();
  }));

Deno.test("sync() of a file of a medium that others found slow leaves the thread at once", () =>
  withFolder(async (path) => {
    const slow = new SlowCalls();
    const storage = diskStorageOver({
      ...diskCalls()!,
      fdatasyncSync: () => slow.fdatasyncSync(),
      fdatasync: slow.fdatasync,
    }, path);
    const [one, other] = ["a", "b"].map((name) =>
      storage.open(name, { create: true })!
    );
    equal(one!.sync(), undefined, "the first one is tried synchronously");
    const flight = other!.sync();
    ok(flight instanceof Promise, "nobody tries again");
    await flight;
    equal(slow.syncs, 2);
    for (const file of [one, other]) file!.close();
  }));

Deno.test("sync() that meets others leaves the thread at once, so that they run side by side", () =>
  withFolder(async (path) => {
    const slow = new SlowCalls();
    // One fake behind two files counts what runs together.
    const pace = new SyncPace();
    const files = ["a", "b"].map((name) =>
      new DiskFile(slow, fs.openSync(`${path}/${name}`, "w+"), name, pace)
    );
    const flights = files.map((file) => file.sync(true));
    equal(slow.running, 2);
    await Promise.all(flights);
    equal(slow.together, 2);
    slow.fdatasyncSync = () => void slow.syncs++;
    equal(files[0]?.sync(), undefined, "a lone one still blocks");
    equal(slow.syncs, 3);
    for (const file of files) file.close();
  }));

Deno.test("sync() that meets others and fails makes its handle read-only", () =>
  withFolder(async (path) => {
    const { slow, file } = openSlow(path);
    slow.failing = true;
    const flight = file.sync(true);
    await rejects(flight ?? Promise.resolve(), { code: "storage-failed" });
    slow.failing = false;
    throws(() => file.sync(true), { code: "storage-readonly" });
    throws(() => file.sync(), { code: "storage-readonly" });
    throws(() => file.writeAt(new Uint8Array(1), 0), {
      code: "storage-readonly",
    });
    file.close();
  }));

Deno.test("sync() that fails later makes its handle read-only too", () =>
  withFolder(async (path) => {
    const { slow, file } = openSlow(path);
    file.sync();
    slow.failing = true;
    const first = file.sync();
    const second = file.sync();
    await rejects(first!, { code: "storage-failed" });
    await rejects(second!, { code: "storage-failed" });
    throws(() => file.writeAt(new Uint8Array(1), 0), {
      code: "storage-readonly",
    });
    file.close();
  }));

Deno.test("storageFailure() maps the system's codes", () => {
  const codes = {
    ENOSPC: "storage-full",
    EDQUOT: "storage-full",
    EROFS: "storage-readonly",
    EACCES: "permission-denied",
    EPERM: "permission-denied",
    ENOTDIR: "invalid-path",
    EISDIR: "invalid-path",
    EIO: "storage-failed",
  };
  for (const [code, wanted] of Object.entries(codes)) {
    const cause = Object.assign(new Error("why"), { code });
    const error = storageFailure("write x", cause);
    equal(error.code, wanted, code);
    equal(error.cause, cause);
    match(error.message, /^Cannot write x: why\. [A-Z]/);
  }
  equal(storageFailure("x", "text").code, "storage-failed");
});
