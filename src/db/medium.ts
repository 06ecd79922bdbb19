/**
 * Opening a database on a folder or on any medium: the same checks for who has
 * all code at hand and for a page, which loads it.
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import type { Storage } from "../storage/storage.ts";
import type { Database } from "./face.ts";
import type { FilesOptions } from "./local_database.ts";
import { type DatabaseOptions, sharedOptions } from "./options.ts";

const databaseOptions = {
  path: 0,
  storage: 0,
  ...sharedOptions,
  rootSecret: 0,
  mayIssue: 0,
  repair: 0,
  readOnly: 0,
  scrub: 0,
  world: 0,
};

const paceOptions = { stepBytes: 0, stepMs: 0, everyMs: 0 };

/** What differs. */
export interface Opener {
  /** The folder at a path; throws where there are none. */
  readonly folder: (path: string, isReadOnly: boolean) => Storage;
  readonly open: (options: FilesOptions) => Promise<Database>;
}

export async function openOn(
  options: DatabaseOptions | undefined = {},
  { folder, open }: Opener,
): Promise<Database> {
  const { scrub = false } = checkOptions(options, databaseOptions);
  if (typeof scrub !== "boolean") checkOptions(scrub, paceOptions, "scrub.");
  const medium = mediumOf(options, folder);
  const storage = options.readOnly === true
    ? (await import("../storage/read_only_storage.ts")).readOnlyStorage(medium)
    : medium;
  return await open({ ...options, storage });
}

function mediumOf(
  { path, storage, readOnly }: DatabaseOptions,
  folder: Opener["folder"],
): Storage {
  if ((path === undefined) === (storage === undefined)) {
    throw new DatabaseError(
      "invalid-option",
      "Give openDatabase() either a folder, { path: … }, or a medium, { storage: … }",
    );
  }
  if (typeof storage?.lock === "function") return storage;
  if (storage !== undefined) {
    throw new DatabaseError(
      "invalid-option",
      "`storage` must be a medium, such as memoryStorage(); a folder is named by `path`",
    );
  }
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new DatabaseError("invalid-path", "`path` must name a folder");
  }
  return folder(path, readOnly === true);
}
