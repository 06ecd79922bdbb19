/**
 * Signing with secrets that are bytes, as far as its code is loaded: the keys of
 * most browsers are WebCrypto's, which sign without it (`web_keys.ts`).
 *
 * @module
 */

import { Late } from "../src/base/late.ts";
import type * as ed25519 from "./ed25519.ts";

/** `ed25519.ts`, which says itself that it is here. */
export const lateEd25519: Late<
  Pick<typeof ed25519, "createSigner" | "generateKeyPair">
> = /* @__PURE__ */ new Late();
