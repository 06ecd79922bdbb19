/**
 * Is a signature good? Asked synchronously, of what WebCrypto was asked before.
 *
 * A page's WebCrypto answers later: who is about to ask {@linkcode verify} has
 * {@linkcode settle} look first. Only what that says no to, or was not asked,
 * is a matter for our own code, which is loaded then.
 *
 * Architecture invariant: one verdict on signatures on every platform (law 6).
 * WebCrypto accepts a subset of what ZIP-215 does: its yes is final, its no is
 * asked again.
 */

import { toHex } from "../src/base/bytes.ts";
import { native } from "../src/base/system.ts";
import { lateEd25519 } from "./late_ed25519.ts";
import { sha256 } from "./sha256.ts";
import { subtleHere, type WebKey, type WebVerifier } from "./web_keys.ts";

/** Who says to have signed what. */
export interface Signature {
  readonly message: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** As many as may wait for a parent, each of which is asked about once more. */
const GOOD_MAX = 10_000;
/** Imported public keys that are kept. */
const KEYS_MAX = 256;

/** What WebCrypto found good, the oldest first. */
const good = new Set<string>();
/** What it is being asked. */
const looks = new Map<string, Promise<boolean>>();
const keys = new Map<string, Promise<WebKey>>();

function nameOf({ message, signature, publicKey }: Signature): string {
  return toHex(sha256(signature, publicKey, message));
}

/** Adds to what is kept, of which the oldest goes. */
function bound<K>(kept: Map<K, unknown> | Set<K>, max: number): void {
  if (kept.size < max) return;
  const [oldest] = kept.keys();
  kept.delete(oldest!);
}

/**
 * Is it a signature by the key, under ZIP-215? Throws what `Late` throws where
 * our own code has to say so, and is not loaded.
 */
export function verify(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  if (good.size > 0 && good.has(nameOf({ signature, message, publicKey }))) {
    return true;
  }
  return lateEd25519.code.verify(signature, message, publicKey);
}

/** Can {@linkcode verify} say what is asked; of nothing in particular, whatever is asked? */
export function isSettled(asked?: Signature): boolean {
  return lateEd25519.isLoaded ||
    asked !== undefined && good.has(nameOf(asked));
}

/**
 * Sees to it that {@linkcode verify} can say what is asked; `undefined`: nobody
 * knows what that will be. Does not fail: what cannot be loaded `verify` says.
 */
export async function settle(
  asked: readonly Signature[] | undefined,
  subtle: WebVerifier | undefined = subtleHere(),
): Promise<void> {
  if (lateEd25519.isLoaded) return;
  // Who has it at hand asks that at once, and needs nothing else but our own no.
  const isOurs = asked === undefined || subtle === undefined ||
    native.crypto !== undefined;
  const verdicts = isOurs ? [false] : await Promise.all(
    asked.map((one) => look(one, subtle)),
  );
  if (verdicts.includes(false)) await lateEd25519.load().catch(() => {});
}

/** Has WebCrypto look at one, once; remembers its yes. */
async function look(one: Signature, subtle: WebVerifier): Promise<boolean> {
  const name = nameOf(one);
  if (good.has(name)) return true;
  const looking = looks.get(name) ?? webVerify(one, subtle);
  looks.set(name, looking);
  const isGood = await looking;
  looks.delete(name);
  if (!isGood) return false;
  bound(good, GOOD_MAX);
  good.add(name);
  return true;
}

/** The platform's own verdict: a "false" of it is not yet one of ours. */
export async function webVerify(
  { message, signature, publicKey }: Signature,
  subtle: WebVerifier,
): Promise<boolean> {
  const name = toHex(publicKey);
  try {
    let key = keys.get(name);
    if (key === undefined) {
      key = subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
      bound(keys, KEYS_MAX);
      keys.set(name, key);
    }
    return await subtle.verify("Ed25519", await key, signature, message);
  } catch {
    keys.delete(name);
    return false; // Platforms say in several ways that they lack it.
  }
}
