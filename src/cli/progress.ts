/**
 * Progress of long work on standard error: a bar on a terminal, elsewhere a
 * plain line now and then.
 */

import type { Output } from "./output.ts";
import { checkInterrupt, type Context } from "./session.ts";

export interface Progress {
  update(done: number, total: number): void;
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

interface Step {
  readonly done: number;
  readonly total: number;
}

/** A bar for work called `what`; it shows only when the work takes a while. */
export function startProgress(what: string, output: Output): Progress {
  return output.isTerminal ? startBar(what, output) : startLines(what, output);
}

/** Work that is done sooner shows nothing. */
const quietMs = 300;
const linesEveryMs = 2_000;
const barEveryMs = 80;
const barWidth = 40;
/** To the start of the terminal's line, which is empty then. */
const lineStart = "\r\x1b[K";

function startBar(what: string, output: Output): Progress {
  const begun = performance.now();
  let next = begun + quietMs;
  let isShown = false;
  return {
    update(done, total) {
      const now = performance.now();
      if (now < next) return;
      next = now + barEveryMs;
      isShown = true;
      const share = done / Math.max(1, total);
      const seconds = Math.ceil((now - begun) / 1000 * (1 / share - 1));
      output.print(`${lineStart}${what} ${barOf(share)} ${seconds} s left`);
      output.flush();
    },
    stop() {
      if (!isShown) return;
      output.print(lineStart);
      output.flush();
    },
  };
}

function barOf(share: number): string {
  const full = Math.floor(share * barWidth);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)}${percent}`;
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
