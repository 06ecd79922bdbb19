/**
 * A session's key: what signs with it, and the secret behind that: bytes, or a
 * key of the platform that cannot be read and stays in a vault.
 */

import type { SessionSigner } from "../../crypto/keys.ts";
import { lateEd25519 } from "../../crypto/late_ed25519.ts";
import {
  generateWebKey,
  isWebKey,
  type WebKey,
  webSigner,
} from "../../crypto/web_keys.ts";
import type { World } from "../base/world.ts";
import type { KeyVault } from "../storage/key_vault.ts";

lateEd25519.by(() => import("../../crypto/ed25519.ts"));

export interface SessionKey {
  readonly signer: SessionSigner;
  /** The seed of RFC 8032, 32 bytes, or a key that cannot be read. */
  readonly secret: Uint8Array | WebKey;
}

export interface StoredKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 32 bytes; `undefined`: it is in the vault. */
  readonly secret: Uint8Array | undefined;
}

export function signerOf(
  secret: SessionKey["secret"],
  publicKey: Uint8Array,
): SessionSigner {
  if (!(secret instanceof Uint8Array)) return webSigner(secret, publicKey);
  const make = () => lateEd25519.code.createSigner(secret, publicKey);
  if (lateEd25519.isLoaded) return make();
  return {
    publicKey,
    async sign(message) {
      await lateEd25519.load();
      return make().sign(message);
    },
  };
}

/** The key of a seed; its public key is derived when it is first asked for. */
export function keyOfSeed(secret: Uint8Array): SessionKey {
  return { signer: lateEd25519.code.createSigner(secret), secret };
}

/** A new key: in the vault where there is one that keeps it, else as bytes. */
export async function newKey(
  world: World,
  vault: KeyVault | undefined,
): Promise<SessionKey> {
  const made = vault && await generateWebKey();
  if (made !== undefined && await keeps(vault!, made.publicKey, made.key)) {
    const { publicKey, key } = made;
    return { signer: webSigner(key, publicKey), secret: key };
  }
  await lateEd25519.load();
  const { generateKeyPair } = lateEd25519.code;
  const { secretKey } = generateKeyPair((target) => world.random(target));
  return keyOfSeed(secretKey);
}

/** Some browsers have a vault in which such a key is not kept, or not always. */
async function keeps(
  vault: KeyVault,
  publicKey: Uint8Array,
  key: WebKey,
): Promise<boolean> {
  try {
    await vault.put(publicKey, key);
    return isWebKey(await vault.get(publicKey));
  } catch {
    return false;
  }
}

/** A key as a file is to have it. */
export function storedKeyOf({ signer, secret }: SessionKey): StoredKey {
  const { publicKey } = signer;
  const isPlain = secret instanceof Uint8Array;
  return { publicKey, secret: isPlain ? secret.slice() : undefined };
}

/** The key that a file speaks of; `undefined` when the vault has it no more. */
export async function findKey(
  { publicKey, secret }: StoredKey,
  vault: KeyVault | undefined,
): Promise<SessionKey | undefined> {
  if (secret !== undefined) {
    return { signer: signerOf(secret, publicKey), secret };
  }
  const key = await vault?.get(publicKey);
  if (!isWebKey(key)) return undefined;
  return { signer: signerOf(key, publicKey), secret: key };
}

/** Has a vault keep a key again that it may have lost. */
export async function keepAgain(
  { signer, secret }: SessionKey,
  vault: KeyVault | undefined,
): Promise<void> {
  if (secret instanceof Uint8Array) return;
  await vault?.put(signer.publicKey, secret);
}
