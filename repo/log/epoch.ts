/**
 * The epoch of a server's log: one life, in which a position means one thing.
 *
 * The file `sync` stands in the repository's folder only while nobody serves
 * it: it is removed before the first position is given out, and written when
 * the log was closed in good order. So it is found again only by the log that
 * it was written for; after a crash, in a copy and in a restored folder whose
 * log is another one, a new epoch begins and peers compare vectors.
 *
 * @module
 */

import { sha256 } from "../../crypto/sha256.ts";
import { ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import {
  copied,
  decodeFile,
  encodeFile,
  type FileLayout,
  struct,
  textUpTo,
  u48,
  type ValueOf,
} from "../../src/base/layout.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { encodeVector } from "../commit/version_vector.ts";
import { hasCode } from "../../src/base/errors.ts";

const FILE = "sync";
const EPOCH_BYTES = 16;
const SECRET_BYTES = 16;
const CHECK_BYTES = 8;
/** The identity is a device and an inode, or as short. */
const FILE_BYTES_MAX = 64 * 1024;

/** What tells one state of a log from another. */
export interface EpochFacts {
  /** Where the log ends. */
  readonly end: number;
  /** Of the commits in it. */
  readonly digest: Uint8Array;
}

/** The life of a log that is being served. */
export interface Epoch {
  /** Its name, 16 bytes. */
  readonly epoch: Uint8Array;
  /** What shows that a position was given out in this epoch, 8 bytes. */
  check(position: number): Uint8Array;
  /** Was this position given out in this epoch? */
  isIssued(position: number, check: Uint8Array): boolean;
  /** Is the repository removed when it is closed, where nothing was ever written to it? */
  isPassing: boolean;
  /** Lets the epoch go on when the log is opened again; everything must be durable. */
  close(facts: EpochFacts): Promise<void>;
}

const stored = struct({
  epoch: copied(EPOCH_BYTES),
  secret: copied(SECRET_BYTES),
  /** Where the log ends. */
  end: u48,
  /** Of the commits in it. */
  digest: copied(32),
  /** Of the folder. */
  identity: textUpTo(FILE_BYTES_MAX),
});

/** The file. */
export const epochFile: FileLayout<StoredEpoch> = {
  magic: "SHEAFSYN",
  format: 1,
  layout: stored,
};

type StoredEpoch = ValueOf<typeof stored>;

/** A replica, as far as its log is served. */
interface Served {
  readonly commits: CommitReader;
  readonly loaded: LoadedReplica;
  status(): { readonly unsyncedBytes: number };
}

/**
 * What a replica's log is now; `undefined` while something visible is not
 * durable. In the modes that do not sign, ids would have to be hashed from the
 * start: counts must do.
 */
export function epochFactsOf(replica: Served): EpochFacts | undefined {
  const { commits, loaded: { graph, log: { end }, mode, genesisId } } = replica;
  if (replica.status().unsyncedBytes > 0) return undefined;
  if (mode !== "default") {
    const vector = encodeVector(graph.vector());
    return { end, digest: sha256(genesisId, vector) };
  }
  commits.hashAll();
  const digest = graph.digest();
  return digest && { end, digest };
}

/** Goes on with the epoch of a log, or begins one. */
export function openEpoch(
  storage: Storage,
  folder: string,
  world: World,
  facts: EpochFacts | undefined,
): Epoch {
  const name = `${folder}/${FILE}`;
  const stored = readEpoch(storage, name);
  if (stored !== undefined) {
    // Gone before anybody hears of a position: a crash must begin anew.
    storage.remove(name);
    storage.syncFolder(folder);
  }
  const goesOn = typeof stored === "object" && facts !== undefined &&
    stored.identity === storage.identity() && stored.end === facts.end &&
    equalBytes(stored.digest, facts.digest);
  const epoch = goesOn ? stored.epoch : dice(world, EPOCH_BYTES);
  const secret = goesOn ? stored.secret : dice(world, SECRET_BYTES);
  const check = (position: number) => checkOf(secret, epoch, position);
  return {
    epoch,
    isPassing: false,
    check,
    isIssued: (position, shown) =>
      isPosition(position) && equalBytes(check(position), shown),
    close: (facts) => {
      const identity = storage.identity();
      return writeEpoch(storage, folder, { ...facts, epoch, secret, identity });
    },
  };
}

function dice(world: World, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  world.random(bytes);
  return bytes;
}

function isPosition(position: number): boolean {
  return Number.isInteger(position) && position >= 0 && position < 2 ** 48;
}

function checkOf(
  secret: Uint8Array,
  epoch: Uint8Array,
  position: number,
): Uint8Array {
  const writer = new ByteWriter(SECRET_BYTES + EPOCH_BYTES + 6);
  writer.bytes(secret);
  writer.bytes(epoch);
  writer.u48(position);
  return sha256(writer.view()).subarray(0, CHECK_BYTES);
}

/** Beside, then into place: a crash leaves none, or a whole one. */
async function writeEpoch(
  storage: Storage,
  folder: string,
  stored: StoredEpoch,
): Promise<void> {
  const name = `${folder}/${FILE}`;
  const file = storage.open(`${name}.new`, { create: true })!;
  try {
    file.truncate(0);
    file.writeAt(encodeFile(epochFile, stored), 0);
    await file.sync();
  } finally {
    file.close();
  }
  storage.rename(`${name}.new`, name);
  storage.syncFolder(folder);
}

/** `undefined` when there is no file, "damaged" when it is of no use. */
function readEpoch(
  storage: Storage,
  name: string,
): StoredEpoch | "damaged" | undefined {
  const file = storage.open(name);
  if (file === undefined) return undefined;
  try {
    const size = file.size();
    if (size > FILE_BYTES_MAX) return "damaged";
    const bytes = new Uint8Array(size);
    return file.readAt(bytes, 0) === size
      ? decodeFile(epochFile, bytes)
      : "damaged";
  } catch (cause) {
    const isOther = hasCode(cause, "format-too-new", "format-too-old");
    if (isOther || cause instanceof SyntaxError) return "damaged";
    throw cause;
  } finally {
    file.close();
  }
}
