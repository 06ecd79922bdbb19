import { deepEqual, equal, throws } from "node:assert/strict";
import { limits } from "../../src/base/limits.ts";
import { hasRoomToRetire } from "../admission/credential_check.ts";
import { signerOf } from "../../tests/kit/door.ts";
import { joinChain } from "./commit.ts";
import {
  retiredBy,
  type Retirement,
  retirementLayout,
  Retirements,
} from "./retirement.ts";

const genesisId = new Uint8Array(32).fill(9);

function incarnationOf(number: number): Uint8Array {
  const incarnation = new Uint8Array(8);
  new DataView(incarnation.buffer).setUint32(4, number);
  return incarnation;
}

function retired(
  of: Readonly<Record<number, number>>,
  seed = 1,
): Retirement {
  const ends = Object.entries(of).map(([number, commits]) => ({
    incarnation: incarnationOf(Number(number)),
    commits,
  }));
  return retirementLayout.sign({ genesisId, ends }, signerOf(seed));
}

function chainOf(number: number, seed = 1): string {
  return joinChain(signerOf(seed).publicKey, incarnationOf(number));
}

Deno.test("retirementLayout reads what it wrote, and chains of no other key than the one that signs", () => {
  const one = retired({ 1: 5, 7: 1 });
  deepEqual(retirementLayout.decode(one.bytes), one);
  deepEqual(retiredBy(one), [
    { chain: chainOf(1), length: 5 },
    { chain: chainOf(7), length: 1 },
  ]);
});

Deno.test("retirementLayout refuses what has another form", () => {
  const signer = signerOf(1);
  const [a, b] = [incarnationOf(1), incarnationOf(2)];
  const sign = (...ends: [Uint8Array, number][]) => () =>
    retirementLayout.sign({
      genesisId,
      ends: ends.map(([incarnation, commits]) => ({ incarnation, commits })),
    }, signer);
  throws(sign(), SyntaxError, "nothing");
  throws(sign([a, 0]), SyntaxError, "a chain that has not begun");
  throws(sign([b, 1], [a, 1]), SyntaxError, "not in order");
  throws(sign([a, 1], [a, 2]), SyntaxError, "twice");
  throws(sign([incarnationOf(0), 1], [incarnationOf(0), 1]), SyntaxError);
  const { bytes } = retired({ 1: 5 });
  for (let length = 0; length < bytes.length; length++) {
    throws(() => retirementLayout.decode(bytes.slice(0, length)), SyntaxError);
  }
});

Deno.test("Retirements: the greatest length counts, in whatever order they come", () => {
  const [short, long] = [retired({ 1: 5, 2: 2 }), retired({ 1: 9 })];
  for (const order of [[short, long], [long, short], [long, short, long]]) {
    const all = new Retirements();
    for (const one of order) all.add(one);
    equal(all.lengthOf(chainOf(1)), 9);
    equal(all.lengthOf(chainOf(2)), 2);
    equal(all.lengthOf(chainOf(3)), Infinity);
    equal(all.lengthOf(chainOf(1, 2)), Infinity, "another key's");
    equal(all.has(short) && all.has(long), true);
    deepEqual([...all].length, 2);
  }
});

Deno.test("attack: a key retires so many chains, in so many bytes, and no more", () => {
  const all = new Retirements();
  let [next, count] = [1, 0];
  for (;; count += limits.retiredAtOnceMax) {
    const of: Record<number, number> = {};
    for (let i = 0; i < limits.retiredAtOnceMax; i++) of[next++] = 1;
    const one = retired(of);
    if (!hasRoomToRetire(all, one)) break;
    all.add(one);
  }
  equal(count, limits.retiredChainsMax);
  equal(
    hasRoomToRetire(all, retired({ 1: 2 })),
    true,
    "what is retired already",
  );
  equal(hasRoomToRetire(all, retired({ [next]: 1 }, 2)), true, "another key");
  const lengths = new Retirements();
  let bytes = 0;
  for (let length = 1;; length++) {
    const one = retired({ 1: length }, 3);
    if (!hasRoomToRetire(lengths, one)) break;
    bytes += one.bytes.length;
    lengths.add(one);
  }
  const left = limits.retirementsOfKeyBytesMax - bytes;
  equal(left >= 0 && left < 200, true);
});
