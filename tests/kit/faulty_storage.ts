/**
 * A storage in memory that fails when it is told to, and that can be asked what
 * a power cut would have left of it.
 *
 * The crash model is harsher than a disk: until `sync` returns, each 512-byte
 * sector of each write may be on the medium or not, in any order; until
 * `syncFolder` returns, so may each created, renamed or removed name. What a
 * sync covered stays. A failed sync may have kept nothing.
 *
 * @module
 */

import { DatabaseError, type ErrorCode } from "../../src/base/errors.ts";
import { InstanceLock } from "../../src/storage/instance_lock.ts";
import {
  checkFileName,
  checkFolderName,
  filesIn,
  folderOf,
  foldersIn,
} from "../../src/storage/names.ts";
import type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "../../src/storage/storage.ts";
import { CrashFile } from "./crash_file.ts";
import { filesOf, restored } from "./images.ts";
import { seededRandom } from "./random.ts";

/** When and how to fail. Operations that change or sync anything count from 1. */
export interface FaultyOptions {
  /** This operation fails and has no effect. */
  readonly failAt?: number;
  /** This operation fails when a part of its bytes is written. */
  readonly shortenAt?: number;
  /** From this operation on nothing works any more: the process has died. */
  readonly freezeAt?: number;
  /** Code of the injected errors (default: `storage-failed`). */
  readonly code?: ErrorCode;
  /** Syncs return a promise, as on a slow medium; a function says when each of them is done. */
  readonly slow?: boolean | ((done: () => void) => void);
  /** What tells this medium from a copy of it (default: "faulty"). */
  readonly identity?: string;
}

/**
 * What a power cut leaves of unsynced changes: nothing, everything, or a subset
 * that a seed chooses.
 */
export type Kept = "synced" | "all" | number;

/** A change of names that `syncFolder` has not made durable yet. */
interface NameChange {
  readonly folder: string;
  readonly apply: (names: Names) => void;
}

interface Names {
  readonly files: Map<string, CrashFile>;
  readonly folders: Set<string>;
}

/** An empty storage that fails as `options` say. */
export function faultyStorage(options: FaultyOptions = {}): FaultyStorage {
  return new FaultyStorage(options);
}

/** See {@linkcode faultyStorage}. */
export class FaultyStorage implements Storage {
  readonly #options: FaultyOptions;
  #live: Names = { files: new Map(), folders: new Set([""]) };
  #durable: Names = { files: new Map(), folders: new Set([""]) };
  #changes: NameChange[] = [];
  readonly #lock = new InstanceLock();
  #failNext = 0;
  #failsSync = false;
  #failsSyncs = false;
  #readsToFailure = Infinity;
  #isFrozen = false;
  /** Can files no longer grow? */
  isFull = false;
  /** Operations so far that changed or synced anything. */
  operations = 0;

  /** @param options when to fail */
  constructor(options: FaultyOptions) {
    this.#options = options;
  }

  open(name: string, options: OpenFileOptions = {}): StorageFile | undefined {
    checkFileName(name);
    let file = this.#live.files.get(name);
    if (file === undefined) {
      if (options.create !== true) return undefined;
      this.#checkFolder(folderOf(name));
      this.step();
      const created = new CrashFile();
      file = created;
      this.#change(folderOf(name), ({ files }) => files.set(name, created));
    }
    return new FaultyFile(this, file);
  }

