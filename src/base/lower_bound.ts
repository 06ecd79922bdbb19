/** Binary search. */

/** The first index that `isPast` takes, or `count`; from there on it takes all. */
export function lowerBound(
  count: number,
  isPast: (index: number) => boolean,
): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
