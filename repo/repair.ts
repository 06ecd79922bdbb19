/**
 * Opening a repository whose log is damaged, for repair: everything that still
 * connects is kept, everything else set aside.
 *
 * Few ever need it: it is loaded when somebody asks for it.
 *
 * Architecture invariant: a repair destroys nothing.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import {
  checkpointName,
  listCheckpoints,
  openCheckpoint,
} from "./checkpoint/checkpoint.ts";
import type {
  LoadedReplica,
  LoadParts,
  OpenReplicaOptions,
} from "./replica_open.ts";

/** Loads a repository over a checkpoint, or without one. */
export type Load = (
  options: OpenReplicaOptions,
  parts: LoadParts,
) => Promise<LoadedReplica | undefined>;

/**
 * A repair reads the whole log, whatever a checkpoint says of it. Where the log
 * must be cut, the checkpoints are set aside first: they tell of bytes that
 * will be others afterwards.
 */
export async function loadRepaired(
  options: OpenReplicaOptions,
  folder: string,
  names: readonly string[],
  load: Load,
): Promise<LoadedReplica | undefined> {
  const { storage } = options;
  const skipped = listCheckpoints(names).map((number) => ({
    name: checkpointName(number),
    reason: "a repair reads the whole log",
  }));
  const parts = { folder, names, late: {}, checkpoint: undefined, skipped };
  const covered = coveredBy(options, folder, names);
  let isEmpty = false;
  try {
    const loaded = await load({ ...options, repair: false }, parts);
    isEmpty = loaded === undefined;
    if ((loaded?.log.end ?? 0) >= covered) return loaded;
    await loaded?.log.close();
  } catch (cause) {
    const isDamage = cause instanceof DatabaseError &&
      (cause.code === "log-damaged" || cause.code === "format-unknown");
    if (!isDamage) throw cause;
  }
  for (const { name } of skipped) {
    storage.rename(`${folder}/${name}`, `${folder}/quarantine-${name}`);
  }
  storage.syncFolder(folder);
  if (isEmpty) return undefined;
  const loaded = await load(options, parts);
  const [newest] = skipped;
  if (loaded === undefined || newest === undefined) return loaded;
  const { recovery } = loaded;
  const quarantine = recovery.quarantine ?? `quarantine-${newest.name}`;
  return { ...loaded, recovery: { ...recovery, quarantine } };
}

/** How much of the log the newest sound checkpoint says that it covers. */
function coveredBy(
  { storage, viewOf }: OpenReplicaOptions,
  folder: string,
  names: readonly string[],
): number {
  const { checkpoint } = openCheckpoint(
    storage,
    folder,
    () => 0,
    viewOf,
    names,
  );
  checkpoint?.close();
  return checkpoint?.covers ?? 0;
}
