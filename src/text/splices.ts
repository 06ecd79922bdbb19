/** Splices: the least that makes one text another. */

import { isWithinCharacter, type TextSplice } from "../schema/text_state.ts";

export type Splice = Required<TextSplice>;

export function applySplices(
  text: string,
  splices: readonly TextSplice[],
): string {
  let [after, from] = ["", 0];
  for (const { at, delete: length = 0, insert = "" } of splices) {
    after += text.slice(from, at) + insert;
    from = at + length;
  }
  return after + text.slice(from);
}

/** Differences over this are replaced as a whole: the search is quadratic in them. */
const differencesMax = 200;

/**
 * The splices that make `before` into `after`, ascending, between whole
 * characters. `end` is where the cursor stands after the change, where it is
 * known: of several places that a repeated character may have been typed at,
 * it tells the one.
 */
export function splicesOf(
  before: string,
  after: string,
  end: number = after.length,
): Splice[] {
  const least = Math.min(before.length, after.length);
  const typed = Math.min(least, Math.max(0, after.length - end));
  let tail = sameTail(before, after, typed);
  let head = sameHead(before, after, least - tail);
  if (tail === typed) tail = sameTail(before, after, least - head);
  if (isWithinCharacter(before, head) || isWithinCharacter(after, head)) head--;
  if (
    tail > 0 &&
    (isWithinCharacter(before, before.length - tail) ||
      isWithinCharacter(after, after.length - tail))
  ) tail--;
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  if (old === "" && now === "") return [];
  const whole = [{ at: head, delete: old.length, insert: now }];
  if (old === "" || now === "") return whole;
  return middle(charactersOf(old), charactersOf(now), head) ?? whole;
}

/** Whole characters; most texts have none of two units, and are split at once. */
function charactersOf(text: string): readonly string[] {
  return /[\ud800-\udfff]/.test(text) ? [...text] : text.split("");
}

/** How many units two texts have in common at their beginning, at most; the machine compares many at a time. */
function sameHead(a: string, b: string, max: number): number {
  let head = 0;
  for (let block = max; block > 0;) {
    const to = head + block;
    if (to <= max && a.slice(head, to) === b.slice(head, to)) head = to;
    else block >>= 1;
  }
  return head;
}

/** The same at their end. */
function sameTail(a: string, b: string, max: number): number {
  let tail = 0;
  for (let block = max; block > 0;) {
    const [i, j] = [a.length - tail, b.length - tail];
    const isSame = tail + block <= max &&
      a.slice(i - block, i) === b.slice(j - block, j);
    if (isSame) tail += block;
    else block >>= 1;
  }
  return tail;
}

/** Myers' search for the fewest differences; `undefined` when there are too many. */
function middle(
  old: readonly string[],
  now: readonly string[],
  offset: number,
): Splice[] | undefined {
  const reach = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let d = 0; d <= differencesMax; d++) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d ||
        k !== d && reach.get(k - 1)! < reach.get(k + 1)!;
      let x = isDown ? reach.get(k + 1)! : reach.get(k - 1)! + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      reach.set(k, x);
      if (x < old.length || x - k < now.length) continue;
      return x > old.length || x - k > now.length
        ? undefined
        : readBack(old, now, trace, offset);
    }
  }
}

/** The way that the search took, as splices. */
function readBack(
  old: readonly string[],
  now: readonly string[],
  trace: readonly ReadonlyMap<number, number>[],
  offset: number,
): Splice[] {
  const isKept = new Array<number>(old.length).fill(-1);
  let [x, y] = [old.length, now.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d]!;
    const k = x - y;
    const isDown = k === -d || k !== d && reach.get(k - 1)! < reach.get(k + 1)!;
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : reach.get(fromK)!;
    const fromY = d === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) isKept[--x] = --y;
    [x, y] = [fromX, fromY];
  }
  return spliced(old, now, isKept, offset);
}

function spliced(
  old: readonly string[],
  now: readonly string[],
  isKept: readonly number[],
  offset: number,
): Splice[] {
  const splices: Splice[] = [];
  let [at, y] = [offset, 0];
  for (let x = 0; x <= old.length;) {
    for (; x < old.length && isKept[x] === y; x++, y++) at += old[x]!.length;
    let length = 0;
    while (x < old.length && isKept[x]! < 0) length += old[x++]!.length;
    const to = x < old.length ? isKept[x]! : now.length;
    const insert = now.slice(y, to).join("");
    if (length > 0 || insert !== "") {
      splices.push({ at, delete: length, insert });
    }
    at += length;
    if (x === old.length) break;
    y = to;
  }
  return splices;
}
