import assert from "node:assert/strict";
import fc from "fast-check";
import { throwsOnlySyntaxError } from "../tests/kit/garbage.ts";
import { chainName } from "./commit.ts";
import {
  compareVectors,
  coversVector,
  decodeVector,
  encodeVector,
  hasPosition,
} from "./version_vector.ts";

const chains = fc.nat(4).map((i) => chainName(new Uint8Array(40).fill(i * 50)));
const vectors = fc.array(fc.tuple(chains, fc.integer({ min: 1, max: 3 })))
  .map((entries) => new Map(entries));

Deno.test("compareVectors() agrees with the sets of commits that vectors name", () => {
  const setOf = (vector: ReadonlyMap<string, number>) =>
    new Set(
      [...vector].flatMap(([chain, count]) =>
        Array.from({ length: count }, (_, i) => chain + i)
      ),
    );
  fc.assert(
    fc.property(vectors, vectors, (a, b) => {
      const [of, to] = [setOf(a), setOf(b)];
      const expected = of.isSubsetOf(to)
        ? (to.isSubsetOf(of) ? "equal" : "before")
        : (to.isSubsetOf(of) ? "after" : "concurrent");
      assert.equal(compareVectors(a, b), expected);
      assert.equal(coversVector(a, b), to.isSubsetOf(of));
    }),
    { seed: 1, numRuns: 500 },
  );
});

Deno.test("hasPosition() counts from zero", () => {
  const chain = chainName(new Uint8Array(40));
  const vector = new Map([[chain, 2]]);
  assert.ok(hasPosition(vector, { chain, number: 1 }));
  assert.ok(!hasPosition(vector, { chain, number: 2 }));
  assert.ok(!hasPosition(vector, { chain: "?", number: 0 }));
});

Deno.test("a vector survives encoding and has one form", () => {
  fc.assert(
    fc.property(vectors, (vector) => {
      const bytes = encodeVector(vector);
      assert.deepEqual(decodeVector(bytes), vector);
      assert.deepEqual(encodeVector(new Map([...vector].reverse())), bytes);
    }),
    { seed: 2 },
  );
  const vector = new Map([0, 100, 200].map((byte) => [
    chainName(new Uint8Array(40).fill(byte)),
    byte * 1_000 + 1,
  ]));
  throwsOnlySyntaxError(encodeVector(vector), (damaged) => {
    assert.deepEqual(encodeVector(decodeVector(damaged)), damaged);
  });
});
