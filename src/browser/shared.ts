/**
 * `@sheaf/sheaf` as a page has it: the same names, light enough for modules that
 * page and server share. Who opens a database on a medium of its own loads the
 * rest.
 */

import type { Database } from "../db/face.ts";
import type { DatabaseOptions } from "../db/options.ts";
import { noFolders } from "../storage/names.ts";
import type { Storage } from "../storage/storage.ts";

export * from "../db/exports.ts";

export async function openDatabase(
  options: DatabaseOptions,
): Promise<Database> {
  const { openFiles, openOn } = await import("./late_files.ts");
  return await openOn(options, { folder: diskStorage, open: openFiles });
}

/** There is no disk here. */
export function diskStorage(path: string): Storage {
  throw noFolders(path);
}
