/**
 * A sum of floating-point numbers that does not depend on their order, and
 * from which numbers can be taken away again.
 *
 * After Shewchuk, "Adaptive Precision Floating-Point Arithmetic" (1997), as in
 * Python's `fsum`: non-overlapping partial sums hold the exact value.
 *
 * Architecture invariant: same numbers, same sum, on every replica.
 *
 * @module
 */

/** The exact sum of numbers. */
export class ExactSum {
  #partials: number[] = [];
  #above = 0;
  #below = 0;

  /** Adds a number. */
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
    return roundPartials(this.#partials);
  }
}

/** Adds from the largest down; a tie looks at what is left, to round to even. */
function roundPartials(partials: readonly number[]): number {
  let at = partials.length - 1;
  if (at < 0) return 0;
  let high = partials[at]!;
  let low = 0;
  while (at > 0) {
    const x = high;
    const y = partials[--at]!;
    high = x + y;
    low = y - (high - x);
    if (low !== 0) break;
  }
  if (at > 0 && low !== 0 && Math.sign(low) === Math.sign(partials[at - 1]!)) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) high = next;
  }
  return high;
}
