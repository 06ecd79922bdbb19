/**
 * The command line: `deno task sheaf …`.
 *
 * Exit codes: 0 done, 1 something failed or was found bad, 2 wrong usage,
 * 130 stopped by Ctrl-C.
 */

import process from "node:process";
import { exitCodes, explain, formatFailure } from "./failure.ts";
import {
  type Output,
  ReaderGone,
  standardError,
  standardOutput,
} from "./output.ts";
import { runProgram } from "./program.ts";
import type { Context } from "./session.ts";

export async function main(
  args: readonly string[],
  context: Context,
): Promise<number> {
  const { out, err } = context;
  try {
    await runProgram(args, context);
    out.flush();
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof ReaderGone) return exitCodes.ok;
    const failure = explain(error);
    flushQuietly(out);
    err.print(formatFailure(failure));
    if (args.includes("--debug")) err.line(traceOf(error));
    return failure.exitCode;
  } finally {
    err.flush();
  }
}

/** What was printed before the failure still counts. */
function flushQuietly(out: Output): void {
  try {
    out.flush();
  } catch {
    // The failure that is about to be told came first.
  }
}

/** Signals within so many milliseconds are one: `deno task` hands on what a service manager sends to both. */
const ONE_SIGNAL_MS = 500;

/** Aborted by the first Ctrl-C; the second one ends the process at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  let first = Infinity;
  const stop = () => {
    const now = performance.now();
    if (now - first > ONE_SIGNAL_MS) process.exit(exitCodes.interrupted);
    first = Math.min(first, now);
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return controller.signal;
}

function traceOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/** Asks on a terminal; what is piped in is no answer. */
function terminalAsk(signal: AbortSignal): Context["ask"] {
  if (!process.stdin.isTTY) return undefined;
  return async (question) => {
    const { createInterface } = await import("node:readline/promises");
    const { stdin: input, stderr: output } = process;
    const lines = createInterface({ input, output });
    lines.on("SIGINT", () => process.emit("SIGINT"));
    const noAnswer = new Promise<string>((resolve) => {
      lines.once("close", () => resolve("")); // Ctrl-D
      signal.addEventListener("abort", () => resolve(""), { once: true });
    });
    try {
      return await Promise.race([lines.question(question), noAnswer]);
    } finally {
      lines.close();
    }
  };
}

/** Runs the command that the process was started with, and ends it. */
export async function runProcess(): Promise<never> {
  const signal = interruptSignal();
  const code = await main(process.argv.slice(2), {
    out: standardOutput(),
    err: standardError(),
    signal,
    ask: terminalAsk(signal),
  });
  return process.exit(code);
}

if (import.meta.main) await runProcess();
