/**
 * What a replica does seldom, or never in a page: checkpoints are written,
 * damage is set aside, everything is verified. Loaded together when the first
 * of it is due.
 *
 * @module
 */

// As in src/db/online.ts.
import "./mod.ts";

export { writeCheckpoint } from "./checkpoint/write.ts";
export { Quarantine } from "./log_quarantine.ts";
export { loadRepaired, restoreStart } from "./repair.ts";
export { Salvage } from "./salvage.ts";
export { salvage } from "./salvage_make.ts";
export { Scrubber } from "./scrub.ts";
export { verifyReplica } from "./verify.ts";
