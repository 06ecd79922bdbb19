/**
 * What happened, line by line: the end of it to be read after a failure, and a
 * hash of all of it, by which two runs of one seed are compared.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { crc32 } from "../../src/base/crc32.ts";
import type { Timeline } from "./timeline.ts";

/** Lines that are kept. */
const LINES = 400;
/** Lines that are hashed together: one by one takes five times as long. */
const LINES_HASHED = 64;

/** See the file's header. */
export class Trace {
  readonly #timeline: Timeline;
  readonly #hash = createHash("sha256");
  #lines: string[] = [];
  /** The last of them that are not hashed yet. */
  #unhashed: string[] = [];
  readonly #hear: ((line: string) => void) | undefined;
  /** How often each kind of thing happened. */
  readonly counts: Record<string, number> = {};

  /** @param hear is told every line at once */
  constructor(timeline: Timeline, hear?: (line: string) => void) {
    this.#timeline = timeline;
    this.#hear = hear;
  }

  /** Notes that something happened to somebody. */
  note(who: string, what: string, more = ""): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    const atMs = this.#timeline.nowMs.toFixed(3).padStart(12);
    const line = `${atMs} ${who.padEnd(4)} ${what} ${more}`.trimEnd();
    this.#unhashed.push(line);
    if (this.#unhashed.length >= LINES_HASHED) this.#hashLines();
    this.#lines.push(line);
    if (this.#lines.length > 2 * LINES) this.#lines = this.tail();
    this.#hear?.(line);
  }

  #hashLines(): void {
    this.#hash.update(this.#unhashed.map((line) => `${line}\n`).join(""));
    this.#unhashed = [];
  }

  /** The last lines. */
  tail(): string[] {
    return this.#lines.slice(-LINES);
  }

  /** SHA-256 of all lines so far, hexadecimal. */
  digest(): string {
    this.#hashLines();
    return this.#hash.copy().digest("hex");
  }
}

/** Bytes in a line: how many, and their checksum. */
export function brief(bytes: Uint8Array): string {
  return `${bytes.length}b ${crc32(bytes).toString(16)}`;
}
