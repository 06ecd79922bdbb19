/**
 * Where things stand among their neighbours: a text between any two of which
 * there is room for another.
 *
 * Two people who drop a card in one place at the same time get two texts, not
 * one: the last digits are dice, so a third card still fits between the two.
 *
 * @module
 */

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const BASE = DIGITS.length;
const DICE = 2;

/** Gives numbers from 0 to 1, without 1. */
export type Dice = () => number;

const digit = (text: string | undefined, at: number, missing: number) =>
  at < (text?.length ?? 0) ? DIGITS.indexOf(text![at]!) : missing;

/** A text after `low` and before `high`; left out, that side is open. */
export function rankBetween(
  low: string | undefined,
  high: string | undefined,
  dice: Dice = Math.random,
): string {
  const step = 1 + Math.floor(dice() * STEP_MAX);
  if (high === undefined) {
    const head = low === undefined ? HEADS / 2 : headOf(low) + step;
    if (head < HEADS) return textOf(head) + tail(dice);
  } else if (low === undefined) {
    const head = headOf(high) - step;
    if (head > 0) return textOf(head) + tail(dice);
  }
  return within(low, high, dice);
}

/** At an end one counts on, so that texts stay short however many come. */
const HEAD = 6;
const HEADS = BASE ** HEAD;
const STEP_MAX = 2_000;

const headOf = (rank: string) =>
  Number.parseInt(rank.slice(0, HEAD).padEnd(HEAD, "0"), BASE);
const textOf = (head: number) => head.toString(BASE).padStart(HEAD, "0");

/** In between one looks for the first digit with room. */
function within(
  low: string | undefined,
  high: string | undefined,
  dice: Dice,
): string {
  let rank = "";
  let bound = high;
  for (let at = 0;; at++) {
    const from = digit(low, at, 0);
    const to = bound === undefined ? BASE : digit(bound, at, BASE);
    if (to - from > 1) {
      return rank + DIGITS[from + Math.floor((to - from) / 2)]! + tail(dice);
    }
    if (from < to) bound = undefined;
    rank += DIGITS[from]!;
  }
}

/** Never ends in the lowest digit: nothing would fit before it. */
function tail(dice: Dice): string {
  let text = "";
  for (let i = 0; i < DICE; i++) {
    text += DIGITS[1 + Math.floor(dice() * (BASE - 1))]!;
  }
  return text;
}

/** Texts for `count` things in their order. */
export function ranks(count: number, dice: Dice = Math.random): string[] {
  const texts: string[] = [];
  let last: string | undefined;
  for (let i = 0; i < count; i++) {
    texts.push(last = rankBetween(last, undefined, dice));
  }
  return texts;
}
