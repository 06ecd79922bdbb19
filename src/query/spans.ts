/**
 * Who asks for keys from one to another: a treap by the lower ends, in which
 * each node knows the greatest upper end of its part.
 *
 *     who                          low … high     greatest below
 *         ┌────── [3 … 9] 12 ──────┐
 *     [1 … 4] 4                [5 … 12] 12
 *
 * Whoever has a key within is found in O(log n) and what is found. Priorities are
 * a hash of the order in which they came, so the shape needs no dice.
 */

import { compareKeys, type Key } from "./value.ts";

/** Both ends are within; an absent key comes first. */
export interface Span {
  readonly low: Key;
  /** `null`: there is no end. */
  readonly high: Key | null;
}

/** Every key, and absence. */
export const everything: Span = { low: undefined, high: null };

/** What is in both. */
export function intersection(a: Span, b: Span): Span {
  return {
    low: compareKeys(a.low, b.low) < 0 ? b.low : a.low,
    high: compareEnds(a.high, b.high) < 0 ? a.high : b.high,
  };
}

function compareEnds(a: Key | null, b: Key | null): number {
  if (a === null) return b === null ? 0 : 1;
  return b === null ? -1 : compareKeys(a, b);
}

/** A span and whose it is. */
export class Spanned<T> implements Span {
  readonly low: Key;
  readonly high: Key | null;
  readonly owner: T;
  /** Of equal lower ends the older one is first. */
  readonly turn: number;
  readonly priority: number;
  greatest: Key | null;
  left: Spanned<T> | undefined;
  right: Spanned<T> | undefined;

  constructor({ low, high }: Span, owner: T, turn: number) {
    this.low = low;
    this.high = this.greatest = high;
    this.owner = owner;
    this.turn = turn;
    this.priority = hash(turn);
  }
}

/** The last mix of MurmurHash3. */
function hash(turn: number): number {
  let h = Math.imul(turn ^ turn >>> 16, 0x85ebca6b);
  h = Math.imul(h ^ h >>> 13, 0xc2b2ae35);
  return (h ^ h >>> 16) >>> 0;
}

type Tree<T> = Spanned<T> | undefined;

export class Spans<T> {
  #root: Tree<T>;
  #turn = 0;

  get isEmpty(): boolean {
    return this.#root === undefined;
  }

  add(span: Span, owner: T): Spanned<T> {
    const one = new Spanned(span, owner, this.#turn++);
    this.#root = put(this.#root, one);
    return one;
  }

  delete(one: Spanned<T>): void {
    this.#root = drop(this.#root, one);
  }

  /** Visits the owners of all that have this key; of all at all for `null`. */
  visit(key: Key | null, visit: (owner: T) => void): void {
    visitAt(this.#root, key, visit);
  }
}

function visitAt<T>(
  tree: Tree<T>,
  key: Key | null,
  visit: (owner: T) => void,
): void {
  if (tree === undefined) return;
  if (key !== null && compareEnds(tree.greatest, key) < 0) return;
  visitAt(tree.left, key, visit);
  if (key !== null && compareKeys(tree.low, key) > 0) return;
  if (key === null || compareEnds(tree.high, key) >= 0) visit(tree.owner);
  visitAt(tree.right, key, visit);
}

function compareSpanned<T>(a: Spanned<T>, b: Spanned<T>): number {
  return compareKeys(a.low, b.low) || a.turn - b.turn;
}

/** Works out what a node knows of its part again. */
function renewed<T>(tree: Spanned<T>): Spanned<T> {
  const { left, right } = tree;
  let { high: greatest } = tree;
  for (const part of [left, right]) {
    if (part === undefined) continue;
    if (compareEnds(part.greatest, greatest) > 0) greatest = part.greatest;
  }
  tree.greatest = greatest;
  return tree;
}

function put<T>(tree: Tree<T>, one: Spanned<T>): Spanned<T> {
  if (tree === undefined || one.priority > tree.priority) {
    [one.left, one.right] = split(tree, one);
    return renewed(one);
  }
  if (compareSpanned(one, tree) < 0) tree.left = put(tree.left, one);
  else tree.right = put(tree.right, one);
  return renewed(tree);
}

function drop<T>(tree: Tree<T>, one: Spanned<T>): Tree<T> {
  if (tree === undefined) return undefined;
  if (tree === one) return join(one.left, one.right);
  if (compareSpanned(one, tree) < 0) tree.left = drop(tree.left, one);
  else tree.right = drop(tree.right, one);
  return renewed(tree);
}

/** What is before one, and what is behind it. */
function split<T>(tree: Tree<T>, one: Spanned<T>): [Tree<T>, Tree<T>] {
  if (tree === undefined) return [undefined, undefined];
  if (compareSpanned(tree, one) < 0) {
    const [before, behind] = split(tree.right, one);
    tree.right = before;
    return [renewed(tree), behind];
  }
  const [before, behind] = split(tree.left, one);
  tree.left = behind;
  return [before, renewed(tree)];
}

/** One tree of two, of which one is before the other. */
function join<T>(before: Tree<T>, behind: Tree<T>): Tree<T> {
  if (before === undefined) return behind;
  if (behind === undefined) return before;
  if (before.priority > behind.priority) {
    before.right = join(before.right, behind);
    return renewed(before);
  }
  behind.left = join(before, behind.left);
  return renewed(behind);
}
