/**
 * Times operations: what is timed is the call and its acknowledgement, never
 * the making of its key and value nor the check of its answer.
 *
 * One at a time, an operation is timed from its call. In flight, a wave of
 * operations is asked for at once and each is timed from when the wave began:
 * whoever works them off one by one lets the last wait for all.
 *
 * The clock is asked twice an operation, which costs 0.1 to 0.3 microseconds and
 * is in every figure, of every engine alike: it makes the fastest look slower.
 *
 * @module
 */

import type { Answer } from "./store.ts";

/** One operation, prepared. */
export interface Step {
  /** Which samples it belongs to. */
  readonly kind: string;
  run(): Answer<unknown>;
  /** What is wrong with the answer, if anything; called when all of its wave are done. */
  check(answer: unknown): string | undefined;
}

/** When a row has enough. */
export interface Budget {
  /** Milliseconds of measuring. */
  readonly ms: number;
  /** Operations, at most. */
  readonly operationsMax: number;
  /** Operations, at least, unless they take {@linkcode patience} times as long. */
  readonly operationsMin: number;
  /** Milliseconds of warming up, before, … */
  readonly warmMs: number;
  /** … unless this many operations were enough. */
  readonly warmOperations: number;
}

/** So many times the budget may be overrun for the least number of operations. */
const patience = 5;

/** What a row came to. */
export interface Timing {
  /** Milliseconds of each operation, by kind. */
  readonly samples: Map<string, number[]>;
  /** Milliseconds in which something was asked for and not answered. */
  readonly busyMs: number;
  readonly count: number;
  /** The first wrong answer. */
  readonly wrong: string | undefined;
}

/** Makes the next operation; `undefined` when there is none left. */
export type Steps = () => Step | undefined;

/** Runs operations, `inFlight` at a time, until the budget or the operations are used up. */
export async function timeSteps(
  steps: Steps,
  inFlight: number,
  budget: Budget,
): Promise<Timing> {
  const { operationsMax, warmMs, warmOperations } = budget;
  const before = await timeSome(steps, inFlight, {
    ms: warmMs,
    // A row with few operations keeps most of them for its figure.
    operationsMax: Math.min(warmOperations, Math.ceil(operationsMax / 4)),
    operationsMin: inFlight,
  });
  const timing = await timeSome(steps, inFlight, budget);
  return { ...timing, wrong: before.wrong ?? timing.wrong };
}

async function timeSome(
  steps: Steps,
  inFlight: number,
  { ms, operationsMax, operationsMin }: Omit<
    Budget,
    "warmMs" | "warmOperations"
  >,
): Promise<Timing> {
  const samples = new Map<string, number[]>();
  let [busyMs, count] = [0, 0];
  let wrong: string | undefined;
  const begin = performance.now();
  while (count < operationsMax) {
    const budget = count < operationsMin ? ms * patience : ms;
    if (performance.now() - begin >= budget) break;
    const wave = nextWave(steps, inFlight);
    if (wave.length === 0) break;
    const ran = await (wave.length === 1 ? runOne(wave) : runWave(wave));
    busyMs += ran.ms;
    count += wave.length;
    for (const [at, step] of wave.entries()) {
      samplesOf(samples, step.kind).push(ran.times[at] ?? ran.ms);
      wrong ??= step.check(ran.answers[at]);
    }
  }
  return { samples, busyMs, count, wrong };
}

function nextWave(steps: Steps, inFlight: number): Step[] {
  const wave: Step[] = [];
  while (wave.length < inFlight) {
    const step = steps();
    if (step === undefined) break;
    wave.push(step);
  }
  return wave;
}

interface Ran {
  readonly ms: number;
  readonly times: readonly number[];
  readonly answers: readonly unknown[];
}

async function runOne([step]: readonly Step[]): Promise<Ran> {
  if (step === undefined) return { ms: 0, times: [], answers: [] };
  const begin = performance.now();
  let answer = step.run();
  // Awaiting what is there already would cost more than some answers do.
  if (isPending(answer)) answer = await answer;
  const ms = performance.now() - begin;
  return { ms, times: [ms], answers: [answer] };
}

async function runWave(wave: readonly Step[]): Promise<Ran> {
  const times = new Array<number>(wave.length).fill(0);
  const answers = new Array<unknown>(wave.length).fill(undefined);
  const pending: PromiseLike<void>[] = [];
  const begin = performance.now();
  const done = (at: number, answer: unknown): void => {
    times[at] = performance.now() - begin;
    answers[at] = answer;
  };
  for (let at = 0; at < wave.length; at++) {
    const answer = wave[at]?.run();
    if (!isPending(answer)) done(at, answer);
    else pending.push(answer.then((answer) => done(at, answer)));
  }
  if (pending.length > 0) await Promise.all(pending);
  return { ms: performance.now() - begin, times, answers };
}

function isPending(answer: unknown): answer is PromiseLike<unknown> {
  return typeof answer === "object" && answer !== null && "then" in answer;
}

function samplesOf(samples: Map<string, number[]>, kind: string): number[] {
  let own = samples.get(kind);
  if (own === undefined) samples.set(kind, own = []);
  return own;
}
