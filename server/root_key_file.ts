/**
 * Key files. That of the root: a copy of its secret that lies elsewhere than the
 * data, so that a server whose disk is lost can be replaced. That of a redactor:
 * its secret, and the certificate that lets it erase.
 *
 * A secret is a line of 64 hexadecimal digits, a certificate another line. Which
 * letters of a secret are capitals is a checksum, as in EIP-55: a digit that rotted
 * would start an empty folder under another root. Letters that are all small, or
 * all capital, have none. Its owner alone can read the file.
 */

import { link, open, readFile, rename, rm } from "node:fs/promises";
import { createSigner, sha256 } from "../crypto/mod.ts";
import { equalBytes, fromHex, toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";

const ROOT = /^([0-9a-f]{64})\s*$/i;
const ROOT_OR_REDACTOR = /^([0-9a-f]{64})(?:\n((?:[0-9a-f]{2})+))?\s*$/i;

export interface FileKey {
  readonly secret: Uint8Array;
  /** Of a key that is not the root's. */
  readonly certificate?: Uint8Array;
}

export async function readRootKeyFile(
  path: string,
): Promise<Uint8Array | undefined> {
  const key = await readFileOf(path, ROOT, "is not one line of 64");
  return key?.secret;
}

/** Reads the key of the root or of a redactor; `undefined` when there is no such file. */
export function readKeyFile(path: string): Promise<FileKey | undefined> {
  return readFileOf(path, ROOT_OR_REDACTOR, "begins with no line of 64");
}

async function readFileOf(
  path: string,
  form: RegExp,
  otherwise: string,
): Promise<FileKey | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw invalid(path, "it cannot be read", cause);
  }
  const [, digits, certificate] = form.exec(text) ?? [];
  if (digits === undefined) {
    throw invalid(path, `it ${otherwise} hexadecimal digits`);
  }
  const small = digits.toLowerCase();
  const secret = fromHex(small);
  const isChecked = digits !== small && digits !== digits.toUpperCase();
  if (!isChecked || digits === digitsOf(secret)) {
    return certificate === undefined
      ? { secret }
      : { secret, certificate: fromHex(certificate) };
  }
  throw invalid(
    path,
    "a digit of it is wrong, by the capitals among its letters",
  );
}

function digitsOf(secret: Uint8Array): string {
  const sum = sha256(secret);
  return toHex(secret).replaceAll(/[a-f]/g, (digit, at: number) => {
    const isCapital = sum[at >> 3]! >> (at & 7) & 1;
    return isCapital ? digit.toUpperCase() : digit;
  });
}

/**
 * Writes a key to a file that must not be there yet: whole or not at all, as half
 * a root key would keep the server from starting ever again.
 */
export async function writeKeyFile(
  path: string,
  { secret, certificate }: FileKey,
): Promise<void> {
  const half = `${path}.half`;
  const lines = certificate === undefined
    ? [digitsOf(secret)]
    : [digitsOf(secret), toHex(certificate)];
  try {
    await rm(half, { force: true });
    await writeWhole(half, new TextEncoder().encode(`${lines.join("\n")}\n`));
    await publish(half, path);
  } catch (cause) {
    throw invalid(path, "it cannot be written", cause);
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Gives a file its name; replaces nothing where the medium knows hard links. */
async function publish(half: string, path: string): Promise<void> {
  try {
    await link(half, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    return await rename(half, path);
  }
  await rm(half, { force: true });
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

/** Does the secret belong to the root public key? Throws when it does not. */
export function checkRootSecret(
  path: string,
  secret: Uint8Array,
  rootKey: Uint8Array,
): void {
  const { publicKey } = createSigner(secret);
  if (equalBytes(publicKey, rootKey)) return;
  throw new DatabaseError(
    "root-key-mismatch",
    `The root key file ${path} is of root key ${toHex(publicKey)}, ` +
      `the data belongs to ${toHex(rootKey)}: name the right file or folder, ` +
      "or move the file away, so that a new one is written",
  );
}

function invalid(path: string, why: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    "invalid-option",
    `Cannot use ${path} as key file: ${why}. Restore it from a copy; beside sound data ` +
      "it may be moved away, and a new one is written",
    { cause },
  );
}
