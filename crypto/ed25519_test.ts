/**
 * RFC 8032 vectors, and edge points under the rule of ZIP-215: one verdict on
 * signatures on every platform (law 6).
 */

import assert from "node:assert/strict";
import { Point, utils } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes, encodeText, fromHex, toHex } from "../src/base/bytes.ts";
import { native } from "../src/base/system.ts";
import {
  createSigner,
  ed25519With,
  generateKeyPair,
  nativeVerify,
  portable,
  verify,
} from "./ed25519.ts";
import { type Signature, webVerify } from "./signature.ts";
import { isWeakKey } from "./weak_key.ts";
import { subtleHere } from "./web_keys.ts";
import rfc from "../tests/vectors/rfc8032.json" with { type: "json" };
import { isTried, sized } from "../tests/kit/tier.ts";

const ORDER = Point.CURVE().n;
const MESSAGE = encodeText("Zcash");
const nativeOnly = nativeVerify(native.crypto!);

interface Vector {
  readonly name: string;
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
  readonly key: Uint8Array;
  /** What ZIP-215 says, where the construction tells. */
  readonly expected?: boolean;
}

function toLittleEndian(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  for (let i = 0, rest = value; i < 32; i++, rest >>= 8n) {
    bytes[i] = Number(rest & 0xffn);
  }
  return bytes;
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum << 8n | BigInt(byte), 0n);
}

/** The eight points of small order: multiples of one of order eight. */
function smallOrderPoints(): Point[] {
  for (let y = 2n;; y++) {
    let point: Point;
    try {
      point = Point.fromBytes(toLittleEndian(y), true);
    } catch {
      continue;
    }
    // The order of the group times a point leaves its part of small order.
    const torsion = point.multiply(ORDER - 1n, false).add(point);
    if (torsion.double().double().is0()) continue;
    const points = [Point.ZERO];
    for (let i = 1; i < 8; i++) points.push(points[i - 1]!.add(torsion));
    return points;
  }
}

/** Every 32-byte string that decodes to `point`: y and y + p, both signs of x = 0. */
function encodingsOf(point: Point): Uint8Array[] {
  const { p } = Point.CURVE();
  const { x, y } = point.toAffine();
  const signs = x === 0n ? [0n, 1n] : [x & 1n];
  const ys = y + p < 1n << 255n ? [y, y + p] : [y];
  return ys.flatMap((y) =>
    signs.map((sign) => toLittleEndian(y | sign << 255n))
  );
}

/** S for R = rB + T and A = aB + U, by the equation of the signature. */
function solve(r: bigint, a: bigint, R: Uint8Array, A: Uint8Array): Uint8Array {
  const k = fromLittleEndian(sha512(concatBytes(R, A, MESSAGE))) % ORDER;
  return toLittleEndian((r + k * a) % ORDER);
}

const points = smallOrderPoints();
const encodings = points.flatMap(encodingsOf);

function smallOrderVectors(): Vector[] {
  return encodings.flatMap((key) =>
    encodings.map((R) => ({
      name: `A ${toHex(key)} R ${toHex(R)} S 0`,
      signature: concatBytes(R, new Uint8Array(32)),
      message: MESSAGE,
      key,
      expected: true,
    }))
  );
}

/** Keys and R with a part of small order, and the same with S wrong or too large. */
function mixedOrderVectors(): Vector[] {
  const vectors: Vector[] = [];
  for (const [i, T] of points.entries()) {
    for (const [j, U] of points.entries()) {
      const r = 1_000n + BigInt(i);
      const a = 2_000n + BigInt(j);
      const R = Point.BASE.multiply(r).add(T).toBytes();
      const key = Point.BASE.multiply(a).add(U).toBytes();
      const S = solve(r, a, R, key);
      const tooLarge = toLittleEndian(fromLittleEndian(S) + ORDER);
      const wrong = toLittleEndian((fromLittleEndian(S) + 1n) % ORDER);
      const base = { message: MESSAGE, key };
      vectors.push(
        {
          ...base,
          name: `mixed ${i} ${j}`,
          signature: concatBytes(R, S),
          expected: true,
        },
        {
          ...base,
          name: `mixed ${i} ${j}, S + L`,
          signature: concatBytes(R, tooLarge),
          expected: false,
        },
        {
          ...base,
          name: `mixed ${i} ${j}, S + 1`,
          signature: concatBytes(R, wrong),
          expected: false,
        },
      );
    }
  }
  return vectors;
}

