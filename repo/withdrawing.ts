/**
 * What takes commits back and writes commits again: loaded together, when a
 * page connects or a tab hears of a refusal (`late_withdrawing.ts`).
 *
 * @module
 */

import { rechainOperation } from "../src/schema/rechain.ts";
import { receiveBack } from "./set_back.ts";
import { withdraw, withdrawAgain } from "./withdraw.ts";
import { withdrawAsTold, writeLost } from "./withdraw_told.ts";

/** What takes commits back. */
export const withdrawing = {
  receiveBack,
  rechainOperation,
  withdraw,
  withdrawAgain,
  withdrawAsTold,
  writeLost,
} as const;
