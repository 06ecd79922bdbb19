/**
 * Scales of charts: from figures to places, and where the marks stand.
 *
 * @module
 */

/** From a figure to its place between 0 and 1. */
export interface Scale {
  readonly isLog: boolean;
  /** Clipped: what lies outside stands at the edge. */
  readonly place: (value: number) => number;
  /** Figures where a line helps the eye. */
  readonly marks: readonly number[];
}

/** From this ratio of the greatest to the least on, lengths are drawn by their logarithm. */
const logFrom = 25;
/** So many marks are enough for the eye. */
const marksMax = 6;

/** The scale for bars that begin at nothing: linear while all are well seen, else by powers of ten. */
export function barScale(values: readonly number[]): Scale {
  const known = values.filter((value) => value > 0);
  const most = Math.max(...known, 0);
  const least = Math.min(...known, most);
  if (most <= 0) return { isLog: false, place: () => 0, marks: [] };
  if (most / least <= logFrom) {
    const place = (value: number): number => clip(value / most);
    return { isLog: false, place, marks: [] };
  }
  // A bar of no length would look like nothing: the least begins half a power in.
  return logScale(least / Math.sqrt(10), most);
}

/** A scale by powers of ten from `least` to `most`, both above 0. */
export function logScale(least: number, most: number): Scale {
  const from = Math.log10(least);
  const width = Math.max(1e-9, Math.log10(most) - from);
  const place = (value: number): number =>
    value <= 0 ? 0 : clip((Math.log10(value) - from) / width);
  return { isLog: true, place, marks: powersBetween(least, most) };
}

/** Powers of ten in a range, thinned until they fit; with few of them their doubles and halves, too. */
function powersBetween(least: number, most: number): number[] {
  const from = Math.floor(Math.log10(least));
  const to = Math.floor(Math.log10(most) + 1e-9);
  const steps = to - from < 3 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil((to - from + 1) / marksMax));
  const marks: number[] = [];
  for (let power = from; power <= to; power += stride) {
    for (const step of steps) marks.push(step * 10 ** power);
  }
  return marks.filter((mark) => mark >= least * 0.999 && mark <= most * 1.001);
}

function clip(share: number): number {
  return Math.min(1, Math.max(0, share));
}
