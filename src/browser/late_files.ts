/**
 * A database of a page whose files are with the page itself; loaded when one is
 * opened.
 */

import { lateDoor } from "../../repo/admission/door.ts";
import type { Database } from "../db/face.ts";
import { type FilesOptions, openFilesAs } from "../db/local_database.ts";
import { Repository, type RepositoryParts } from "../db/repository.ts";

export { openOn } from "../db/medium.ts";
export { memoryStorage } from "../storage/memory_storage.ts";

/** Opens a database, and loads what talks to others when it does. */
export function openFiles(options: FilesOptions): Promise<Database> {
  const make = (parts: RepositoryParts) => new Repository(parts);
  const door = lateDoor(() => import("../db/online.ts"));
  return openFilesAs({ make, door }, options);
}
