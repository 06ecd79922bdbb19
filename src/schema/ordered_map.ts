/**
 * A persistent ordered map: a change makes another map, which shares all with
 * the old one but the path to what changed.
 *
 * A B+ tree: keys in ascending order by a comparison of the caller's, so that no
 * choice of keys makes it slow, and what is written from it is in order by itself.
 *
 * Architecture invariant: a change costs in proportion to the logarithm of the
 * size; who holds an old map sees it as it was.
 */

/** Negative, zero or positive as `a` is before, at or after `b`: a total order. */
export type Compare<K> = (a: K, b: K) => number;

/** Ascending, by UTF-16 units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Another value of a key; `undefined` where it is to go. */
export type Change<K, V> = readonly [key: K, value: V | undefined];

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
    const order = { compare, weigh };
    return new OrderedMap(order, emptyLeaf).withAll(entries);
  }

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

  with(key: K, value: V): OrderedMap<K, V> {
    return this.#edited([[key, value]]);
  }

  without(key: K): OrderedMap<K, V> {
    return this.#edited([[key, undefined]]);
  }

  /**
   * The map with other values of some keys, in any order, and without those whose
   * value is `undefined`; of equal keys the last one counts. Costs what one change
   * costs for each node that holds some of them, not for each of them.
   */
  withAll(changes: readonly Change<K, V>[]): OrderedMap<K, V> {
    return this.#edited(ascending(changes, this.#order.compare));
  }

  #edited(changes: readonly Change<K, V>[]): OrderedMap<K, V> {
    const end = changes.length;
    let nodes = edit(this.#root, changes, 0, end, this.#order);
    if (nodes.length === 1 && nodes[0] === this.#root) return this;
    while (nodes.length > 1) nodes = cut(nodes).map(branchOf);
    let root = nodes[0] ?? emptyLeaf;
    while (root.children?.length === 1) root = root.children[0]!;
    return new OrderedMap(this.#order, root);
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

/** What a node takes, or else parts of the same size with room in each. */
function cut<T>(all: readonly T[]): (readonly T[])[] {
  const { length } = all;
  if (length <= FULL) return [all];
  const parts = Math.ceil(length / (FULL - FULL / 4));
  return Array.from({ length: parts }, (_, i) => {
    const from = Math.floor(i * length / parts);
    return all.slice(from, Math.floor((i + 1) * length / parts));
  });
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

/** In the order of their keys, each key once. */
function ascending<K, V>(
  changes: readonly Change<K, V>[],
  compare: Compare<K>,
): readonly Change<K, V>[] {
  const isLast = (i: number, all: readonly Change<K, V>[]) =>
    i + 1 === all.length || compare(all[i]![0], all[i + 1]![0]) < 0;
  return changes.every((_, i) => isLast(i, changes))
    ? changes
    : changes.toSorted(([a], [b]) => compare(a, b))
      .filter((_, i, all) => isLast(i, all));
}

/** A node after the changes from index `from` on before `end`, as none, one or several. */
function edit<K, V>(
  node: Node<K, V>,
  changes: readonly Change<K, V>[],
  from: number,
  end: number,
  order: Order<K, V>,
): readonly Node<K, V>[] {
  const { children } = node;
  if (children === undefined) return editLeaf(node, changes, from, end, order);
  const { compare } = order;
  const after: Node<K, V>[] = [];
  let kept = 0;
  let isSame = true;
  for (let i = from; i < end;) {
    const place = Math.max(seek(node.keys, changes[i]![0], compare), 0);
    while (kept < place) after.push(children[kept++]!);
    const next = node.keys[place + 1];
    let to = i + 1;
    if (place + 1 === children.length) to = end;
    while (to < end && compare(changes[to]![0], next!) < 0) to++;
    const child = children[kept++]!;
    const parts = edit(child, changes, i, to, order);
    isSame &&= parts.length === 1 && parts[0] === child;
    for (const part of parts) after.push(part);
    i = to;
  }
  if (isSame) return [node];
  while (kept < children.length) after.push(children[kept++]!);
  if (after.length === 0) return none;
  return cut(after).map(branchOf);
}

function editLeaf<K, V>(
  leaf: Node<K, V>,
  changes: readonly Change<K, V>[],
  from: number,
  end: number,
  { compare, weigh }: Order<K, V>,
): readonly Node<K, V>[] {
  const keys: K[] = [];
  const values: V[] = [];
  let kept = 0;
  let isSame = true;
  for (let i = from; i <= end; i++) {
    const [key, value] = changes[i] ?? none;
    const at = i === end
      ? leaf.keys.length - 1
      : seek(leaf.keys, key!, compare);
    const isThere = i < end && at >= 0 && compare(leaf.keys[at]!, key!) === 0;
    for (const to = isThere ? at : at + 1; kept < to; kept++) {
      keys.push(leaf.keys[kept]!);
      values.push(leaf.values[kept]!);
    }
    if (i === end) break;
    if (isThere) kept++;
    if (value !== undefined) {
      keys.push(key!);
      values.push(value);
    }
    isSame &&= !isThere && value === undefined;
  }
  if (isSame) return [leaf];
  if (keys.length === 0) return none;
  const valuesOf = cut(values);
  return cut(keys).map((keys, i) => leafOf(keys, valuesOf[i]!, weigh));
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
