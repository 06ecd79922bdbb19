/**
 * The 27 questions of the stress suite, as plain data that each engine
 * translates into its own language and that the roster answers by itself.
 *
 * @module
 */

import {
  createdEveryMs,
  createdOf,
  firstCreatedAt,
  firstSeenAt,
  scoreEnd,
  scoreOf,
  seenSpanMs,
  worlds,
} from "./players.ts";

/** Fields that ranges and orders are of. */
export type NumberField = "score" | "createdAt" | "lastSeenAt";

/** `from <= field < to`. */
export interface Range {
  readonly field: NumberField;
  readonly from: number;
  /** `Infinity`: no bound. */
  readonly to: number;
}

/** One question: the players that meet all of it. */
export interface Ask {
  readonly name: string;
  readonly worlds?: readonly string[];
  readonly active?: boolean;
  readonly ranges: readonly Range[];
  readonly order?: { readonly field: NumberField; readonly isDown: boolean };
  readonly limit?: number;
}

/**
 * The indexes of every engine: what the questions begin with, as a careful
 * engineer would choose them; not one for every question.
 */
export const indexes = [
  ["score"],
  ["active", "score"],
  ["world", "active", "score"],
  ["world", "lastSeenAt"],
  ["createdAt"],
  ["lastSeenAt"],
] as const;

/** So many players came within an hour. */
const hourMs = 3_600_000;
const down = (field: NumberField) => ({ field, isDown: true });
const up = (field: NumberField) => ({ field, isDown: false });

/** Scores between two shares of all scores. */
function score(from: number, to = Infinity): Range {
  return share("score", 0, scoreEnd, from, to);
}

/** Moments between two shares of the time in which players were last seen. */
function seen(from: number, to: number): Range {
  return share("lastSeenAt", firstSeenAt, seenSpanMs, from, to);
}

function share(
  field: NumberField,
  first: number,
  span: number,
  from: number,
  to: number,
): Range {
  const at = (part: number) => Math.floor(first + part * span);
  return { field, from: at(from), to: to === Infinity ? Infinity : at(to) };
}

/**
 * The questions about `size` players. Each variant asks for other worlds and
 * other ranges of the same width, so that no engine can have the answer ready. `exact`
 * is the score that one of them asks for: of a player that is here.
 */
export function asksOf(
  size: number,
  variant = 0,
  exact: number = scoreOf(Math.floor(size / 3)),
): readonly Ask[] {
  const parts = { size, variant, exact, shift: (variant % 64) / 1_000 };
  return [
    ...scoreAsks(parts),
    ...worldAsks(parts),
    ...compoundAsks(parts),
    ...timeAsks(parts),
  ];
}

interface Parts {
  readonly size: number;
  readonly variant: number;
  readonly exact: number;
  /** Moves ranges by up to 0.063 of the whole. */
  readonly shift: number;
}

function worldAt(variant: number, further = 0): string {
  return worlds[(variant * 5 + further) % worlds.length] ?? "";
}

function scoreAsks({ size, exact, shift }: Parts): Ask[] {
  const only = { field: "score", from: exact, to: exact + 1 } as const;
  return [
    { name: "score is", ranges: [only] },
    { name: "score, a high tenth", ranges: [score(0.9 - shift, 1 - shift)] },
    { name: "score, worst 5 %", ranges: [score(shift, shift + 0.05)] },
    { name: "score, 1 % in the middle", ranges: [score(0.45, 0.46)] },
    {
      name: "top 10 below a score",
      ranges: [score(0, 1 - shift)],
      order: down("score"),
      limit: 10,
    },
    {
      name: "lowest 10 above a score",
      ranges: [score(shift)],
      order: up("score"),
      limit: 10,
    },
    {
      name: "score from the middle, lowest first, 50",
      ranges: [score(0.5 + shift)],
      order: up("score"),
      limit: 50,
    },
    {
      name: "active, newest 50 before a moment",
      active: true,
      ranges: [created(size, 0, 1 - shift)],
      order: down("createdAt"),
      limit: 50,
    },
    {
      name: "not active, half of the scores",
      active: false,
      ranges: [score(shift, 0.5 + shift)],
    },
    {
      name: "active, top 10 below a score",
      active: true,
      ranges: [score(0, 1 - shift)],
      order: down("score"),
      limit: 10,
    },
  ];
}

/** Players that came in this part of all. */
function created(size: number, from: number, to: number): Range {
  return share("createdAt", firstCreatedAt, size * createdEveryMs, from, to);
}

function worldAsks({ variant }: Parts): Ask[] {
  const world = [worldAt(variant)];
  const three = [0, 3, 6].map((further) => worldAt(variant, further));
  return [
    { name: "world", worlds: world, ranges: [] },
    { name: "three worlds", worlds: three, ranges: [] },
    {
      name: "world, top 20",
      worlds: world,
      ranges: [],
      order: down("score"),
      limit: 20,
    },
    {
      name: "world, last seen 20",
      worlds: world,
      ranges: [],
      order: down("lastSeenAt"),
      limit: 20,
    },
  ];
}

function compoundAsks({ variant, shift }: Parts): Ask[] {
  const world = [worldAt(variant)];
  const two = [worldAt(variant), worldAt(variant, 7)];
  return [
    { name: "world and active", worlds: world, active: true, ranges: [] },
    {
      name: "world and score, a high fifth",
      worlds: world,
      ranges: [score(0.8 - shift, 1 - shift)],
    },
    {
      name: "active and score, 2 %",
      active: true,
      ranges: [score(0.4 + shift, 0.42 + shift)],
    },
    {
      name: "world and active, top 10",
      worlds: world,
      active: true,
      ranges: [],
      order: down("score"),
      limit: 10,
    },
    {
      name: "world and active and score, lowest 25",
      worlds: world,
      active: true,
      ranges: [score(shift, 0.5)],
      order: up("score"),
      limit: 25,
    },
    {
      name: "two worlds and active, top 20",
      worlds: two,
      active: true,
      ranges: [],
      order: down("score"),
      limit: 20,
    },
  ];
}

function timeAsks({ size, variant, shift }: Parts): Ask[] {
  const world = [worldAt(variant)];
  const hour = createdOf(Math.floor(size / 2) + variant);
  return [
    {
      name: "came within an hour",
      ranges: [{ field: "createdAt", from: hour, to: hour + hourMs }],
    },
    {
      name: "came in a tenth of the time",
      ranges: [created(size, 0.9 - shift, 1 - shift)],
    },
    { name: "seen in 1 % of the time", ranges: [seen(0.6, 0.61)] },
    {
      name: "seen lately, latest 50",
      ranges: [seen(0.95 - shift, 1 - shift)],
      order: down("lastSeenAt"),
      limit: 50,
    },
    {
      name: "came in the first half and active, newest 50",
      active: true,
      ranges: [created(size, 0, 0.5 - shift)],
      order: down("createdAt"),
      limit: 50,
    },
    {
      name: "world and seen in a tenth",
      worlds: world,
      ranges: [seen(0.9 - shift, 1 - shift)],
    },
    {
      name: "active and seen in a tenth, top 10",
      active: true,
      ranges: [seen(0.2 + shift, 0.3 + shift)],
      order: down("score"),
      limit: 10,
    },
  ];
}
