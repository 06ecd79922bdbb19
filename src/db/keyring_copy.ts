/**
 * The copy of the keys: what is read where their own file rotted or is gone.
 *
 * Nothing waits for it to be durable: it is written behind the file, and where a
 * power cut took it, with the next change.
 *
 * Architecture invariant: nothing that is wrong with the copy is ever an error
 * (law 5), and what was damaged is kept beside.
 *
 * @module
 */

import { equalBytes } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import type { Storage } from "../storage/storage.ts";
import {
  encodeKeys,
  keyBytes,
  KEYS,
  type Keys,
  KEYS_COPY,
  readKeys,
  replaceKeys,
} from "./keyring_file.ts";

const ASIDE = `quarantine-${KEYS}`;
/** Behind magic and format. */
const CONTENT_AT = 10;

/** Keys, and where they were found. */
export interface FoundKeys {
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
    const file = storage.open(KEYS_COPY, { create: true })!;
    try {
      file.truncate(0);
      file.writeAt(bytes, 0);
    } finally {
      file.close();
    }
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
