/**
 * The calls of the system that a folder of a disk needs: Deno's own, or
 * `node:fs`, whose names and codes of errors they have.
 *
 * Deno has `node:fs`, too, and is as quick with it, once it is loaded: that takes
 * longer (26 ms of CPU) than to open a database and read from it.
 */

import { builtin } from "../base/system.ts";

export interface FileMarks {
  readonly dev: number | bigint;
  readonly ino: number | bigint | null;
  readonly birthtimeMs: number | bigint;
}

export interface FolderEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
}

export interface DiskCalls {
  readonly constants: {
    readonly O_CREAT: number;
    readonly O_RDONLY: number;
    readonly O_RDWR: number;
    readonly O_NONBLOCK?: number;
  };
  openSync(path: string, flags: number | "r", mode?: number): number;
  closeSync(file: number): void;
  fstatSync(
    file: number,
    options?: { bigint: true },
  ): FileMarks & { readonly size: number | bigint };
  readSync(
    file: number,
    target: Uint8Array,
    at: number,
    length: number,
    position: number,
  ): number;
  writeSync(
    file: number,
    bytes: Uint8Array,
    at: number,
    length: number,
    position: number,
  ): number;
  ftruncateSync(file: number, length: number): void;
  fsyncSync(file: number): void;
  fsync(file: number, then: (failure: Error | null) => void): void;
  fdatasyncSync(file: number): void;
  fdatasync(file: number, then: (failure: Error | null) => void): void;
  readdirSync(path: string, options: { withFileTypes: true }): FolderEntry[];
  mkdirSync(path: string, options: { recursive: true; mode: number }): unknown;
  statSync(
    path: string,
    options?: { bigint: true },
  ): FileMarks & { isDirectory(): boolean };
  renameSync(from: string, to: string): void;
  rmdirSync(path: string): void;
  unlinkSync(path: string): void;
}

export function diskCalls(): DiskCalls | undefined {
  const { Deno: deno } = globalThis as { Deno?: DenoFileSystem };
  if (deno?.openSync !== undefined) return denoCalls(deno);
  return builtin<typeof import("node:fs")>("node:fs") as DiskCalls | undefined;
}

interface DenoStat {
  readonly isDirectory: boolean;
  readonly size: number;
  readonly dev: number;
  readonly ino: number | null;
  readonly birthtime: Date | null;
}

interface DenoFile {
  readSync(target: Uint8Array): number | null;
  writeSync(bytes: Uint8Array): number;
  seekSync(offset: number, whence: number): number;
  statSync(): DenoStat;
  truncateSync(length: number): void;
  syncSync(): void;
  sync(): Promise<void>;
  syncDataSync(): void;
  syncData(): Promise<void>;
  close(): void;
}

/** What is used of Deno, whose types packages for other runtimes do not have. */
interface DenoFileSystem {
  openSync(path: string, options: {
    readonly read: true;
    readonly write: boolean;
    readonly create: boolean;
    readonly mode?: number;
  }): DenoFile;
  readDirSync(path: string): Iterable<
    { name: string; isFile: boolean; isDirectory: boolean }
  >;
  mkdirSync(path: string, options: { recursive: true; mode: number }): void;
  statSync(path: string): DenoStat;
  renameSync(from: string, to: string): void;
  removeSync(path: string): void;
}

/** A file that is open, and where its next byte is read or written: -1 when that is not known. */
interface Opened {
  readonly file: DenoFile;
  position: number;
}

const SEEK_START = 0;
const constants = { O_RDONLY: 0, O_RDWR: 2, O_CREAT: 64 } as const;

function denoCalls(deno: DenoFileSystem): DiskCalls {
  return { constants, ...fileCalls(deno), ...folderCalls(deno) };
}

type FolderCalls = Pick<
  DiskCalls,
  | "mkdirSync"
  | "readdirSync"
  | "renameSync"
  | "rmdirSync"
  | "statSync"
  | "unlinkSync"
>;

function folderCalls(deno: DenoFileSystem): FolderCalls {
  return {
    readdirSync: (path) =>
      Array.from(deno.readDirSync(path), (entry) => ({
        name: entry.name,
        isFile: () => entry.isFile,
        isDirectory: () => entry.isDirectory,
      })),
    mkdirSync: (path, options) => deno.mkdirSync(path, options),
    statSync(path) {
      const stat = deno.statSync(path);
      return { ...marksOf(stat), isDirectory: () => stat.isDirectory };
    },
    renameSync: (from, to) => deno.renameSync(from, to),
    rmdirSync: (path) => deno.removeSync(path),
    unlinkSync: (path) => deno.removeSync(path),
  };
}

type FileCalls = Omit<DiskCalls, keyof FolderCalls | "constants">;

function fileCalls(deno: DenoFileSystem): FileCalls {
  const files = new Map<number, Opened>();
  let last = 0;
  const opened = (file: number): Opened => {
    const found = files.get(file);
    if (found === undefined) throw new Error("the file is closed");
    return found;
  };
  /** Moves to `position`, and counts on from there only what went well. */
  const moved = (
    one: Opened,
    position: number,
    move: (file: DenoFile) => number,
  ): number => {
    const { file } = one;
    if (one.position !== position) file.seekSync(position, SEEK_START);
    one.position = -1;
    const count = move(file);
    one.position = position + count;
    return count;
  };
  return {
    openSync(path, flags, mode) {
      const bits = flags === "r" ? constants.O_RDONLY : flags;
      const file = deno.openSync(path, {
        read: true,
        write: (bits & constants.O_RDWR) !== 0,
        create: (bits & constants.O_CREAT) !== 0,
        ...mode !== undefined && { mode },
      });
      files.set(++last, { file, position: 0 });
      return last;
    },
    closeSync(file) {
      opened(file).file.close();
      files.delete(file);
    },
    fstatSync: (file) => marksOf(opened(file).file.statSync()),
    readSync: (file, target, at, length, position) =>
      moved(
        opened(file),
        position,
        (one) => one.readSync(target.subarray(at, at + length)) ?? 0,
      ),
    writeSync: (file, bytes, at, length, position) =>
      moved(
        opened(file),
        position,
        (one) => one.writeSync(bytes.subarray(at, at + length)),
      ),
    ftruncateSync: (file, length) => opened(file).file.truncateSync(length),
    fsyncSync: (file) => opened(file).file.syncSync(),
    fsync: (file, then) =>
      void opened(file).file.sync().then(() => then(null), then),
    fdatasyncSync: (file) => opened(file).file.syncDataSync(),
    fdatasync: (file, then) =>
      void opened(file).file.syncData().then(() => then(null), then),
  };
}

function marksOf({ size, dev, ino, birthtime }: DenoStat) {
  return { size, dev, ino, birthtimeMs: birthtime?.getTime() ?? 0 };
}
