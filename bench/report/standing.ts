/**
 * Where we stand: each figure of ours beside the best rival that promises at
 * least as much.
 *
 * Architecture invariant: a rival whose durability is weaker than ours is never
 * the one that we are measured by, and a figure that was wrong, failed or was
 * skipped is neither ours nor a rival's.
 *
 * @module
 */

import type { Durability, Figure, Target } from "../harness/figure.ts";
import { type Reason, reasonFor } from "./reasons.ts";
import { engineLabel, isOurs } from "./show.ts";

/** Which way a row went; `alone` where nobody else answered. */
export type Verdict = "ahead" | "level" | "behind" | "alone";

/** One figure of ours and who it is held against. */
export interface Standing {
  readonly ours: Figure;
  readonly rival: Figure | undefined;
  /** Below 1 we are ahead, whatever the unit; `null` where nobody else answered. */
  readonly ratio: number | null;
  /** Ratios between 1 ÷ this and this are level. */
  readonly noise: number;
  readonly verdict: Verdict;
  /** Why we are behind, once somebody found out. */
  readonly reason?: Reason;
}

/** Even two runs of one program differ by this factor on an idle machine. */
const noiseMin = 1.05;
/** What is assumed of a figure that was taken in one process only. */
const spreadUnknown = 0.15;
/** More noise than this says nothing: such a row must not hide a loss behind its own unrest. */
export const noiseMax = 1.5;

/** Promises in order; a read writes nothing on either side, so all are equal there. */
const strength: Readonly<Record<Exclude<Durability, "none">, number>> = {
  memory: 0,
  queued: 1,
  written: 2,
  fsync: 3,
};

/** Does the rival promise at least as much as we do in this row? */
export function isAsDurable(rival: Durability, ours: Durability): boolean {
  if (rival === "none" || ours === "none") return rival === ours;
  return strength[rival] >= strength[ours];
}

/** Is there a figure that counts? */
export function isSound(figure: Figure): boolean {
  return figure.median !== null && figure.wrong === undefined &&
    figure.failed === undefined && figure.skipped === undefined;
}

/** What is the matter with a figure that does not count, in a word. */
export function troubleWord(
  { wrong, failed }: Figure,
): "WRONG" | "FAILED" | "skipped" {
  if (wrong !== undefined) return "WRONG";
  return failed === undefined ? "skipped" : "FAILED";
}

/** One trouble of one engine, with the rows that it spoiled. */
export interface Trouble {
  readonly engine: string;
  readonly word: string;
  readonly why: string;
  readonly rows: readonly [Figure, ...Figure[]];
}

/** Every different trouble once. */
export function troublesOf(figures: readonly Figure[]): Trouble[] {
  const alike = Map.groupBy(
    figures.filter((one) => !isSound(one)),
    (one) => JSON.stringify([one.engine, troubleWord(one), whyOf(one)]),
  );
  return [...alike.values()].map((rows) => {
    const [first] = rows as [Figure];
    const { engine } = first;
    const [word, why] = [troubleWord(first), whyOf(first)];
    return { engine, word, why, rows: rows as [Figure, ...Figure[]] };
  });
}

function whyOf({ wrong, failed, skipped }: Figure): string {
  return wrong ?? failed ?? skipped ?? "no figure";
}

/** Names a row: the figures that answer one question. */
export function rowKey(figure: Figure): string {
  const { suite, table, operation, size, unit } = figure;
  return JSON.stringify([suite, table, operation, size, unit]);
}

/** Figures by row, in the order in which rows first come. */
export function rowsOf(figures: readonly Figure[]): Map<string, Figure[]> {
  const rows = new Map<string, Figure[]>();
  for (const figure of figures) {
    const key = rowKey(figure);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [figure]);
    else row.push(figure);
  }
  return rows;
}

/** How each sound figure of ours stands, in their order. */
export function standingsOf(figures: readonly Figure[]): Standing[] {
  const standings: Standing[] = [];
  for (const row of rowsOf(figures).values()) {
    for (const ours of row) {
      if (isOurs(ours.engine) && isSound(ours)) {
        standings.push(standingOf(ours, row));
      }
    }
  }
  return standings;
}

