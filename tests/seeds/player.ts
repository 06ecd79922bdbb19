/**
 * The side of a process that plays seeds: it reads them from its standard
 * input, one a line, and answers each with a line on its standard output.
 *
 * @module
 */

import { linesOf, type Outcome, writeOutcome } from "./outcome.ts";

/** Plays what is asked for until nobody asks any more, then ends the process. */
export async function playFromInput(
  play: (seed: number) => Promise<Outcome>,
): Promise<never> {
  const guarded = guard(play);
  for await (const line of linesOf(Deno.stdin.readable)) {
    const outcome = await guarded(Number(line));
    console.log(writeOutcome(outcome));
  }
  Deno.exit(0);
}

/** `play` which fails a seed also for an error that nobody caught meanwhile. */
export function guard(
  play: (seed: number) => Promise<Outcome>,
): (seed: number) => Promise<Outcome> {
  let strayed: string[] = [];
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    strayed.push(textOf(event.reason));
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    strayed.push(textOf(event.error));
  });
  return async (seed) => {
    const outcome = await play(seed).catch((cause): Outcome => ({
      seed,
      line: `seed ${seed}: FAILED`,
      counts: {},
      failure: textOf(cause),
    }));
    // Rejections are told in a turn of the program's own loop.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const failures = [outcome.failure, ...strayed];
    strayed = [];
    const failure = failures.filter((text) => text !== undefined).join("\n");
    return failure === "" ? outcome : { ...outcome, failure };
  };
}

/** An error with its stack and its causes. */
function textOf(cause: unknown): string {
  return cause instanceof Error ? Deno.inspect(cause) : String(cause);
}
