/** What maps and sorted lists lack. */

/** The value of a key; made and set where the map has none. */
export function getOrMake<K, V>(
  map:
    | Pick<Map<K, V>, "get" | "set">
    | (K extends WeakKey ? WeakMap<K, V> : never),
  key: K,
  make: () => V,
): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, value = make());
  return value;
}

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
