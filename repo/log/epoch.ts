/**
 * The epoch of a server's log: one life, in which a position means one thing.
 *
 * ```text
 * sync   magic "SHEAFSYN" {8} | format u16 = 1 | epoch {16} | secret {16} | log end u48 | digest {32} | identity text | crc32 u32
 * ```
 *
 * The file `sync` stands in the repository's folder only while nobody serves
 * it: it is removed before the first position is given out, and written when
 * the log was closed in good order. So it is found again only by the log that
 * it was written for; after a crash, in a copy and in a restored folder whose
 * log is another one, a new epoch begins and peers compare vectors.
 *
 * @module
 */

import { sha256 } from "../../crypto/mod.ts";
import { ByteReader, ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { encodeVector } from "../commit/version_vector.ts";

const FILE = "sync";
const MAGIC = "SHEAFSYN";
const FORMAT = 1;
const EPOCH_BYTES = 16;
const SECRET_BYTES = 16;
const DIGEST_BYTES = 32;
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

interface StoredEpoch extends EpochFacts {
  readonly epoch: Uint8Array;
  readonly secret: Uint8Array;
  readonly identity: string;
}

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
    file.writeAt(encodeEpoch(stored), 0);
    await file.sync();
  } finally {
    file.close();
  }
  storage.rename(`${name}.new`, name);
  storage.syncFolder(folder);
}

function encodeEpoch(stored: StoredEpoch): Uint8Array {
  const writer = new ByteWriter(128);
  for (const char of MAGIC) writer.u8(char.charCodeAt(0));
  writer.u16(FORMAT);
  writer.bytes(stored.epoch);
  writer.bytes(stored.secret);
  writer.u48(stored.end);
  writer.bytes(stored.digest);
  writer.text(stored.identity);
  writer.u32(crc32(writer.view()));
  return writer.view();
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
    return file.readAt(bytes, 0) === size ? decodeEpoch(bytes) : "damaged";
  } catch (cause) {
    if (cause instanceof SyntaxError) return "damaged";
    throw cause;
  } finally {
    file.close();
  }
}

function decodeEpoch(bytes: Uint8Array): StoredEpoch {
  const end = bytes.length - 4;
  if (
    end < 0 ||
    new ByteReader(bytes, end).u32() !== crc32(bytes.subarray(0, end))
  ) {
    throw new SyntaxError("Cannot decode epoch: the checksum does not match");
  }
  const reader = new ByteReader(bytes, 0, end);
  for (const char of MAGIC) {
    if (reader.u8() !== char.charCodeAt(0)) {
      throw new SyntaxError("Cannot decode epoch: it is another file");
    }
  }
  if (reader.u16() !== FORMAT) {
    throw new SyntaxError("Cannot decode epoch: its format is unknown");
  }
  return {
    epoch: reader.take(EPOCH_BYTES).slice(),
    secret: reader.take(SECRET_BYTES).slice(),
    end: reader.u48(),
    digest: reader.take(DIGEST_BYTES).slice(),
    identity: reader.text(),
  };
}
