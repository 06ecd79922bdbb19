/**
 * SHA-256 (FIPS 180-4), synchronous: the platform's where it has one, else
 * noble's. Never asynchronous, because a promise costs twenty times the hash.
 */

import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { concatBytes, encodeText, toHex } from "../src/base/bytes.ts";
import { allowance, type Native, native } from "../src/base/system.ts";

export type HashInto = (target: Uint8Array, bytes: Uint8Array) => void;

/** {@linkcode sha256Into} over a given platform; `undefined` is noble alone. */
export function sha256IntoWith(platform: Native["crypto"]): HashInto {
  if (platform === undefined) {
    return (target, bytes) => target.set(nobleSha256(bytes));
  }
  if (
    typeof platform.hash === "function" && "setFromHex" in Uint8Array.prototype
  ) {
    // Measured: a hexadecimal digest decoded into place takes 0.75 µs; a
    // digest that comes as a Buffer of its own takes 2.5 µs.
    return (target, bytes) => {
      target.setFromHex(platform.hash("sha256", bytes, "hex"));
    };
  }
  return (target, bytes) => {
    target.set(platform.createHash("sha256").update(bytes).digest());
  };
}

/** SHA-256 of "abc": FIPS 180-4, example B.1. */
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/** A platform is believed when it knows the standard's own example. */
function believed(platform: Native["crypto"]): Native["crypto"] {
  const digest = new Uint8Array(32);
  sha256IntoWith(platform)(digest, encodeText("abc"));
  return toHex(digest) === ABC ? platform : undefined;
}

/** Bytes that noble hashes before the platform's module is loaded: a few milliseconds' work. */
const isLittle = /* @__PURE__ */ allowance(64 * 1024);

let chosen: { readonly platform: Native["crypto"]; into: HashInto } | undefined;

function here(): NonNullable<typeof chosen> {
  if (chosen !== undefined) return chosen;
  const platform = believed(native.crypto);
  return chosen = { platform, into: sha256IntoWith(platform) };
}

/** Hashes `bytes` into `target`, which is 32 bytes long and may overlap them. */
export function sha256Into(target: Uint8Array, bytes: Uint8Array): void {
  if (chosen === undefined && isLittle(bytes.length + 64)) {
    return target.set(nobleSha256(bytes));
  }
  here().into(target, bytes);
}

/** The hash of the parts, one after the other: 32 bytes. */
export function sha256(
  ...parts: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const digest = new Uint8Array(32);
  const whole = parts.length === 1 ? parts[0]! : concatBytes(...parts);
  sha256Into(digest, whole);
  return digest;
}
