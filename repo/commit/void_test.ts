import { deepEqual, equal, throws } from "node:assert/strict";
import { limits } from "../../src/base/limits.ts";
import { hasRoomFor } from "../admission/credential_check.ts";
import { chainName } from "./commit.ts";
import { signerOf } from "../../tests/kit/door.ts";
import { type Void, voidLayout, type VoidRange, Voids } from "./void.ts";

const KEY = 1;

/** As much of a void as is kept account of. */
function voidOf(ranges: VoidRange[], key = KEY, incarnation = 1): Void {
  const chain = new Uint8Array(40).fill(key, 0, 32).fill(incarnation, 32);
  const bytes = new Uint8Array(200 + 3 * ranges.length);
  return { chain, ranges, bytes } as unknown as Void;
}

/** Every other one of so many numbers. */
function sparse(count: number, first = 0): VoidRange[] {
  return Array.from({ length: count }, (_, i) => ({
    first: first + 2 * i,
    count: 1,
  }));
}

const nameOf = ({ chain }: Void) => chainName(chain);

Deno.test("Voids says who gave a commit up first, and keeps nothing that is known", () => {
  const voids = new Voids();
  const [one, other] = [
    voidOf([{ first: 2, count: 3 }]),
    voidOf([{ first: 4, count: 2 }]),
  ];
  for (const each of [one, other, voidOf([{ first: 3, count: 3 }]), one]) {
    voids.add(each);
  }
  deepEqual([...voids], [one, other]);
  const chain = nameOf(one);
  const covered = [1, 2, 4, 5, 6].map((number) => voids.covers(chain, number));
  deepEqual(covered, [false, true, true, true, false]);
  deepEqual([...voids.of(chain, 0, 9)], [one, other]);
  deepEqual([...voids.of(chain, 4, 5)], [one]);
  deepEqual([...voids.of(chain, 5, 6)], [other]);
  deepEqual([...voids.of("another", 0, 9)], []);
  equal(voids.has(voidOf([{ first: 2, count: 4 }])), true);
  equal(voids.has(voidOf([{ first: 2, count: 5 }])), false);
});

Deno.test("Voids costs memory by ranges, however many numbers they have", () => {
  const voids = new Voids();
  const [all, middle, end] = [
    voidOf([{ first: 0, count: 2 ** 40 }, { first: 2 ** 41, count: 2 ** 40 }]),
    voidOf([{ first: 7, count: 2 ** 41 }]),
    voidOf([{ first: 2 ** 50, count: 1 }]),
  ];
  for (const one of [all, end, middle]) voids.add(one);
  const chain = nameOf(all);
  deepEqual([...voids.of(chain, 0, 2 ** 40)], [all]);
  deepEqual([...voids.of(chain, 2 ** 40, 2 ** 41)], [middle]);
  deepEqual([...voids.of(chain, 2 ** 41, 2 ** 52)], [all, end]);
  deepEqual([...voids.of(chain, 5, 2 ** 52)], [all, middle, end]);
});

Deno.test("Voids has room for so many commits of a key, over all its chains, and is not filled by what is known", () => {
  const voids = new Voids();
  const half = limits.voidsOfKeyMax / 2;
  for (const incarnation of [1, 2]) {
    const one = voidOf([{ first: 0, count: half }], KEY, incarnation);
    equal(hasRoomFor(voids, one), true);
    voids.add(one);
  }
  const more = voidOf([{ first: half, count: 1 }]);
  equal(hasRoomFor(voids, more), false);
  equal(hasRoomFor(voids, voidOf([{ first: 0, count: 1 }], 2)), true);
  const all = [{ first: 0, count: 2 ** 40 }];
  equal(hasRoomFor(voids, voidOf(all, 2)), false, "more than there may be");
  equal(voids.has(voidOf(all)), false);
});

Deno.test("Voids has room for so many bytes of a key: who repeats 8,000 known numbers for each new one is stopped", () => {
  const voids = new Voids();
  let bytes = 0;
  let records = 0;
  for (let next = 16_001;; next += 2) {
    const one = voidOf([...sparse(8_000), { first: next, count: 1 }]);
    if (!hasRoomFor(voids, one)) break;
    voids.add(one);
    bytes += one.bytes.length;
    records++;
  }
  equal(bytes <= limits.voidsOfKeyBytesMax, true);
  equal(records > 100 && records < 150, true);
});

Deno.test("Voids has room for all commits of an honest key, each given up alone", () => {
  const voids = new Voids();
  for (const range of sparse(limits.voidsOfKeyMax)) {
    const one = { ...voidOf([range]), bytes: new Uint8Array(182) };
    equal(hasRoomFor(voids, one), true);
    voids.add(one);
  }
});

Deno.test("Voids leaves each key a little room where all together have taken very much", () => {
  const voids = new Voids();
  const large = () => new Uint8Array(60_000);
  let key = 2;
  for (let bytes = 0; bytes < limits.voidsBytesMax; key++) {
    for (let i = 0; i < 50; i++, bytes += 60_000) {
      voids.add({ ...voidOf([{ first: i, count: 1 }], key), bytes: large() });
    }
  }
  let records = 0;
  for (;; records++) {
    const one = voidOf([{ first: records, count: 1 }]);
    if (!hasRoomFor(voids, one)) break;
    voids.add(one);
  }
  equal(records, Math.floor(limits.voidsOfKeyBytesMin / 203));
});

Deno.test("voidLayout takes ranges that ascend, lie apart and have an end, and nothing else", () => {
  const signer = signerOf(1);
  const chain = new Uint8Array(40);
  const sign = (...ranges: VoidRange[]) =>
    voidLayout.sign({ genesisId: new Uint8Array(32), chain, ranges }, signer);
  const max = Number.MAX_SAFE_INTEGER;
  const good = [{ first: 0, count: 1 }, { first: 2, count: max - 2 }];
  deepEqual(sign(...good).ranges, good);
  const bad = [
    [{ first: 3, count: 1 }, { first: 1, count: 1 }],
    [{ first: 1, count: 1 }, { first: 2, count: 1 }], // One range, in another form.
    [{ first: 1, count: 3 }, { first: 2, count: 5 }],
    [{ first: 1, count: 0 }],
    [{ first: max, count: 3 }], // Counting from there never comes to an end.
    [{ first: max - 1, count: 2 }],
  ];
  for (const ranges of bad) throws(() => sign(...ranges), SyntaxError);
});
