/**
 * What every storage must do, as plain cases that any test runner and any
 * browser can run.
 *
 * @module
 */

import { DatabaseError, type ErrorCode } from "../../src/base/errors.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";

/** A fresh, empty storage for one case. */
export interface OpenedStorage {
  /** The storage. */
  readonly storage: Storage;
  /** A second handle of the same medium. */
  reopen(): Storage;
  /** Gives everything back. */
  cleanup(): Promise<void>;
}

/** One sentence that must hold. */
export interface ConformanceCase {
  /** The sentence. */
  readonly name: string;
  /** Rejects when it does not hold. */
  run(): Promise<void>;
}

type Check = (opened: OpenedStorage) => void | Promise<void>;

/**
 * The cases for one adapter.
 *
 * @param name of the adapter
 * @param open makes a fresh, empty storage for each case
 */
export function storageConformance(
  name: string,
  open: () => Promise<OpenedStorage>,
): ConformanceCase[] {
  return Object.entries({ ...files, ...folders, ...handles }).map((
    [sentence, check],
  ) => ({
    name: `${name} ${sentence}`,
    async run() {
      const opened = await open();
      try {
        await check(opened);
      } finally {
        await opened.cleanup();
      }
    },
  }));
}

const files: Record<string, Check> = {
  "open() answers undefined for a missing file"({ storage }) {
    expect(storage.open("none") === undefined, "nothing was there to open");
    expect(storage.list("").length === 0, "opening created nothing");
  },
  "open() creates an empty file when asked"({ storage }) {
    const file = create(storage, "a");
    expect(file.size() === 0, "a new file is empty");
    file.close();
    expect(storage.list("").join() === "a", "its name is listed");
  },
  "open() keeps what a file holds"({ storage }) {
    const first = create(storage, "a");
    first.writeAt(bytes(1, 2, 3), 0);
    first.close();
    const second = create(storage, "a");
    expectBytes(second, [1, 2, 3]);
    second.close();
  },
  "writeAt() overwrites, and fills gaps with zeros"({ storage }) {
    const file = create(storage, "a");
    file.writeAt(bytes(1, 2, 3), 0);
    file.writeAt(bytes(9), 1);
    file.writeAt(bytes(5), 5);
    expectBytes(file, [1, 9, 3, 0, 0, 5]);
    file.close();
  },
  "writeAt() copies what it is given"({ storage }) {
    const file = create(storage, "a");
    const given = bytes(1, 2);
    file.writeAt(given, 0);
    given.fill(8);
    expectBytes(file, [1, 2]);
    file.close();
  },
  "readAt() reads what there is and says how much"({ storage }) {
    const file = create(storage, "a");
    file.writeAt(bytes(1, 2, 3), 0);
    const target = bytes(9, 9, 9, 9);
    expect(file.readAt(target, 1) === 2, "two bytes are left from 1 on");
    expect(target.join() === "2,3,9,9", "the rest of the target is untouched");
    expect(file.readAt(target, 3) === 0, "nothing is left at the end");
    expect(file.readAt(target, 99) === 0, "nothing is left behind the end");
    file.close();
  },
  "readAt() and writeAt() may alternate at any offset"({ storage }) {
    const file = create(storage, "a");
    for (let i = 0; i < 100; i++) {
      file.writeAt(bytes(i), i);
      const target = bytes(0);
      file.readAt(target, i >> 1);
      expect(target[0] === i >> 1, "the byte written earlier is read");
    }
    expect(file.size() === 100, "every write landed at its offset");
    file.close();
  },
  "writeAt() takes a megabyte at once"({ storage }) {
    const file = create(storage, "a");
    const large = new Uint8Array(1 << 20).map((_, i) => i * 7);
    file.writeAt(large, 3);
    const read = new Uint8Array(1 << 20);
    expect(file.readAt(read, 3) === read.length, "all of it is read");
    expect(read.every((byte, i) => byte === large[i]), "it is the same");
    file.close();
  },
  "truncate() cuts, and extends with zeros"({ storage }) {
    const file = create(storage, "a");
    file.writeAt(bytes(1, 2, 3), 0);
    file.truncate(1);
    expectBytes(file, [1]);
    file.truncate(3);
    expectBytes(file, [1, 0, 0]);
    file.writeAt(bytes(4), 3);
    expectBytes(file, [1, 0, 0, 4]);
    file.close();
  },
  async "sync() succeeds again and again"({ storage }) {
    const file = create(storage, "a");
    for (let i = 0; i < 5; i++) {
      file.writeAt(bytes(i), i);
      await file.sync();
    }
    await Promise.all([file.sync(), file.sync(), file.sync()]);
    expectBytes(file, [0, 1, 2, 3, 4]);
    file.close();
  },
  async "sync() may be told that other files are synced at the same time"(
    { storage },
  ) {
    const files = ["a", "b", "c"].map((name) => create(storage, name));
    for (let round = 0; round < 3; round++) {
      for (const [at, file] of files.entries()) {
        file.writeAt(bytes(at, round), 0);
      }
      await Promise.all(files.map((file) => file.sync(true)));
    }
    for (const [at, file] of files.entries()) {
      await file.sync();
      expectBytes(file, [at, 2]);
      file.close();
    }
  },
  "close() may be called twice"({ storage }) {
    const file = create(storage, "a");
    file.close();
    file.close();
  },
};

