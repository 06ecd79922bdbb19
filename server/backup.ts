/**
 * Backup and restore: a copy of a database folder, also while a server writes
 * it.
 *
 * A backup is a folder like any other: the keys, and one log per repository.
 * What it restores to is another replica: it has an identity, a session and an
 * epoch of its own, so that nothing continues what the original may have
 * continued (docs/architecture.md).
 *
 * Architecture invariant: never writes to the source, never overwrites a
 * target, and says nothing was copied that did not read back the same.
 */

import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import type { World } from "../src/base/world.ts";
import { writeWhole } from "../src/storage/small_file.ts";
import type { Storage, StorageFile } from "../src/storage/storage.ts";
import {
  copyLog,
  type LogCopy,
  parseRepositoryName,
  replicaFolder,
  REPOSITORIES,
  SALVAGE,
} from "../repo/mod.ts";
import { SERVER_REPOSITORY } from "./books.ts";

const KEYS = "database";
/** How often, and after how long, a log that was just being written is read again. */
const AGAIN = 5;
const AGAIN_AFTER_MS = 50;

/** What was copied. */
export interface CopyReport {
  readonly repositories: number;
  readonly records: number;
  readonly commits: number;
  readonly bytes: number;
  /** Folders whose log goes on with bytes that are no records: damage, or a write that hangs. */
  readonly suspicious: readonly string[];
}

/**
 * Copies a database to an empty storage and checks the copy.
 *
 * @param world whose timers count the wait for a write that is under way
 */
export async function copyDatabase(
  source: Storage,
  target: Storage,
  world: Pick<World, "after"> = system,
): Promise<CopyReport> {
  const keys = source.open(KEYS);
  if (keys === undefined) {
    throw new DatabaseError(
      "invalid-path",
      'Cannot copy: the folder holds no database (its file "database" is missing)',
    );
  }
  try {
    checkEmpty(target);
    const unlock = target.lock();
    try {
      await copyFile(keys, target, KEYS);
      return await copyLogs(source, target, world);
    } finally {
      unlock();
    }
  } finally {
    keys.close();
  }
}

function checkEmpty(target: Storage): void {
  if (target.list("").length + target.folders("").length === 0) return;
  throw new DatabaseError(
    "invalid-path",
    "Cannot copy into a folder that is not empty: name a new one",
  );
}

/** The keys are secrets: readable by their owner only. */
async function copyFile(
  from: StorageFile,
  target: Storage,
  name: string,
): Promise<void> {
  const bytes = new Uint8Array(from.size());
  from.readAt(bytes, 0);
  await writeWhole(target, name, bytes);
}

async function copyLogs(
  source: Storage,
  target: Storage,
  world: Pick<World, "after">,
): Promise<CopyReport> {
  const total = { repositories: 0, records: 0, commits: 0, bytes: 0 };
  const suspicious: string[] = [];
  target.makeFolder(REPOSITORIES);
  // A revocation is noted in the server's own repository before it is recorded
  // in others: copied last, that one knows of every record that was copied.
  const own = replicaFolder(parseRepositoryName(SERVER_REPOSITORY));
  const folderOf = (name: string) => `${REPOSITORIES}/${name}`;
  const names = source.folders(REPOSITORIES).sort((a, b) =>
    Number(folderOf(a) === own) - Number(folderOf(b) === own)
  );
  for (const name of names) {
    const folder = folderOf(name);
    const copy = await copyOne(source, target, folder, world);
    if (copy === undefined) continue;
    total.repositories++;
    total.records += copy.records;
    total.commits += copy.commits;
    total.bytes += copy.bytes;
    if (copy.leftOutBytes > 0) suspicious.push(name);
  }
  target.syncFolder(REPOSITORIES);
  target.syncFolder("");
  return { ...total, suspicious };
}

/** `undefined` for a folder whose log is not begun yet. */
async function copyOne(
  source: Storage,
  target: Storage,
  folder: string,
  world: Pick<World, "after">,
): Promise<LogCopy | undefined> {
  let copy = await copyLog(source, target, folder);
  for (let i = 0; copy.leftOutBytes > 0 && i < AGAIN; i++) {
    await new Promise<void>((resolve) => world.after(AGAIN_AFTER_MS, resolve));
    copy = await copyLog(source, target, folder);
  }
  // What a repair could not connect is in no log.
  const salvage = source.open(`${folder}/${SALVAGE}`);
  if (salvage !== undefined) {
    await copyFile(salvage, target, `${folder}/${SALVAGE}`);
    salvage.close();
    target.syncFolder(folder);
  }
  return copy.records > 0 ? copy : undefined;
}
