/**
 * Signing with secrets that are bytes, as far as its code is loaded: the keys of
 * most browsers are WebCrypto's, which sign without it (`web_keys.ts`).
 */

import { Late } from "../src/base/late.ts";
import type { KeyPair, Signer } from "./keys.ts";

/** What `ed25519.ts` does, which says itself that it is here. */
export interface LateEd25519 {
  createSigner(secretKey: Uint8Array, known?: Uint8Array): Signer;
  generateKeyPair(random: (target: Uint8Array) => void): KeyPair;
}

export const lateEd25519: Late<LateEd25519> = /* @__PURE__ */ new Late();