const folders: Record<string, Check> = {
  "makeFolder() makes parents, and may be repeated"({ storage }) {
    storage.makeFolder("a/b/c");
    storage.makeFolder("a/b/c");
    create(storage, "a/b/c/d").close();
    storage.syncFolder("a/b/c");
    storage.syncFolder("");
    expect(storage.list("a/b/c").join() === "d", "the file is in its folder");
  },
  "list() names the files of one folder only"({ storage }) {
    storage.makeFolder("a/b");
    for (const name of ["x", "a/y", "a/z", "a/b/w"]) {
      create(storage, name).close();
    }
    expect(storage.list("").join() === "x", "only files, no folders");
    expect(storage.list("a").toSorted().join() === "y,z", "last segments");
    expect(storage.list("none").length === 0, "a missing folder is empty");
    expect(storage.folders("").join() === "a", "only folders, no files");
    expect(storage.folders("a").join() === "b", "last segments");
    expect(storage.folders("none").length === 0, "a missing folder is empty");
  },
  "rename() replaces its target"({ storage }) {
    const old = create(storage, "old");
    old.writeAt(bytes(1), 0);
    old.close();
    const target = create(storage, "new");
    target.writeAt(bytes(2, 2), 0);
    target.close();
    storage.rename("old", "new");
    expect(storage.list("").join() === "new", "the old name is gone");
    const file = create(storage, "new");
    expectBytes(file, [1]);
    file.close();
  },
  "rename() of a missing file fails"({ storage }) {
    expectCode("storage-failed", () => storage.rename("none", "new"));
  },
  "remove() removes, and does not mind a missing file"({ storage }) {
    create(storage, "a").close();
    storage.remove("a");
    storage.remove("a");
    expect(storage.list("").length === 0, "it is gone");
  },
  "remove() removes a folder that is empty"({ storage }) {
    storage.makeFolder("a/b");
    create(storage, "a/b/c").close();
    storage.remove("a/b/c");
    storage.remove("a/b");
    storage.remove("a/b");
    expect(storage.folders("a").length === 0, "it is gone");
    storage.makeFolder("a/b");
    create(storage, "a/b/c").close();
    expect(storage.list("a/b").join() === "c", "it can be made again");
  },
  "names that could leave the storage are refused"({ storage }) {
    const bad = ["", ".", "..", "../a", "a/..", "a/./b", "/a", "a/", "a//b"];
    for (const name of [...bad, "a\\b", "a b", "é", "a\0", "a\n"]) {
      expectCode("invalid-path", () => storage.open(name, { create: true }));
      expectCode("invalid-path", () => storage.remove(name));
      expectCode("invalid-path", () => storage.rename("a", name));
      if (name === "") continue; // the storage itself
      expectCode("invalid-path", () => storage.makeFolder(name));
      expectCode("invalid-path", () => storage.list(name));
      expectCode("invalid-path", () => storage.syncFolder(name));
    }
  },
};

const handles: Record<string, Check> = {
  "reopen() sees what the first handle wrote"({ storage, reopen }) {
    const file = create(storage, "a");
    file.writeAt(bytes(1, 2), 0);
    file.close();
    const again = create(reopen(), "a");
    expectBytes(again, [1, 2]);
    again.close();
  },
  "lock() is exclusive until it is given back"({ storage, reopen }) {
    const unlock = storage.lock();
    expectCode("database-locked", () => storage.lock());
    expectCode("database-locked", () => reopen().lock());
    unlock();
    const other = reopen();
    const unlockOther = other.lock();
    unlock(); // a second call does not take the lock from the other handle
    expectCode("database-locked", () => storage.lock());
    unlockOther();
    storage.lock()();
  },
  "identity() stays the same over a reopening"({ storage, reopen }) {
    const unlock = storage.lock();
    const identity = storage.identity();
    expect(identity.length > 0, "there is one");
    unlock();
    const other = reopen();
    const unlockOther = other.lock();
    expect(other.identity() === identity, "it is the same storage");
    unlockOther();
  },
  "usage() names the backend"({ storage }) {
    expect(storage.usage().backend.length > 0, "there is a name");
  },
};

function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values);
}

function create(storage: Storage, name: string): StorageFile {
  const file = storage.open(name, { create: true });
  expect(file !== undefined, `${name} can be created`);
  return file;
}

/** Fails where something does not hold. */
export function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`Does not hold: ${what}`);
}

function expectBytes(file: StorageFile, wanted: readonly number[]): void {
  const found = new Uint8Array(wanted.length + 1);
  const count = file.readAt(found, 0);
  const text = found.subarray(0, count).join();
  expect(text === wanted.join(), `the file holds ${wanted}, not ${text}`);
  expect(file.size() === wanted.length, `its size is ${wanted.length}`);
}

/** Fails where a call does not fail with a code. */
export function expectCode(code: ErrorCode, task: () => unknown): void {
  try {
    task();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    expect(error.code === code, `the code is ${code}, not ${error.code}`);
    return;
  }
  expect(false, `a call fails with ${code}`);
}
