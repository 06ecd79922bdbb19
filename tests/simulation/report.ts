/**
 * A run in one line.
 *
 * @module
 */

import type { Report } from "./simulation.ts";

/** Counts of the trace that tell how rough a run was. */
const TOLD = [
  "crash",
  "broken",
  "stop",
  "wipe",
  "restore",
  "fail-over",
  "refused",
  "retry",
  "discard",
  "synced",
  "login",
  "revoke",
];

/** Seed, mode, sizes, accidents, verdict and the hash of everything. */
export function summaryOf(report: Report): string {
  const {
    seed,
    plan,
    events,
    virtualMs,
    writes,
    commits,
    counts,
    digest,
    failure,
  } = report;
  const told = TOLD.filter((name) => counts[name] !== undefined).map((name) =>
    `${counts[name]} ${name}`
  );
  const verdict = failure === undefined
    ? "all is well"
    : `FAILED ${failure.checker}`;
  return `seed ${seed}: ${plan.mode}, ${plan.clients} clients, ${
    Math.round(virtualMs / 1_000)
  } s, ` +
    `${events} events, ${writes} writes, ${commits} commits, ${
      told.join(", ")
    }: ${verdict} ${digest.slice(0, 16)}`;
}
