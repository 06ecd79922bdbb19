/**
 * Opening a repository: checkpoint first, then the log after it; or its first
 * records, where there is nothing yet.
 *
 * Own seals are not verified again: the log's checksums say that the bytes are
 * those that were admitted. `verify.ts` does the whole work on request.
 *
 * Architecture invariant: without its checkpoint a repository opens to the same
 * state, only later (law 5).
 */

import { lateRich } from "../src/schema/late_rich.ts";
import type { Storage } from "../src/storage/storage.ts";
import { Certificates } from "./commit/certificate.ts";
import type {
  Checkpoint,
  OpenedCheckpoint,
  SkippedCheckpoint,
} from "./checkpoint/checkpoint.ts";
import { listCheckpoints, wholeCheckpoints } from "./checkpoint/files.ts";
import { lateReading } from "./checkpoint/late_reading.ts";
import type { Constraints } from "./admission/constraints.ts";
import type { Door } from "./admission/door.ts";
import { encodeGenesis, folderOf } from "./commit/genesis.ts";
import { CommitReader } from "./history/commit_reader.ts";
import { createLog, openLog } from "./log/log.ts";
import type { Store, StoreReader } from "./log/store.ts";
import { DAMAGED, recordKind, REWRITING, SALVAGE } from "./log/format.ts";
import type { Recovery } from "./log/recovery.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { LoadParts, OpenReplicaOptions } from "./replica_options.ts";
import { type Over, Replay, replayed } from "./replay.ts";
import type { Salvage } from "./repair/salvage.ts";
import { introduce, sessionName } from "./commit/session.ts";
import { Items } from "./state/items.ts";
import { State } from "./state/state.ts";
import { lateRefusing } from "./refusal/late_refusing.ts";
import type { Schema } from "../src/schema/schema.ts";
import { isDispensable } from "./checkpoint/dispensable.ts";

export const REPOSITORIES = "repositories";

/** All schemas that say something of a repository. */
function schemasOf(
  { name, rules, schemas = [] }: OpenReplicaOptions,
): readonly Schema[] {
  return [...schemas, ...rules?.of(name).schemas() ?? []];
}

/** What asks the constraints of a repository is loaded where there are any. */
async function openConstraints(
  options: OpenReplicaOptions,
  items: Items,
): Promise<Constraints | undefined> {
  const all = schemasOf(options);
  if (!all.some(({ isConstrained }) => isConstrained)) return undefined;
  const { Constraints } = await import("./admission/constraints.ts");
  return new Constraints(all, items.state);
}

/** What takes the place of items until somebody needs one: where a server judges nothing by them. */
function relayOf(options: OpenReplicaOptions): Door["relay"] {
  const { door, rules } = options;
  const isJudged = rules !== undefined ||
    schemasOf(options).some(({ isConstrained }) => isConstrained);
  return isJudged ? undefined : door?.relay;
}

function overOf(
  options: OpenReplicaOptions,
  relay?: Door["relay"],
  salvage?: Salvage,
): Over {
  return (checkpoint, known) => {
    const outline = relay?.outline(checkpoint?.directory.shapes);
    return new Replay(options, { checkpoint, salvage }, known, outline);
  };
}

const created: Recovery = { clean: true, droppedBytes: 0, survivors: [] };

/** Opens a repository, or makes it, with the code that its files take. */
export async function loadReplica(
  options: OpenReplicaOptions,
): Promise<LoadedReplica> {
  return await lateRich.within(() => loadHere(options));
}

async function loadHere(options: OpenReplicaOptions): Promise<LoadedReplica> {
  const folder = `${REPOSITORIES}/${folderOf(options.name)}`;
  const names = options.storage.list(folder);
  if (names.length === 0) return await create(options, folder);
  const loaded = await loadOver(options, folder, names);
  if (loaded !== undefined) return loaded;
  const made = await create(options, folder);
  // What was there may have been the start of a log, damaged before its first batch.
  const quarantine = options.storage.list(folder).find((name) =>
    name.startsWith("quarantine-") && !names.includes(name)
  );
  if (quarantine === undefined) return made;
  return { ...made, recovery: { ...created, clean: false, quarantine } };
}

/** Opens over the newest checkpoint, or without one where that cannot be used. */
async function loadOver(
  options: OpenReplicaOptions,
  folder: string,
  names: readonly string[],
): Promise<LoadedReplica | undefined> {
  const { storage, door, repair } = options;
  if (names.includes(REWRITING)) {
    const { finishRewriting } = await import("./seldom.ts");
    await finishRewriting(storage, folder, names);
  }
  if (repair || names.includes(DAMAGED)) {
    door?.order?.end(storage, folder); // What a repair takes was given out, perhaps.
    await door?.prepare?.(); // What remains comes in again, whatever it names.
    await lateRich.load();
    await lateRefusing.load();
    const { loadRepaired } = await import("./seldom.ts");
    const repairing = {
      ...options,
      ...door && { door: { ...door, relay: undefined } },
      repair: true,
    };
    const openers = { load, create };
    const loaded = await loadRepaired(repairing, folder, names, openers);
    storage.remove(`${folder}/${DAMAGED}`);
    return loaded;
  }
  const late: { log?: StoreReader } = {};
  const { checkpoint, skipped } = await openNewest(
    options,
    folder,
    names,
    late,
  );
  try {
    return await load(options, { folder, names, late, checkpoint, skipped });
  } catch (cause) {
    checkpoint?.close();
    if (checkpoint === undefined || !isDispensable(cause)) throw cause;
    const { name } = checkpoint;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const skippedToo = [...skipped, { name, reason }];
    const parts = {
      folder,
      names,
      late,
      checkpoint: undefined,
      skipped: skippedToo,
    };
    return await load(options, parts);
  }
}

