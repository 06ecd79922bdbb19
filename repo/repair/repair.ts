/**
 * Opening a repository whose log is damaged, for repair: one flipped bit of a
 * record is set right in place; else everything that still connects is kept,
 * what connects no more is salvaged, and all the rest is set aside.
 *
 * Few ever need it: it is loaded when somebody asks for it.
 *
 * Architecture invariant: a repair destroys nothing.
 */

import { type Checkpoint, openCheckpoint } from "../checkpoint/checkpoint.ts";
import { listCheckpoints } from "../checkpoint/files.ts";
import { isDamage, mendLog } from "../log/mend.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { LoadParts, OpenReplicaOptions } from "../replica_options.ts";
import type { Replay } from "../replay.ts";
import {
  RawLog,
  type SavedState,
  saveState,
} from "../checkpoint/saved_state.ts";
import { encodeGenesis, type Mode } from "../commit/genesis.ts";
import type { Store } from "../log/store.ts";
import { recordKind } from "../log/format.ts";
import type { Recovery } from "../log/recovery.ts";
import { certificatesOf } from "../commit/session.ts";

export interface Openers {
  /** Loads it over a checkpoint, or without one; `undefined` where nothing was there. */
  readonly load: (
    options: OpenReplicaOptions,
    parts: LoadParts,
  ) => Promise<LoadedReplica | undefined>;
  readonly create: (
    options: OpenReplicaOptions,
    folder: string,
  ) => Promise<LoadedReplica>;
}

/**
 * A repair reads the whole log, whatever a checkpoint says of it. Where the log
 * must be cut, the checkpoints are set aside first: they tell of bytes that
 * will be others afterwards. What the newest of them has is kept in mind.
 */
export async function loadRepaired(
  options: OpenReplicaOptions,
  folder: string,
  names: readonly string[],
  { load, create }: Openers,
): Promise<LoadedReplica | undefined> {
  const { storage } = options;
  await mendLog(storage, folder, names);
  const saves = listCheckpoints(names);
  const skipped = saves.map((name) => ({
    name,
    reason: "a repair reads the whole log",
  }));
  const parts = { folder, names, late: {}, checkpoint: undefined, skipped };
  const raw = new RawLog(storage, folder, names);
  let saved: SavedState | undefined;
  const { checkpoint } = openCheckpoint(
    storage,
    folder,
    (target, at) => raw.readAt(target, at),
    options.viewOf,
    saves,
  );
  try {
    const whole = await loadWhole(options, parts, load, checkpoint);
    if (whole !== undefined) return whole;
    saved = checkpoint && saveState(checkpoint);
  } finally {
    checkpoint?.close();
    raw.close();
  }
  for (const { name } of skipped) {
    storage.rename(`${folder}/${name}`, `${folder}/quarantine-${name}`);
  }
  // It speaks of what may be lost: both sides compare all they have.
  for (const name of ["resume", "scrub"]) storage.remove(`${folder}/${name}`);
  storage.syncFolder(folder);
  const left = { ...parts, names: storage.list(folder) };
  const loaded = await load(options, left) ??
    (saved && await create(options, folder));
  const [newest] = skipped;
  if (loaded === undefined || newest === undefined) return loaded;
  const { recovery } = loaded;
  const quarantine = recovery.quarantine ?? `quarantine-${newest.name}`;
  return {
    ...loaded,
    saved,
    recovery: { ...recovery, clean: false, quarantine },
  };
}

/** The log as it is, where it is sound and as long as its checkpoint says. */
async function loadWhole(
  options: OpenReplicaOptions,
  parts: LoadParts,
  load: Openers["load"],
  checkpoint: Checkpoint | undefined,
): Promise<LoadedReplica | undefined> {
  try {
    const loaded = await load({ ...options, repair: false }, parts);
    if ((loaded?.log.end ?? 0) >= (checkpoint?.covers ?? 1)) return loaded;
    await loaded?.log.close();
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
  }
  return undefined;
}

/**
 * Writes what a repair lost of the first records, so that what is behind them
 * still connects. The genesis follows from what the opener knows, and the
 * certificates of its own session are at hand; those of others are gone.
 */
export function restoreStart(
  started: Replay,
  log: Store,
  { survivors }: Recovery,
  options: OpenReplicaOptions,
): void {
  const write = (kind: number, body: Uint8Array) =>
    started.record(kind, body, log.append(kind, [body]));
  if (!started.hasBegun) {
    const { name, rootKey } = options;
    const mode = modeOf(survivors, options.mode);
    write(recordKind.genesis, encodeGenesis({ name, rootKey, mode }));
  }
  for (const { bytes } of certificatesOf(options.session)) {
    if (!started.isCertified(bytes)) write(recordKind.certificate, bytes);
  }
}

/** Between the unsigned modes only the caller knows; in doubt it is the safer one. */
function modeOf(survivors: Recovery["survivors"], mode: Mode): Mode {
  const kinds = new Set(survivors.map(({ kind }) => kind));
  if (kinds.has(recordKind.signedBatch)) return "default";
  const isUnsigned = kinds.has(recordKind.unsignedBatch);
  return isUnsigned && mode === "default" ? "trusted" : mode;
}
