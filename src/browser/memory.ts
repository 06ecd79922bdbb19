/**
 * A database that is gone with its page; loaded when one is asked for.
 *
 * @module
 */

import { lateDoor } from "../../repo/admission/door.ts";
import type { Database } from "../db/face.ts";
import { openFilesAs } from "../db/local_database.ts";
import { Repository, type RepositoryParts } from "../db/repository.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import "./failure.ts";
import "./locks.ts";
import "./route.ts";
import "./route.ts";
import "./tab_left.ts";
import "./tab_session.ts";
import type { TabOptions } from "./open.ts";

// As in src/db/online.ts.

/** Opens a database in memory. */
export async function openMemory(options: TabOptions): Promise<Database> {
  const make = (parts: RepositoryParts) => new Repository(parts);
  const door = lateDoor(() => import("../db/online.ts"));
  const storage = memoryStorage();
  return await openFilesAs({ make, door }, { ...options, storage });
}
