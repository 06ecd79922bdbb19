/**
 * Ed25519 (RFC 8032) with the verification rule of ZIP-215.
 *
 * Architecture invariant: one verdict on signatures on every platform (law 6).
 * A native "true" is final, because native verifiers accept a subset of what
 * ZIP-215 accepts; a native "false" or failure is asked again of noble. The
 * price of a forgery is half a millisecond, so its sender should be dropped.
 */

import {
  getPublicKey,
  hashes,
  sign as nobleSign,
  verify as nobleVerify,
} from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import {
  concatBytes,
  fromBase64,
  fromHex,
  toBase64,
  toBase64url,
  toHex,
} from "../src/base/bytes.ts";
import { assert } from "../src/base/errors.ts";
import { type Native, native } from "../src/base/system.ts";
import type { KeyPair, Signer } from "./keys.ts";
import { lateEd25519 } from "./late_ed25519.ts";

hashes.sha512 = sha512;

type Platform = NonNullable<Native["crypto"]>;
type KeyObject = ReturnType<Platform["createPublicKey"]>;

/** RFC 8410: what stands before the 32 bytes of a secret key in DER. */
const SECRET_PREFIX = fromHex("302e020100300506032b657004220420");

/** Imported public keys that are kept: importing one costs 6 µs. */
const CACHED_KEYS_MAX = 256;

export interface Ed25519 {
  /**
   * Makes a {@linkcode Signer} of a 32-byte seed.
   *
   * @param known its public key, where the caller has it: deriving one costs as
   * much as ten signatures
   */
  createSigner(secretKey: Uint8Array, known?: Uint8Array): Signer;
  /** Is `signature` one of `message` by `publicKey`, under ZIP-215? */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
}

/** The algorithm by noble alone: the last word on every platform. */
export const portable: Ed25519 = {
  createSigner(secretKey, known) {
    assert(secretKey.length === 32, "a secret key is 32 bytes");
    let publicKey = known;
    return {
      get publicKey() {
        return publicKey ??= getPublicKey(secretKey);
      },
      sign: (message) => nobleSign(message, secretKey),
    };
  },
  verify(signature, message, publicKey) {
    if (signature.length !== 64 || publicKey.length !== 32) return false;
    try {
      return nobleVerify(signature, message, publicKey, { zip215: true });
    } catch {
      return false;
    }
  },
};

/** The algorithm with a platform's fast path; `undefined` is noble alone. */
export function ed25519With(platform: Native["crypto"]): Ed25519 {
  if (platform === undefined) return portable;
  const verifyFast = nativeVerify(platform);
  return {
    createSigner: (secretKey, known) =>
      nativeSigner(platform, secretKey, known),
    verify: (signature, message, publicKey) =>
      verifyFast(signature, message, publicKey) ||
      portable.verify(signature, message, publicKey),
  };
}

/** The platform's own verdict: a "false" of it is not yet one of ours. */
export function nativeVerify(platform: Platform): Ed25519["verify"] {
  const imported = new Map<string, KeyObject>();
  const keyOf = (publicKey: Uint8Array): KeyObject => {
    const name = toHex(publicKey);
    const known = imported.get(name);
    if (known !== undefined) return known;
    const key = importPublicKey(platform, publicKey);
    if (imported.size >= CACHED_KEYS_MAX) {
      const [oldest] = imported.keys();
      imported.delete(oldest!);
    }
    imported.set(name, key);
    return key;
  };
  return (signature, message, publicKey) => {
    if (signature.length !== 64 || publicKey.length !== 32) return false;
    try {
      return platform.verify(null, message, keyOf(publicKey), signature);
    } catch {
      return false; // Some platforms will not import every key.
    }
  };
}

function importPublicKey(platform: Platform, publicKey: Uint8Array): KeyObject {
  const x = toBase64url(publicKey);
  const key = { kty: "OKP", crv: "Ed25519", x };
  return platform.createPublicKey({ key, format: "jwk" });
}

/** A signer whose key is imported once, when it is first asked for. */
function nativeSigner(
  platform: Platform,
  secretKey: Uint8Array,
  known?: Uint8Array,
): Signer {
  assert(secretKey.length === 32, "a secret key is 32 bytes");
  let imported: KeyObject | undefined;
  let publicKey = known;
  const key = () => imported ??= importSecretKey(platform, secretKey);
  return {
    get publicKey() {
      return publicKey ??= publicKeyOf(key());
    },
    sign(message) {
      const signature = platform.sign(null, message, key());
      return new Uint8Array(signature.buffer, signature.byteOffset, 64);
    },
  };
}

function importSecretKey(platform: Platform, secretKey: Uint8Array): KeyObject {
  const der = toBase64(concatBytes(SECRET_PREFIX, secretKey));
  const pem = `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----`;
  return platform.createPrivateKey(pem);
}

function publicKeyOf(secret: KeyObject): Uint8Array {
  const { x } = secret.export({ format: "jwk" });
  assert(typeof x === "string", "a secret key knows its public key");
  return fromBase64(x);
}

let chosen: Ed25519 | undefined;

/** The algorithm here; its module is loaded by the first who signs or verifies, as it takes long. */
function here(): Ed25519 {
  return chosen ??= ed25519With(native.crypto);
}

export function createSigner(
  secretKey: Uint8Array,
  known?: Uint8Array,
): Signer {
  assert(secretKey.length === 32, "a secret key is 32 bytes");
  let made: Signer | undefined;
  const signer = () => made ??= here().createSigner(secretKey, known);
  return {
    get publicKey() {
      return known ?? signer().publicKey;
    },
    sign: (message) => signer().sign(message),
  };
}

export function verify(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  return here().verify(signature, message, publicKey);
}

export function generateKeyPair(
  random: (target: Uint8Array) => void,
): KeyPair {
  const secretKey = new Uint8Array(32);
  random(secretKey);
  return { publicKey: createSigner(secretKey).publicKey, secretKey };
}

lateEd25519.provide({ createSigner, generateKeyPair, verify });
