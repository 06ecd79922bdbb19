/**
 * Sheaf: an offline-first, synchronizing database for Deno and browsers.
 *
 * ```ts
 * import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";
 *
 * const Task = defineSchema("task", {
 *   title: field.string(),
 *   done: field.boolean().default(false),
 * });
 *
 * await using db = await openDatabase({ storage: memoryStorage(), schemas: [Task] });
 * const repo = await db.repository("team/acme");
 * const tasks = repo.collection(Task);
 * await tasks.create({ title: "Ship it" });
 * console.log(tasks.where({ done: false }).run());
 * ```
 *
 * @module
 */

export * from "./src/db/exports.ts";
export { type DatabaseOptions, openDatabase } from "./src/db/database.ts";
export type { ScrubPace } from "./repo/mod.ts";
export { diskStorage } from "./src/storage/disk_storage.ts";
