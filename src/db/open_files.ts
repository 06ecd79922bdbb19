/** Opening a database whose files are here, with all that users hold. */

import type { Door } from "../../repo/mod.ts";
import { servingDoor } from "../../repo/admission/serving_door.ts";
import type { Database } from "./face.ts";
import { type FilesOptions, openFilesAs } from "./local_database.ts";
import { Repository, type RepositoryParts } from "./repository.ts";

/** Opens a database whose files are here, with the door that is worth its code there. */
export function openFiles(
  options: FilesOptions,
  door: Door = servingDoor,
): Promise<Database> {
  const make = (parts: RepositoryParts) => new Repository(parts);
  return openFilesAs({ make, door }, options);
}
