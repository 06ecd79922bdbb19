/**
 * The files of one repository in a tab: an image in memory, whose log is durable
 * when the owner of the real files says so.
 *
 * @module
 */

import type { ImageFile } from "./messages.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "../storage/storage.ts";

/** Makes what was written so far durable elsewhere. */
export type SyncElsewhere = () => Promise<void> | undefined;

/** An image in memory. */
export class TabStorage implements Storage {
  /** What a sync of any file waits for. */
  sync: SyncElsewhere = () => undefined;
  readonly #files: Storage;

  /** @param files whole names and contents */
  constructor(files: Iterable<readonly [name: string, bytes: Uint8Array]>) {
    this.#files = memoryStorage(files);
  }

  open(name: string, options?: OpenFileOptions): StorageFile | undefined {
    const file = this.#files.open(name, options);
    if (file === undefined) return undefined;
    file.sync = () => this.sync();
    return file;
  }

  list(folder: string): string[] {
    return this.#files.list(folder);
  }

  folders(folder: string): string[] {
    return this.#files.folders(folder);
  }

  makeFolder(folder: string): void {
    this.#files.makeFolder(folder);
  }

  syncFolder(folder: string): void {
    this.#files.syncFolder(folder);
  }

  rename(from: string, to: string): void {
    this.#files.rename(from, to);
  }

  remove(name: string): void {
    this.#files.remove(name);
  }

  lock(): () => void {
    return this.#files.lock();
  }

  identity(): string {
    return this.#files.identity();
  }

  usage(): StorageUsage {
    return this.#files.usage();
  }
}

/** Whole names and contents of what an image has; `undefined` where they cannot be read any more. */
export async function filesOf(
  folder: string,
  image: readonly ImageFile[],
): Promise<[name: string, bytes: Uint8Array][] | undefined> {
  try {
    return await Promise.all(image.map(async ({ name, bytes }) => [
      `${folder}/${name}`,
      bytes instanceof Uint8Array
        ? bytes
        : new Uint8Array(await bytes.arrayBuffer()),
    ]));
  } catch {
    return undefined;
  }
}
