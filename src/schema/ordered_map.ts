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

/** Ascending, by UTF-16 units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What a value adds to the size of its map. */
export type Weigh<V> = (value: V) => number;

interface Order<K, V> {
  readonly compare: Compare<K>;
  readonly weigh: Weigh<V>;
}

/** A leaf has a value for each key; a branch a child, whose first key it is. */
export interface Node<K, V> {
  readonly keys: readonly K[];
  readonly values: readonly V[];
  /** `undefined` in a leaf. */
  readonly children: readonly Node<K, V>[] | undefined;
  /** Of all values below it. */
  readonly size: number;
}

/** Keys of one node at most: more make two. */
const FULL = 32;

const none: readonly never[] = [];
const emptyLeaf = { keys: none, values: none, children: undefined, size: 0 };
const one = () => 1;

/** An immutable map in ascending order of its keys. */
export class OrderedMap<K, V> {
  readonly #order: Order<K, V>;
  readonly #root: Node<K, V>;

  private constructor(order: Order<K, V>, root: Node<K, V>) {
    this.#order = order;
    this.#root = root;
  }

  /** For who asks what two maps share. */
  get root(): Node<K, V> {
    return this.#root;
  }

  /** How many keys there are, or what their values weigh together. */
  get size(): number {
    return this.#root.size;
  }

  /** The map of these entries, in any order; of equal keys the last one counts. */
  static of<K, V>(
    compare: Compare<K>,
    entries: readonly (readonly [K, V])[] = none,
    weigh: Weigh<V> = one,
  ): OrderedMap<K, V> {
    const isLast = (i: number, all: readonly (readonly [K, V])[]) =>
      i + 1 === all.length || compare(all[i]![0], all[i + 1]![0]) < 0;
    const isInOrder = entries.every((_, i) => isLast(i, entries));
    const sorted = isInOrder
      ? entries
      : entries.toSorted(([a], [b]) => compare(a, b))
        .filter((_, i, all) => isLast(i, all));
    let level = chunksOf(sorted).map((chunk) =>
      leafOf(
        chunk.map(([key]) => key),
        chunk.map(([, value]) => value),
        weigh,
      )
    );
    while (level.length > 1) level = chunksOf(level).map(branchOf);
    return new OrderedMap({ compare, weigh }, level[0] ?? emptyLeaf);
  }

  /** The value of a key; `undefined` where it is not there. */
  get(key: K): V | undefined {
    const found = this.floor(key);
    return found !== undefined && this.#order.compare(found[0], key) === 0
      ? found[1]
      : undefined;
  }

