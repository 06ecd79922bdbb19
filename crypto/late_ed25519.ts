/**
 * Ed25519 in our own hands, as far as its code is loaded: most browsers sign and
 * verify by themselves (`web_keys.ts`, `signature.ts`), and load none of it.
 */

import { Late } from "../src/base/late.ts";
import type { KeyPair, Signer } from "./keys.ts";

/** What `ed25519.ts` does, which says itself that it is here. */
export interface LateEd25519 {
  createSigner(secretKey: Uint8Array, known?: Uint8Array): Signer;
  generateKeyPair(random: (target: Uint8Array) => void): KeyPair;
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
}

export const lateEd25519: Late<LateEd25519> = /* @__PURE__ */ new Late();
