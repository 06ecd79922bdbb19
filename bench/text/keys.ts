/**
 * What somebody types who writes a long text: runs of letters with corrections,
 * jumps to and fro, stretches deleted, now and then something pasted. The same
 * keys for the same number and seed.
 *
 * @module
 */

import { scramble } from "../harness/scramble.ts";

/** One stroke: `delete` units go at a place, and `insert` comes there. */
export interface Key {
  readonly at: number;
  readonly delete: number;
  readonly insert: string;
}

const letters = "etaoinshrdlucmfwypvbgkqjxz";

/** So many strokes. */
export function keysOf(count: number, seed = 7): Key[] {
  const keys: Key[] = [];
  let drawn = 0;
  for (const key of typing(() => scramble(drawn++, seed) / 2 ** 32)) {
    if (keys.push(key) === count) break;
  }
  return keys;
}

/** A bound editor writes when typing pauses for so long, and after so long of it (`src/text/live_text.ts`). */
const pauseMs = 500;
const lastMs = 2_000;

/**
 * How many strokes each commit has while nobody else is there, of somebody who
 * writes some 50 words a minute: one stroke in 25 comes after a pause.
 */
export function typedCommits(count: number, seed = 5): number[] {
  const commits: number[] = [];
  let [strokes, sinceMs] = [0, 0];
  for (const gap of gapsOf(count, seed)) {
    const isWritten = gap >= pauseMs || sinceMs + gap >= lastMs;
    if (strokes > 0 && isWritten) {
      commits.push(strokes);
      strokes = 0;
    }
    sinceMs = strokes++ === 0 ? 0 : sinceMs + gap;
  }
  return strokes > 0 ? [...commits, strokes] : commits;
}

/** Whole milliseconds before each stroke. */
export function gapsOf(count: number, seed = 5): number[] {
  let drawn = 0;
  const random = () => scramble(drawn++, seed) / 2 ** 32;
  return Array.from({ length: count }, () => {
    const turn = Math.cos(2 * Math.PI * random());
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * turn;
    const isThinking = random() < 0.03;
    const pause = isThinking ? pauseMs - 2_000 * Math.log(1 - random()) : 0;
    return Math.round(170 * Math.exp(0.5 * normal) + pause);
  });
}

/** Strokes without end. */
function* typing(random: () => number): Generator<Key, never> {
  const below = (max: number) => Math.floor(random() * max);
  const letter = () =>
    random() < 0.17 ? " " : letters[Math.floor(random() * below(26))]!;
  let [length, at] = [0, 0];
  for (;;) {
    const where = random();
    if (where < 0.35) at = length;
    else if (where < 0.8) at = clamp(at + below(400) - 200, length);
    else at = below(length + 1);
    const run = 1 + Math.floor(-22 * Math.log(1 - random()));
    const what = random();
    if (what < 0.003) {
      const insert = Array.from({ length: 50 + below(300) }, letter).join("");
      yield { at, delete: 0, insert };
      at += insert.length;
      length += insert.length;
    }
    const erases = what > 0.82 ? 1 : 0.08;
    for (let i = 0; i < run; i++) {
      const isErased = random() < erases;
      if (isErased && at === 0) break;
      if (isErased) yield { at: at - 1, delete: 1, insert: "" };
      else yield { at, delete: 0, insert: letter() };
      at += isErased ? -1 : 1;
      length += isErased ? -1 : 1;
    }
  }
}

function clamp(at: number, max: number): number {
  return Math.max(0, Math.min(max, at));
}
