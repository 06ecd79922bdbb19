/**
 * A folder of a Deno file system as a storage.
 *
 * Never reads what the files mean. Makes no system call that opening an
 * existing database does not need: the folder is made when its lock finds none.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { DenoFile } from "./deno_file.ts";
import { storageFailure } from "./failure.ts";
import { checkFileName, checkFolderName } from "./names.ts";
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
export function denoStorage(path: string, isReadOnly = false): Storage {
  if (path === "" || path.includes("\0")) {
    throw new DatabaseError(
      "invalid-path",
      `Cannot use ${
        JSON.stringify(path)
      } as a database folder: give the path of a folder`,
    );
  }
  return new DenoStorage(path.replace(/(?<=.)\/+$/, ""), isReadOnly);
}

class DenoStorage implements Storage {
  readonly #path: string;
  readonly #isReadOnly: boolean;
  #lockFile: Deno.FsFile | undefined;

  constructor(path: string, isReadOnly: boolean) {
    this.#path = path;
    this.#isReadOnly = isReadOnly;
  }

  open(name: string, options: OpenFileOptions = {}): StorageFile | undefined {
    checkFileName(name);
    const path = this.#at(name);
    const create = options.create === true;
    try {
      const file = Deno.openSync(path, {
        read: true,
        write: !this.#isReadOnly,
        create,
        ...create && { mode: FILE_MODE },
      });
      return new DenoFile(file, path);
    } catch (cause) {
      if (!create && cause instanceof Deno.errors.NotFound) return undefined;
      throw storageFailure(`open ${path}`, cause);
    }
  }

  list(folder: string): string[] {
    return this.#entries(folder, (entry) => entry.isFile);
  }

  folders(folder: string): string[] {
    return this.#entries(folder, (entry) => entry.isDirectory);
  }

  #entries(folder: string, fits: (entry: Deno.DirEntry) => boolean): string[] {
    checkFolderName(folder);
    const path = this.#at(folder);
    const names: string[] = [];
    try {
      for (const entry of Deno.readDirSync(path)) {
        if (fits(entry)) names.push(entry.name);
      }
    } catch (cause) {
      if (cause instanceof Deno.errors.NotFound) return [];
      throw storageFailure(`list ${path}`, cause);
    }
    return names;
  }

  makeFolder(folder: string): void {
    checkFolderName(folder);
    const path = this.#at(folder);
    try {
      Deno.mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
    } catch (cause) {
      throw storageFailure(`make folder ${path}`, cause);
    }
  }

  /** Makes the folder itself, and those above it that are missing: their names are durable when this returns. */
  #makeRoot(): void {
    const parents: string[] = [];
    for (let at = this.#path; isMissing(at);) {
      at = parentOf(at);
      parents.push(at);
    }
    this.makeFolder("");
    for (const parent of parents) if (mayRead(parent)) syncPath(parent);
  }

  syncFolder(folder: string): void {
    checkFolderName(folder);
    syncPath(this.#at(folder));
  }

  rename(from: string, to: string): void {
    checkFileName(from);
    checkFileName(to);
    try {
      Deno.renameSync(this.#at(from), this.#at(to));
    } catch (cause) {
      throw storageFailure(`rename ${this.#at(from)} to ${to}`, cause);
    }
  }

  remove(name: string): void {
    checkFileName(name);
    try {
      Deno.removeSync(this.#at(name));
    } catch (cause) {
      if (cause instanceof Deno.errors.NotFound) return;
      throw storageFailure(`remove ${this.#at(name)}`, cause);
    }
  }

  lock(): () => void {
    const file = this.#openLock();
    if (!this.#tryLock(file)) {
      file.close();
      throw new DatabaseError(
        "database-locked",
        `Cannot open ${this.#path}: another process or handle has it open. ` +
          `Close that one first, or use its handle.`,
      );
    }
    this.#lockFile = file;
    return () => {
      if (this.#lockFile !== file) return;
      this.#lockFile = undefined;
      file.close(); // which gives the lock back
    };
  }

  identity(): string {
    try {
      const { dev, ino, birthtime } = this.#lockFile?.statSync() ??
        Deno.statSync(this.#at(LOCK));
      // A number of a removed file is soon used again; its time of birth is not.
      return `${dev}:${ino}:${birthtime?.getTime() ?? 0}`;
    } catch (cause) {
      throw storageFailure(`identify ${this.#path}`, cause);
    }
  }

  usage(): StorageUsage {
    return { backend: "deno", persisted: true };
  }

  #at(name: string): string {
    return name === "" ? this.#path : `${this.#path}/${name}`;
  }

  #openLock(): Deno.FsFile {
    const path = this.#at(LOCK);
    const options = { read: true, write: true, create: true, mode: FILE_MODE };
    try {
      return Deno.openSync(path, options);
    } catch (cause) {
      if (!(cause instanceof Deno.errors.NotFound)) {
        throw storageFailure(`open ${path}`, cause);
      }
    }
    this.#makeRoot();
    try {
      return Deno.openSync(path, options);
    } catch (cause) {
      throw storageFailure(`open ${path}`, cause);
    }
  }

  #tryLock(file: Deno.FsFile): boolean {
    try {
      return file.tryLockSync(true);
    } catch (cause) {
      file.close();
      throw storageFailure(`lock ${this.#path}`, cause);
    }
  }
}

/** Makes the names in a folder durable. */
function syncPath(path: string): void {
  if (Deno.build.os === "windows") return; // directories cannot be opened there
  try {
    const directory = Deno.openSync(path);
    try {
      directory.syncSync();
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw storageFailure(`sync folder ${path}`, cause);
  }
}

/** Its folder: at last the root, or where the process stands. */
function parentOf(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at < 0 ? "." : at === 0 ? "/" : path.slice(0, at);
}

function isMissing(path: string): boolean {
  try {
    Deno.statSync(path);
    return false;
  } catch (cause) {
    return cause instanceof Deno.errors.NotFound;
  }
}

/** A program may have no right to more than its own folder, whose name is then as durable as the system makes it. */
function mayRead(path: string): boolean {
  try {
    Deno.openSync(path).close();
    return true;
  } catch {
    return false;
  }
}
