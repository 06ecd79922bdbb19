/**
 * What takes commits back, as far as it is loaded: few pages ever see a refusal.
 *
 * It is there once the door is prepared. A tab follows withdrawals that it did
 * not foresee: it is told so before anything has changed, and follows them again.
 *
 * @module
 */

import { Late } from "../../src/base/late.ts";
import type { withdrawing } from "./withdrawing.ts";

/** What takes commits back. */
export const lateWithdrawing: Late<typeof withdrawing> =
  /* @__PURE__ */ new Late();
