/**
 * Timing in Deno and in pages alike.
 *
 * @module
 */

import type { Done } from "./store.ts";

/** How long, and how often, one operation is measured. */
export interface Budget {
  /** No new sample begins after so many milliseconds … */
  readonly ms: number;
  /** … once there are so many. */
  readonly samplesMin: number;
  readonly samplesMax: number;
}

/** Milliseconds until `work` is done; a call that answers at once is not awaited. */
export async function timed(work: () => Done): Promise<number> {
  const start = performance.now();
  const done = work();
  if (done !== undefined) await done;
  return performance.now() - start;
}

/** Milliseconds of a read. */
export function timedNow(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** Samples of `measure` until the budget is used up; the first `warmUps` do not count. */
export async function sampled(
  budget: Budget,
  warmUps: number,
  measure: (turn: number) => number | Promise<number>,
): Promise<number[]> {
  const samples: number[] = [];
  let start = performance.now();
  for (let turn = 0; samples.length < budget.samplesMax; turn++) {
    const isLate = performance.now() - start > budget.ms;
    if (isLate && samples.length >= budget.samplesMin) break;
    const measured = measure(turn);
    const ms = typeof measured === "number" ? measured : await measured;
    if (turn >= warmUps) samples.push(ms);
    if (turn + 1 === warmUps) start = performance.now();
  }
  return samples;
}

/** Adds up. */
export function sum(samples: readonly number[]): number {
  return samples.reduce((total, sample) => total + sample, 0);
}
