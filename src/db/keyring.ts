/**
 * The `database` file: the keys of this replica, and whose copy it is.
 *
 * ```text
 * magic "SHEAFKEY" {8} | format u16 = 1 | root public key {32} | root secret flag u8 | root secret {32 when the flag is 1}
 * | identity text | sessions varint | (user text | secret key {32} | certificate varint {n})* | crc32 u32
 * ```
 *
 * It is the only file with secrets. The identity names the place where the
 * folder lies; a copy of the folder has another one, gets sessions of its own
 * and therefore continues no chain of the original (docs/architecture.md).
 *
 * @module
 */

import { ByteReader, ByteWriter, equalBytes, toHex } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
import { DatabaseError } from "../base/errors.ts";
import { wallMax } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Storage, StorageFile } from "../storage/storage.ts";
import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import {
  issueCertificate,
  type Session,
  setUnbornAside,
} from "../../repo/mod.ts";

const FILE = "database";
const MAGIC = "SHEAFKEY";
const FORMAT = 1;
const FILE_BYTES_MAX = 4 * 1024 * 1024;

interface StoredSession {
  readonly user: string;
  readonly secretKey: Uint8Array;
  readonly certificate: Uint8Array;
}

interface Keys {
  readonly rootKey: Uint8Array;
  readonly rootSecret: Uint8Array | undefined;
  readonly identity: string;
  readonly sessions: readonly StoredSession[];
}

/** What opening a database needs to know of its keys. */
export interface Keyring {
  /** The root public key, 32 bytes. */
  readonly rootKey: Uint8Array;
  /** The session that signs here. */
  readonly session: Session;
  /** Is this folder where it was when it was last written? */
  readonly isOriginal: boolean;
  /** Were the keys made just now? */
  readonly isNew: boolean;
  /** Makes new keys durable, but not yet the name of their file; runs before anything that needs them is. */
  settle(): Promise<void>;
}

/** What a caller asks of the keys. */
export interface KeyringOptions {
  readonly user: string;
  /** The root key that the folder must belong to. */
  readonly rootKey?: Uint8Array;
}

/** Reads the keys, or makes them when the database is new. */
export async function openKeyring(
  storage: Storage,
  world: World,
  options: KeyringOptions,
): Promise<Keyring> {
  const identity = storage.identity();
  const file = storage.open(FILE);
  const stored = file === undefined ? undefined : readKeys(file);
  if (stored !== undefined) checkRoot(stored.rootKey, options.rootKey);
  if (stored === undefined) {
    return createKeyring(storage, world, options, identity);
  }
  const session = stored.sessions.find(({ user }) => user === options.user);
  const isOriginal = stored.identity === identity;
  if (session !== undefined && isOriginal) {
    const { rootKey } = stored;
    return {
      rootKey,
      session: asSession(session),
      isOriginal,
      isNew: false,
      settle,
    };
  }
  // A copy signs with keys of its own: none of its repositories, whenever it is
  // opened, continues a chain of the original.
  const kept = isOriginal ? stored.sessions : [];
  const added = newSession(stored, world, options.user);
  if (kept.length >= limits.sessionsMax) throw tooManyUsers(options.user);
  const sessions = [...kept, added];
  await replaceFile(storage, encodeKeys({ ...stored, identity, sessions }));
  const { rootKey } = stored;
  return {
    rootKey,
    session: asSession(added),
    isOriginal,
    isNew: false,
    settle,
  };
}

function tooManyUsers(user: string): DatabaseError {
  return new DatabaseError(
    "value-too-large",
    `Cannot add user ${
      JSON.stringify(user)
    }: a folder holds keys of at most ${limits.sessionsMax} users`,
  );
}

const settled = Promise.resolve();
/** Nothing is left to make durable. */
const settle = () => settled;

/**
 * Makes the keys of a new database. Creating a database is one trip to the
 * medium: the file is synced together with the first repository, or on close.
 */
function createKeyring(
  storage: Storage,
  world: World,
  options: KeyringOptions,
  identity: string,
): Keyring {
  if (options.rootKey !== undefined) {
    throw new DatabaseError(
      "root-key-mismatch",
      "Cannot open: the folder holds no database yet, so it cannot belong to the given root key",
    );
  }
  if (!setUnbornAside(storage)) {
    throw new DatabaseError(
      "format-unknown",
      'Cannot open: the folder has repositories but no "database" file. Restore that file from a backup',
    );
  }
  const { publicKey, secretKey } = generateKeyPair((target) =>
    world.random(target)
  );
  const bare: Keys = {
    rootKey: publicKey,
    rootSecret: secretKey,
    identity,
    sessions: [],
  };
  const session = newSession(bare, world, options.user);
  const file = writeNew(storage, encodeKeys({ ...bare, sessions: [session] }));
  let settling: Promise<void> | undefined;
  return {
    rootKey: publicKey,
    session: asSession(session),
    isOriginal: true,
    isNew: true,
    settle: () => settling ??= syncNew(file),
  };
}

