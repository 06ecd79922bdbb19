/**
 * Progress of long work on standard error: a bar on a terminal, elsewhere a
 * plain line now and then.
 *
 * @module
 */

import { Presets, SingleBar } from "cli-progress";
import process from "node:process";
import type { Output } from "./output.ts";
import { checkInterrupt, type Context } from "./session.ts";

/** One piece of long work. */
export interface Progress {
  /** So much of the total is done. */
  update(done: number, total: number): void;
  /** It is over; the bar goes away. */
  stop(): void;
}

/** Runs work under a bar; Ctrl-C is what is told where it was pressed. */
export async function withProgress<T>(
  what: string,
  { err, signal }: Context,
  work: (update: (progress: Step) => void) => Promise<T>,
): Promise<T> {
  const progress = startProgress(what, err);
  try {
    return await work(({ done, total }) => progress.update(done, total));
  } catch (error) {
    checkInterrupt(signal);
    throw error;
  } finally {
    progress.stop();
  }
}

/** How far work is. */
interface Step {
  readonly done: number;
  readonly total: number;
}

/** A bar for work called `what`; it shows only when the work takes a while. */
export function startProgress(what: string, output: Output): Progress {
  return output.isTerminal ? startBar(what) : startLines(what, output);
}

/** Work that is done sooner shows nothing. */
const quietMs = 300;
const linesEveryMs = 2_000;

function startBar(what: string): Progress {
  const bar = new SingleBar({
    format: `${what} {bar} {percentage}%  {eta_formatted} left`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    fps: 12,
  }, Presets.shades_classic);
  const begun = performance.now();
  let isShown = false;
  return {
    update(done, total) {
      if (isShown) return bar.update(done);
      if (performance.now() - begun < quietMs) return;
      isShown = true;
      bar.start(Math.max(1, total), done);
    },
    stop: () => isShown ? bar.stop() : undefined,
  };
}

function startLines(what: string, output: Output): Progress {
  let next = performance.now() + linesEveryMs;
  return {
    update(done, total) {
      if (performance.now() < next) return;
      next = performance.now() + linesEveryMs;
      const percent = total === 0 ? 100 : Math.floor(done / total * 100);
      output.line(`${what} ${percent} %`);
      output.flush();
    },
    stop: () => {},
  };
}
