/**
 * What is said of a run of the tests: where it is, and how it ended; no more
 * than a screen when all is well.
 *
 * @module
 */

import type { Outcome } from "./suite.ts";
import type { FailedTest } from "./transcript.ts";

/** Where nobody watches, a line each quarter of a minute says that it goes on. */
const LINE_MS = 15_000;
/** So often a terminal is told. */
const TICK_MS = 200;

const encoder = new TextEncoder();

/** Shows how far a run is. */
export class Progress {
  readonly #beganMs = performance.now();
  readonly #isTerminal = Deno.stdout.isTerminal();
  readonly #timer: ReturnType<typeof setInterval>;
  /** What each task is at, and what passed of it. */
  readonly #running = new Map<string, { at: string; passed: number }>();
  #shownMs = 0;
  passed = 0;
  readonly ignored: string[] = [];
  readonly failed: FailedTest[] = [];

  constructor() {
    this.#timer = setInterval(() => this.#show(), TICK_MS);
  }

  /** A task is at something; so many tests of it passed. */
  hear(task: string, at: string, passed = 0): void {
    this.#running.set(task, { at, passed });
  }

  /** Something has ended; what failed is told at once. */
  end(task: string, outcome: Outcome): void {
    this.#running.delete(task);
    this.passed += outcome.passed;
    this.ignored.push(...outcome.ignored);
    this.failed.push(...outcome.failed);
    if (outcome.failed.length === 0) return;
    this.#clear();
    console.log(`\n${outcome.reasons}\n`);
    for (const { file, name } of outcome.failed) {
      console.log(`FAILED ${file}: ${name}`);
    }
  }

  /** Nothing more is shown. */
  stop(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  /** The last line: what came of it, for people and for programs. */
  get count(): string {
    const { passed, failed, ignored } = this;
    const skipped = ignored.length === 0 ? "" : `, ${ignored.length} skipped`;
    return `${passed} passed, ${failed.length} failed${skipped}`;
  }

  get #seconds(): number {
    return (performance.now() - this.#beganMs) / 1_000;
  }

  /** How long it took. */
  get time(): string {
    const seconds = Math.round(this.#seconds);
    const minutes = Math.floor(seconds / 60);
    return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
  }

  #show(): void {
    const nowMs = performance.now();
    if (!this.#isTerminal && nowMs - this.#shownMs < LINE_MS) return;
    this.#shownMs = nowMs;
    const running = [...this.#running.values()];
    const at = running.map((one) => one.at).join(" and ");
    const { failed } = this;
    const passed = running.reduce((sum, one) => sum + one.passed, this.passed);
    const trouble = failed.length === 0 ? "" : `${failed.length} failed, `;
    const line = `${this.time}: ${trouble}${passed} passed; at ${at}`;
    if (!this.#isTerminal) return console.log(line);
    const { columns } = Deno.consoleSize();
    this.#clear();
    Deno.stdout.writeSync(encoder.encode(line.slice(0, columns - 1)));
  }

  #clear(): void {
    if (this.#isTerminal) Deno.stdout.writeSync(encoder.encode("\r\x1b[K"));
  }
}
