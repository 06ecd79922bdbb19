/**
 * What the pages of a test said: the last lines of their consoles, and errors
 * that nobody caught.
 *
 * @module
 */

import type { BrowserContext, Page } from "playwright-core";

const LINES_MAX = 60;
const LINE_CHARACTERS_MAX = 600;

/** The diary of one test. */
export class Diary {
  readonly uncaught: string[] = [];
  readonly #lines: string[] = [];
  readonly #start = performance.now();
  readonly #watched = new WeakSet<BrowserContext>();
  readonly #names = new WeakMap<Page, string>();
  #pages = 0;

  /** Writes down what the pages of `context` say from now on. */
  watch(context: BrowserContext): void {
    if (this.#watched.has(context)) return;
    this.#watched.add(context);
    context.on("page", (page) => this.nameOf(page));
    context.on("console", (message) => {
      const by = this.#by(message.page());
      this.note(`${by}${message.type()}: ${message.text()}`);
    });
    context.on("weberror", (error) => {
      const { message, stack } = error.error();
      this.uncaught.push(message);
      const by = this.#by(error.page());
      this.note(`${by}uncaught: ${stack ?? message}`);
    });
  }

  /** Pages are numbered in the order in which they came. */
  nameOf(page: Page): string {
    const name = this.#names.get(page) ?? `page ${++this.#pages}`;
    this.#names.set(page, name);
    return name;
  }

  #by(page: Page | null): string {
    return page === null ? "" : `${this.nameOf(page)}, `;
  }

  note(text: string): void {
    const at = Math.round(performance.now() - this.#start);
    this.#lines.push(`${at} ms ${text.slice(0, LINE_CHARACTERS_MAX)}`);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  /** `error` with the diary under its message, and what the browser itself said. */
  attachTo(error: unknown, browserSaid = ""): unknown {
    if (!(error instanceof Error)) return error;
    const browserLines = browserSaid.trim().split("\n").filter((line) => line);
    const told = said("what the pages said", this.#lines) +
      said("what the browser said", browserLines);
    // The stack holds the message, too, and is what the runner prints.
    error.stack = `${error.stack ?? error.message}${told}`;
    error.message += told;
    return error;
  }
}

function said(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `\n${title}:\n  ${lines.join("\n  ")}`;
}
