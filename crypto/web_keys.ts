/**
 * Ed25519 keys of WebCrypto that cannot be read, only signed with.
 *
 * Whoever runs code in the page can sign as long as it runs, and no longer:
 * there is no secret that could be carried away. Where a platform has no
 * Ed25519, there is no such key, and noble signs with a secret as bytes; who has
 * one loads no noble.
 */

import { encodeText } from "../src/base/bytes.ts";
import type { SessionSigner } from "./keys.ts";

/** A secret key of the platform: a `CryptoKey`. It survives a structured clone. */
export interface WebKey {
  readonly type: string;
  readonly extractable: boolean;
}

export interface WebKeyPair {
  /** 32 bytes: the encoded point. */
  readonly publicKey: Uint8Array;
  readonly key: WebKey;
}

/** What is used of `SubtleCrypto` to verify; an app may have no DOM types. */
export interface WebVerifier {
  importKey(
    format: string,
    bytes: Uint8Array,
    algorithm: string,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<WebKey>;
  verify(
    algorithm: string,
    key: WebKey,
    signature: Uint8Array,
    data: Uint8Array,
  ): Promise<boolean>;
}

/** What is used of it to sign. */
export interface Subtle extends Pick<WebVerifier, "verify"> {
  generateKey(
    algorithm: string,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<unknown>;
  exportKey(format: string, key: WebKey): Promise<unknown>;
  sign(algorithm: string, key: WebKey, data: Uint8Array): Promise<ArrayBuffer>;
}

/** Signed once with each new key: a platform is believed when it knows its own signature (law 6). */
const EXAMPLE = encodeText("sheaf web key 1\n");

/** The platform's; `undefined` where a page came over an insecure way. */
export function subtleHere(): (Subtle & WebVerifier) | undefined {
  // Proof: the platform's own is a superset of what is used.
  return crypto.subtle as unknown as ReturnType<typeof subtleHere>;
}

/** Makes a key that cannot be read; `undefined` where the platform has none. */
export async function generateWebKey(
  subtle: Subtle | undefined = subtleHere(),
): Promise<WebKeyPair | undefined> {
  if (subtle === undefined) return undefined;
  try {
    const pair = await subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    // Proof: what `generateKey` gives for an algorithm with two keys.
    const { publicKey: open, privateKey: key } = pair as {
      publicKey: WebKey;
      privateKey: WebKey;
    };
    const raw = await subtle.exportKey("raw", open) as ArrayBuffer;
    const publicKey = new Uint8Array(raw);
    const signature = await webSigner(key, publicKey, subtle).sign(EXAMPLE);
    const isSound = isWebKey(key) &&
      await subtle.verify("Ed25519", open, signature, EXAMPLE);
    return isSound ? { publicKey, key } : undefined;
  } catch {
    return undefined; // Platforms say in several ways that they lack it.
  }
}

export function webSigner(
  key: WebKey,
  publicKey: Uint8Array,
  subtle: Subtle | undefined = subtleHere(),
): SessionSigner {
  return {
    publicKey,
    sign: async (message) =>
      new Uint8Array(await subtle!.sign("Ed25519", key, message)),
  };
}

/** Is it a secret key that cannot be read? */
export function isWebKey(value: unknown): value is WebKey {
  if (typeof value !== "object" || value === null) return false;
  const { type, extractable } = value as Partial<WebKey>;
  return type === "private" && extractable === false;
}
