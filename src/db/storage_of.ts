/**
 * The medium that a database is opened on, outside of browsers.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { diskStorage } from "../storage/disk_storage.ts";
import type { Storage } from "../storage/storage.ts";
import type { DatabaseOptions } from "./options.ts";

/** The medium that the options name. */
export function storageOf(
  { path, storage, readOnly }: DatabaseOptions,
): Storage {
  if ((path === undefined) === (storage === undefined)) {
    throw new DatabaseError(
      "invalid-option",
      "Give openDatabase() either `path` or `storage`",
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
  return diskStorage(path, readOnly === true);
}
