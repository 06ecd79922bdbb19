/**
 * The players of the stress suite, about 150 bytes each, and the roster: what a
 * database must hold after the same changes.
 *
 * A player is a pure function of its number and of how often it was changed.
 * Scores and moments end in the number, so no two are equal, and every sorted
 * answer is the only right one.
 *
 * @module
 */

import { lettersOf, scramble } from "../harness/scramble.ts";

/** One player, as every engine must give it back. */
export interface Player {
  readonly id: string;
  readonly name: string;
  readonly score: number;
  readonly active: boolean;
  readonly world: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly lastSeenAt: number;
}

/** What a game writes when a player has played: three fields of one player. */
export interface Change {
  readonly id: string;
  readonly score: number;
  readonly active: boolean;
  readonly lastSeenAt: number;
}

/** Numbers of players are less than this: the low digits of scores and moments. */
export const playersMax = 2 ** 20;

/** Scores lie in `[0, scoreEnd)`, spread evenly. */
export const scoreEnd = 2 ** 14 * playersMax;

/** Player 0 came at this moment, each further one a minute later. */
export const firstCreatedAt = 1_600_000_000_000;
export const createdEveryMs = 60_000;

/** Players were last seen in `[firstSeenAt, firstSeenAt + seenSpanMs)`, spread evenly: 397 days. */
export const firstSeenAt = 1_700_000_000_000;
export const seenSpanMs = 2 ** 15 * playersMax;

/** Worlds of the game; each has a sixteenth of the players. */
export const worlds: readonly string[] = [
  "Aldra",
  "Brume",
  "Cinder",
  "Delve",
  "Ember",
  "Fathom",
  "Gale",
  "Hollow",
  "Isle",
  "Jade",
  "Karst",
  "Loam",
  "Mire",
  "Nadir",
  "Orchard",
  "Pyre",
];

/** One in so many players is not active. */
const inactiveEvery = 4;
const idLength = 20;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
const syllables =
  "an bel cor dra el fin gor hul ith jor ka lum mor nes or pel qua ril sar tor ul vex wyn yar zed"
    .split(" ");

/** The id of a player. */
export function idOf(index: number): string {
  return lettersOf(index, idLength, letters);
}

/** The score of a player after so many changes. */
export function scoreOf(index: number, turn = 0): number {
  return (scramble(index, 100 + turn) >>> 18) * playersMax + index;
}

/** Is a player active after so many changes? */
export function activeOf(index: number, turn = 0): boolean {
  return scramble(index, 20_000 + turn) % inactiveEvery !== 0;
}

/** When a player was last seen, after so many changes; milliseconds since 1970. */
export function lastSeenOf(index: number, turn = 0): number {
  const span = scramble(index, 40_000 + turn) >>> 17;
  return firstSeenAt + span * playersMax + index;
}

/** When a player came; milliseconds since 1970. */
export function createdOf(index: number): number {
  return firstCreatedAt + index * createdEveryMs;
}

/** Which world a player is in: its place in {@linkcode worlds}. */
export function worldNumberOf(index: number): number {
  return scramble(index, 1) % worlds.length;
}

/** A player as it is created, or after so many changes. */
export function playerAt(index: number, turn = 0): Player {
  return {
    id: idOf(index),
    name: nameOf(index),
    score: scoreOf(index, turn),
    active: activeOf(index, turn),
    world: worlds[worldNumberOf(index)] ?? "",
    createdAt: createdOf(index),
    lastSeenAt: lastSeenOf(index, turn),
  };
}

/** Players `from` to `to`, exclusive. */
export function playersBetween(from: number, to: number): Player[] {
  return Array.from({ length: to - from }, (_, at) => playerAt(from + at));
}

/** What has to be written so that player `index` has been changed `turn` times. */
export function changeAt(index: number, turn: number): Change {
  return {
    id: idOf(index),
    score: scoreOf(index, turn),
    active: activeOf(index, turn),
    lastSeenAt: lastSeenOf(index, turn),
  };
}

/** Three syllables twice: "Dravexor Ilmorka 4711". */
function nameOf(index: number): string {
  const parts: string[] = [];
  for (let at = 0; at < 6; at++) {
    if (at === 3) parts.push(" ");
    parts.push(syllables[scramble(index, 50 + at) % syllables.length] ?? "");
  }
  parts.push(" ", String(index));
  return parts.join(""); // Flat.
}

/**
 * Reads every field of a player. Timed reads end with it, so that an engine
 * that hands out promises of values must keep them.
 */
export function touch(player: Player): number {
  return player.id.length + player.name.length + player.score +
    (player.active ? 1 : 0) + player.world.charCodeAt(0) + player.createdAt +
    player.lastSeenAt;
}

/** {@linkcode touch} over many players. */
export function touchAll(players: readonly Player[]): number {
  let sum = 0;
  for (const player of players) sum += touch(player);
  return sum;
}

/** What is different between an answer and what was expected, if anything. */
export function difference(
  got: Player | undefined,
  wanted: Player,
): string | undefined {
  if (got === undefined) return `player ${wanted.id} is missing`;
  for (const key of Object.keys(wanted) as (keyof Player)[]) {
    if (got[key] !== wanted[key]) {
      return `player ${wanted.id} has ${key} ${got[key]}, not ${wanted[key]}`;
    }
  }
  return undefined;
}
