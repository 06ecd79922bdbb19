/**
 * The exclusive lock of a database folder: an open file that the operating
 * system locks, and lets go of however the process ends.
 *
 * ```text
 * Deno              flock(2), or LockFileEx on Windows, by Deno.FsFile
 * macOS, BSD        O_EXLOCK: flock(2) in open(2)
 * Windows           UV_FS_O_EXLOCK: nobody else may open the file
 * other Unix        flock(1) locks the descriptor that it inherits
 * ```
 *
 * A lock belongs to the open file, which parent and child share: what the
 * program `flock` has locked stays locked when it ends, until this process does.
 * All ways on one system are the same lock, so programs of several runtimes keep
 * each other out.
 */

import { builtin, operatingSystem } from "../base/system.ts";
import type { DiskCalls, FileMarks } from "./disk_calls.ts";

export interface DiskLock {
  /** Of the locked file, wherever it was moved. */
  marks(): FileMarks;
  release(): void;
}

/** What is used of Deno: `node:fs` has no locks. */
interface DenoFiles {
  openSync(path: string, options: Record<string, unknown>): {
    tryLockSync(exclusive: boolean): boolean;
    statSync(): { dev: number; ino: number | null; birthtime: Date | null };
    close(): void;
  };
}

/** `O_EXLOCK` and its like by platform, which `node:fs` hands on and does not name. */
const LOCK_FLAGS: Readonly<Record<string, number>> = {
  darwin: 0x20,
  freebsd: 0x20,
  openbsd: 0x20,
  win32: 0x10000000,
};
/** What the system says of a file that another one has locked. */
const HELD = ["EAGAIN", "EWOULDBLOCK", "EBUSY"];
/** The exit code of `flock --nonblock` for the same. */
const HELD_EXIT = 1;

/** Opens a file, which is made if need be, and locks it; `undefined` when another one has it locked. */
export function lockFile(
  fs: DiskCalls,
  path: string,
  mode: number,
): DiskLock | undefined {
  const { Deno: deno } = globalThis as { Deno?: DenoFiles };
  if (deno?.openSync !== undefined) return denoLock(deno, path, mode);
  const flag = LOCK_FLAGS[operatingSystem()];
  const { O_RDWR, O_CREAT, O_NONBLOCK = 0 } = fs.constants;
  const open = (more: number) =>
    fs.openSync(path, O_RDWR | O_CREAT | more, mode);
  if (flag === undefined) return inheritedLock(fs, open(0));
  try {
    return lockOf(fs, open(flag | O_NONBLOCK));
  } catch (cause) {
    if (HELD.includes((cause as { code?: string }).code ?? "")) {
      return undefined;
    }
    throw cause;
  }
}

function denoLock(
  deno: DenoFiles,
  path: string,
  mode: number,
): DiskLock | undefined {
  const options = { read: true, write: true, create: true, mode };
  const file = deno.openSync(path, options);
  let isLocked = false;
  try {
    isLocked = file.tryLockSync(true);
  } finally {
    if (!isLocked) file.close();
  }
  if (!isLocked) return undefined;
  return {
    marks() {
      const { dev, ino, birthtime } = file.statSync();
      return { dev, ino, birthtimeMs: birthtime?.getTime() ?? 0 };
    },
    release: () => file.close(),
  };
}

function inheritedLock(
  fs: DiskCalls,
  descriptor: number,
): DiskLock | undefined {
  let isLocked = false;
  try {
    isLocked = flock(descriptor);
  } finally {
    if (!isLocked) fs.closeSync(descriptor);
  }
  return isLocked ? lockOf(fs, descriptor) : undefined;
}

function flock(descriptor: number): boolean {
  const processes = builtin<typeof import("node:child_process")>(
    "node:child_process",
  )!;
  const { status, error, stderr } = processes.spawnSync(
    "flock",
    ["-x", "-n", "3"],
    { stdio: ["ignore", "ignore", "pipe", descriptor], encoding: "utf8" },
  );
  if (status === 0) return true;
  if (status === HELD_EXIT) return false;
  const isMissing = (error as { code?: string } | undefined)?.code === "ENOENT";
  const why = isMissing
    ? "the program `flock` is missing (package util-linux, or busybox)"
    : `\`flock\` failed: ${error?.message ?? stderr.trim()}`;
  throw new Error(why, { cause: error });
}

function lockOf(fs: DiskCalls, descriptor: number): DiskLock {
  return {
    marks: () => fs.fstatSync(descriptor, { bigint: true }),
    release: () => fs.closeSync(descriptor),
  };
}
