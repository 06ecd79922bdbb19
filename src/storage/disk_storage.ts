/**
 * A folder of a disk as a storage, for every runtime that has one.
 *
 * Never reads what the files mean. Makes no system call that opening an
 * existing database does not need: the folder is made when its lock finds none.
 */

import { DatabaseError } from "../base/errors.ts";
import { operatingSystem } from "../base/system.ts";
import { type DiskCalls, diskCalls, type FolderEntry } from "./disk_calls.ts";
import { DiskFile, SyncPace } from "./disk_file.ts";
import { type DiskLock, lockFile } from "./disk_lock.ts";
import { storageFailure } from "./failure.ts";
import { checkFileName, checkFolderName, noFolders } from "./names.ts";
import type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "./storage.ts";

const LOCK = "lock";
/** Whoever may read a log may read everything in it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * The folder at `path` as a storage; it is made by the first `lock` or
 * `makeFolder`. Folders within it are made by `makeFolder` alone. Files of one
 * that is only read are opened without the right to write.
 */
export function diskStorage(path: string, isReadOnly = false): Storage {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new DatabaseError(
      "invalid-path",
      `Cannot use ${
        JSON.stringify(path)
      } as a database folder: give the path of a folder`,
    );
  }
  const fs = diskCalls();
  if (fs === undefined) {
    throw noFolders(path);
  }
  return diskStorageOver(fs, path, isReadOnly);
}

/** {@linkcode diskStorage} over given calls of the system. */
export function diskStorageOver(
  calls: DiskCalls,
  path: string,
  isReadOnly = false,
): Storage {
  return new DiskStorage(calls, path.replace(/(?<=.)\/+$/, ""), isReadOnly);
}

class DiskStorage implements Storage {
  readonly #fs: DiskCalls;
  readonly #path: string;
  readonly #isReadOnly: boolean;
  readonly #pace = new SyncPace();
  #lock: DiskLock | undefined;

  constructor(fs: DiskCalls, path: string, isReadOnly: boolean) {
    this.#fs = fs;
    this.#path = path;
    this.#isReadOnly = isReadOnly;
  }

  open(name: string, options: OpenFileOptions = {}): StorageFile | undefined {
    checkFileName(name);
    const fs = this.#fs;
    const path = this.#at(name);
    const { O_CREAT, O_RDONLY, O_RDWR } = fs.constants;
    const create = options.create === true;
    const flags = this.#isReadOnly ? O_RDONLY : O_RDWR;
    try {
      const descriptor = create
        ? fs.openSync(path, flags | O_CREAT, FILE_MODE)
        : fs.openSync(path, flags);
      return new DiskFile(fs, descriptor, path, this.#pace);
    } catch (cause) {
      if (!create && isMissing(cause)) return undefined;
      throw storageFailure(`open ${path}`, cause);
    }
  }

  list(folder: string): string[] {
    return this.#entries(folder, (entry) => entry.isFile());
  }

  folders(folder: string): string[] {
    return this.#entries(folder, (entry) => entry.isDirectory());
  }

  #entries(folder: string, fits: (entry: FolderEntry) => boolean): string[] {
    checkFolderName(folder);
    const path = this.#at(folder);
    try {
      const entries = this.#fs.readdirSync(path, { withFileTypes: true });
      return entries.filter(fits).map(({ name }) => name);
    } catch (cause) {
      if (isMissing(cause)) return [];
      throw storageFailure(`list ${path}`, cause);
    }
  }

  makeFolder(folder: string): void {
    checkFolderName(folder);
    const path = this.#at(folder);
    try {
      this.#fs.mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
    } catch (cause) {
      throw storageFailure(`make folder ${path}`, cause);
    }
  }

  /** Makes the folder itself, and those above it that are missing: their names are durable when this returns. */
  #makeRoot(): void {
    const parents: string[] = [];
    for (let at = this.#path; this.#lacks(at);) {
      at = parentOf(at);
      parents.push(at);
    }
    this.makeFolder("");
    for (const parent of parents) {
      if (this.#mayRead(parent)) this.#syncPath(parent);
    }
  }

