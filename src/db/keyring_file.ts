/**
 * The `database` file: the keys of this replica, and whose copy it is.
 *
 * ```text
 * magic "SHEAFKEY" {8} | format u16 = 3 | root key | identity text | sessions varint | session* | crc32 u32
 * key      public key {32} | place u8 (0 elsewhere, 1 here, 2 vault) | secret {32 when the place is 1}
 * session  user text | key | certified u8 | certificate varint {n} (when certified is 1)
 *          | others varint | (certificate varint {n})* | lost varint | (public key {32})*
 * ```
 *
 * Format 2, which had no vault, and format 1, which had one certificate in every
 * session and nothing else, are read as well. The identity names the place where the folder lies.
 *
 * `database.copy` says the same, and is read where that file rotted or is gone.
 * Nothing waits for it to be durable: it is written behind the file, and where a
 * power cut took it, with the next change. No other file has secrets, but what
 * was set aside of these.
 *
 * Architecture invariant: nothing that is wrong with the copy is ever an error
 * (law 5), and what was damaged is kept beside.
 *
 * @module
 */

import { ByteReader, ByteWriter, equalBytes } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Storage, StorageFile } from "../storage/storage.ts";
import { replaceDurably, rewritten } from "./local_file.ts";
import { keyOfSeed, type StoredKey, storedKeyOf } from "./session_key.ts";

/** Their file. */
export const KEYS = "database";
/** Says the same. */
export const KEYS_COPY = "database.copy";
const MAGIC = "SHEAFKEY";
const FORMAT = 3;
/** Where a secret is. */
const place = { elsewhere: 0, here: 1, vault: 2 } as const;
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** A session as the file has it. */
export interface StoredSession {
  /** The user that `openDatabase()` names it by. */
  readonly user: string;
  readonly key: StoredKey;
  /** Absent until somebody certified the key. */
  readonly certificate: Uint8Array | undefined;
  /** Certificates of its issuers, from the root on, and of keys it had before. */
  readonly others: readonly Uint8Array[];
  /** Public keys that it wrote with, and that were lost before anybody certified them. */
  readonly lost: readonly Uint8Array[];
}

/** What the file says. */
export interface Keys {
  readonly rootKey: Uint8Array;
  /** Absent where somebody else has the secret. */
  readonly root: StoredKey | undefined;
  readonly identity: string;
  readonly sessions: readonly StoredSession[];
}

/** Reads the keys, or a copy of them; `undefined` when there are none yet. */
export function readKeys(
  storage: Storage,
  name: string = KEYS,
): Keys | undefined {
  const bytes = keyBytes(storage, name);
  return bytes && keysIn(bytes);
}

/** The file of keys that are there. */
export function openKeys(storage: Storage): StorageFile | undefined {
  return storage.open(KEYS);
}

/** Writes the keys of a new database; they are durable when the file is synced. Half a file is worse than none. */
export function writeKeys(storage: Storage, keys: Keys): StorageFile {
  const file = storage.open(KEYS, { create: true })!;
  try {
    file.writeAt(encodeKeys(keys), 0);
    return file;
  } catch (cause) {
    file.close();
    storage.remove(KEYS);
    throw cause;
  }
}

/** Replaces the keys durably. */
export async function replaceKeys(storage: Storage, keys: Keys): Promise<void> {
  await replaceDurably(storage, "", KEYS, encodeKeys(keys));
}

/** The bytes of a file of keys. */
export function encodeKeys(keys: Keys): Uint8Array {
  const writer = new ByteWriter(512);
  for (const char of MAGIC) writer.u8(char.charCodeAt(0));
  writer.u16(FORMAT);
  writeKey(writer, keys.rootKey, keys.root);
  writer.text(keys.identity);
  writer.varint(keys.sessions.length);
  for (const session of keys.sessions) writeSession(writer, session);
  writer.u32(crc32(writer.view()));
  return writer.copy();
}

function writeSession(writer: ByteWriter, session: StoredSession): void {
  const { user, key, certificate, others, lost } = session;
  writer.text(user);
  writeKey(writer, key.publicKey, key);
  writer.u8(certificate === undefined ? 0 : 1);
  if (certificate !== undefined) writeBytes(writer, certificate);
  writer.varint(others.length);
  for (const other of others) writeBytes(writer, other);
  writer.varint(lost.length);
  for (const publicKey of lost) writer.bytes(publicKey);
}

function writeKey(
  writer: ByteWriter,
  publicKey: Uint8Array,
  key: StoredKey | undefined,
): void {
  writer.bytes(publicKey);
  if (key === undefined) return writer.u8(place.elsewhere);
  writer.u8(key.secret === undefined ? place.vault : place.here);
  if (key.secret !== undefined) writer.bytes(key.secret);
}

function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length);
  writer.bytes(bytes);
}

/** A file of keys as it is. */
export function keyBytes(
  storage: Storage,
  name: string,
): Uint8Array | undefined {
  const file = storage.open(name);
  if (file === undefined) return undefined;
  try {
    const size = file.size();
    if (size > FILE_BYTES_MAX) throw damaged("it is too large");
    const bytes = new Uint8Array(size);
    if (file.readAt(bytes, 0) === size) return bytes;
    throw damaged("it could not be read whole");
  } finally {
    file.close();
  }
}

