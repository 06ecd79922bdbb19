import assert from "node:assert/strict";
import { dice } from "../harness/scramble.ts";
import {
  fnvHash,
  keyOf,
  moduloOf,
  ScrambledZipfian,
  SkewedLatest,
  Zipfian,
  zipfianConstant,
} from "./generators.ts";

const draws = 200_000;

/** The hash as YCSB's Utils.java writes it down, in whole numbers of 64 bits. */
function fnvAsPublished(value: bigint): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let octet = 0; octet < 8; octet++) {
    hash ^= value & 0xffn;
    value >>= 8n;
    hash = BigInt.asIntN(64, hash * 1_099_511_628_211n);
    hash = BigInt.asUintN(64, hash);
  }
  const signed = BigInt.asIntN(64, hash);
  return signed < 0n ? -signed : signed;
}

function tally(count: number, next: () => number): number[] {
  const found = new Array<number>(count).fill(0);
  for (let turn = 0; turn < draws; turn++) {
    const at = next();
    assert.ok(Number.isInteger(at) && at >= 0 && at < count, `drew ${at}`);
    found[at]!++;
  }
  return found;
}

function assertNear(got: number, wanted: number, tolerance: number): void {
  const off = Math.abs(got - wanted) / wanted;
  assert.ok(off <= tolerance, `${got} is not within ${tolerance} of ${wanted}`);
}

Deno.test("fnvHash() gives the hash of YCSB's Utils.java, halves and sign included", () => {
  const roll = dice(1);
  const values = [0, 1, 255, 256, 2 ** 32, 9_999_999_999];
  for (let turn = 0; turn < 2_000; turn++) {
    values.push(Math.floor(roll() * 1e10));
  }
  for (const value of values) {
    const { high, low } = fnvHash(value);
    const got = (BigInt(high) << 32n) + BigInt(low);
    assert.equal(got, fnvAsPublished(BigInt(value)));
    for (const count of [1, 7, 100_000, 20_000_003]) {
      assert.equal(
        moduloOf({ high, low }, count),
        Number(got % BigInt(count)),
      );
    }
  }
});

Deno.test("keyOf() names records as YCSB does: user and the hash in decimals", () => {
  assert.equal(keyOf(0), "user6284781860667377211");
  assert.equal(keyOf(1), "user8517097267634966620");
  assert.equal(keyOf(1), `user${fnvAsPublished(1n)}`);
});

Deno.test("dice() fall alike for one seed, otherwise for another, and evenly", () => {
  const [one, same, other] = [dice(5), dice(5), dice(6)];
  const first = Array.from({ length: 50 }, one);
  assert.deepEqual(Array.from({ length: 50 }, same), first);
  assert.notDeepEqual(Array.from({ length: 50 }, other), first);
  const tenths = tally(10, () => Math.floor(one() * 10));
  for (const found of tenths) assertNear(found, draws / 10, 0.03);
});

Deno.test("Zipfian draws number i with a share of 1/(i+1)^0.99, as it was published", () => {
  const count = 1_000;
  const zipfian = new Zipfian(count, dice(2));
  const found = tally(count, () => zipfian.next());
  let sum = 0;
  for (let i = 1; i <= count; i++) sum += 1 / i ** zipfianConstant;
  const shareOf = (i: number): number => 1 / (i + 1) ** zipfianConstant / sum;
  for (const i of [0, 1]) assertNear(found[i]! / draws, shareOf(i), 0.02);
  // Gray's formula is an approximation, too generous to the third and fourth.
  for (const [from, to] of [[2, 10], [10, 100], [100, 1_000]] as const) {
    let wanted = 0;
    let got = 0;
    for (let i = from; i < to; i++) {
      wanted += shareOf(i);
      got += found[i]! / draws;
    }
    assertNear(got, wanted, 0.12);
  }
});

Deno.test("Zipfian that grew draws as one that was made so large", () => {
  const grown = new Zipfian(100, dice(3));
  grown.grow(1_000);
  const whole = new Zipfian(1_000, dice(3));
  for (let turn = 0; turn < 1_000; turn++) {
    assert.equal(grown.next(), whole.next());
  }
});

Deno.test("ScrambledZipfian gives the most popular record 1/26.47 of all draws, wherever it lies", () => {
  const count = 10_000;
  const scrambled = new ScrambledZipfian(count, dice(4));
  const found = tally(count, () => scrambled.next());
  const first = moduloOf(fnvHash(0), count);
  const second = moduloOf(fnvHash(1), count);
  assertNear(found[first]! / draws, 1 / 26.469, 0.03);
  assertNear(found[second]! / draws, 0.5 ** 0.99 / 26.469, 0.05);
  assert.equal(Math.max(...found), found[first]);
  // The tail beyond the records folds back evenly: nobody is left out for long.
  assert.ok(found.filter((times) => times > 0).length > count * 0.95);
});

Deno.test("SkewedLatest prefers the newest record, also after inserts", () => {
  const latest = new SkewedLatest(1_000, dice(5));
  const before = tally(1_000, () => latest.next(1_000));
  assert.equal(Math.max(...before), before[999]);
  const after = tally(1_500, () => latest.next(1_500));
  assert.equal(Math.max(...after), after[1_499]);
  assertNear(
    after[1_498]! / after[1_499]!,
    0.5 ** zipfianConstant,
    0.05,
  );
});
