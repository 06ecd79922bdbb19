import { deepEqual, equal, ok } from "node:assert/strict";
import { fromHex } from "../../src/base/bytes.ts";
import { hashesOf } from "../../tests/kit/hash_count.ts";
import { seededRandom, shuffle } from "../../tests/kit/random.ts";
import {
  halfBytesOf,
  oracleDigest,
  type OracleLeaf,
} from "../../tests/kit/state_oracle.ts";
import { nameOf } from "../commit/commit.ts";
import { type Leaf, MerkleTree } from "./merkle_tree.ts";

function named(bytes: Uint8Array): string {
  return nameOf(bytes, 0, bytes.length);
}

function leafOf({ place, digest }: OracleLeaf): Leaf {
  const name = { collection: "c", id: place };
  return { ...name, place: named(fromHex(place)), digest: named(digest) };
}

function put(tree: MerkleTree, item: OracleLeaf): void {
  const leaf = leafOf(item);
  tree.set(leaf.place, leaf);
}

function digestsOf(tree: MerkleTree, prefix = ""): Uint8Array[] {
  return tree.digests(halfBytesOf(prefix), Infinity)!;
}

function expected(leaves: readonly OracleLeaf[], prefix = ""): Uint8Array[] {
  return [..."0123456789abcdef"].map((digit) =>
    oracleDigest(leaves, prefix + digit)
  );
}

/** Places of which many have long beginnings in common, up to the last half-byte. */
function placesOf(count: number, random: () => number): string[] {
  const digits = (length: number) =>
    Array.from({ length }, () => Math.floor(random() * 16).toString(16))
      .join("");
  const first = digits(64);
  const twin = first.slice(0, 63) + (first.endsWith("7") ? "8" : "7");
  const places = [first, twin];
  while (places.length < count) {
    const other = places[Math.floor(random() * places.length)]!;
    const same = Math.floor(random() ** 4 * 64);
    places.push(other.slice(0, same) + digits(64 - same));
  }
  return [...new Set(places)];
}

function leavesOf(places: readonly string[]): OracleLeaf[] {
  return places.map((place, i) => ({
    place,
    digest: new Uint8Array(32).fill(i + 1),
  }));
}

Deno.test("a tree says what its items say, whatever came and went before", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const places = placesOf(30, random);
    const one = () => places[Math.floor(random() * places.length)]!;
    const tree = new MerkleTree();
    const leaves = new Map<string, OracleLeaf>();
    // At first most come, in the end most go.
    for (let step = 0; step < 120; step++) {
      const place = one();
      if (random() * 120 > step) {
        const digest = Uint8Array.from({ length: 32 }, () => random() * 256);
        leaves.set(place, { place, digest });
        put(tree, { place, digest });
      } else {
        leaves.delete(place);
        tree.set(named(fromHex(place)), undefined);
      }
      const prefix = one().slice(0, random() * 64);
      deepEqual(
        [...tree.leaves(halfBytesOf(prefix))].map(({ id }) => id),
        [...leaves.keys()].filter((id) => id.startsWith(prefix)).sort(),
      );
      if (step % 8 !== 0) continue;
      const all = [...leaves.values()];
      deepEqual(digestsOf(tree), expected(all), `seed ${seed}, step ${step}`);
      deepEqual(digestsOf(tree, prefix), expected(all, prefix));
    }
  }
});

Deno.test("the same items have the same digests, in whatever order they came, and none are left of a tree that is emptied", () => {
  const random = seededRandom(5);
  const leaves = leavesOf(placesOf(100, random));
  const all = expected(leaves);
  const none = expected([]);
  const tree = new MerkleTree();
  for (let round = 0; round < 5; round++) {
    for (const leaf of shuffle(leaves, random)) put(tree, leaf);
    deepEqual(digestsOf(tree), all);
    for (const leaf of shuffle(leaves, random)) {
      tree.set(leafOf(leaf).place, undefined);
    }
    deepEqual(digestsOf(tree), none);
  }
});

Deno.test("after a change the nodes above it are hashed again, and no others", () => {
  const random = seededRandom(6);
  const leaves = leavesOf(placesOf(1_000, random));
  const tree = new MerkleTree();
  for (const leaf of leaves) put(tree, leaf);
  digestsOf(tree);
  for (const { place } of leaves.slice(0, 100)) {
    // What is asked for stands below the root, which is not hashed itself.
    let above = 0;
    for (let depth = 1; depth < 64; depth++) {
      const start = place.slice(0, depth);
      const below = leaves.filter((leaf) => leaf.place.startsWith(start));
      if (below.length > 1) above++;
    }
    const digest = Uint8Array.from({ length: 32 }, () => random() * 256);
    const [hashes] = hashesOf(() => {
      put(tree, { place, digest });
      return digestsOf(tree);
    });
    equal(hashes, above);
    equal(hashesOf(() => digestsOf(tree))[0], 0, "asked again");
  }
});

Deno.test("a tree hashes no more nodes at once than it may, looks at few others, and goes on where it stopped", () => {
  const tree = new MerkleTree();
  const leaves = leavesOf(placesOf(300, seededRandom(7)));
  let looks = 0;
  for (const item of leaves) {
    const leaf = leafOf(item);
    const below = { get: () => void looks++ };
    tree.set(leaf.place, Object.defineProperty(leaf, "below", below));
  }
  for (;;) {
    looks = 0;
    const [hashes, digests] = hashesOf(() => tree.digests([], 10));
    ok(hashes <= 10, `${hashes} at once`);
    ok(looks < leaves.length / 2, `${looks} leaves at once`);
    if (digests !== undefined) return deepEqual(digests, expected(leaves));
    equal(hashes, 10);
  }
});
