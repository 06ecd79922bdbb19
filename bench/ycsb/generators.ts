/**
 * The number generators of YCSB: zipfian, scrambled zipfian, latest, and the
 * hash that scatters keys. They follow the classes of the same names in
 * `core/src/main/java/site/ycsb/generator` of github.com/brianfrankcooper/YCSB;
 * only the dice are ours, and seeded, so that every engine gets the same
 * operations.
 *
 * @module
 */

import type { Dice } from "../harness/scramble.ts";

/** The skew of all core workloads. */
export const zipfianConstant = 0.99;

/** Scrambled zipfian draws from so many and folds them onto the records. */
const scrambledItems = 10_000_000_000;
/** The sum of 1/i^0.99 for i up to {@linkcode scrambledItems}: YCSB's own figure. */
const scrambledZeta = 26.46902820178302;

const twoTo32 = 2 ** 32;

/** 64 bits as two halves; of hashes without the sign, as Java's `Math.abs` leaves them. */
export interface Hash {
  readonly high: number;
  readonly low: number;
}

/** FNV-1a over the eight bytes of `value`, lowest first, made positive: YCSB's `fnvhash64`. */
export function fnvHash(value: number): Hash {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  let rest = value;
  for (let octet = 0; octet < 8; octet++) {
    low = (low ^ (rest % 256)) >>> 0;
    rest = Math.floor(rest / 256);
    // Times 2^40 + 435, the prime: each product stays below 2^53.
    const product = low * 435;
    const carry = Math.floor(product / twoTo32);
    high = (high * 435 + carry + low * 256) % twoTo32;
    low = product % twoTo32;
  }
  if (high < 2 ** 31) return { high, low };
  const isCarried = low === 0;
  return {
    high: (twoTo32 - high - (isCarried ? 0 : 1)) % twoTo32,
    low: isCarried ? 0 : twoTo32 - low,
  };
}

/** A hash modulo `count`, which is below 2^21 times 2^11. */
export function moduloOf({ high, low }: Hash, count: number): number {
  // Folded 16 bits at a time, so that each step is exact.
  let rest = high % count;
  rest = (rest * 65_536 + Math.floor(low / 65_536)) % count;
  return (rest * 65_536 + low % 65_536) % count;
}

/** The name of record `index`: "user" and the hash, so that neighbours in number are none in order. */
export function keyOf(index: number): string {
  const { high, low } = fnvHash(index);
  return `user${(BigInt(high) << 32n) + BigInt(low)}`;
}

/** The sum of 1/i^theta for i in `(from, to]`, added to `sum`. */
export function zeta(from: number, to: number, theta: number, sum = 0): number {
  for (let i = from + 1; i <= to; i++) sum += 1 / i ** theta;
  return sum;
}

/**
 * Zipfian numbers in `[0, count)`, 0 the most popular: the algorithm of Gray et
 * al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994.
 */
export class Zipfian {
  readonly #roll: Dice;
  readonly #theta: number;
  readonly #alpha: number;
  readonly #zeta2: number;
  #count: number;
  #zeta: number;
  #eta: number;

  /** @param known the zeta of `count`, where it is known */
  constructor(
    count: number,
    roll: Dice,
    theta: number = zipfianConstant,
    known?: number,
  ) {
    this.#roll = roll;
    this.#theta = theta;
    this.#alpha = 1 / (1 - theta);
    this.#zeta2 = zeta(0, 2, theta);
    this.#count = count;
    this.#zeta = known ?? zeta(0, count, theta);
    this.#eta = this.#etaNow();
  }

  #etaNow(): number {
    return (1 - (2 / this.#count) ** (1 - this.#theta)) /
      (1 - this.#zeta2 / this.#zeta);
  }

  /** There are `count` numbers now: no fewer than before. */
  grow(count: number): void {
    if (count <= this.#count) return;
    this.#zeta = zeta(this.#count, count, this.#theta, this.#zeta);
    this.#count = count;
    this.#eta = this.#etaNow();
  }

  /** The next number. */
  next(): number {
    const u = this.#roll();
    const share = u * this.#zeta;
    if (share < 1) return 0;
    if (share < 1 + 0.5 ** this.#theta) return 1;
    const eta = this.#eta;
    const at = Math.floor(this.#count * (eta * u - eta + 1) ** this.#alpha);
    return Math.min(at, this.#count - 1);
  }
}

/** Zipfian numbers in `[0, count)` whose popular ones lie scattered. */
export class ScrambledZipfian {
  readonly #zipfian: Zipfian;
  readonly #count: number;

  constructor(count: number, roll: Dice) {
    this.#count = count;
    this.#zipfian = new Zipfian(
      scrambledItems,
      roll,
      zipfianConstant,
      scrambledZeta,
    );
  }

  /** The next number. */
  next(): number {
    return moduloOf(fnvHash(this.#zipfian.next()), this.#count);
  }
}

/** Numbers up to the last record, the last the most popular. */
export class SkewedLatest {
  readonly #zipfian: Zipfian;

  constructor(count: number, roll: Dice) {
    this.#zipfian = new Zipfian(count, roll);
  }

  /** The next number below `count`, which never shrinks. */
  next(count: number): number {
    this.#zipfian.grow(count);
    return count - 1 - this.#zipfian.next();
  }
}