/** One side of small order in every encoding, the other one honest. */
function halfSmallVectors(): Vector[] {
  return encodings.flatMap((small): Vector[] => {
    const honest = Point.BASE.multiply(3_000n).toBytes();
    return [
      {
        name: `A small ${toHex(small)}`,
        signature: concatBytes(honest, solve(3_000n, 0n, honest, small)),
        message: MESSAGE,
        key: small,
        expected: true,
      },
      {
        name: `R small ${toHex(small)}`,
        signature: concatBytes(small, solve(0n, 3_000n, small, honest)),
        message: MESSAGE,
        key: honest,
        expected: true,
      },
    ];
  });
}

/** Strings that are no points, and y coordinates just under and over p. */
function oddEncodingVectors(): Vector[] {
  const { p } = Point.CURVE();
  const odd: Uint8Array[] = [];
  for (let i = -20n; i < 19n; i++) {
    odd.push(toLittleEndian(p + i), toLittleEndian(p + i | 1n << 255n));
  }
  const honest = Point.BASE.multiply(5n).toBytes();
  return odd.flatMap((bytes): Vector[] => [
    {
      name: `A ${toHex(bytes)}`,
      signature: concatBytes(honest, toLittleEndian(5n)),
      message: MESSAGE,
      key: bytes,
    },
    {
      name: `R ${toHex(bytes)}`,
      signature: concatBytes(bytes, toLittleEndian(5n)),
      message: MESSAGE,
      key: honest,
    },
  ]);
}

Deno.test("edge points are the eight of small order in fourteen encodings", () => {
  assert.equal(new Set(points.map((point) => point.toHex())).size, 8);
  assert.ok(points.every((point) => point.isSmallOrder()));
  assert.equal(new Set(encodings.map((bytes) => toHex(bytes))).size, 14);
});

Deno.test("verify() gives noble's ZIP-215 verdict on every edge point, and native and WebCrypto accept subsets", async () => {
  const vectors = [
    ...smallOrderVectors(),
    ...mixedOrderVectors(),
    ...halfSmallVectors(),
    ...oddEncodingVectors(),
  ];
  assert.equal(vectors.length, 196 + 192 + 28 + 156);
  let accepted = 0;
  let acceptedByNative = 0;
  for (const [i, vector] of vectors.entries()) {
    if (!isTried(i, 7)) continue;
    const { name, signature, message, key, expected } = vector;
    const verdict = portable.verify(signature, message, key);
    if (expected !== undefined) assert.equal(verdict, expected, name);
    assert.equal(verify(signature, message, key), verdict, name);
    const byNative = nativeOnly(signature, message, key);
    assert.ok(
      !byNative || verdict,
      `native accepts what ZIP-215 does not: ${name}`,
    );
    const asked: Signature = { signature, message, publicKey: key };
    const byWeb = await webVerify(asked, subtleHere()!);
    assert.ok(!byWeb || verdict, `WebCrypto accepts too much: ${name}`);
    accepted += Number(verdict);
    acceptedByNative += Number(byNative);
  }
  assert.ok(accepted >= sized(20, 196 + 64 + 28));
  assert.ok(acceptedByNative < accepted, "the fallback is needed");
});

