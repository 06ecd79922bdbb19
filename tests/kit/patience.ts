/**
 * How tests wait for what comes from elsewhere: until it is there, or until it
 * is certain that it never will be; then they say what they waited for.
 *
 * @module
 */

/** What takes longer never comes; no measure of speed: machines are busy. */
export const PATIENCE_MS = 30_000;

/** Names what was waited for; called only where it did not come. */
export type What = string | (() => string);

/** Waits until something holds that nothing tells of. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: What,
  waitMs: number = PATIENCE_MS,
): Promise<void> {
  const end = Date.now() + waitMs;
  while (!await holds()) {
    if (Date.now() > end) throw inVain(what);
    await pause(2);
  }
}

/**
 * Lets what is under way between pages and workers arrive, where a test shows
 * that nothing does: counted in trips of a message of its own, behind all others.
 */
export async function trips(count = 50): Promise<void> {
  const { port1: near, port2: far } = new MessageChannel();
  far.onmessage = () => far.postMessage("back");
  for (let i = 0; i < count; i++) {
    const back = Promise.withResolvers<unknown>();
    near.onmessage = back.resolve;
    near.postMessage("there");
    await within(back.promise, "a message comes back");
  }
  near.close();
  far.close();
}

/**
 * Lets time go by: between the steps of a load, or for as long as dice say.
 * Nothing may be concluded from it, for whatever has not happened by then.
 */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a promise gives, if it ever does. */
export async function within<T>(
  promise: PromiseLike<T>,
  what: What,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(inVain(what)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function inVain(what: What): Error {
  return new Error(`In vain: ${typeof what === "string" ? what : what()}`);
}
