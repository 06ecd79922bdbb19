/**
 * Opening a pool: behind its door, from the fence to the new table's root, in
 * the order that docs/format-opfs.md proves.
 */

import { storageFailure } from "./failure.ts";
import { Fence, type Root } from "./opfs_guard.ts";
import type { PoolFile } from "./opfs_file.ts";
import { Table } from "./opfs_names.ts";
import { isHeld, openHandle, Pool } from "./opfs_pool.ts";
import { OpfsStorage } from "./opfs_storage.ts";
import {
  fileId,
  IDENTITY_BYTES,
  parseFileId,
  readTable,
  type TableContent,
} from "./opfs_table.ts";
import {
  type AccessHandle,
  type AccessOptions,
  nameOf,
  type OpfsFolder,
  writeAll,
} from "./opfs_types.ts";

const FOLDER = "sheaf";
/** Between two tries to get a handle that somebody else has. */
const RETRY_MS = 10;
const COPY_BYTES = 1 << 20;

/** Where files without a name go when a table was damaged. */
const LOST = "lost";

/** Opens the pool of a database, and fences whoever has it open. */
export async function openOpfs(
  directory: OpfsFolder,
  name: string,
  waitMs: number,
): Promise<OpfsStorage> {
  const until = performance.now() + waitMs;
  const create = { create: true };
  try {
    const all = await directory.getDirectoryHandle(FOLDER, create);
    const folder = await all.getDirectoryHandle(name, create);
    const storage = await openBehindDoor(folder, until);
    try {
      await storage.start();
      return storage;
    } catch (cause) {
      await storage.close();
      throw cause;
    }
  } catch (cause) {
    throw storageFailure(`open the database ${name}`, cause);
  }
}

async function openBehindDoor(
  folder: OpfsFolder,
  until: number,
): Promise<OpfsStorage> {
  const handles: AccessHandle[] = [];
  const door = await acquire(folder, "door", "readwrite", until);
  try {
    const handle = await acquire(folder, "fence", "readwrite-unsafe", until);
    handles.push(handle);
    return await openFenced(folder, handle, handles);
  } catch (cause) {
    for (const handle of handles) handle.close();
    throw cause;
  } finally {
    door.close();
  }
}

/** @param handles takes what must be closed if this fails */
async function openFenced(
  folder: OpfsFolder,
  handle: AccessHandle,
  handles: AccessHandle[],
): Promise<OpfsStorage> {
  const fence = new Fence(handle);
  const before = fence.root();
  fence.raise(before, Date.now());
  const pool = new Pool(folder, fence.term);
  const make = async (mode?: AccessOptions["mode"]): Promise<PoolFile> => {
    const file = await pool.create(mode);
    handles.push(file.handle!);
    return file;
  };
  const [alive, file, old] = await Promise.all([
    make("readwrite"),
    make(),
    before && readOldTable(folder, before),
  ]);
  const names = old?.names ?? new Map<string, string>();
  const isDamaged = before !== undefined && (old?.isDamaged ?? true);
  if (isDamaged) await keepLost(folder, names, fence.term);
  if (before && old) await copyIntended(pool, before, old, handles);
  const identity = before?.identity ?? newIdentity();
  const table = new Table(file, identity, fence.term, names);
  const root = {
    identity,
    sequence: (before?.sequence ?? 0) + 1,
    term: fence.term,
    table: parseFileId(file.id)![1],
  };
  fence.writeRoot(root);
  const canBeStolen = handle.mode === "readwrite-unsafe";
  const opened = { pool, fence, root, table, names, alive, canBeStolen };
  return new OpfsStorage({ ...opened, isDamaged });
}

async function acquire(
  folder: OpfsFolder,
  name: string,
  mode: AccessOptions["mode"],
  until: number,
): Promise<AccessHandle> {
  while (true) {
    try {
      return await openHandle(folder, name, mode);
    } catch (cause) {
      const isTaken = nameOf(cause) === "NoModificationAllowedError";
      if (!isTaken || performance.now() > until) throw cause;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function readOldTable(
  folder: OpfsFolder,
  { identity, term, table }: Root,
): Promise<TableContent | undefined> {
  let handle;
  try {
    const id = fileId(term, table);
    handle = await openHandle(folder, id, "readwrite-unsafe", false);
  } catch (cause) {
    if (nameOf(cause) === "NotFoundError") return undefined;
    throw cause;
  }
  try {
    const bytes = new Uint8Array(handle.getSize());
    const length = handle.read(bytes, { at: 0 });
    return readTable(bytes.subarray(0, length), identity, term);
  } finally {
    handle.close();
  }
}

/** Gives names to the files that a damaged table may have named. */
async function keepLost(
  folder: OpfsFolder,
  names: Map<string, string>,
  term: number,
): Promise<void> {
  const named = new Set(names.values());
  for await (const id of folder.keys()) {
    const made = parseFileId(id)?.[0] ?? term;
    if (made < term && !named.has(id)) names.set(`${LOST}/${id}`, id);
  }
}

/**
 * Leaves the file that an older storage was about to change, if that one still
 * lives: its last write may come at any time, into a file that has no name any more.
 */
async function copyIntended(
  pool: Pool,
  before: Root,
  { intent, names }: TableContent,
  handles: AccessHandle[],
): Promise<void> {
  const name = [...names].find(([, id]) => id === intent)?.[0];
  if (intent === undefined || name === undefined) return;
  if (!await isHeld(pool.folder, fileId(before.term, 0))) return;
  const from = await openHandle(pool.folder, intent, "readwrite-unsafe", false);
  try {
    const copy = await pool.create();
    handles.push(copy.handle!);
    copyBytes(from, copy.handle!);
    copy.handle!.close();
    handles.pop();
    names.set(name, copy.id);
  } finally {
    from.close();
  }
}

function copyBytes(from: AccessHandle, to: AccessHandle): void {
  const size = from.getSize();
  const buffer = new Uint8Array(Math.min(size, COPY_BYTES));
  for (let at = 0; at < size;) {
    const count = from.read(buffer, { at });
    if (count === 0) break; // Its older storage has cut it meanwhile.
    writeAll(to, buffer.subarray(0, count), { at });
    at += count;
  }
  to.flush();
}

function newIdentity(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(IDENTITY_BYTES));
}
