/**
 * The root key file: a copy of the root secret that lies elsewhere than the
 * data, so that a server whose disk is lost can be replaced.
 *
 * One line of 64 hexadecimal digits, readable by its owner only.
 *
 * @module
 */

import { link, open, readFile, rename, rm } from "node:fs/promises";
import { createSigner } from "../crypto/mod.ts";
import { equalBytes, fromHex, toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";

const SECRET = /^([0-9a-f]{64})\s*$/i;

/** Reads a root secret; `undefined` when there is no such file. */
export async function readRootKeyFile(
  path: string,
): Promise<Uint8Array | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw invalid(path, "it cannot be read", cause);
  }
  const secret = SECRET.exec(text)?.[1];
  if (secret === undefined) {
    throw invalid(path, "it is not one line of 64 hexadecimal digits");
  }
  return fromHex(secret.toLowerCase());
}

/**
 * Writes a root secret to a file that must not be there yet: whole or not at
 * all, as half a key would keep the server from starting ever again.
 */
export async function writeRootKeyFile(
  path: string,
  secret: Uint8Array,
): Promise<void> {
  const half = `${path}.half`;
  try {
    await rm(half, { force: true });
    await writeWhole(half, new TextEncoder().encode(`${toHex(secret)}\n`));
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

/** What the system calls a failure. */
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
      `the data belongs to ${toHex(rootKey)}: name the right file or folder`,
  );
}

function invalid(path: string, why: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    "invalid-option",
    `Cannot use ${path} as root key file: ${why}`,
    { cause },
  );
}
