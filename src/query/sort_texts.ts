/**
 * Sorting by texts, in steps and with few looks at each: what agrees so far is
 * put in order where it stands side by side.
 *
 * A long run is sorted by the three characters behind what all of its texts
 * begin with, packed into one number; what agrees in them, too, is a run again.
 * A short run is sorted at once. So each text is looked at about once per three
 * characters that tell it from others, and no order of characters costs more
 * than n log n.
 */

import { sortByNumber } from "./radix.ts";
import { sortById } from "./sort_ids.ts";
import { inSteps, stepSize } from "../base/steps.ts";

/** Texts that are sorted at once, by comparison at worst. */
const shortMax = 1_024;
const headChars = 3;
/** A code unit, or 0 for the text's end. */
const headBase = 65_537;

/** Says whether a place belongs to the same run as the one before it. */
type Ties = (place: number) => boolean;

/** A run that is too long for one step; its texts agree in so many characters. */
interface LongRun {
  readonly ordinals: Uint32Array;
  readonly same: number;
}

/** Sorts each run of ordinals by their texts, in place; equal texts keep their order. */
export function* sortRuns(
  ordinals: Uint32Array,
  ties: Ties,
  textOf: (ordinal: number) => string,
): Generator<void> {
  const long: LongRun[] = [];
  yield* sortShort(ordinals, ties, textOf, 0, long);
  for (let run = long.pop(); run !== undefined; run = long.pop()) {
    const some = run.ordinals;
    const same = yield* commonLength(some, textOf, run.same);
    const heads = new Float64Array(some.length);
    yield* inSteps(some.length, (from, to) => {
      for (let i = from; i < to; i++) heads[i] = headOf(textOf(some[i]!), same);
    });
    yield* sortByNumber(some, heads);
    // Who ends within the head has no more to tell.
    const headTies = (place: number) =>
      heads[place] === heads[place - 1] && heads[place]! % headBase !== 0;
    yield* sortShort(some, headTies, textOf, same + headChars, long);
  }
}

/** Sorts what is short, and notes what is long. */
function* sortShort(
  ordinals: Uint32Array,
  ties: Ties,
  textOf: (ordinal: number) => string,
  same: number,
  long: LongRun[],
): Generator<void> {
  for (let start = 0; start < ordinals.length;) {
    const next = sortSome(ordinals, start, ties, textOf);
    yield;
    let end = next;
    if (next === start) {
      let limit = ++end;
      while (end === limit && end < ordinals.length) {
        limit = Math.min(ordinals.length, limit + stepSize);
        end = runEnd(end, limit, ties);
        yield;
      }
      long.push({ ordinals: ordinals.subarray(start, end), same });
    }
    start = end;
  }
}

/** Sorts short runs for one step; the start of the first that is left. */
function sortSome(
  ordinals: Uint32Array,
  from: number,
  ties: Ties,
  textOf: (ordinal: number) => string,
): number {
  let start = from;
  while (start < ordinals.length && start < from + shortMax) {
    const limit = Math.min(ordinals.length, start + shortMax + 1);
    const end = runEnd(start + 1, limit, ties);
    if (end - start > shortMax) break;
    if (end - start > 1) {
      const run = Array.from(ordinals.subarray(start, end));
      ordinals.set(sortById(run, textOf), start);
    }
    start = end;
  }
  return start;
}

/** The first place, `limit` at most, that does not go with the one before it. */
function runEnd(place: number, limit: number, ties: Ties): number {
  while (place < limit && ties(place)) place++;
  return place;
}

/** How many code units all begin with alike, of which so many are known. */
function* commonLength(
  ordinals: Uint32Array,
  textOf: (ordinal: number) => string,
  known: number,
): Generator<void, number> {
  const first = textOf(ordinals[0]!);
  let { length } = first;
  for (
    const _ of inSteps(ordinals.length, (from, to) => {
      for (let i = from; i < to && length > known; i++) {
        const text = textOf(ordinals[i]!);
        let same = known;
        while (
          same < length && text.charCodeAt(same) === first.charCodeAt(same)
        ) {
          same++;
        }
        length = same;
      }
    })
  ) {
    if (length === known) break;
    yield;
  }
  return length;
}

/** The characters from `start` on that fit, as a number that orders like them. */
function headOf(text: string, start: number): number {
  let head = 0;
  for (let i = start; i < start + headChars; i++) {
    head = head * headBase + (i < text.length ? text.charCodeAt(i) + 1 : 0);
  }
  return head;
}
