/**
 * A sum of floating-point numbers that does not depend on their order, and
 * from which numbers can be taken away again.
 *
 * After Shewchuk, "Adaptive Precision Floating-Point Arithmetic" (1997), as in
 * Python's `fsum`: non-overlapping partial sums hold the exact value. Numbers
 * so large that partial sums of them could overflow are added as integers.
 *
 * Architecture invariant: same numbers, same sum, on every replica.
 */

/** Of smaller numbers, 2^53 cannot overflow. */
const largeMin = 2 ** 970;

export class ExactSum {
  #partials: number[] = [];
  /** The sum of the large ones, in units of 2^-1074. */
  #large = 0n;
  #above = 0;
  #below = 0;

  add(value: number): void {
    if (Number.isFinite(value)) this.#addFinite(value);
    else if (value > 0) this.#above++;
    else this.#below++;
  }

  /** Takes a number away that was added before. */
  subtract(value: number): void {
    if (Number.isFinite(value)) this.#addFinite(-value);
    else if (value > 0) this.#above--;
    else this.#below--;
  }

  #addFinite(value: number): void {
    if (Math.abs(value) >= largeMin) {
      this.#large += toUnits(value);
      return;
    }
    const partials = this.#partials;
    let x = value;
    let kept = 0;
    for (let i = 0; i < partials.length; i++) {
      let y = partials[i]!;
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low !== 0) partials[kept++] = low;
      x = high;
    }
    partials.length = kept;
    if (x !== 0) partials.push(x);
  }

  /** The sum, rounded once. */
  get value(): number {
    if (this.#above > 0) return this.#below > 0 ? NaN : Infinity;
    if (this.#below > 0) return -Infinity;
    const partials = this.#partials;
    if (partials.length <= 2 && this.#large === 0n) {
      return (partials[0] ?? 0) + (partials[1] ?? 0);
    }
    return fromUnits(
      partials.reduce((sum, part) => sum + toUnits(part), this.#large),
    );
  }
}

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

/** A finite number in units of 2^-1074, the smallest there is. */
function toUnits(value: number): bigint {
  float[0] = Math.abs(value);
  const exponent = bits[0]! >> 52n;
  const fraction = BigInt.asUintN(52, bits[0]!);
  const units = exponent === 0n
    ? fraction
    : (fraction | 1n << 52n) << exponent - 1n;
  return value < 0 ? -units : units;
}

/** The number nearest to so many units: 64 bits decide it, if the last one stands for all behind it. */
function fromUnits(units: bigint): number {
  if (units < 0n) return -fromUnits(-units);
  const behind = Math.max(units.toString(16).length * 4 - 64, 0);
  const leading = units >> BigInt(behind);
  const isExact = leading << BigInt(behind) === units;
  return Number(isExact ? leading : leading | 1n) * 2 ** (behind - 1074);
}