async function openNewest(
  options: OpenReplicaOptions,
  folder: string,
  names: readonly string[],
  late: LoadParts["late"],
): Promise<OpenedCheckpoint> {
  const { storage, viewOf } = options;
  const isRelay = relayOf(options) && !names.includes(SALVAGE);
  const all = isRelay ? listCheckpoints(names) : wholeCheckpoints(names);
  if (all.length === 0) return { checkpoint: undefined, skipped: [] };
  await lateReading.load();
  const readLog = (target: Uint8Array, at: number) =>
    late.log!.readAt(target, at);
  const { openCheckpoint } = lateReading.code;
  return openCheckpoint(storage, folder, readLog, viewOf, all);
}

async function load(
  options: OpenReplicaOptions,
  { folder, names, late, checkpoint, skipped }: LoadParts,
): Promise<LoadedReplica | undefined> {
  const { storage, world, repair } = options;
  const salvage = await readSalvage(options, folder, names);
  const relay = salvage === undefined ? relayOf(options) : undefined;
  const over = overOf(options, relay, salvage);
  const first = over(checkpoint);
  const open = options.door?.stores?.open ?? openLog;
  const opened = await open(storage, folder, {
    world,
    repair,
    names,
    from: checkpoint?.covers ?? 0,
    // Replaying a change reads the row that it changes, which may lie in the log.
    onReader: (reader) => void (late.log = reader),
    onRecord: (kind, body, address) => first.record(kind, body, address),
    tornAt: () => first.tornAt,
  });
  if (opened === undefined) return undefined;
  const { log, recovery } = opened;
  // Whoever made the folder may have died before its name and the keys were durable.
  if (!recovery.clean) await settlePlace(options);
  const { replay, base } = replayed(over, log, checkpoint, first);
  if (recovery.quarantine !== undefined) {
    const { restoreStart } = await import("./seldom.ts");
    restoreStart(replay, log, recovery, options);
  }
  const isOutdated = base !== checkpoint;
  const loaded = await assemble(options, { folder, log, replay, base }, {
    skipped: isOutdated ? [...skipped, outdated(checkpoint!)] : skipped,
    recovery,
    salvage,
  });
  if (salvage?.isDone(loaded.graph) === true) {
    storage.remove(`${folder}/${SALVAGE}`);
    loaded.salvage = undefined;
  }
  return loaded;
}

async function assemble(
  options: OpenReplicaOptions,
  { folder, log, replay, base }: {
    readonly folder: string;
    readonly log: Store;
    readonly replay: Replay;
    readonly base: Checkpoint | undefined;
  },
  found: Pick<LoadedReplica, "skipped" | "recovery" | "salvage">,
): Promise<LoadedReplica> {
  const { into, ...known } = replay.finish();
  const unfolded = { ...options, folder, log, over: overOf(options) };
  const items = new Items(
    into instanceof State
      ? { state: into, base }
      : { outline: into, fold: () => relayOf(options)!.fold(unfolded) },
  );
  const constraints = await openConstraints(options, items);
  const ownKey = sessionName(options.session);
  const read = { ...known, log, checkpoint: base };
  // A tab hashes nobody else's commits: the owner of the files does.
  const isTab = typeof options.lent === "object";
  const commits = new CommitReader(read, isTab ? "trusted" : known.mode);
  return { ...read, commits, items, constraints, folder, ownKey, ...found };
}

/** What a repair kept aside of commits that did not connect; few ever have that. */
async function readSalvage(
  { storage, viewOf }: OpenReplicaOptions,
  folder: string,
  names: readonly string[],
): Promise<Salvage | undefined> {
  if (!names.includes(SALVAGE)) return undefined;
  const { Salvage } = await import("./seldom.ts");
  return Salvage.read(storage, folder, viewOf);
}

/** A checkpoint that holds commits which are void since is of no more use. */
function outdated({ name }: Checkpoint): SkippedCheckpoint {
  return { name, reason: "it holds commits that are void since" };
}

/** Makes durable what a log is nothing without: the keys, and the names of the folders above it. */
async function settlePlace(
  { storage, settle }: OpenReplicaOptions,
): Promise<void> {
  await settle();
  await syncNames(storage);
}

async function syncNames(storage: Storage): Promise<void> {
  const names = [REPOSITORIES, ""];
  await Promise.all(names.map((name) => storage.syncFolder(name, true)));
}

async function create(
  options: OpenReplicaOptions,
  folder: string,
): Promise<LoadedReplica> {
  const { storage, world, name, rootKey, mode, session } = options;
  storage.makeFolder(folder);
  const genesis = encodeGenesis({ name, rootKey, mode });
  const make = options.door?.stores?.create ?? createLog;
  const log = make(storage, folder, { world }, [
    { kind: recordKind.genesis, parts: [genesis] },
  ]);
  introduce(session, rootKey, new Certificates(), (bytes) => {
    log.append(recordKind.certificate, [bytes]);
  });
  // One trip to the medium for everything that is new: a file system writes the
  // names of all of them with the first sync.
  await options.settle();
  await log.sync();
  await syncNames(storage);
  const over = overOf(options, relayOf(options));
  const read = { folder, log, ...replayed(over, log, undefined) };
  const found = { skipped: [], recovery: created, salvage: undefined };
  return await assemble(options, read, found);
}
