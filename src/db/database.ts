/** Opening a database in Deno: on a folder, or on any medium. */

import { indexes } from "../query/indexes.ts";
import { lateIndexes } from "../query/late_indexes.ts";
import { diskStorage } from "../storage/disk_storage.ts";
import { indexedDoor, relayDoor } from "../../repo/admission/serving_door.ts";
import type { Database } from "./face.ts";
import { openOn } from "./medium.ts";
import { openFiles } from "./open_files.ts";
import type { DatabaseOptions } from "./options.ts";

export type { Database } from "./face.ts";
export type { DatabaseOptions } from "./options.ts";
export type { DatabaseStorage, StorageStatus } from "./storage_status.ts";

// What pages load when they need it is here from the start.
lateIndexes.provide(indexes);

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
  return await openOn(options, {
    folder: diskStorage,
    open: (files) => openFiles(files, indexedDoor),
  });
}

/** As {@linkcode openDatabase}, for who serves others: where nothing is judged by items, none is folded before somebody asks. */
export async function openServed(options: DatabaseOptions): Promise<Database> {
  return await openOn(options, {
    folder: diskStorage,
    open: (files) => openFiles(files, relayDoor),
  });
}
