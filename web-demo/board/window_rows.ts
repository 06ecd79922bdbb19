/**
 * Windowing: of a long column only the cards that can be seen are in the page.
 *
 * Heights are measured as cards appear, and estimated before.
 *
 * @module
 */

/** A card's place in its column. */
export interface RowBox {
  readonly index: number;
  readonly top: number;
}

/** Where the cards of a column stand. */
export interface Layout {
  /** Top of each row, and at last the height of all. */
  readonly tops: Float64Array;
}

/** Height of a card that was never seen. */
const ESTIMATE_PX = 92;
const GAP_PX = 8;
/** How far beyond the edges cards are made, so that scrolling shows no holes. */
const OVERSCAN_PX = 500;

/** Stacks the rows; `gapAt` is where a dragged card would land, and how much room it needs. */
export function layOut(
  ids: readonly string[],
  heights: ReadonlyMap<string, number>,
  gap?: { readonly at: number; readonly height: number },
): Layout {
  const tops = new Float64Array(ids.length + 1);
  let top = 0;
  for (let i = 0; i < ids.length; i++) {
    if (gap?.at === i) top += gap.height + GAP_PX;
    tops[i] = top;
    top += (heights.get(ids[i]!) ?? ESTIMATE_PX) + GAP_PX;
  }
  if (gap !== undefined && gap.at >= ids.length) top += gap.height + GAP_PX;
  tops[ids.length] = top;
  return { tops };
}

/** The first row whose successor begins below `y`. */
export function rowAt({ tops }: Layout, y: number): number {
  let low = 0;
  let high = tops.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle + 1]! <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Which rows are to be in the page: `[start, end)`. */
export function visibleRows(
  layout: Layout,
  scrollTop: number,
  height: number,
): readonly [number, number] {
  const count = layout.tops.length - 1;
  const start = rowAt(layout, scrollTop - OVERSCAN_PX);
  const end = rowAt(layout, scrollTop + height + OVERSCAN_PX) + 1;
  return [Math.min(start, count), Math.min(end, count)];
}