for (
  const [path, algorithm] of [
    ["native", ed25519With(native.crypto)],
    ["noble", ed25519With(undefined)],
  ] as const
) {
  Deno.test(`createSigner() and verify() give the vectors of RFC 8032 (${path})`, () => {
    assert.equal(rfc.vectors.length, 5);
    for (const { secretKey, publicKey, message, signature } of rfc.vectors) {
      const signer = algorithm.createSigner(fromHex(secretKey));
      const bytes = fromHex(message);
      assert.equal(toHex(signer.publicKey), publicKey);
      assert.equal(toHex(signer.sign(bytes)), signature);
      const key = fromHex(publicKey);
      assert.ok(algorithm.verify(fromHex(signature), bytes, key));
      assert.ok(
        !algorithm.verify(fromHex(signature), concatBytes(bytes, key), key),
      );
    }
  });

  Deno.test(`verify() is false and never throws on bytes of any length (${path})`, () => {
    const key = fromHex(rfc.vectors[0]!.publicKey);
    const signature = fromHex(rfc.vectors[0]!.signature);
    const empty = new Uint8Array();
    for (const length of [0, 1, 31, 32, 33, 63, 65, 1_000]) {
      const bytes = new Uint8Array(length).fill(255);
      assert.equal(algorithm.verify(bytes, empty, key), false);
      assert.equal(algorithm.verify(signature, empty, bytes), false);
      assert.equal(algorithm.verify(bytes, bytes, bytes), false);
    }
  });

  Deno.test(`verify() refuses every flipped bit of a signature, key or message (${path})`, () => {
    const { secretKey } = generateKeyPair((target) => target.fill(7));
    const signer = algorithm.createSigner(secretKey);
    const message = encodeText("m");
    const parts = [signer.sign(message), message, signer.publicKey] as const;
    assert.ok(algorithm.verify(...parts));
    for (const part of parts) {
      for (let bit = 0; bit < part.length * 8; bit++) {
        if (!isTried(bit, 7)) continue;
        part[bit >> 3]! ^= 1 << (bit & 7);
        assert.equal(algorithm.verify(...parts), false);
        part[bit >> 3]! ^= 1 << (bit & 7);
      }
    }
    assert.ok(algorithm.verify(...parts));
  });
}

Deno.test("verify() keeps imported keys, but no more than some", () => {
  const platform = native.crypto!;
  let imports = 0;
  const counting = nativeVerify({
    ...platform,
    createPublicKey: (key) => {
      imports++;
      return platform.createPublicKey(key);
    },
  });
  const signed = Array.from({ length: 600 }, (_, i) => {
    const secretKey = new Uint8Array(32);
    new DataView(secretKey.buffer).setUint32(0, i);
    const signer = createSigner(secretKey);
    return { key: signer.publicKey, signature: signer.sign(MESSAGE) };
  });
  for (const { key, signature } of signed) {
    assert.ok(counting(signature, MESSAGE, key));
    assert.ok(counting(signature, MESSAGE, key));
  }
  assert.equal(imports, 600, "a key is imported once");
  const [first] = signed;
  assert.ok(counting(first!.signature, MESSAGE, first!.key));
  assert.equal(imports, 601, "the oldest had to go");
});

Deno.test("generateKeyPair() takes 32 random bytes for its secret", () => {
  let asked = 0;
  const { publicKey, secretKey } = generateKeyPair((target) => {
    asked += target.length;
    target.fill(9);
  });
  assert.equal(asked, 32);
  assert.deepEqual(secretKey, new Uint8Array(32).fill(9));
  assert.equal(publicKey.length, 32);
});

/** What noble says of a key. */
function isWeak(publicKey: Uint8Array): boolean {
  try {
    return Point.fromBytes(publicKey, true).isSmallOrder();
  } catch {
    return true;
  }
}

Deno.test("isWeakKey() tells small order and undecodable keys from real ones", () => {
  for (const bytes of encodings) assert.ok(isWeakKey(bytes));
  assert.ok(isWeakKey(toLittleEndian(2n)), "2 is no y of the curve");
  assert.ok(isWeakKey(new Uint8Array(31)));
  for (let i = 0; i < 20; i++) {
    const { publicKey } = generateKeyPair((target) =>
      target.set(utils.randomSecretKey())
    );
    assert.ok(!isWeakKey(publicKey));
  }
  const mixed = Point.BASE.multiply(9n).add(points[1]!).toBytes();
  assert.ok(!isWeakKey(mixed));
  const { p } = Point.CURVE();
  const ys = Array.from(
    { length: 60 },
    (_, i) => [BigInt(i), p - 1n - BigInt(i)],
  );
  for (const y of [...ys.flat(), 2n ** 255n - 1n, p + 1n, p + 3n]) {
    for (const sign of [0n, 1n << 255n]) {
      const bytes = toLittleEndian(y | sign);
      assert.equal(isWeakKey(bytes), isWeak(bytes), toHex(bytes));
    }
  }
});
