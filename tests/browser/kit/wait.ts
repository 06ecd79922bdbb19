/**
 * Waiting with a name and an end: what does not come is said, by the wait itself
 * or by the test that ends first.
 *
 * @module
 */

import { pause } from "../../kit/patience.ts";

/** What takes longer never comes; no measure of speed: machines are busy. */
const WAIT_SECONDS_MAX = 40;
/** What is asked again and again is asked so often. */
const EVERY_MS = 10;

interface Wait {
  readonly what: string;
  readonly began: number;
}

const pending = new Set<Wait>();

/** What is waited for just now, oldest first. */
export function pendingWaits(): string[] {
  return [...pending].map(({ what, began }) =>
    `${what}, for ${((performance.now() - began) / 1_000).toFixed(1)} s`
  );
}

/** Nothing is waited for any more: another test begins. */
export function forgetWaits(): void {
  pending.clear();
}

/** Gives what `work` gives, or fails after a while and says what did not come. */
export async function waitFor<T>(
  what: string,
  work: Promise<T>,
  secondsMax = WAIT_SECONDS_MAX,
): Promise<T> {
  const wait = { what, began: performance.now() };
  pending.add(wait);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message = `waited ${secondsMax} s in vain for ${what}`;
    timer = setTimeout(() => reject(new Error(message)), secondsMax * 1_000);
  });
  // What it does after its time is up is nobody's error any more.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    pending.delete(wait);
  }
}

/** Asks until it is so; fails after a while and says what was not. */
export async function until(
  isSo: () => Promise<boolean>,
  what: string,
  secondsMax = WAIT_SECONDS_MAX,
): Promise<void> {
  let isOver = false;
  const asking = async () => {
    while (!isOver && !await isSo()) await pause(EVERY_MS);
  };
  try {
    await waitFor(what, asking(), secondsMax);
  } finally {
    isOver = true;
  }
}

/** Tries until `check` does not throw; fails after a while with what it threw last. */
export async function eventually(
  check: () => Promise<void>,
  secondsMax = WAIT_SECONDS_MAX,
): Promise<void> {
  let last: unknown;
  const isSo = async () => {
    try {
      await check();
      return true;
    } catch (error) {
      last = error;
      return false;
    }
  };
  try {
    await until(isSo, "a check to hold", secondsMax);
  } catch (error) {
    if (last === undefined || !(error instanceof Error)) throw error;
    throw new Error(`${error.message}; the last time: ${last}`, {
      cause: last,
    });
  }
}
