/**
 * The files of a pool by their ids: making, opening, removing.
 *
 * Never reuses a file of another term, whose storage may still live.
 */

import { PoolFile } from "./opfs_file.ts";
import { fileId, parseFileId } from "./opfs_table.ts";
import {
  type AccessHandle,
  type AccessOptions,
  nameOf,
  type OpfsFolder,
  resize,
} from "./opfs_types.ts";

const SHARED = "readwrite-unsafe";

export async function openHandle(
  folder: OpfsFolder,
  name: string,
  mode: AccessOptions["mode"] = SHARED,
  create = true,
): Promise<AccessHandle> {
  const entry = await folder.getFileHandle(name, { create });
  return await entry.createSyncAccessHandle({ mode });
}

export async function isHeld(
  folder: OpfsFolder,
  name: string,
): Promise<boolean> {
  try {
    (await openHandle(folder, name, "readwrite", false)).close();
    return false;
  } catch (error) {
    if (nameOf(error) === "NotFoundError") return false;
    if (nameOf(error) === "NoModificationAllowedError") return true;
    throw error;
  }
}

export class Pool {
  readonly folder: OpfsFolder;
  readonly #term: number;
  #number = 0;

  constructor(folder: OpfsFolder, term: number) {
    this.folder = folder;
    this.#term = term;
  }

  async create(mode: AccessOptions["mode"] = SHARED): Promise<PoolFile> {
    const file = new PoolFile(fileId(this.#term, this.#number++));
    const handle = await openHandle(this.folder, file.id, mode);
    file.handle = handle;
    try {
      // An opening that a power cut undid may have left one of that name.
      if (handle.getSize() > 0) handle.truncate(0);
      return file;
    } catch (cause) {
      handle.close();
      throw cause;
    }
  }

  connect(file: PoolFile): Promise<void> {
    if (file.handle !== undefined) return Promise.resolve();
    file.opening ??= openHandle(this.folder, file.id, SHARED, false)
      .then((handle) => void (file.handle = handle))
      .finally(() => file.opening = undefined);
    return file.opening;
  }

  owns(file: PoolFile): boolean {
    return parseFileId(file.id)?.[0] === this.#term;
  }

  /** Could files grow by so much? Asked by a file that grows, unwritten, and goes. */
  async hasRoom(bytes: number): Promise<boolean> {
    const { id, handle } = await this.create();
    try {
      resize(handle!, bytes);
      return true;
    } catch (error) {
      if (nameOf(error) === "QuotaExceededError") return false;
      throw error;
    } finally {
      handle!.close();
      await this.remove(id);
    }
  }

  /** Removes a file; one that an older storage still has open stays for the next opening. */
  async remove(id: string): Promise<void> {
    await this.folder.removeEntry(id).catch(() => {});
  }

  /** Removes what older terms left and nobody has a name for. */
  async collect(
    isNamed: (id: string) => boolean,
    isOver: () => boolean,
  ): Promise<void> {
    const removals: Promise<void>[] = [];
    for await (const id of this.folder.keys()) {
      if (isOver()) break;
      const term = parseFileId(id)?.[0] ?? this.#term;
      const isLeft = term < this.#term && !isNamed(id);
      if (isLeft) removals.push(this.remove(id));
    }
    await Promise.all(removals);
  }
}
