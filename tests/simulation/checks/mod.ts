/**
 * All checks: those on the way, what must be over before the end, and the end.
 *
 * @module
 */

import type { Cast } from "../simulation.ts";
import { checkConverged } from "./converged.ts";
import { checkEntries } from "./entries.ts";
import { checkForbidden } from "./forbidden.ts";
import { checkHonest } from "./honest.ts";
import { checkIncidents } from "./incidents.ts";
import { checkPromises } from "./promises.ts";
import { checkBounds, checkServer } from "./bounds.ts";
import { checkRecords } from "./revoked.ts";
import { checkSums } from "./sums.ts";
import { checkTold, sweepAll } from "./told.ts";

export { checkEqual } from "./honest.ts";
export { openQuestion } from "./converged.ts";

/** How late somebody may be told that something has expired. */
const LATE_MS = 100;

/** Runs every second. */
export function checkOnTheWay(cast: Cast): void {
  checkHonest(cast);
  checkBounds(cast);
  checkForbidden(cast);
  checkRecords(cast);
  sweepAll(cast);
  cast.stage.timeline.after(0, () => {
    try {
      checkTold(cast);
    } catch (cause) {
      cast.stage.fail(cause);
    }
  });
}

/** Runs when all is quiet. */
export async function checkAtEnd(cast: Cast): Promise<void> {
  checkForbidden(cast, true);
  checkRecords(cast);
  await checkConverged(cast);
  checkPromises(cast);
  checkSums(cast);
  checkServer(cast);
  checkIncidents(cast);
  checkEntries(cast);
  const { timeline } = cast.stage;
  for (let looks = 0; looks < 2; looks++) {
    sweepAll(cast);
    await timeline.runUntil(timeline.nowMs + LATE_MS);
    checkTold(cast, true);
  }
}