  /** The last entry whose key is not after this one; `undefined` where all are. */
  floor(key: K): readonly [K, V] | undefined {
    let node = this.#root;
    for (;;) {
      const at = seek(node.keys, key, this.#order.compare);
      if (at < 0) return undefined;
      if (node.children === undefined) {
        return [node.keys[at]!, node.values[at]!];
      }
      node = node.children[at]!;
    }
  }

  /** Is the key there? Values must not be `undefined`. */
  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  /** The map with another value of a key. */
  with(key: K, value: V): OrderedMap<K, V> {
    const nodes = put(this.#root, key, value, this.#order);
    const root = nodes.length === 1 ? nodes[0]! : branchOf(nodes);
    return new OrderedMap(this.#order, root);
  }

  without(key: K): OrderedMap<K, V> {
    return this.has(key) ? this.withoutRange(key, key) : this;
  }

  /** The map without all keys from one to another, both of them too. */
  withoutRange(first: K, last: K): OrderedMap<K, V> {
    let root = remove(this.#root, first, last, this.#order) ?? emptyLeaf;
    while (root.children?.length === 1) root = root.children[0]!;
    return new OrderedMap(this.#order, root);
  }

  /** The entries in ascending order, from the first key on that is not before `from`. */
  *entries(from?: K): Generator<readonly [K, V]> {
    for (const [leaf, at] of leavesOf(this.#root, from, this.#order.compare)) {
      const { keys, values } = leaf;
      for (let i = at; i < keys.length; i++) yield [keys[i]!, values[i]!];
    }
  }

  /** As {@linkcode entries} gives them all. */
  [Symbol.iterator](): Generator<readonly [K, V]> {
    return this.entries();
  }

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

function leafOf<K, V>(
  keys: readonly K[],
  values: readonly V[],
  weigh: Weigh<V>,
): Node<K, V> {
  let size = 0;
  for (let i = 0; i < values.length; i++) size += weigh(values[i]!);
  return { keys, values, children: undefined, size };
}

function branchOf<K, V>(children: readonly Node<K, V>[]): Node<K, V> {
  const keys = children.map(({ keys }) => keys[0]!);
  let size = 0;
  for (let i = 0; i < children.length; i++) size += children[i]!.size;
  return { keys, values: none, children, size };
}

/** The node with a key in it, as one or two. */
function put<K, V>(
  { keys, values, children }: Node<K, V>,
  key: K,
  value: V,
  order: Order<K, V>,
): Node<K, V>[] {
  const at = seek(keys, key, order.compare);
  if (children !== undefined) {
    const place = Math.max(at, 0);
    const parts = put(children[place]!, key, value, order);
    return halves(children.toSpliced(place, 1, ...parts)).map(branchOf);
  }
  const isThere = at >= 0 && order.compare(keys[at]!, key) === 0;
  if (isThere) {
    return [leafOf(keys, values.toSpliced(at, 1, value), order.weigh)];
  }
  const valuesIn = halves(values.toSpliced(at + 1, 0, value));
  return halves(keys.toSpliced(at + 1, 0, key))
    .map((keys, i) => leafOf(keys, valuesIn[i]!, order.weigh));
}

/** What a node takes, or else in two. */
function halves<T>(all: readonly T[]): (readonly T[])[] {
  if (all.length <= FULL) return [all];
  const half = all.length >>> 1;
  return [all.slice(0, half), all.slice(half)];
}

/** The node without some keys; `undefined` where nothing is left. */
function remove<K, V>(
  node: Node<K, V>,
  first: K,
  last: K,
  order: Order<K, V>,
): Node<K, V> | undefined {
  const { keys, values, children } = node;
  const at = seek(keys, first, order.compare);
  const end = seek(keys, last, order.compare) + 1;
  if (children === undefined) {
    const isThere = at >= 0 && order.compare(keys[at]!, first) === 0;
    const from = isThere ? at : at + 1;
    if (end <= from) return node;
    if (end - from === keys.length) return undefined;
    return leafOf(
      keys.toSpliced(from, end - from),
      values.toSpliced(from, end - from),
      order.weigh,
    );
  }
  const from = Math.max(at, 0);
  if (end <= from) return node;
  // Only the two at the ends have keys that stay.
  const ends = from === end - 1 ? [from] : [from, end - 1];
  const parts = ends
    .map((i) => remove(children[i]!, first, last, order))
    .filter((part) => part !== undefined);
  const rest = children.toSpliced(from, end - from, ...parts);
  return rest.length === 0 ? undefined : branchOf(rest);
}

/** The leaves from a key on, each with the place of its first entry that is not before. */
function* leavesOf<K, V>(
  node: Node<K, V>,
  from: K | undefined,
  compare: Compare<K>,
): Generator<readonly [leaf: Node<K, V>, at: number]> {
  const { keys, children } = node;
  const at = from === undefined ? -1 : seek(keys, from, compare);
  if (children === undefined) {
    const isBefore = at >= 0 && compare(keys[at]!, from!) < 0;
    yield [node, isBefore ? at + 1 : Math.max(at, 0)];
    return;
  }
  for (let i = Math.max(at, 0); i < children.length; i++) {
    yield* leavesOf(children[i]!, i === at ? from : undefined, compare);
  }
}