/** Half a file is worse than none. */
function writeNew(storage: Storage, bytes: Uint8Array): StorageFile {
  const file = storage.open(FILE, { create: true, secret: true })!;
  try {
    file.writeAt(bytes, 0);
    return file;
  } catch (cause) {
    file.close();
    storage.remove(FILE);
    throw cause;
  }
}

async function syncNew(file: StorageFile): Promise<void> {
  try {
    await file.sync();
  } finally {
    file.close();
  }
}

function checkRoot(
  rootKey: Uint8Array,
  expected: Uint8Array | undefined,
): void {
  if (expected === undefined || equalBytes(rootKey, expected)) return;
  throw new DatabaseError(
    "root-key-mismatch",
    `Cannot open: the folder belongs to root key ${toHex(rootKey)}, not ${
      toHex(expected)
    }. ` +
      "Open the right folder, or leave `rootKey` out",
  );
}

function newSession(keys: Keys, world: World, user: string): StoredSession {
  if (keys.rootSecret === undefined) {
    throw new DatabaseError(
      "root-key-mismatch",
      `Cannot certify a session for user "${user}": this folder has no root secret`,
    );
  }
  const pair = generateKeyPair((target) => world.random(target));
  const { bytes: certificate } = issueCertificate(
    {
      sessionKey: pair.publicKey,
      user,
      claims: "{}",
      mayIssue: false,
      notBefore: 0,
      notAfter: wallMax,
    },
    createSigner(keys.rootSecret),
  );
  return { user, secretKey: pair.secretKey, certificate };
}

function asSession(stored: StoredSession): Session {
  return {
    user: stored.user,
    certificate: stored.certificate,
    secretKey: stored.secretKey,
  };
}

function encodeKeys(keys: Keys): Uint8Array {
  const writer = new ByteWriter(512);
  for (const char of MAGIC) writer.u8(char.charCodeAt(0));
  writer.u16(FORMAT);
  writer.bytes(keys.rootKey);
  writer.u8(keys.rootSecret === undefined ? 0 : 1);
  if (keys.rootSecret !== undefined) writer.bytes(keys.rootSecret);
  writer.text(keys.identity);
  writer.varint(keys.sessions.length);
  for (const { user, secretKey, certificate } of keys.sessions) {
    writer.text(user);
    writer.bytes(secretKey);
    writer.varint(certificate.length);
    writer.bytes(certificate);
  }
  writer.u32(crc32(writer.view()));
  return writer.copy();
}

/** Beside, then into place: a crash leaves the old file or the new one. */
async function replaceFile(storage: Storage, bytes: Uint8Array): Promise<void> {
  const beside = `${FILE}.new`;
  const file = storage.open(beside, { create: true, secret: true })!;
  try {
    file.truncate(0);
    file.writeAt(bytes, 0);
    await file.sync();
  } finally {
    file.close();
  }
  storage.rename(beside, FILE);
  storage.syncFolder("");
}

function readKeys(file: StorageFile): Keys | undefined {
  try {
    const size = file.size();
    if (size > FILE_BYTES_MAX) throw new SyntaxError("the file is too large");
    const bytes = new Uint8Array(size);
    if (file.readAt(bytes, 0) !== size) {
      throw new SyntaxError("the file could not be read whole");
    }
    // A power cut before the first sync leaves nothing, or nothing but zeros.
    return bytes.every((byte) => byte === 0) ? undefined : parseKeys(bytes);
  } catch (cause) {
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError(
      "format-unknown",
      'Cannot open: the file "database" is damaged. Restore it from a backup: it holds the keys',
      { cause },
    );
  } finally {
    file.close();
  }
}

function parseKeys(bytes: Uint8Array): Keys {
  const reader = new ByteReader(bytes, 0, Math.max(0, bytes.length - 4));
  for (const char of MAGIC) {
    if (reader.u8() !== char.charCodeAt(0)) {
      throw new SyntaxError("the magic is missing");
    }
  }
  const format = reader.u16();
  if (format > FORMAT) {
    throw new DatabaseError(
      "format-too-new",
      `Cannot open: the folder has format ${format}; this Sheaf reads up to ${FORMAT}. Update Sheaf`,
    );
  }
  const sum = new ByteReader(bytes, bytes.length - 4).u32();
  if (crc32(bytes.subarray(0, -4)) !== sum) {
    throw new SyntaxError("the checksum does not match");
  }
  const rootKey = reader.take(32).slice();
  const rootSecret = reader.u8() === 1 ? reader.take(32).slice() : undefined;
  const identity = reader.text();
  return { rootKey, rootSecret, identity, sessions: parseSessions(reader) };
}

function parseSessions(reader: ByteReader): StoredSession[] {
  const count = reader.varint();
  if (count > limits.sessionsMax) {
    throw new SyntaxError("it has too many sessions");
  }
  const sessions: StoredSession[] = [];
  for (let i = 0; i < count; i++) {
    const user = reader.text();
    const secretKey = reader.take(32).slice();
    sessions.push({
      user,
      secretKey,
      certificate: reader.take(reader.varint()).slice(),
    });
  }
  return sessions;
}
