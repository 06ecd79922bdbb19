/**
 * A page with keys in its vault; the file that speaks of them is kept in local
 * storage, as the owner's worker keeps it in its own.
 *
 * @module
 */

import { lateEd25519 } from "../../crypto/late_ed25519.ts";
import { isWebKey } from "../../crypto/web_keys.ts";
import { fromHex, toHex } from "../../src/base/bytes.ts";
import { openFiles } from "../../src/db/open_files.ts";
import type { Database } from "../../src/db/face.ts";
import { internalsOf } from "../../src/db/internals.ts";
import { defineSchema, field } from "../../src/schema/mod.ts";
import { indexedDbVault } from "../../src/storage/indexeddb_vault.ts";
import type { KeyVault } from "../../src/storage/key_vault.ts";
import { filesOf, restored } from "../kit/images.ts";

const NAME = "keys";
const Note = defineSchema("note", { text: field.string() });

/** What is used of `Storage`. */
interface Local {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}
const local = Reflect.get(globalThis, "localStorage") as Local;

/** What a database says of its key. */
export interface KeyFacts {
  readonly publicKey: string;
  readonly rootKey: string;
  readonly isHidden: boolean;
  readonly isLost: boolean;
  readonly user: string | undefined;
  /** Is the public key signed by the root, or a server? */
  readonly isCertified: boolean;
  readonly fileBytes: number;
}

let db: Database | undefined;

function files(): [string, Uint8Array][] {
  const kept = JSON.parse(local.getItem(NAME) ?? "[]") as [string, string][];
  return kept.map(([name, hex]) => [name, fromHex(hex)]);
}

async function openWith(
  vault: KeyVault | undefined,
  rootKey?: string,
): Promise<KeyFacts> {
  const storage = restored(files(), "here");
  db = await openFiles({
    storage,
    user: "me",
    schemas: [Note],
    ...(vault && { vault }),
    ...(rootKey !== undefined && { rootKey }),
  });
  const repo = await db.repository("team/a");
  await repo.collection(Note).create({ text: "hello" });
  const kept = filesOf(storage).filter(([name]) => name === "database");
  local.setItem(
    NAME,
    JSON.stringify(kept.map(([name, bytes]) => [name, toHex(bytes)])),
  );
  const { key, session, isKeyLost } = internalsOf(db).keyring;
  return {
    publicKey: toHex(key.signer.publicKey),
    rootKey: toHex(db.rootKey),
    isHidden: isWebKey(key.secret),
    isLost: isKeyLost,
    user: session.user,
    isCertified: session.certificate !== undefined,
    fileBytes: kept[0]![1].length,
  };
}

/** Opens with the browser's vault. */
export function open(rootKey?: string): Promise<KeyFacts> {
  return openWith(indexedDbVault(NAME), rootKey);
}

/** Opens without one. */
export function openPlain(): Promise<KeyFacts> {
  return openWith(undefined);
}

/** The file that speaks of the keys. */
export function file(): string {
  return local.getItem(NAME)!;
}

/** Puts it back: a killed browser may not have kept local storage. */
export function putBack(file: string): void {
  local.setItem(NAME, file);
}

/** In how many formats can the key be read? */
export async function readable(): Promise<number> {
  const { secret } = internalsOf(db!).keyring.key;
  const { exportKey } = crypto.subtle;
  const read = ["raw", "pkcs8", "jwk"].map((format) =>
    Reflect.apply(exportKey, crypto.subtle, [format, secret])
  );
  const results = await Promise.allSettled(read);
  return results.filter(({ status }) => status === "fulfilled").length;
}

/** How many of the keys are verified, after a while of writing? */
export async function verified(): Promise<{ ok: boolean; signatures: number }> {
  const repo = await db!.repository("team/a");
  const notes = repo.collection(Note);
  for (let i = 0; i < 20; i++) await notes.create({ text: `${i}` });
  const { ok, signatures } = await repo.verify();
  return { ok, signatures };
}

/** Logs in at a server and writes; resolves when the server has it durably. */
export async function sync(url: string, token: string, text: string) {
  db!.connect(url, { session: { token } });
  const repo = await db!.repository("team/a");
  await repo.collection(Note).create({ text }).synced;
}

/** Waits for a note of somebody else; was our own code loaded for that, or anything before? */
export async function heard(text: string): Promise<boolean> {
  const notes = (await db!.repository("team/a")).collection(Note);
  const { promise, resolve } = Promise.withResolvers<void>();
  using _live = notes.where({ text }).subscribe(({ rows }) => {
    if (rows.length > 0) resolve();
  });
  if (notes.where({ text }).count() === 0) await promise;
  return lateEd25519.isLoaded;
}

/** Removes the vault behind the database's back. */
export function forget(): Promise<void> {
  const { indexedDB } = globalThis as unknown as {
    indexedDB: {
      deleteDatabase(name: string): { onsuccess: () => void };
    };
  };
  return new Promise((resolve) => {
    indexedDB.deleteDatabase(`sheaf-keys:${NAME}`).onsuccess = resolve;
  });
}
