/**
 * The outside world as parameters: clock, dice and timers.
 *
 * Architecture invariant: the core reads no clock, dice, disk or wire by
 * itself (law 9); it takes a {@linkcode World}, so that a seed replays a run.
 */

/** What the core may ask of the world around it. */
export interface World {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some fixed moment, never going back, with fractions. */
  monotonic(): number;
  /** Fills `target` with unpredictable bytes. */
  random(target: Uint8Array): void;
  /** Runs `task` after at least `delayMs`; the result cancels it. */
  after(delayMs: number, task: () => void): () => void;
}
