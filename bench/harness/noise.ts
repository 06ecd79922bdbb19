/**
 * How still the machine was: what else it did, and whether it was as quick
 * after a suite as before.
 *
 * @module
 */

import type { Figure, Noise } from "./figure.ts";
import { measureSync } from "./machine.ts";
import { figuresOf } from "./stats.ts";

/** The machine's pace at one moment. */
export interface Pace {
  /** Milliseconds of a fixed piece of CPU work. */
  readonly cpuMs: number;
  /** Microseconds of an append with fdatasync. */
  readonly syncMicros: number;
}

/** A core that is busy a quarter of the time with something else shows in every tail. */
const loadMax = 0.25;
/** CPU work that wanders by more than this is not of one machine any more. */
const cpuDriftMax = 1.1;
/** Disks wander more; past this, durable rows of before and after cannot be compared. */
const syncDriftMax = 1.5;
/** Half of the figures differ by this much from one repetition to the next. */
const spreadMax = 0.25;

const workTurns = 9;
const workSteps = 2_000_000;

/** Measures the pace now; `folder` is where the databases are. Takes some 100 ms. */
export function paceOf(folder: string): Pace {
  const times: number[] = [];
  for (let turn = 0; turn < workTurns; turn++) {
    const from = performance.now();
    work();
    times.push(performance.now() - from);
  }
  return {
    cpuMs: figuresOf(times).median,
    syncMicros: measureSync(folder),
  };
}

/** The one-minute load; 0 where the system does not tell. */
export function loadNow(): number {
  return Deno.build.os === "windows" ? 0 : Deno.loadavg()[0] ?? 0;
}

/** What is said of a suite's run; `cores` to judge the load by. */
export function noiseOf(
  before: Pace & { readonly load: number },
  after: Pace,
  figures: readonly Figure[],
  cores: number,
): Noise {
  const spreads = figures.map(({ spread }) => spread)
    .filter((spread) => spread !== null);
  const noise = {
    loadBefore: before.load,
    cpuDrift: after.cpuMs / before.cpuMs,
    syncDrift: after.syncMicros / before.syncMicros,
    spread: spreads.length === 0 ? 0 : figuresOf(spreads).median,
  };
  const warning = warningOf(noise, cores);
  return warning === undefined ? noise : { ...noise, warning };
}

/** Why the figures are less sure than they look, in words, if they are. */
export function warningOf(
  noise: Omit<Noise, "warning">,
  cores: number,
): string | undefined {
  const faults: string[] = [];
  if (noise.loadBefore > loadMax * cores) {
    faults.push(
      `the machine was busy before the run (load ${
        noise.loadBefore.toFixed(1)
      } on ${cores} cores)`,
    );
  }
  if (isPast(noise.cpuDrift, cpuDriftMax)) {
    faults.push(`its CPU became ${changeOf(noise.cpuDrift)} during the run`);
  }
  if (isPast(noise.syncDrift, syncDriftMax)) {
    faults.push(`its disk became ${changeOf(noise.syncDrift)} during the run`);
  }
  if (noise.spread > spreadMax) {
    faults.push(
      `half of the figures differ by more than ${
        (noise.spread * 100).toFixed(0)
      } % between repetitions`,
    );
  }
  return faults.length === 0
    ? undefined
    : `A noisy run: ${faults.join("; ")}. Run it again on an idle machine.`;
}

function isPast(drift: number, max: number): boolean {
  return drift > max || drift < 1 / max;
}

/** A drift of times in words: above 1 the later took longer. */
function changeOf(drift: number): string {
  return drift > 1
    ? `${((drift - 1) * 100).toFixed(0)} % slower`
    : `${((1 / drift - 1) * 100).toFixed(0)} % quicker`;
}

/** A fixed piece of work that no compiler can leave out. */
function work(): number {
  let state = 1;
  for (let step = 0; step < workSteps; step++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    state ^= state >>> 15;
  }
  if (state === 0.5) {
    throw new Error("unreachable: the state is a whole number");
  }
  return state;
}
