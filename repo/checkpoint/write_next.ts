/**
 * The next checkpoint of a replica, of all that is in its log: loaded with what
 * writes one. When that is due is in `checkpointer.ts`.
 */

import { limits } from "../../src/base/limits.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { World } from "../../src/base/world.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import {
  checkpointName,
  listCheckpoints,
  numberIn,
  outlineName,
  removeOldCheckpoints,
} from "./files.ts";
import { encodeMeta } from "./replica_meta.ts";
import { writeCheckpoint } from "./write.ts";

/** Writes it; `begun` hears its number when it is clear what it holds. */
export async function writeNext(
  { storage, world, loaded, settle }: {
    readonly storage: Storage;
    readonly world: World;
    readonly loaded: LoadedReplica;
    /** Puts everything visible into the log. */
    readonly settle: () => void;
  },
  { after, pausing, begun }: {
    /** A number that its own exceeds. */
    readonly after: number;
    readonly pausing: () => Promise<void> | undefined;
    readonly begun: (number: number) => void;
  },
): Promise<{ readonly path: string; readonly covers: number }> {
  const { commits, folder, log, items, checkpoint } = loaded;
  const { touches } = commits;
  await touches?.settle(pausing);
  settle(); // Others may have written meanwhile.
  commits.hashAll();
  const there = listCheckpoints(storage.list(folder)).map(numberIn);
  const number = Math.max(after, ...there) + 1;
  const { folded } = items;
  const name = folded === undefined
    ? outlineName(number)
    : checkpointName(number);
  const covers = log.end;
  begun(number);
  await writeCheckpoint({
    storage,
    folder,
    world,
    name,
    isWhole: covers <= limits.checkpointWholeBytesMax,
    covers,
    meta: encodeMeta(loaded),
    tables: folded?.tables() ?? [],
    outline: folded ? [] : items.outline!.shapes(limits.fieldsMax),
    readLog: (target, address) => log.readAt(target, address),
    previous: items.base,
    checked: checkpoint,
    touches: touches?.picture(),
    pause: pausing,
    sealed: () => log.sealed >= covers ? undefined : log.sync(),
    settled: () => log.synced >= covers ? undefined : log.sync(),
  });
  return { path: `${folder}/${name}`, covers };
}

/** Removes what a new one replaces, and tells its size. */
export function removeOlder(
  storage: Storage,
  path: string,
): number | undefined {
  const at = path.lastIndexOf("/");
  removeOldCheckpoints(storage, path.slice(0, at), path.slice(at + 1));
  const file = storage.open(path);
  const bytes = file?.size();
  file?.close();
  return bytes;
}
