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
