/**
 * A Merkle tree of items by their places (docs/format.md, "state digest"), in
 * normal form: it follows from what is in it, not from the order in which that came.
 *
 * It branches by half-bytes of the places, and a leaf is one item alone. So a leaf
 * has one digest at whatever depth, and is not hashed again when neighbours come
 * and go. Leaves and nodes are hashed under names of their own, or one could pass
 * for the other (RFC 6962, section 2.1).
 *
 * Architecture invariant: after a change only the path to it is hashed again.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { concatBytes, encodeText } from "../../src/base/bytes.ts";
import { nameOf } from "../commit/commit.ts";
import type { ItemName } from "./state.ts";

const HASH_BYTES = 32;
const FAN_OUT = 16;
const LEAF = /* @__PURE__ */ encodeText("sheaf leaf 1\n");
const NODE = /* @__PURE__ */ encodeText("sheaf node 1\n");
/** The digest of no item. */
const NONE = /* @__PURE__ */ "\0".repeat(HASH_BYTES);

/** An item. Hashes are one character a byte here: a third of the memory. */
export interface Leaf extends ItemName {
  readonly place: string;
  readonly digest: string;
  readonly below?: undefined;
}

/** Two items or more, by their next half-byte. */
interface Branch {
  readonly below: (Node | undefined)[];
  digest: string | undefined;
}

type Node = Leaf | Branch;

export function placeOf({ collection, id }: ItemName): string {
  return sha256Name(encodeText(`${collection}\0${id}`));
}

export function leafDigest(cell: Uint8Array): string {
  return sha256Name(LEAF, cell);
}

/** Items by their places. */
export class MerkleTree {
  #root: Node | undefined;
  /** What is hashed for a node. */
  readonly #preimage = concatBytes(NODE, new Uint8Array(FAN_OUT * HASH_BYTES));

  set(place: string, leaf: Leaf | undefined): void {
    this.#root = changed(this.#root, place, leaf, 0);
  }

  /**
   * The digests below a prefix, one per next half-byte; `undefined` where so many
   * nodes were hashed for it, and there are more.
   */
  digests(prefix: readonly number[], most: number): Uint8Array[] | undefined {
    const below = belowOf(this.#at(prefix), prefix.length);
    let left = most;
    for (const node of below) left = this.#hash(node, left);
    if (below.some((node) => node && node.digest === undefined)) return;
    return below.map((node) => {
      const digest = new Uint8Array(HASH_BYTES);
      writeName(digest, 0, node?.digest ?? NONE);
      return digest;
    });
  }

  /** The items below a prefix, in the order of their places. */
  leaves(prefix: readonly number[]): Generator<Leaf> {
    return leavesOf(this.#at(prefix));
  }

  #at(prefix: readonly number[]): Node | undefined {
    return prefix.reduce<Node | undefined>(
      (node, half, depth) => belowOf(node, depth)[half],
      this.#root,
    );
  }

  /** Hashes at most so many nodes; how many more it may be. */
  #hash(node: Node | undefined, most: number): number {
    if (node?.below === undefined || node.digest !== undefined) return most;
    let left = most;
    for (const child of node.below) {
      if (left > 0) left = this.#hash(child, left);
    }
    if (left === 0) return 0;
    node.below.forEach((child, half) => {
      const at = NODE.length + half * HASH_BYTES;
      writeName(this.#preimage, at, child?.digest ?? NONE);
    });
    node.digest = sha256Name(this.#preimage);
    return left - 1;
  }
}

/** What a node becomes when this stands at a place below it. */
function changed(
  node: Node | undefined,
  place: string,
  leaf: Leaf | undefined,
  depth: number,
): Node | undefined {
  if (node === undefined) return leaf;
  if (node.below === undefined && node.place === place) return leaf;
  const below = belowOf(node, depth);
  const half = halfByteAt(place, depth);
  below[half] = changed(below[half], place, leaf, depth + 1);
  if (leaf === undefined) {
    const [first, second] = below.filter((child) => child !== undefined);
    if (second === undefined && first!.below === undefined) return first;
  }
  if (node.below === undefined) return { below, digest: undefined };
  node.digest = undefined;
  return node;
}

/** What is below a node at a depth; below a leaf it would be the leaf. */
function belowOf(node: Node | undefined, depth: number): (Node | undefined)[] {
  if (node?.below !== undefined) return node.below;
  const below = new Array<Node | undefined>(FAN_OUT).fill(undefined);
  if (node !== undefined) below[halfByteAt(node.place, depth)] = node;
  return below;
}

function* leavesOf(node: Node | undefined): Generator<Leaf> {
  if (node === undefined) return;
  if (node.below === undefined) yield node;
  else for (const child of node.below) yield* leavesOf(child);
}

/** Of each byte the upper half comes first. */
function halfByteAt(place: string, at: number): number {
  const byte = place.charCodeAt(at >> 1);
  return at % 2 === 0 ? byte >> 4 : byte & 15;
}

function sha256Name(...parts: readonly Uint8Array[]): string {
  return nameOf(sha256(...parts), 0, HASH_BYTES);
}

function writeName(bytes: Uint8Array, at: number, name: string): void {
  for (let i = 0; i < HASH_BYTES; i++) bytes[at + i] = name.charCodeAt(i);
}
