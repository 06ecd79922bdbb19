/**
 * What takes commits back, as far as it is loaded: few pages ever see a refusal.
 *
 * Who meets the first one without it says so before anything has changed, and is
 * told of it again: a tab by its inbox, a conversation by its next connection.
 *
 * @module
 */

import { Late } from "../../src/base/late.ts";
import type { withdrawing } from "./withdrawing.ts";

/** What takes commits back. */
export const lateWithdrawing: Late<typeof withdrawing> =
  /* @__PURE__ */ new Late();

lateWithdrawing.by(async () => (await import("./withdrawing.ts")).withdrawing);
