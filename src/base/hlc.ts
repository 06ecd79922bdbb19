/**
 * Hybrid logical clock: wall milliseconds and a counter, totally ordered.
 *
 * After Kulkarni, Demirbas et al., "Logical Physical Clocks" (2014). A reading
 * exceeds every reading it was told of, and stays close to the wall clock.
 * Never reads a clock by itself.
 */

/** One reading: wall milliseconds (48 bits) and a counter (16 bits). */
export interface Hlc {
  /** Milliseconds since 1970, below 2^48. */
  readonly wall: number;
  /** Order within one millisecond, below 2^16. */
  readonly count: number;
}

/** A reading together with the chain that made it: a total order over commits. */
export interface Stamp extends Hlc {
  /** The chain's name: breaks ties the same way everywhere. */
  readonly chain: string;
}

export const hlcZero: Hlc = { wall: 0, count: 0 };

export const wallMax: number = 2 ** 48 - 1;

export const countMax: number = 2 ** 16 - 1;

export function compareHlc(a: Hlc, b: Hlc): number {
  return a.wall - b.wall || a.count - b.count;
}

export function compareStamps(a: Stamp, b: Stamp): number {
  if (a === b) return 0;
  return a.wall - b.wall || a.count - b.count ||
    (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0);
}

export function laterHlc(a: Hlc, b: Hlc): Hlc {
  return compareHlc(a, b) >= 0 ? a : b;
}

/**
 * The next reading after `last` at wall time `nowMs`. When the counter is full
 * the wall part moves ahead by one millisecond.
 */
export function nextHlc(last: Hlc, nowMs: number): Hlc {
  if (nowMs > last.wall) return { wall: nowMs, count: 0 };
  if (last.count < countMax) return { wall: last.wall, count: last.count + 1 };
  return { wall: last.wall + 1, count: 0 };
}