  #lacks(path: string): boolean {
    try {
      this.#fs.statSync(path);
      return false;
    } catch (cause) {
      return isMissing(cause);
    }
  }

  /** A program may have no right to more than its own folder, whose name is then as durable as the system makes it. */
  #mayRead(path: string): boolean {
    try {
      this.#fs.closeSync(this.#fs.openSync(path, "r"));
      return true;
    } catch {
      return false;
    }
  }

  syncFolder(folder: string, mayWait = false): void | Promise<void> {
    checkFolderName(folder);
    const path = this.#at(folder);
    return mayWait ? this.#syncMeanwhile(path) : this.#syncPath(path);
  }

  async #syncMeanwhile(path: string): Promise<void> {
    if (operatingSystem() === "win32") return; // folders cannot be opened there
    const fs = this.#fs;
    try {
      const folder = fs.openSync(path, "r");
      try {
        await new Promise<void>((resolve, reject) =>
          fs.fsync(folder, (cause) => cause ? reject(cause) : resolve())
        );
      } finally {
        fs.closeSync(folder);
      }
    } catch (cause) {
      throw storageFailure(`sync folder ${path}`, cause);
    }
  }

  #syncPath(path: string): void {
    if (operatingSystem() === "win32") return; // folders cannot be opened there
    const fs = this.#fs;
    try {
      const folder = fs.openSync(path, "r");
      try {
        fs.fsyncSync(folder);
      } finally {
        fs.closeSync(folder);
      }
    } catch (cause) {
      throw storageFailure(`sync folder ${path}`, cause);
    }
  }

  rename(from: string, to: string): void {
    checkFileName(from);
    checkFileName(to);
    try {
      this.#fs.renameSync(this.#at(from), this.#at(to));
    } catch (cause) {
      throw storageFailure(`rename ${this.#at(from)} to ${to}`, cause);
    }
  }

  remove(name: string): void {
    checkFileName(name);
    const fs = this.#fs;
    const path = this.#at(name);
    try {
      if (fs.statSync(path).isDirectory()) fs.rmdirSync(path);
      else fs.unlinkSync(path);
    } catch (cause) {
      if (isMissing(cause)) return;
      throw storageFailure(`remove ${path}`, cause);
    }
  }

  lock(): () => void {
    const lock = this.#tryLock();
    if (lock === undefined) {
      throw new DatabaseError(
        "database-locked",
        `Cannot open ${this.#path}: another process or handle has it open. ` +
          `Close that one first, or use its handle.`,
      );
    }
    this.#lock = lock;
    return () => {
      if (this.#lock !== lock) return;
      this.#lock = undefined;
      lock.release();
    };
  }

  #tryLock(): DiskLock | undefined {
    const path = this.#at(LOCK);
    try {
      return lockFile(this.#fs, path, FILE_MODE);
    } catch (cause) {
      if (!isMissing(cause)) throw storageFailure(`lock ${path}`, cause);
    }
    this.#makeRoot();
    try {
      return lockFile(this.#fs, path, FILE_MODE);
    } catch (cause) {
      throw storageFailure(`lock ${path}`, cause);
    }
  }

  identity(): string {
    try {
      const { dev, ino, birthtimeMs } = this.#lock?.marks() ??
        this.#fs.statSync(this.#at(LOCK), { bigint: true });
      // A number of a removed file is soon used again; its time of birth is not.
      return `${dev}:${ino}:${birthtimeMs}`;
    } catch (cause) {
      throw storageFailure(`identify ${this.#path}`, cause);
    }
  }

  usage(): StorageUsage {
    return { backend: "disk", persisted: true };
  }

  #at(name: string): string {
    return name === "" ? this.#path : `${this.#path}/${name}`;
  }
}

function isMissing(cause: unknown): boolean {
  return (cause as { code?: unknown } | null)?.code === "ENOENT";
}

/** Its folder: at last the root, or where the process stands. */
function parentOf(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}