/** How one figure of ours stands among the figures of its row. */
export function standingOf(ours: Figure, row: readonly Figure[]): Standing {
  const rival = bestRival(ours, row);
  if (rival === undefined) {
    return { ours, rival, ratio: null, noise: noiseMin, verdict: "alone" };
  }
  const ratio = ratioOf(ours, rival);
  const noise = noiseOf(ours, rival);
  const verdict = judge(ratio, noise);
  const reason = verdict === "behind" ? reasonFor(ours) : undefined;
  return {
    ours,
    rival,
    ratio,
    noise,
    verdict,
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The best figure of somebody else who promises as much. */
export function bestRival(
  ours: Figure,
  row: readonly Figure[],
): Figure | undefined {
  let best: Figure | undefined;
  for (const other of row) {
    const isRival = !isOurs(other.engine) && isSound(other) &&
      (other.median ?? 0) > 0 && isAsDurable(other.durability, ours.durability);
    if (isRival && (best === undefined || ratioOf(other, best) < 1)) {
      best = other;
    }
  }
  return best;
}

/** One figure by another, so that below 1 the first is better, for rates too. */
export function ratioOf(one: Figure, other: Figure): number {
  // A difference of two times may fall below zero: then it cost nothing.
  const a = Math.max(0, one.median ?? 0);
  const b = Math.max(0, other.median ?? 0);
  return one.isMoreBetter ? quotient(b, a) : quotient(a, b);
}

/** The factor within which two figures are level: half of what each wandered, added up. */
export function noiseOf(...figures: readonly Figure[]): number {
  let wandered = 0;
  for (const { spread } of figures) wandered += (spread ?? spreadUnknown) / 2;
  return Math.min(noiseMax, Math.max(noiseMin, 1 + wandered));
}

/** Ahead, level or behind by a ratio and the noise around it. */
export function judge(ratio: number, noise: number): Verdict {
  if (ratio > noise) return "behind";
  return ratio < 1 / noise ? "ahead" : "level";
}

/** All that was aimed at in a figure. */
export function targetsOf(figure: Figure): Target[] {
  const { target, alsoTargets = [] } = figure;
  return target === undefined ? [...alsoTargets] : [target, ...alsoTargets];
}

/** Did the figure reach all its targets? `undefined` where none was set. */
export function isMet(figure: Figure): boolean | undefined {
  const targets = targetsOf(figure);
  if (targets.length === 0) return undefined;
  return targets.every((target) => reaches(figure, target));
}

function reaches(figure: Figure, target: Target): boolean {
  const { isMoreBetter } = figure;
  const value = target.of === "ratio"
    ? figure.against?.ratio ?? null
    : figure[target.of];
  if (!isSound(figure) || value === null) return false;
  const isFloor = isMoreBetter && target.of !== "ratio";
  return isFloor ? value >= target.value : value <= target.value;
}

/** A standing in words: `2.4× faster than LMDB`, `level with SQLite FULL`. */
export function standingWords(standing: Standing): string {
  const { ours, rival, ratio, verdict } = standing;
  if (rival === undefined || ratio === null) return "nobody to compare with";
  const name = engineLabel(rival.engine);
  if (verdict === "level") return `level with ${name}`;
  const [good, bad] = comparatives(ours);
  return verdict === "ahead"
    ? `${showTimes(1 / ratio)} ${good} than ${name}`
    : `${showTimes(ratio)} ${bad} than ${name}`;
}

/** A factor as `2.4×`; what nobody can imagine is cut short. */
export function showTimes(factor: number): string {
  if (factor >= 1_000) return "over 1,000×";
  if (factor >= 10) return `${factor.toFixed(0)}×`;
  return `${factor.toFixed(factor < 1.1 ? 2 : 1)}×`;
}

function comparatives({ unit }: Figure): readonly [string, string] {
  switch (unit) {
    case "ms":
      return ["faster", "slower"];
    case "per s":
      return ["faster", "slower"];
    case "B":
      return ["smaller", "larger"];
    case "trips":
    case "items":
      return ["better", "worse"];
  }
}

function quotient(a: number, b: number): number {
  if (b > 0) return a / b;
  return a > 0 ? Infinity : 1;
}

/** A row that we lose, with all of our figures that are behind in it. */
export interface LostRow {
  readonly operation: string;
  /** Why, once somebody found out. */
  readonly why: string | undefined;
  /** The worst first; at least one. */
  readonly standings: readonly Standing[];
}

/** The rows that we lose, the worst first: sizes, tables and modes of one operation with one reason are told together. */
export function lostRows(standings: readonly Standing[]): LostRow[] {
  const rows = new Map<string, LostRow & { standings: Standing[] }>();
  const lost = standings.filter(({ verdict }) => verdict === "behind")
    .sort((a, b) => (b.ratio ?? 0) - (a.ratio ?? 0));
  for (const standing of lost) {
    const { suite, operation } = standing.ours;
    const why = standing.reason?.why;
    const key = JSON.stringify([suite, operation, why]);
    const row = rows.get(key);
    if (row !== undefined) row.standings.push(standing);
    else rows.set(key, { operation, why, standings: [standing] });
  }
  return [...rows.values()];
}
