/**
 * The files of one repository in a tab: an image in memory, whose log is durable
 * when the owner of the real files says so.
 */

import { memoryStorage } from "../storage/memory_storage.ts";
import type { OpenFileOptions, StorageFile } from "../storage/storage.ts";
import { StorageOver } from "../storage/storage_over.ts";
import type { ImageFile } from "./messages.ts";

/** Makes what was written so far durable elsewhere. */
export type SyncElsewhere = () => Promise<void> | undefined;

export class TabStorage extends StorageOver {
  /** What a sync of any file waits for. */
  sync: SyncElsewhere = () => undefined;

  /** @param files whole names and contents */
  constructor(files: Iterable<readonly [name: string, bytes: Uint8Array]>) {
    super(memoryStorage(files));
  }

  override open(
    name: string,
    options?: OpenFileOptions,
  ): StorageFile | undefined {
    const file = super.open(name, options);
    if (file === undefined) return undefined;
    file.sync = () => this.sync();
    return file;
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
