/**
 * The items of the bench: about 250 bytes each, the same on every run.
 *
 * Each item is a pure function of its number, so no process has to hold them
 * to know them. Ids look random, so that a database cannot profit from order;
 * ranks are unique, so that every sorted answer is the only right one.
 *
 * @module
 */

import { lettersOf, scramble } from "./scramble.ts";

/** One item, as both engines must give it back. */
export interface Item {
  readonly id: string;
  readonly title: string;
  readonly done: boolean;
  readonly rank: number;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly author: string;
  readonly body: string;
}

/** An update: two fields of one item. */
export interface Change {
  readonly id: string;
  readonly done: boolean;
  readonly rank: number;
}

/** Ranks lie in `[0, rankEnd)`. */
export const rankEnd = 2 ** 30;

/** Items are written by this many authors. */
export const authorCount = 50;

/** The indexes of the indexed database, for both engines. */
export const indexes:
  readonly (readonly ["author", "done", "rank"] | readonly ["rank"])[] = [
    ["author", "done", "rank"],
    ["rank"],
  ];

const idLength = 22;
const titleLength = 24;
const bodyLength = 120;
const idAlphabet =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const textAlphabet = "abcdefghijklmnopqrstuvwxyz      ";
/** Long enough that titles and bodies hardly repeat. */
const textLength = 1 << 20;
const firstCreatedAt = 1_700_000_000_000;
const tagNames =
  "alpha beta gamma delta home work urgent later idea draft review done next waiting bug feature paper phone mail visit"
    .split(" ").sort();

/** The id of item `index`. */
export function idOf(index: number): string {
  return lettersOf(index, idLength, idAlphabet);
}

/** The first rank of item `index`: a permutation of 30 bits, so no two are equal. */
export function rankOf(index: number): number {
  const mask = rankEnd - 1;
  let x = (index + 1) & mask;
  x = Math.imul(x, 0x2c1b3c6d) & mask;
  x ^= x >>> 15;
  x = Math.imul(x, 0x297a2d39) & mask;
  x ^= x >>> 14;
  return Math.imul(x, 0x1b56c4e9) & mask;
}

/** Which author wrote item `index`. */
export function authorNumberOf(index: number): number {
  return scramble(index, 101) % authorCount;
}

/** Is item `index` done at first? */
export function doneOf(index: number): boolean {
  return (scramble(index, 102) & 1) === 1;
}

/** The name of an author. */
export function authorName(number: number): string {
  return authorNames[number % authorCount] ?? "";
}

/** Item `index` as it is created, or with another state of its two changing fields. */
export function itemAt(
  index: number,
  done = doneOf(index),
  rank = rankOf(index),
): Item {
  return {
    id: idOf(index),
    title: text(scramble(index, 103), titleLength),
    done,
    rank,
    tags: tagsOf(index),
    createdAt: firstCreatedAt + index * 1_000 + (scramble(index, 104) & 511),
    author: authorName(authorNumberOf(index)),
    body: text(scramble(index, 105), bodyLength),
  };
}

/** Items `from` to `to`, exclusive. */
export function itemsBetween(from: number, to: number): Item[] {
  const items: Item[] = [];
  for (let index = from; index < to; index++) items.push(itemAt(index));
  return items;
}

/**
 * Reads every field of an item. Timed reads end with it, so that an engine
 * which hands out promises of values must keep them; the sum shows that they
 * are the right ones.
 */
export function touch(item: Item): number {
  let sum = item.id.length + item.title.charCodeAt(3) +
    item.body.charCodeAt(100) + item.author.charCodeAt(5);
  for (const tag of item.tags) sum += tag.length;
  return sum + item.rank + (item.createdAt & 0xffff) + (item.done ? 1 : 0);
}

/** {@linkcode touch} over many items. */
export function touchAll(items: readonly Item[]): number {
  let sum = 0;
  for (const item of items) sum += touch(item);
  return sum;
}

/** What is different between an answer and the item that was expected, if anything. */
export function difference(
  got: Item | undefined,
  wanted: Item,
): string | undefined {
  if (got === undefined) return `item ${wanted.id} is missing`;
  for (
    const key of [
      "id",
      "title",
      "done",
      "rank",
      "createdAt",
      "author",
      "body",
    ] as const
  ) {
    if (got[key] !== wanted[key]) {
      return `item ${wanted.id} has ${key} ${got[key]}, not ${wanted[key]}`;
    }
  }
  const same = got.tags.length === wanted.tags.length &&
    wanted.tags.every((tag, at) => got.tags[at] === tag);
  return same
    ? undefined
    : `item ${wanted.id} has tags ${got.tags}, not ${wanted.tags}`;
}

const authorNames = Array.from(
  { length: authorCount },
  (_, at) => `user-${String(at).padStart(2, "0")}`,
);

/** Three different tags in order, as a set gives them back. */
function tagsOf(index: number): string[] {
  const start = scramble(index, 106);
  const first = start % tagNames.length;
  const step = 1 + (start >>> 8) % 6;
  const picks = [
    first,
    (first + step) % tagNames.length,
    (first + 2 * step) % tagNames.length,
  ];
  return picks.sort((a, b) => a - b).map((at) => tagNames[at] ?? "");
}

let letters: Uint8Array | undefined;
const decoder = new TextDecoder();

/** A flat string out of the sea of letters. */
function text(at: number, length: number): string {
  letters ??= makeLetters();
  const start = at % (textLength - length);
  return decoder.decode(letters.subarray(start, start + length));
}

function makeLetters(): Uint8Array {
  const bytes = new Uint8Array(textLength);
  for (let at = 0; at < textLength; at++) {
    bytes[at] = textAlphabet.charCodeAt(scramble(at, 107) & 31);
  }
  return bytes;
}
