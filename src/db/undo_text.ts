/**
 * Taking an edit of a text back while others edited it elsewhere.
 *
 * @module
 */

/** A piece of a text, replaced. */
interface Replaced {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/**
 * The text `now` without the edit that made `after` of `before`; `undefined`
 * where somebody else edited the same piece.
 */
export function withoutEdit(
  before: string,
  after: string,
  now: string,
): string | undefined {
  const mine = replacing(after, before);
  const theirs = replacing(after, now);
  let shift: number;
  if (mine.to <= theirs.from) shift = 0;
  else if (theirs.to <= mine.from) shift = now.length - after.length;
  else return undefined;
  return now.slice(0, mine.from + shift) + mine.by + now.slice(mine.to + shift);
}

/** What has to be replaced in `old`, in one piece, to give `text`. */
function replacing(old: string, text: string): Replaced {
  const most = Math.min(old.length, text.length);
  let from = 0;
  while (from < most && old[from] === text[from]) from++;
  let back = 0;
  while (
    back < most - from &&
    old[old.length - 1 - back] === text[text.length - 1 - back]
  ) back++;
  const by = text.slice(from, text.length - back);
  return { from, to: old.length - back, by };
}
