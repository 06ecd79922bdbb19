/**
 * Opening a database in Deno: on a folder, or on any medium.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { indexes } from "../query/indexes.ts";
import { lateIndexes } from "../query/late_indexes.ts";
import { diskStorage } from "../storage/disk_storage.ts";
import type { Storage } from "../storage/storage.ts";
import { indexedDoor } from "../../repo/admission/serving_door.ts";
import type { Database } from "./face.ts";
import { openFiles } from "./open_files.ts";
import { type DatabaseOptions, sharedOptions } from "./options.ts";

export type { Database } from "./face.ts";
export type { DatabaseOptions } from "./options.ts";
export type { DatabaseStorage, StorageStatus } from "./storage_status.ts";

// What pages load when they need it is here from the start.
lateIndexes.provide(indexes);

const databaseOptions = {
  ...sharedOptions,
  path: 0,
  storage: 0,
  rootSecret: 0,
  mayIssue: 0,
  repair: 0,
  readOnly: 0,
  scrub: 0,
  world: 0,
};

const paceOptions = { stepBytes: 0, stepMs: 0, everyMs: 0 };

/**
 * Opens a database folder, or makes it.
 *
 * @example
 * ```ts
 * import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";
 *
 * const Note = defineSchema("note", { text: field.string() });
 * await using db = await openDatabase({ storage: memoryStorage(), schemas: [Note] });
 * const notes = (await db.repository("me")).collection(Note);
 * await notes.create({ text: "hello" });
 * ```
 *
 * @throws {DatabaseError} `database-locked` when another process has it open,
 * `invalid-path`, `permission-denied` and `storage-readonly` (both may be read with
 * `readOnly`), `format-too-new`, `root-key-mismatch`,
 * `invalid-option`, `invalid-schema`
 */
export async function openDatabase(
  options: DatabaseOptions,
): Promise<Database> {
  const { scrub = false } = checkOptions(options, databaseOptions);
  if (typeof scrub !== "boolean") checkOptions(scrub, paceOptions, "scrub.");
  const medium = storageOf(options);
  const storage = options.readOnly === true
    ? (await import("../storage/read_only_storage.ts")).readOnlyStorage(medium)
    : medium;
  return await openFiles({ ...options, storage }, indexedDoor);
}

/** The medium that the options name. */
function storageOf(
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
