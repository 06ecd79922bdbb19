/**
 * What a replica does seldom, or never in a page: checkpoints are written,
 * damage is set aside, everything is verified. Loaded together when the first
 * of it is due.
 */

// As in src/db/online.ts.
import "./mod.ts";

export { removeOlder, writeNext } from "./checkpoint/write_next.ts";
export { redact } from "./redaction/compose.ts";
export { carryOut } from "./redaction/carry_out.ts";
export { finishRewriting } from "./redaction/rewriting.ts";
export { loadRepaired, restoreStart } from "./repair/repair.ts";
export { Salvage } from "./repair/salvage.ts";
export { salvage } from "./repair/salvage_make.ts";
export { Scrubber } from "./repair/scrub.ts";
export { setUnbornAside } from "./repair/unborn.ts";
export { verifyReplica } from "./repair/verify.ts";
