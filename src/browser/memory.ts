/**
 * A database that is gone with its page; loaded when one is asked for.
 *
 * @module
 */

// As in src/db/online.ts.
import "./failure.ts";
import "./parse_message.ts";
import "./route.ts";
import "./tab_left.ts";
import "./tab_session.ts";
import type { Database } from "../db/face.ts";
import { openFiles } from "../db/open_files.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import type { TabOptions } from "./open.ts";

/** Opens a database in memory. */
export async function openMemory(options: TabOptions): Promise<Database> {
  return await openFiles({ ...options, storage: memoryStorage() });
}
