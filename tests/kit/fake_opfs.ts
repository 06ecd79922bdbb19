/**
 * An origin private file system in memory that can be stopped at any step, and
 * that can be asked what a power cut would have left of it.
 *
 * It keeps the rules of the real one: shared handles share, exclusive ones
 * exclude, and a file that somebody has open cannot be removed. The crash model
 * is that of `faultyStorage()`; a file that was never flushed may be missing.
 *
 * @module
 */

import type {
  AccessHandle,
  AccessOptions,
  OpfsFileEntry,
  OpfsFolder,
} from "../../src/storage/opfs_types.ts";
import { CrashFile } from "./crash_file.ts";
import type { Kept } from "./faulty_storage.ts";
import { seededRandom } from "./random.ts";

/** What a write answers in Chromium's private windows where there is no room: -8 without its sign. */
const NO_SPACE = 4_294_967_288;
/** And where the file was removed: -4. */
const REMOVED = 4_294_967_292;

interface Entry {
  readonly file: CrashFile;
  readonly holders: Set<Handle>;
  isFlushed: boolean;
}

/** Thrown by everything a process does after its end. */
export class Died extends Error {}

/** What is on the medium. */
export class FakeOpfs {
  readonly entries = new Map<string, Entry>();
  /** Bytes that all files may have together. */
  quotaBytes = Infinity;
  /** Is it a private window of Chromium? Nothing is thrown there when there is no room. */
  isPrivate = false;
  /** Do browsers of this kind know shared handles? */
  readonly hasShared: boolean;

  constructor({ hasShared = true } = {}) {
    this.hasShared = hasShared;
  }

  /** A process that uses it; `dieAt` is the step that it does not do any more. */
  process(dieAt = Infinity): FakeProcess {
    return new FakeProcess(this, dieAt);
  }

  /** The medium after the power was cut now. */
  powerCut(kept: Kept): FakeOpfs {
    const after = new FakeOpfs({ hasShared: this.hasShared });
    const random = typeof kept === "number" ? seededRandom(kept) : undefined;
    for (const [path, { file, isFlushed }] of this.entries) {
      const isThere = isFlushed || kept === "all" ||
        (random !== undefined && random() < 0.5);
      if (isThere) after.put(path, file.image(kept, random));
    }
    return after;
  }

  /** A durable file. */
  put(path: string, bytes: Uint8Array): void {
    const file = new CrashFile();
    file.write(bytes, 0);
    file.sync(file.pending);
    this.entries.set(path, { file, holders: new Set(), isFlushed: true });
  }

  /** The browser removes everything; handles that are open go on as if nothing had happened. */
  evict(): void {
    for (const { holders } of this.entries.values()) {
      for (const handle of holders) handle.isEvicted = true;
    }
    this.entries.clear();
  }

  /** The bytes that processes see. */
  bytes(path: string): Uint8Array {
    return this.entries.get(path)!.file.image("all", undefined);
  }

  usedBytes(): number {
    let sum = 0;
    for (const { file } of this.entries.values()) sum += file.length;
    return sum;
  }
}

/** One page's worker, say. */
export class FakeProcess {
  readonly opfs: FakeOpfs;
  readonly handles = new Set<Handle>();
  /** Fails the step with this number, once. */
  failAt = Infinity;
  steps = 0;
  readonly #dieAt: number;

  constructor(opfs: FakeOpfs, dieAt: number) {
    this.opfs = opfs;
    this.#dieAt = dieAt;
  }

  get directory(): OpfsFolder {
    return new Folder(this, "");
  }

  get isDead(): boolean {
    return this.steps >= this.#dieAt;
  }

  /** Counts a step; a dead process does none, and holds nothing. */
  step(): void {
    if (!this.isDead) this.steps++;
    if (this.isDead) {
      for (const handle of this.handles) handle.free();
      throw new Died("the process has died");
    }
    if (this.steps === this.failAt) throw exception("InvalidStateError");
  }
}

class Folder implements OpfsFolder {
  readonly #process: FakeProcess;
  readonly #path: string;

  constructor(process: FakeProcess, path: string) {
    this.#process = process;
    this.#path = path;
  }

  getDirectoryHandle(name: string): Promise<OpfsFolder> {
    return this.#do(() => new Folder(this.#process, `${this.#path}${name}/`));
  }

