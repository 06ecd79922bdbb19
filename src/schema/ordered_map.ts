/**
 * A persistent ordered map: a change makes another map, which shares all with
 * the old one but the path to what changed.
 *
 * A B+ tree: keys in ascending order by a comparison of the caller's, so that no
 * choice of keys makes it slow, and what is written from it is in order by itself.
 *
 * Architecture invariant: a change costs in proportion to the logarithm of the
 * size; who holds an old map sees it as it was.
 *
 * @module
 */

/** Negative, zero or positive as `a` is before, at or after `b`: a total order. */
export type Compare<K> = (a: K, b: K) => number;

/** A leaf has a value for each key; a branch a child, whose first key it is. */
interface Node<K, V> {
  readonly keys: readonly K[];
  readonly values: readonly V[];
  /** `undefined` in a leaf. */
  readonly children: readonly Node<K, V>[] | undefined;
}

/** Keys of one node at most: more make two. */
const FULL = 32;

const none: readonly never[] = [];
const emptyLeaf = { keys: none, values: none, children: undefined };

/** An immutable map in ascending order of its keys. */
export class OrderedMap<K, V> {
  readonly #compare: Compare<K>;
  readonly #root: Node<K, V>;
  /** How many keys there are. */
  readonly size: number;

  private constructor(compare: Compare<K>, root: Node<K, V>, size: number) {
    this.#compare = compare;
    this.#root = root;
    this.size = size;
  }

  /** The map of these entries, in any order; of equal keys the last one counts. */
  static of<K, V>(
    compare: Compare<K>,
    entries: readonly (readonly [K, V])[] = none,
  ): OrderedMap<K, V> {
    const isLast = (i: number, all: readonly (readonly [K, V])[]) =>
      i + 1 === all.length || compare(all[i]![0], all[i + 1]![0]) < 0;
    const isInOrder = entries.every((_, i) => isLast(i, entries));
    const sorted = isInOrder
      ? entries
      : entries.toSorted(([a], [b]) => compare(a, b))
        .filter((_, i, all) => isLast(i, all));
    let level: Node<K, V>[] = chunksOf(sorted).map((chunk) => ({
      keys: chunk.map(([key]) => key),
      values: chunk.map(([, value]) => value),
      children: undefined,
    }));
    while (level.length > 1) level = chunksOf(level).map(branchOf);
    return new OrderedMap(compare, level[0] ?? emptyLeaf, sorted.length);
  }

  /** The value of a key; `undefined` where it is not there. */
  get(key: K): V | undefined {
    let node = this.#root;
    for (;;) {
      const at = seek(node.keys, key, this.#compare);
      if (at < 0) return undefined;
      if (node.children !== undefined) node = node.children[at]!;
      else {
        return this.#compare(node.keys[at]!, key) === 0
          ? node.values[at]
          : undefined;
      }
    }
  }

  /** Is the key there? Values must not be `undefined`. */
  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  /** The map with another value of a key. */
  with(key: K, value: V): OrderedMap<K, V> {
    const size = this.size + Number(!this.has(key));
    const nodes = put(this.#root, key, value, this.#compare);
    const root = nodes.length === 1 ? nodes[0]! : branchOf(nodes);
    return new OrderedMap(this.#compare, root, size);
  }

  /** The map without a key. */
  without(key: K): OrderedMap<K, V> {
    if (!this.has(key)) return this;
    let root = remove(this.#root, key, this.#compare) ?? emptyLeaf;
    while (root.children?.length === 1) root = root.children[0]!;
    return new OrderedMap(this.#compare, root, this.size - 1);
  }

  /** The entries in ascending order, from the first key on that is not before `from`. */
  entries(from?: K): Generator<readonly [K, V]> {
    return walk(this.#root, from, this.#compare);
  }

  /** The keys in ascending order. */
  *keys(): Generator<K> {
    for (const [key] of this.entries()) yield key;
  }
}

/** The last place whose key is not after this one; -1 where all are. */
function seek<K>(keys: readonly K[], key: K, compare: Compare<K>): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(keys[middle]!, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Parts of no more than a node takes, with room in each. */
function chunksOf<T>(all: readonly T[]): T[][] {
  const chunks: T[][] = [];
  const step = FULL - FULL / 4;
  for (let i = 0; i < all.length; i += step) {
    chunks.push(all.slice(i, i + step));
  }
  return chunks;
}

function branchOf<K, V>(children: readonly Node<K, V>[]): Node<K, V> {
  return { keys: children.map(({ keys }) => keys[0]!), values: none, children };
}

/** The list with `parts` in the place of `count` of its elements. */
function spliced<T>(
  list: readonly T[],
  at: number,
  count: number,
  ...parts: readonly T[]
): T[] {
  const copy = list.slice();
  copy.splice(at, count, ...parts);
  return copy;
}

/** The node with a key in it, as one or two. */
function put<K, V>(
  node: Node<K, V>,
  key: K,
  value: V,
  compare: Compare<K>,
): Node<K, V>[] {
  const { keys, values, children } = node;
  const at = seek(keys, key, compare);
  if (children !== undefined) {
    const place = Math.max(at, 0);
    const parts = put(children[place]!, key, value, compare);
    return split(branchOf(spliced(children, place, 1, ...parts)));
  }
  const isThere = at >= 0 && compare(keys[at]!, key) === 0;
  return split({
    keys: isThere ? keys : spliced(keys, at + 1, 0, key),
    values: isThere
      ? spliced(values, at, 1, value)
      : spliced(values, at + 1, 0, value),
    children: undefined,
  });
}

function split<K, V>(node: Node<K, V>): Node<K, V>[] {
  const { keys, values, children } = node;
  if (keys.length <= FULL) return [node];
  const half = keys.length >>> 1;
  const part = (from: number, to: number) => ({
    keys: keys.slice(from, to),
    values: values.slice(from, to),
    children: children?.slice(from, to),
  });
  return [part(0, half), part(half, keys.length)];
}

/** The node without a key that is in it; `undefined` where nothing is left. */
function remove<K, V>(
  { keys, values, children }: Node<K, V>,
  key: K,
  compare: Compare<K>,
): Node<K, V> | undefined {
  const at = seek(keys, key, compare);
  if (children !== undefined) {
    const left = remove(children[at]!, key, compare);
    const parts = left === undefined ? none : [left];
    const rest = spliced(children, at, 1, ...parts);
    return rest.length === 0 ? undefined : branchOf(rest);
  }
  if (keys.length === 1) return undefined;
  return {
    keys: spliced(keys, at, 1),
    values: spliced(values, at, 1),
    children,
  };
}

function* walk<K, V>(
  { keys, values, children }: Node<K, V>,
  from: K | undefined,
  compare: Compare<K>,
): Generator<readonly [K, V]> {
  const at = from === undefined ? -1 : seek(keys, from, compare);
  if (children !== undefined) {
    for (let i = Math.max(at, 0); i < children.length; i++) {
      yield* walk(children[i]!, i === at ? from : undefined, compare);
    }
    return;
  }
  const isBefore = at >= 0 && compare(keys[at]!, from!) < 0;
  for (let i = isBefore ? at + 1 : Math.max(at, 0); i < keys.length; i++) {
    yield [keys[i]!, values[i]!];
  }
}
