/**
 * What takes commits back and writes commits again: loaded together, when a
 * refusal is first heard of (`late_withdrawing.ts`).
 *
 * @module
 */

// As in src/db/online.ts.
import "../mod.ts";
import { rechainOperation } from "../../src/schema/rechain.ts";
import { refuse } from "./refuse.ts";
import { withdraw, withdrawAgain } from "./withdraw.ts";
import { withdrawAsTold, writeLost } from "./withdraw_told.ts";

/** What takes commits back. */
export const withdrawing = {
  rechainOperation,
  refuse,
  withdraw,
  withdrawAgain,
  withdrawAsTold,
  writeLost,
} as const;
