/**
 * What the pages of a test said: the last lines of their consoles, and errors
 * that nobody caught.
 *
 * @module
 */

import type { BrowserContext } from "playwright-core";

const LINES_MAX = 60;
const LINE_CHARACTERS_MAX = 600;

/** The diary of one test. */
export class Diary {
  readonly uncaught: string[] = [];
  readonly #lines: string[] = [];
  readonly #start = performance.now();
  readonly #watched = new WeakSet<BrowserContext>();

  /** Writes down what the pages of `context` say from now on. */
  watch(context: BrowserContext): void {
    if (this.#watched.has(context)) return;
    this.#watched.add(context);
    context.on("console", (message) => {
      this.note(`${message.type()}: ${message.text()}`);
    });
    context.on("weberror", (error) => {
      const { message, stack } = error.error();
      this.uncaught.push(message);
      this.note(`uncaught: ${stack ?? message}`);
    });
  }

  note(text: string): void {
    const at = Math.round(performance.now() - this.#start);
    this.#lines.push(`${at} ms ${text.slice(0, LINE_CHARACTERS_MAX)}`);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  /** `error` with the diary under its message. */
  attachTo(error: unknown): unknown {
    if (!(error instanceof Error) || this.#lines.length === 0) return error;
    const pages = `what the pages said:\n  ${this.#lines.join("\n  ")}`;
    // The stack holds the message, too, and is what the runner prints.
    error.stack = `${error.stack ?? error.message}\n${pages}`;
    error.message += `\n${pages}`;
    return error;
  }
}
