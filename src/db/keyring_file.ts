/**
 * The `database` file: the keys of this replica, and whose copy it is.
 * The identity names the place where the folder lies.
 *
 * `database.copy` says the same, and is read where that file rotted or is gone.
 * Nothing waits for it to be durable: it is written behind the file, and where a
 * power cut took it, with the next change. No other file has secrets, but what
 * was set aside of these.
 *
 * Architecture invariant: nothing that is wrong with the copy is ever an error
 * (law 5), and what was damaged is kept beside.
 */

import { type ByteReader, type ByteWriter, equalBytes } from "../base/bytes.ts";
import { DatabaseError, hasCode } from "../base/errors.ts";
import {
  copied,
  decodeFile,
  encodeFile,
  type Field,
  type FileLayout,
  flagged,
  list,
  ownBytes,
  struct,
  textUpTo,
  unfit,
  type ValueOf,
} from "../base/layout.ts";
import { limits } from "../base/limits.ts";
import type { Storage, StorageFile } from "../storage/storage.ts";
import { replaceDurably, rewritten } from "../storage/small_file.ts";
import type { StoredKey } from "./session_key.ts";

/** Their file. */
export const KEYS = "database";
/** Says the same. */
export const KEYS_COPY = "database.copy";
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Where a secret is. */
const place = { elsewhere: 0, here: 1, vault: 2 } as const;

/** A key, and where its secret is; absent where somebody else has that. */
const secret: Field<Pick<StoredKey, "secret"> | undefined> = {
  says: "0 elsewhere, 1 here | {32}, or 2 in the vault",
  write(writer, key) {
    if (key === undefined) return writer.u8(place.elsewhere);
    writer.u8(key.secret === undefined ? place.vault : place.here);
    if (key.secret !== undefined) writer.bytes(key.secret);
  },
  read(reader) {
    const where = reader.u8();
    if (where === place.elsewhere) return undefined;
    if (where > place.vault) throw unfit("a key is nowhere");
    const isHere = where === place.here;
    return { secret: isHere ? reader.take(32).slice() : undefined };
  },
};

const key = struct({ publicKey: copied(32), secret });

const session = struct({
  /** The user that `openDatabase()` names it by. */
  user: textUpTo(FILE_BYTES_MAX),
  key: {
    fields: key.fields,
    write: (writer: ByteWriter, { publicKey, secret }: StoredKey) =>
      key.write(writer, { publicKey, secret: { secret } }),
    read(reader: ByteReader): StoredKey {
      const { publicKey, secret } = key.read(reader);
      if (secret === undefined) throw unfit("a session has no key");
      return { publicKey, ...secret };
    },
  },
  /** Absent until somebody certified the key. */
  certificate: flagged(ownBytes),
  /** Certificates of its issuers, from the root on, and of keys it had before. */
  others: list(ownBytes, limits.pastCertificatesMax),
  /** Public keys that it wrote with, and that were lost before anybody certified them. */
  lost: list(copied(32), limits.pastCertificatesMax),
});

const layout = struct({
  root: key,
  identity: textUpTo(FILE_BYTES_MAX),
  sessions: list(session, limits.sessionsMax),
});

export const keysFile: FileLayout<ValueOf<typeof layout>> = {
  magic: "SHEAFKEY",
  format: 3,
  layout,
};

export type StoredSession = ValueOf<typeof session>;

export interface Keys {
  readonly rootKey: Uint8Array;
  /** Absent where somebody else has the secret. */
  readonly root: StoredKey | undefined;
  readonly identity: string;
  readonly sessions: readonly StoredSession[];
}

export function readKeys(storage: Storage): Keys | undefined {
  return keysAt(storage, KEYS)?.keys;
}

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

export async function replaceKeys(storage: Storage, keys: Keys): Promise<void> {
  await replaceDurably(storage, "", KEYS, encodeKeys(keys));
}

export function encodeKeys(
  { rootKey, root, identity, sessions }: Keys,
): Uint8Array {
  return encodeFile(keysFile, {
    root: { publicKey: rootKey, secret: root },
    identity,
    sessions,
  });
}

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

function keysAt(
  storage: Storage,
  name: string,
): Pick<FoundKeys, "keys" | "bytes"> | undefined {
  const bytes = keyBytes(storage, name);
  if (bytes === undefined) return undefined;
  const keys = keysIn(bytes);
  return keys && { keys, bytes };
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
  const { root, identity, sessions } = decodeFile(keysFile, bytes);
  const { publicKey, secret } = root;
  return {
    rootKey: publicKey,
    root: secret && { publicKey, ...secret },
    identity,
    sessions,
  };
}

const ASIDE = `quarantine-${KEYS}`;
interface FoundKeys {
  readonly keys: Keys;
  /** As they stand there. */
  readonly bytes: Uint8Array;
  /** In the copy, because their own file is damaged or gone? */
  readonly isCopy: boolean;
}

/** Reads the keys, or their copy; `undefined` when there are none yet. */
export function findKeys(storage: Storage): FoundKeys | undefined {
  let damage: unknown;
  try {
    const found = keysAt(storage, KEYS);
    if (found !== undefined) return { ...found, isCopy: false };
  } catch (cause) {
    damage = cause;
  }
  const found = inCopy(() => keysAt(storage, KEYS_COPY));
  if (damage !== undefined && !(found && isRot(damage))) throw damage;
  return found && { ...found, isCopy: true };
}

function isRot(cause: unknown): boolean {
  return hasCode(cause, "format-unknown", "storage-failed");
}

/** What `read` finds in the copy; `undefined` where that cannot be read. */
function inCopy<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof DatabaseError) return undefined;
    throw cause;
  }
}

/** Writes the copy where it differs; that of another database stays. */
export function keepCopy(
  storage: Storage,
  keys: Keys,
  bytes: Uint8Array = encodeKeys(keys),
): void {
  const before = inCopy(() => keyBytes(storage, KEYS_COPY));
  if (before && equalBytes(before, bytes)) return;
  const said = before && inCopy(() => keysIn(before));
  if (said && !equalBytes(said.rootKey, keys.rootKey)) return;
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
