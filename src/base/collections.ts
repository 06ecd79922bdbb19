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
