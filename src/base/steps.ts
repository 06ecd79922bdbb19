/**
 * Long work in steps, each short enough that the thread may be asked for
 * between two of them.
 */

/** Elements of one step. */
export const stepSize = 4_096;

/**
 * Runs `work` over the places below `count`, a step's share at a time. Loops stand
 * in functions of their own: V8 does not replace a generator that runs by its
 * compiled form, so its own loops are the interpreter's.
 */
export function* inSteps(
  count: number,
  work: (from: number, to: number) => void,
): Generator<void> {
  for (let from = 0; from < count; from += stepSize) {
    work(from, Math.min(count, from + stepSize));
    yield;
  }
}

/** Takes all steps at once. */
export function finish<T>(steps: Iterator<void, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