  list(folder: string): string[] {
    return filesIn(this.#live.files.keys(), folder);
  }

  folders(folder: string): string[] {
    return foldersIn(this.#live.files.keys(), folder);
  }

  makeFolder(folder: string): void {
    checkFolderName(folder);
    if (this.#live.folders.has(folder)) return;
    this.makeFolder(folderOf(folder));
    this.step();
    this.#change(folderOf(folder), ({ folders }) => folders.add(folder));
  }

  syncFolder(folder: string, mayWait = false): void | Promise<void> {
    checkFolderName(folder);
    this.#checkFolder(folder);
    this.step();
    const covered = this.#changes.filter((one) => one.folder === folder);
    if (!mayWait || !this.isSlow) return this.#settle(covered);
    return new Promise((resolve) =>
      this.finishSync(() => {
        if (this.isFrozen) return;
        this.#settle(covered);
        resolve();
      })
    );
  }

  #settle(covered: readonly NameChange[]): void {
    const left = new Set(this.#changes);
    for (const change of covered) {
      if (left.delete(change)) change.apply(this.#durable);
    }
    this.#changes = [...left];
  }

  rename(from: string, to: string): void {
    checkFileName(from);
    checkFileName(to);
    const file = this.#live.files.get(from);
    if (file === undefined) throw this.failure(`rename ${from}: it is missing`);
    this.#checkFolder(folderOf(to));
    this.step();
    this.#change(folderOf(to), ({ files }) => {
      files.delete(from);
      files.set(to, file);
    });
  }

  remove(name: string): void {
    checkFileName(name);
    if (!this.#live.files.has(name)) return;
    this.step();
    this.#change(folderOf(name), ({ files }) => files.delete(name));
  }

  lock(): () => void {
    return this.#lock.take();
  }

  identity(): string {
    return this.#options.identity ?? "faulty";
  }

  usage(): StorageUsage {
    return { backend: "faulty", persisted: false };
  }

  /** What is there after the power was cut now. */
  powerCut(kept: Kept): Storage {
    const random = typeof kept === "number" ? seededRandom(kept) : undefined;
    const share = random === undefined ? 0 : random();
    const isKept = () => random === undefined ? false : random() < share;
    const names: Names = {
      files: new Map(this.#durable.files),
      folders: new Set(this.#durable.folders),
    };
    for (const { apply } of this.#changes) {
      if (kept === "all" || isKept()) apply(names);
    }
    const images: [string, Uint8Array][] = [];
    for (const [name, file] of names.files) {
      if (!isReachable(name, names.folders)) continue;
      images.push([name, file.image(kept, random)]);
    }
    return restored(images, this.identity());
  }

  /** Takes the files of `folder` from another storage, durable; counts nothing. */
  adopt(other: Storage, folder: string): void {
    for (const [name, bytes] of filesOf(other, folder)) this.#put(name, bytes);
  }

  /** Counts an operation, and fails when its time has come. */
  step(): void {
    const { failAt, shortenAt, freezeAt } = this.#options;
    const now = ++this.operations;
    if (
      now === failAt || now === this.#failNext || now === shortenAt ||
      now >= (freezeAt ?? Infinity) || this.#isFrozen
    ) {
      throw this.failure(`go on at operation ${now}`);
    }
  }

  /** As {@linkcode step}, for a sync. */
  stepSync(): void {
    if (this.#failsSyncs || this.#failsSync) this.failNext();
    this.#failsSync = false;
    this.step();
  }

  /** Makes every sync of a file fail, or none. */
  failSyncs(fail: boolean): void {
    this.#failsSyncs = fail;
  }

  /** Makes the next sync of a file fail. */
  failNextSync(): void {
    this.#failsSync = true;
  }

  /** Makes the next operation fail. */
  failNext(): void {
    this.failIn(1);
  }

  /** Makes one of the next operations fail: 1 is the very next. */
  failIn(operations: number): void {
    this.#failNext = this.operations + operations;
  }

  /** Makes one of the next reads fail: 1 is the very next; `Infinity`: none. */
  failReadIn(reads: number): void {
    this.#readsToFailure = reads;
  }

  /** Counts a read, and fails when its time has come. */
  countRead(): void {
    if (--this.#readsToFailure === 0) throw this.failure("read");
  }

  /** A storage with what is there after the power was cut now, all of it durable. */
  afterPowerCut(kept: Kept, options: FaultyOptions = {}): FaultyStorage {
    const { slow = false } = this.#options;
    const identity = this.identity();
    const storage = new FaultyStorage({ slow, identity, ...options });
    for (const [name, bytes] of filesOf(this.powerCut(kept))) {
      storage.#put(name, bytes);
    }
    return storage;
  }

  /** What a process finds when this one has died: all of it is there, and what was not synced still is not durable. */
  nextProcess(): FaultyStorage {
    const { slow = false } = this.#options;
    this.freeze();
    const storage = new FaultyStorage({ slow, identity: this.identity() });
    storage.#live = this.#live;
    storage.#durable = this.#durable;
    storage.#changes = this.#changes;
    return storage;
  }

  /** As a page cache does after a failed sync: what the medium did not take shows on, and is not tried again. */
  loseUnsynced(): void {
    for (const file of this.#live.files.values()) file.lose();
  }

  /** Changes one byte on the medium, behind everybody's back. */
  spoil(name: string, at: number, byte: number): void {
    const file = this.#live.files.get(name)!;
    file.write(Uint8Array.of(byte), at);
    file.sync(file.pending);
  }

  /** Flips one bit on the medium: which one in which file, two numbers in [0, 1) say. Gives the file's name. */
  rot(file: number, bit: number): string | undefined {
    const files = [...this.#live.files].filter(([, { length }]) => length > 0);
    const found = files[Math.floor(file * files.length)];
    if (found === undefined) return undefined;
    const [name, { length }] = found;
    const at = Math.floor(bit * length * 8);
    const byte = new Uint8Array(1);
    found[1].read(byte, at >> 3);
    this.spoil(name, at >> 3, byte[0]! ^ (1 << (at & 7)));
    return name;
  }

  /** Removes all files whose names match, durably. */
  removeAll(pattern: RegExp): void {
    for (const { files } of [this.#live, this.#durable]) {
      for (const name of [...files.keys()]) {
        if (pattern.test(name)) files.delete(name);
      }
    }
  }

  #put(name: string, bytes: Uint8Array): void {
    const file = new CrashFile();
    file.write(bytes, 0);
    file.sync(file.pending);
    for (const names of [this.#live, this.#durable]) {
      names.files.set(name, file);
      for (let at = folderOf(name); at !== ""; at = folderOf(at)) {
        names.folders.add(at);
      }
    }
  }

  /** Will the next operation be cut short? */
  get isShortenedNext(): boolean {
    return this.operations + 1 === this.#options.shortenAt;
  }

  /** Do syncs return a promise? */
  get isSlow(): boolean {
    return this.#options.slow !== undefined && this.#options.slow !== false;
  }

  /** Runs what a slow sync does at its end. */
  finishSync(done: () => void): void {
    const { slow } = this.#options;
    if (typeof slow === "function") slow(done);
    else queueMicrotask(done);
  }

  /** Nothing works any more, and no sync that is under way ends: the process has died. */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Is the process dead? */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Fails, without effect, when a file that is to grow finds no room. */
  checkRoom(length: number, wanted: number): void {
    if (!this.isFull || wanted <= length) return;
    throw new DatabaseError("storage-full", "Cannot write: the disk is full");
  }

  /** The injected error. */
  failure(what: string): DatabaseError {
    const code = this.#options.code ?? "storage-failed";
    return new DatabaseError(code, `Cannot ${what}: it was told to fail.`);
  }

  #change(folder: string, apply: (names: Names) => void): void {
    apply(this.#live);
    this.#changes.push({ folder, apply });
  }

  #checkFolder(folder: string): void {
    if (this.#live.folders.has(folder)) return;
    throw new DatabaseError("storage-failed", `No such folder: ${folder}`);
  }
}

/** Do all folders above `name` exist? */
function isReachable(name: string, folders: ReadonlySet<string>): boolean {
  for (let at = folderOf(name); at !== ""; at = folderOf(at)) {
    if (!folders.has(at)) return false;
  }
  return true;
}

/** An open file, which fails when its storage does. */
class FaultyFile implements StorageFile {
  readonly #storage: FaultyStorage;
  readonly #file: CrashFile;
  #isLost = false;

  constructor(storage: FaultyStorage, file: CrashFile) {
    this.#storage = storage;
    this.#file = file;
  }

  size(): number {
    return this.#file.length;
  }

  readAt(target: Uint8Array, offset: number): number {
    this.#storage.countRead();
    return this.#file.read(target, offset);
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#checkWritable();
    this.#storage.checkRoom(this.#file.length, offset + bytes.length);
    if (this.#storage.isShortenedNext) {
      this.#file.write(bytes.subarray(0, bytes.length >> 1), offset);
    }
    this.#storage.step();
    this.#file.write(bytes, offset);
  }

  truncate(length: number): void {
    this.#checkWritable();
    this.#storage.checkRoom(this.#file.length, length);
    this.#storage.step();
    this.#file.truncate(length);
  }

  sync(): Promise<void> | undefined {
    this.#checkWritable();
    if (!this.#storage.isSlow) return this.#syncNow(this.#file.pending);
    const covered = this.#file.pending;
    return new Promise((resolve, reject) =>
      this.#storage.finishSync(() => {
        if (this.#storage.isFrozen) return;
        try {
          resolve(this.#syncNow(covered));
        } catch (error) {
          reject(error);
        }
      })
    );
  }

  close(): void {}

  #syncNow(covered: number): undefined {
    try {
      this.#storage.stepSync();
    } catch (error) {
      this.#isLost = true;
      throw error;
    }
    this.#file.sync(covered);
  }

  #checkWritable(): void {
    if (!this.#isLost) return;
    throw new DatabaseError("storage-readonly", "An earlier sync failed");
  }
}