  getFileHandle(
    name: string,
    { create = false } = {},
  ): Promise<OpfsFileEntry> {
    return this.#do(() => {
      const path = this.#path + name;
      const { entries } = this.#process.opfs;
      if (!entries.has(path)) {
        if (!create) throw exception("NotFoundError");
        const file = new CrashFile();
        entries.set(path, { file, holders: new Set(), isFlushed: false });
      }
      return new FileEntry(this.#process, path);
    });
  }

  removeEntry(name: string): Promise<void> {
    return this.#do(() => {
      const { entries } = this.#process.opfs;
      const entry = entries.get(this.#path + name);
      if (entry === undefined) throw exception("NotFoundError");
      if (entry.holders.size > 0) throw exception("NoModificationAllowedError");
      entries.delete(this.#path + name);
    });
  }

  async *keys(): AsyncIterable<string> {
    const start = this.#path;
    for (const path of [...this.#process.opfs.entries.keys()]) {
      await this.#do(() => {});
      if (path.startsWith(start)) yield path.slice(start.length);
    }
  }

  async #do<T>(task: () => T): Promise<T> {
    await Promise.resolve();
    this.#process.step();
    return task();
  }
}

class FileEntry implements OpfsFileEntry {
  readonly #process: FakeProcess;
  readonly #path: string;

  constructor(process: FakeProcess, path: string) {
    this.#process = process;
    this.#path = path;
  }

  async createSyncAccessHandle(options: AccessOptions): Promise<AccessHandle> {
    await Promise.resolve();
    this.#process.step();
    const { entries, hasShared } = this.#process.opfs;
    const entry = entries.get(this.#path);
    if (entry === undefined) throw exception("NotFoundError");
    const mode = hasShared ? options.mode : "readwrite";
    for (const { mode: other } of entry.holders) {
      if (mode === "readwrite" || other === "readwrite") {
        throw exception("NoModificationAllowedError");
      }
    }
    return new Handle(this.#process, entry, mode);
  }
}

class Handle implements AccessHandle {
  readonly mode: AccessOptions["mode"];
  /** Was its file removed with the origin's? Chromium never returns from closing it. */
  isEvicted = false;
  readonly #process: FakeProcess;
  readonly #entry: Entry;

  constructor(
    process: FakeProcess,
    entry: Entry,
    mode: AccessOptions["mode"],
  ) {
    this.#process = process;
    this.#entry = entry;
    this.mode = mode;
    entry.holders.add(this);
    process.handles.add(this);
  }

  read(target: Uint8Array, { at }: { at: number }): number {
    this.#check();
    return this.#entry.file.read(target, at);
  }

  write(bytes: Uint8Array, { at }: { at: number }): number {
    this.#check();
    if (this.isEvicted && this.#process.opfs.isPrivate) return REMOVED;
    const room = this.#roomFor(at + bytes.length);
    this.#process.step();
    const taken = bytes.subarray(0, Math.max(0, room - at));
    if (taken.length > 0) this.#entry.file.write(taken, at);
    return taken.length < bytes.length ? NO_SPACE : bytes.length;
  }

  truncate(size: number): void {
    this.#check();
    const room = this.#roomFor(size);
    this.#process.step();
    if (room < size) return;
    this.#entry.file.truncate(size);
  }

  getSize(): number {
    this.#check();
    return this.#entry.file.length;
  }

  flush(): void {
    this.#check();
    this.#process.step();
    this.#entry.file.sync(this.#entry.file.pending);
    this.#entry.isFlushed = true;
  }

  close(): void {
    if (this.isEvicted) throw new Error("the thread stands still for ever");
    if (!this.#process.isDead) this.free();
  }

  free(): void {
    this.#entry.holders.delete(this);
    this.#process.handles.delete(this);
  }

  #check(): void {
    if (this.#process.isDead) this.#process.step();
    if (!this.#process.handles.has(this)) throw exception("InvalidStateError");
  }

  /** How long the file may be, where it should be `length`. */
  #roomFor(length: number): number {
    const { opfs } = this.#process;
    const grows = length - this.#entry.file.length;
    const lacks = opfs.usedBytes() + grows - opfs.quotaBytes;
    if (grows <= 0 || lacks <= 0) return length;
    if (!opfs.isPrivate) throw exception("QuotaExceededError");
    return Math.max(this.#entry.file.length, length - lacks);
  }
}

function exception(name: string): DOMException {
  return new DOMException(`the fake says ${name}`, name);
}
