/**
 * Opening a database in Deno: on a folder, or on any medium.
 *
 * @module
 */

import { checkOptions } from "../base/known_options.ts";
import { indexedDoor } from "../../repo/serving_door.ts";
import type { Database } from "./face.ts";
import { openFiles } from "./open_files.ts";
import { type DatabaseOptions, sharedOptions } from "./options.ts";
import { storageOf } from "./storage_of.ts";

export type { Database } from "./face.ts";
export type { DatabaseOptions } from "./options.ts";
export type { DatabaseStorage, StorageStatus } from "./storage_status.ts";

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
  const medium = storageOf(checkOptions(options, databaseOptions));
  const storage = options.readOnly === true
    ? (await import("../storage/read_only_storage.ts")).readOnlyStorage(medium)
    : medium;
  return await openFiles({ ...options, storage }, indexedDoor);
}
