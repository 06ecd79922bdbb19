/**
 * Cryptography: hashes, keys and signatures over bytes.
 *
 * The only folder that imports noble. Where the platform has a synchronous
 * native implementation it goes first; noble is the twin that runs everywhere
 * and has the last word. This folder knows bytes and nothing else: what a
 * message means is decided by whoever signs it. What pages load imports its
 * files by name, and `ed25519.ts` not before it is needed.
 *
 * @module
 */

export { sha256, sha256Into } from "./sha256.ts";
export { createSigner, generateKeyPair, verify } from "./ed25519.ts";
export { isWeakKey } from "./weak_key.ts";
export type { KeyPair, SessionSigner, Signer } from "./keys.ts";
export {
  generateWebKey,
  isWebKey,
  type WebKey,
  webSigner,
} from "./web_keys.ts";
