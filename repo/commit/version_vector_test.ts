import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteReader } from "../../src/base/bytes.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { chainName } from "./commit.ts";
import { encodeVector, readVector } from "./version_vector.ts";

const chains = fc.nat(4).map((i) => chainName(new Uint8Array(40).fill(i * 50)));
const vectors = fc.array(fc.tuple(chains, fc.integer({ min: 1, max: 3 })))
  .map((entries) => new Map(entries));

Deno.test("a vector survives encoding and has one form", () => {
  fc.assert(
    fc.property(vectors, (vector) => {
      const bytes = encodeVector(vector);
      assert.deepEqual(readVector(new ByteReader(bytes)), vector);
      assert.deepEqual(encodeVector(new Map([...vector].reverse())), bytes);
    }),
    { seed: 2 },
  );
  const vector = new Map([0, 100, 200].map((byte) => [
    chainName(new Uint8Array(40).fill(byte)),
    byte * 1_000 + 1,
  ]));
  throwsOnlySyntaxError(encodeVector(vector), (damaged) => {
    const reader = new ByteReader(damaged);
    const read = encodeVector(readVector(reader));
    assert.deepEqual(read, damaged.subarray(0, reader.at));
  });
});