/** A power cut before the first sync leaves nothing, or nothing but zeros. */
function keysIn(bytes: Uint8Array): Keys | undefined {
  if (bytes.every((byte) => byte === 0)) return undefined;
  try {
    return parseKeys(bytes);
  } catch (cause) {
    throw cause instanceof DatabaseError ? cause : damaged(cause);
  }
}

function damaged(cause: unknown): DatabaseError {
  return new DatabaseError(
    "format-unknown",
    `Cannot open: the file "${KEYS}" is damaged, and "${KEYS_COPY}" says nothing else. ` +
      "Restore it from a backup: it holds the keys",
    { cause },
  );
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
  const root = parsePlace(reader, rootKey);
  const identity = reader.text();
  const sessions = parseSessions(reader, format);
  return { rootKey, root, identity, sessions };
}

function parsePlace(
  reader: ByteReader,
  publicKey: Uint8Array,
): StoredKey | undefined {
  const where = reader.u8();
  if (where === place.elsewhere) return undefined;
  if (where > place.vault) throw new SyntaxError("a key is nowhere");
  const isHere = where === place.here;
  return { publicKey, secret: isHere ? reader.take(32).slice() : undefined };
}

function parseKey(reader: ByteReader, format: number): StoredKey {
  if (format < 3) {
    const { signer, secret } = keyOfSeed(reader.take(32).slice());
    return storedKeyOf({ signer, secret });
  }
  const key = parsePlace(reader, reader.take(32).slice());
  if (key === undefined) throw new SyntaxError("a session has no key");
  return key;
}

function parseSessions(reader: ByteReader, format: number): StoredSession[] {
  const count = reader.varint();
  if (count > limits.sessionsMax) {
    throw new SyntaxError("it has too many sessions");
  }
  const sessions: StoredSession[] = [];
  for (let i = 0; i < count; i++) sessions.push(parseSession(reader, format));
  return sessions;
}

function parseSession(reader: ByteReader, format: number): StoredSession {
  const user = reader.text();
  const key = parseKey(reader, format);
  const isCertified = format === 1 || reader.u8() === 1;
  const certificate = isCertified ? readBytes(reader) : undefined;
  const others = readList(reader, format > 1, () => readBytes(reader));
  const lost = readList(reader, format > 2, () => reader.take(32).slice());
  return { user, key, certificate, others, lost };
}

function readList(
  reader: ByteReader,
  isThere: boolean,
  read: () => Uint8Array,
): Uint8Array[] {
  const count = isThere ? reader.varint() : 0;
  if (count > limits.pastCertificatesMax) {
    throw new SyntaxError("a session has too many keys or certificates");
  }
  return Array.from({ length: count }, read);
}

function readBytes(reader: ByteReader): Uint8Array {
  return reader.take(reader.varint()).slice();
}

const ASIDE = `quarantine-${KEYS}`;
/** Behind magic and format. */
const CONTENT_AT = 10;

/** Keys, and where they were found. */
interface FoundKeys {
  readonly keys: Keys;
  /** In the copy, because their own file is damaged or gone? */
  readonly isCopy: boolean;
}

/** Reads the keys, or their copy; `undefined` when there are none yet. */
export function findKeys(storage: Storage): FoundKeys | undefined {
  let damage: unknown;
  try {
    const keys = readKeys(storage);
    if (keys !== undefined) return { keys, isCopy: false };
  } catch (cause) {
    damage = cause;
  }
  const keys = readCopy(storage);
  if (damage !== undefined && !(keys && isRot(storage, damage))) throw damage;
  return keys && { keys, isCopy: true };
}

/** Is it the file that is at fault? What a newer version wrote is sound, unless only its format differs. */
function isRot(storage: Storage, cause: unknown): boolean {
  if (!(cause instanceof DatabaseError)) return false;
  if (cause.code !== "format-too-new") {
    return cause.code === "format-unknown" || cause.code === "storage-failed";
  }
  const [own, copy] = [KEYS, KEYS_COPY].map((name) =>
    keyBytes(storage, name)!.subarray(CONTENT_AT)
  );
  return equalBytes(own!, copy!);
}

function readCopy(storage: Storage): Keys | undefined {
  try {
    return readKeys(storage, KEYS_COPY);
  } catch (cause) {
    if (cause instanceof DatabaseError) return undefined;
    throw cause;
  }
}

/** Writes the copy where it says something else; that of another database stays. */
export function keepCopy(storage: Storage, keys: Keys): void {
  const before = readCopy(storage);
  if (before && !equalBytes(before.rootKey, keys.rootKey)) return;
  const bytes = encodeKeys(keys);
  if (before && equalBytes(encodeKeys(before), bytes)) return;
  try {
    rewritten(storage, KEYS_COPY, bytes).close();
  } catch (cause) {
    if (!(cause instanceof DatabaseError)) throw cause;
  }
}

/** Writes the keys in the place of a file that is damaged, which is kept beside. */
export async function mendKeys(storage: Storage, keys: Keys): Promise<void> {
  const taken = new Set(storage.list(""));
  let aside = ASIDE;
  for (let i = 1; taken.has(aside); i++) aside = `${ASIDE}.${i}`;
  if (taken.has(KEYS)) storage.rename(KEYS, aside);
  await replaceKeys(storage, keys);
}
