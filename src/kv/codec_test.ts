import { deepEqual, equal, notDeepEqual, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { limits } from "../base/limits.ts";
import { anyCharacter } from "../../tests/kit/any_text.ts";
import { sized } from "../../tests/kit/tier.ts";
import { canonicalBytes, decodeValue, encodeValue } from "./codec.ts";
import { copyIn, type KvPart, type KvValue } from "./value.ts";

const leaf: fc.Arbitrary<KvPart> = fc.oneof(
  fc.constantFrom<KvPart>(null, true, false, undefined, NaN, Infinity),
  fc.constantFrom<KvPart>(-Infinity, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 60),
  fc.double(),
  fc.string({ unit: anyCharacter }),
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array(),
);
const { part } = fc.letrec<{ part: KvPart }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("part")),
    fc.dictionary(fc.string({ unit: anyCharacter }), tie("part")),
    fc.array(fc.tuple(leaf, tie("part"))).map((pairs) => new Map(pairs)),
    fc.array(leaf).map((values) => new Set(values)),
  ),
}));
const valueIn = part.filter((value): value is KvValue => value !== undefined);

/** Negative zero is written as zero, as everywhere in Sheaf. */
function plain(value: KvValue): KvValue {
  return copyIn(value).value;
}

Deno.test("every value comes back as it was, and its bytes are of its own", () => {
  fc.assert(
    fc.property(valueIn, (value) => {
      const kept = plain(value);
      deepEqual(decodeValue(encodeValue(kept)), kept);
    }),
    { seed: 7 },
  );
});

Deno.test("equal values have one canonical encoding, different ones never do", () => {
  deepEqual(canonicalBytes({ a: 1, b: 2 }), canonicalBytes({ b: 2, a: 1 }));
  const different: KvValue[] = [
    null,
    0,
    0n,
    "0",
    false,
    [],
    {},
    new Set(),
    new Map(),
    [undefined],
    [null],
    new Uint8Array(),
    "",
    new Date(0),
    NaN,
    -1n,
    -1,
  ];
  const seen = new Set(different.map((value) => canonicalBytes(value).toHex()));
  equal(seen.size, different.length);
});

Deno.test("bytes that are no value are a SyntaxError, whatever they are", () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.of(1, ...bytes)),
    fc.tuple(valueIn, fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
      const bytes = encodeValue(plain(value));
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
  );
  const property = (bytes: Uint8Array) => {
    try {
      decodeValue(bytes);
    } catch (error) {
      ok(error instanceof SyntaxError, String(error));
    }
  };
  fc.assert(fc.property(hostile, property), {
    seed: 7,
    numRuns: sized(400, 2_000),
  });
});

Deno.test("a liar's counts, depths and repetitions are refused before they cost anything", () => {
  const nested = new Uint8Array(2_000).fill(15);
  for (let i = 1; i < nested.length; i += 2) nested[i] = 1;
  const lies = {
    "nested too deep": Uint8Array.of(1, ...nested),
    "count is too large": Uint8Array.of(1, 15, 255, 255, 255, 127),
    "a map has a key twice": Uint8Array.of(1, 17, 2, 2, 2, 2, 2),
    "a set has a value twice": Uint8Array.of(1, 18, 2, 2, 2),
    "an object has a key twice": Uint8Array.of(1, 16, 2, 2, 97, 1, 2, 97, 1),
    "bytes follow": Uint8Array.of(1, 1, 1),
    "it is undefined": Uint8Array.of(1, 0),
    "unknown type": Uint8Array.of(1, 99),
    "format is unknown": Uint8Array.of(2, 1),
    "too early": Uint8Array.of(1, 13, 100),
    "bigint is too long": Uint8Array.of(1, 10, 255, 127),
    "it is too long": new Uint8Array(limits.kvValueBytesMax + 1).fill(1),
  };
  for (const [why, bytes] of Object.entries(lies)) {
    throws(() => decodeValue(bytes), {
      name: "SyntaxError",
      message: RegExp(why),
    });
  }
});

Deno.test("what cannot be kept is refused with the reason, and getters are read once", () => {
  class Thing {}
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const refused: [unknown, string, RegExp][] = [
    [undefined, "invalid-value", /delete\(\)/],
    [new Thing(), "invalid-value", /class/],
    [new Float64Array(1), "invalid-value", /class/],
    [() => 1, "invalid-value", /function/],
    [{ a: Symbol("s") }, "invalid-value", /Symbol/],
    [cyclic, "invalid-value", /deep/],
    ["\ud800", "invalid-value", /surrogate/],
    [{ "\ud800": 1 }, "invalid-value", /surrogate/],
    [new Date(NaN), "invalid-value", /Date/],
    [2n ** 9_000n, "invalid-value", /bigint/],
    ["x".repeat(limits.kvValueBytesMax), "value-too-large", /over/],
    ["é".repeat(limits.kvValueBytesMax / 2), "value-too-large", /over/],
    [new Array(limits.kvValueBytesMax + 1), "value-too-large", /over/],
    [new Uint8Array(limits.kvValueBytesMax + 1), "value-too-large", /over/],
  ];
  for (const [value, code, message] of refused) {
    throws(() => copyIn(value), { code, message });
  }
  copyIn("x".repeat(limits.kvValueBytesMax - 2));
  let reads = 0;
  const tricky = {
    get a() {
      return reads++ === 0 ? 1 : new Thing();
    },
  };
  deepEqual(copyIn(tricky).value, { a: 1 });
  const own = JSON.parse(`{"__proto__": {"x": 1}}`);
  notDeepEqual(copyIn(own).value, {});
  ok(Object.hasOwn(copyIn(own).value as object, "__proto__"));
});
