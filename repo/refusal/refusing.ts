/**
 * What makes commits void and writes commits again: loaded together, when a
 * refusal is first heard of (`late_refusing.ts`).
 */

// As in src/db/online.ts.
import "../mod.ts";
import { cutHere, goOn, refuseHere } from "./at_author.ts";
import { cut } from "./cut.ts";
import { refuse } from "./refuse.ts";
import { putAgain, reissue } from "./reissue.ts";

/** What makes commits void, and writes them again. */
export const refusing = {
  cut,
  cutHere,
  goOn,
  putAgain,
  refuse,
  refuseHere,
  reissue,
} as const;
