import assert from "node:assert/strict";
import { encodeText, toHex } from "../src/base/bytes.ts";
import { native } from "../src/base/system.ts";
import { sha256, sha256Into, sha256IntoWith } from "./sha256.ts";

// FIPS 180-4 examples, and the empty string.
const VECTORS: readonly (readonly [string, string])[] = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
];

const { hash: _, ...withoutOneShot } = native.crypto!;

for (
  const [path, hashInto] of [
    ["one call", sha256IntoWith(native.crypto)],
    ["createHash", sha256IntoWith({ ...withoutOneShot, hash: undefined! })],
    ["noble", sha256IntoWith(undefined)],
  ] as const
) {
  Deno.test(`sha256Into() gives the vectors of FIPS 180-4 (${path})`, () => {
    for (const [text, digest] of VECTORS) {
      const target = new Uint8Array(32);
      hashInto(target, encodeText(text));
      assert.equal(toHex(target), digest);
    }
  });

  Deno.test(`sha256Into() hashes views, and may overlap its input (${path})`, () => {
    const whole = Uint8Array.from({ length: 300 }, (_, i) => i);
    for (const [start, end] of [[0, 0], [3, 67], [64, 300]] as const) {
      const expected = sha256(whole.slice(start, end));
      const copy = whole.slice();
      hashInto(copy.subarray(0, 32), copy.subarray(start, end));
      assert.deepEqual(copy.subarray(0, 32), expected);
      assert.deepEqual(copy.subarray(32), whole.subarray(32));
    }
  });
}

Deno.test("sha256() hashes its parts one after the other", () => {
  const parts = ["a", "", "bc"].map(encodeText);
  const whole = new Uint8Array(32);
  sha256Into(whole, encodeText("abc"));
  assert.deepEqual(sha256(...parts), whole);
  assert.deepEqual(sha256(), sha256(new Uint8Array()));
});
