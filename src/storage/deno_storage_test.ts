import {
  deepEqual,
  equal,
  match,
  ok,
  rejects,
  throws,
} from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { DenoFile } from "./deno_file.ts";
import { denoStorage } from "./deno_storage.ts";
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

Deno.test("denoStorage() refuses a path that is no path", () => {
  throws(() => denoStorage(""), { code: "invalid-path" });
  throws(() => denoStorage("a\0b"), { code: "invalid-path" });
});

Deno.test("lock() makes the folder of a new database", () =>
  withFolder((path) => {
    const unlock = denoStorage(`${path}/deep/data/`).lock();
    ok(Deno.statSync(`${path}/deep/data/lock`).isFile);
    unlock();
  }));

/** Runs a task and gives the paths of the folders that it synced. */
function syncedBy(task: () => void): string[] {
  const paths = new Map<Deno.FsFile, string>();
  const synced: string[] = [];
  const { openSync, FsFile: { prototype } } = Deno;
  const { syncSync } = prototype;
  Deno.openSync = (path, options) => {
    const file = openSync(path, options);
    if (Deno.statSync(path).isDirectory) paths.set(file, `${path}`);
    return file;
  };
  prototype.syncSync = function () {
    const path = paths.get(this);
    if (path !== undefined) synced.push(path);
    syncSync.call(this);
  };
  try {
    task();
  } finally {
    Deno.openSync = openSync;
    prototype.syncSync = syncSync;
  }
  return synced;
}

Deno.test({
  name:
    "lock() makes the names of new folders durable, up to one that was there",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFolder((path) => {
      const make = () => denoStorage(`${path}/deep/data`).lock()();
      deepEqual(syncedBy(make), [`${path}/deep`, path]);
      deepEqual(syncedBy(make), []);
    }),
});

Deno.test("lock() of a path that is a file fails with invalid-path", () =>
  withFolder((path) => {
    Deno.writeTextFileSync(`${path}/file`, "x");
    throws(() => denoStorage(`${path}/file`).lock(), { code: "invalid-path" });
    throws(() => denoStorage(`${path}/file/sub`).lock(), {
      code: "invalid-path",
    });
    throws(() => denoStorage(`${path}/file`).list(""), {
      code: "invalid-path",
    });
    equal(Deno.readTextFileSync(`${path}/file`), "x");
  }));

Deno.test("lock() is refused while another process has it, and free after its end", () =>
  withFolder(async (path) => {
    const module = new URL("./deno_storage.ts", import.meta.url).href;
    const program = `
      import { denoStorage } from ${JSON.stringify(module)};
      denoStorage(${JSON.stringify(path)}).lock();
      console.log("locked");
      await Deno.stdin.readable.getReader().read();
    `;
    await using child = new Child(["eval", program], { hasInput: true });
    await child.said(/locked/);
    throws(() => denoStorage(path).lock(), { code: "database-locked" });
    child.kill();
    await child.ended;
    denoStorage(path).lock()();
  }));

Deno.test("identity() differs for a copy of the folder", () =>
  withFolder((path) => {
    const one = denoStorage(`${path}/one`);
    const unlock = one.lock();
    Deno.mkdirSync(`${path}/two`);
    Deno.copyFileSync(`${path}/one/lock`, `${path}/two/lock`);
    const two = denoStorage(`${path}/two`);
    const unlockTwo = two.lock();
    ok(one.identity() !== two.identity());
    unlock();
    equal(one.identity(), denoStorage(`${path}/one`).identity());
    unlockTwo();
  }));

Deno.test({
  name: "files and folders are readable by their owner only",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFolder((path) => {
      const storage = denoStorage(`${path}/new/folder`);
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
  const storage = denoStorage(".");
  throws(() => storage.open("never", { create: true }), {
    code: "permission-denied",
  });
});

/** What a sync of {@linkcode SlowFile} takes: a medium is slow by the clock. */
const SYNC_MS = 8;

/** A file whose calls are counted and cut short, in front of a real one. */
class SlowFile {
  syncs = 0;
  together = 0;
  running = 0;
  failing = false;
  /** What the system says of the next write or sync. */
  refusal: string | undefined;
  readonly real: Deno.FsFile;

  constructor(real: Deno.FsFile) {
    this.real = real;
  }

  seekSync(offset: number, whence: Deno.SeekMode): number {
    return this.real.seekSync(offset, whence);
  }

  readSync(target: Uint8Array): number | null {
    return this.real.readSync(target.subarray(0, 3));
  }

  writeSync(bytes: Uint8Array): number {
    this.#refuse();
    return this.real.writeSync(bytes.subarray(0, 3));
  }

  syncDataSync(): void {
    this.#refuse();
    this.syncs++;
    const until = performance.now() + SYNC_MS;
    while (performance.now() < until);
  }

  async syncData(): Promise<void> {
    this.syncs++;
    this.together = Math.max(this.together, ++this.running);
    await pause(SYNC_MS);
    this.running--;
    if (this.failing) throw new Error("no more");
  }

  close(): void {
    this.real.close();
  }

  #refuse(): void {
    if (this.refusal === undefined) return;
    throw Object.assign(new Error("refused"), { code: this.refusal });
  }
}

function openSlow(path: string): { slow: SlowFile; file: DenoFile } {
  const slow = new SlowFile(
    Deno.openSync(`${path}/slow`, { read: true, write: true, create: true }),
  );
  // The class has private members, which no other class can be given.
  const file = new DenoFile(slow as unknown as Deno.FsFile, "slow");
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

Deno.test("sync() that meets others leaves the thread at once, so that they run side by side", () =>
  withFolder(async (path) => {
    const slow = new SlowFile(
      Deno.openSync(`${path}/a`, { read: true, write: true, create: true }),
    );
    // One fake behind two files counts what runs together.
    const files = ["a", "b"].map((name) =>
      new DenoFile(slow as unknown as Deno.FsFile, name)
    );
    const flights = files.map((file) => file.sync(true));
    equal(slow.running, 2);
    await Promise.all(flights);
    equal(slow.together, 2);
    slow.syncDataSync = () => void slow.syncs++;
    equal(files[0]?.sync(), undefined, "a lone one still blocks");
    equal(slow.syncs, 3);
    slow.real.close();
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
