/**
 * A run beside an earlier one: what moved by more than the noise.
 *
 * Ours are compared by their ratio to one rival that both runs have, since
 * whatever slowed or quickened the machine in between did so to both; rivals'
 * own figures by their medians, which shows how far the machine has drifted.
 *
 * @module
 */

import type { Figure, Run } from "../harness/figure.ts";
import {
  engineLabel,
  isOurs,
  showDigits,
  showSize,
  showValue,
} from "./show.ts";
import {
  bestRival,
  isSound,
  judge,
  noiseOf,
  ratioOf,
  rowKey,
  rowsOf,
} from "./standing.ts";

/** One figure then and now. */
export interface Move {
  readonly now: Figure;
  readonly then: Figure;
  /** Whom ours were divided by; absent where medians were compared. */
  readonly rival?: string;
  /** What was compared, then and now; below is better, for rates too. */
  readonly ratioThen: number | null;
  readonly ratioNow: number | null;
  /** Now ÷ then, so that above 1 is worse. */
  readonly change: number;
  /** Changes below this factor, either way, are noise. */
  readonly noise: number;
  readonly verdict: "better" | "worse" | "noise";
}

/** Two runs of one program differ by this much on a shared machine. */
const noiseMin = 1.1;

/** All figures that both runs have. */
export function compareRuns(now: Run, then: Run): Move[] {
  const known = indexOf(figuresOf(then));
  const moves: Move[] = [];
  for (const [key, row] of rowsOf(figuresOf(now))) {
    const before = known.get(key);
    if (before === undefined) continue;
    for (const figure of row) {
      const earlier = before.get(figure.engine);
      if (earlier === undefined || !isSound(figure) || !isSound(earlier)) {
        continue;
      }
      moves.push(moveOf(figure, earlier, row, before));
    }
  }
  return moves;
}

/** Those that moved by more than the noise, the greatest change first. */
export function movedOf(moves: readonly Move[]): Move[] {
  const reach = ({ change }: Move): number => Math.abs(Math.log(change));
  return moves.filter((move) => move.verdict !== "noise")
    .sort((a, b) => reach(b) - reach(a));
}

/** The comparison as lines of the terminal. */
export function movesText(moves: readonly Move[]): string[] {
  if (moves.length === 0) {
    return ["The earlier run has no row in common with this one."];
  }
  const lines = movedOf(moves).map((move) =>
    `${move.verdict.toUpperCase()} ${showChange(move.change)}: ${
      moveName(move)
    }: ${showValue(move.then.median, move.then.unit)} then, ${
      showValue(move.now.median, move.now.unit)
    } now${ratioWords(move)}`
  );
  const count = (verdict: Move["verdict"]): number =>
    moves.filter((move) => move.verdict === verdict).length;
  return [
    ...lines,
    `${count("better")} better, ${count("worse")} worse, ${
      count("noise")
    } within the noise. Sheaf is compared by its ratio to a rival of the same run, rivals by their medians.`,
  ];
}

/** A change as a percentage with its sign. */
export function showChange(change: number): string {
  const percent = (change - 1) * 100;
  return `${percent >= 0 ? "+" : "−"}${Math.abs(percent).toFixed(0)} %`;
}

/** Which figure moved. */
export function moveName({ now }: Move): string {
  return `${now.table}, ${now.operation}, ${showSize(now.size)}, ${
    engineLabel(now.engine)
  }`;
}

function ratioWords({ rival, ratioThen, ratioNow }: Move): string {
  if (rival === undefined || ratioThen === null || ratioNow === null) return "";
  return ` (${showDigits(ratioThen)} and ${showDigits(ratioNow)} of ${
    engineLabel(rival)
  })`;
}

function figuresOf(run: Run): Figure[] {
  return run.suites.flatMap((suite) => [...suite.figures]);
}

function indexOf(figures: readonly Figure[]): Map<string, Map<string, Figure>> {
  const index = new Map<string, Map<string, Figure>>();
  for (const figure of figures) {
    const key = rowKey(figure);
    const row = index.get(key) ?? new Map<string, Figure>();
    row.set(figure.engine, figure);
    index.set(key, row);
  }
  return index;
}

function moveOf(
  now: Figure,
  then: Figure,
  row: readonly Figure[],
  before: ReadonlyMap<string, Figure>,
): Move {
  const shared = isOurs(now.engine)
    ? bestRival(now, row.filter(({ engine }) => isUsable(before.get(engine))))
    : undefined;
  const other = shared === undefined ? undefined : before.get(shared.engine);
  if (shared === undefined || other === undefined) {
    const noise = Math.max(noiseMin, noiseOf(now, then));
    const change = ratioOf(now, then);
    const verdict = verdictOf(change, noise);
    return {
      now,
      then,
      ratioThen: null,
      ratioNow: null,
      change,
      noise,
      verdict,
    };
  }
  const ratioNow = ratioOf(now, shared);
  const ratioThen = ratioOf(then, other);
  const change = ratioThen > 0
    ? ratioNow / ratioThen
    : ratioNow > 0
    ? Infinity
    : 1;
  const noise = Math.max(noiseMin, noiseOf(now, then, shared, other));
  return {
    now,
    then,
    rival: shared.engine,
    ratioThen,
    ratioNow,
    change,
    noise,
    verdict: verdictOf(change, noise),
  };
}

function isUsable(figure: Figure | undefined): boolean {
  return figure !== undefined && isSound(figure) && (figure.median ?? 0) > 0;
}

function verdictOf(change: number, noise: number): Move["verdict"] {
  const verdict = judge(change, noise);
  if (verdict === "behind") return "worse";
  return verdict === "ahead" ? "better" : "noise";
}
