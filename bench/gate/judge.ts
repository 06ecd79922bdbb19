/**
 * Whether a row has become worse: by ratios, past a quarter and the noise.
 *
 * @module
 */

import type { Figure } from "../harness/figure.ts";
import { isSound, noiseOf, ratioOf } from "../report/standing.ts";
import type { Mark } from "./baseline.ts";
import type { Watched } from "./choice.ts";

/** So much worse may a row be without anybody being told; the noise comes on top. */
export const worseMax = 1.25;

/**
 * For rows that wander: by a factor of two on a busy machine. 16 writes that
 * each have a signature of their own take four times as long, also in memory.
 */
export const worseMaxWide = 3;

/**
 * Limits are so many times as wide on another processor than the baseline's: what
 * is compiled while it runs, and what signs, gains or loses against SQLite there.
 */
export const slackElsewhere = 2;

/** How a row stands beside its baseline. */
export type Finding =
  /** `change` is now ÷ then: above 1 is worse. */
  | {
    readonly is: "steady" | "better" | "worse";
    readonly change: number;
    readonly limit: number;
    readonly ratio: number;
  }
  /** Ours gave no figure that counts: as bad as a slow one. */
  | { readonly is: "broken"; readonly why: string }
  /** The rival did not run here: nothing can be said. */
  | { readonly is: "unheld"; readonly why: string };

/** A ratio with the noise around it, out of a run's figures. */
export interface Reading {
  readonly ratio: number;
  readonly noise: number;
}

/**
 * Holds a row of a run against its mark.
 *
 * @param slack by how much its limit is widened
 */
export function judge(
  mark: Mark,
  figures: readonly Figure[],
  { isGathered, isWide, rival }: Watched = mark,
  slack = 1,
): Finding {
  const reading = readingOf(mark, figures);
  if ("is" in reading) return reading;
  const { ratio } = reading;
  const change = ratio / mark.ratio;
  const most = isGathered || isWide ? worseMaxWide : worseMax;
  // What is counted is the same on every machine.
  const wider = rival === undefined ? 1 : slack;
  const limit = wider * (most + Math.max(reading.noise, mark.noise) - 1);
  const is = change > limit
    ? "worse"
    : change < 1 / limit
    ? "better"
    : "steady";
  return { is, change, limit, ratio };
}

/** The row's ratio in a run (what is counted stands for itself), or why there is none. */
export function readingOf(
  row: Watched,
  figures: readonly Figure[],
): Reading | Extract<Finding, { is: "broken" | "unheld" }> {
  const ours = figureOf(row, row.engine, figures);
  if (ours === undefined) return { is: "broken", why: "the row is gone" };
  if (!isSound(ours)) {
    const why = ours.wrong ?? ours.failed ?? ours.skipped ?? "no figure";
    return { is: "broken", why };
  }
  if (row.rival === undefined) return soundOf(ours.median ?? 0, ours);
  const rival = figureOf(row, row.rival, figures);
  return rival === undefined || !isSound(rival)
    ? { is: "unheld", why: `${row.rival} gave no figure` }
    : soundOf(ratioOf(ours, rival), ours, rival);
}

function soundOf(
  ratio: number,
  ...figures: readonly Figure[]
): Reading | Extract<Finding, { is: "unheld" }> {
  return ratio > 0 && Number.isFinite(ratio)
    ? { ratio, noise: noiseOf(...figures) }
    : { is: "unheld", why: "too quick to be measured" };
}

/** Of several tries of a row the best: a busy machine only ever slows. */
export function bestOf(one: Finding, other: Finding): Finding {
  return rankOf(other) < rankOf(one) ? other : one;
}

function rankOf(finding: Finding): number {
  if (finding.is === "broken") return Infinity;
  // To be unable to tell is worse than any figure, and better than none.
  if (finding.is === "unheld") return Number.MAX_VALUE;
  return finding.change;
}

function figureOf(
  row: Watched,
  engine: string,
  figures: readonly Figure[],
): Figure | undefined {
  return figures.find((one) =>
    one.suite === row.suite && one.table === row.table &&
    one.operation === row.operation && one.size === row.size &&
    one.engine === engine
  );
}
