/**
 * Where a command prints: standard output in large pieces, and messages on
 * standard error.
 *
 * A reader that went away (`sheaf export | head`) ends the command quietly.
 *
 * Keeps data from steering a terminal: control characters and characters that
 * reorder or hide text are shown as escapes.
 *
 * Architecture invariant: whatever comes from a database or a file passes
 * through here before it reaches a terminal.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { concatBytes } from "../base/bytes.ts";
import { writeDescriptor } from "../storage/descriptor.ts";

const pieceBytes = 64 * 1024;
const encoder = new TextEncoder();

/** The reader of standard output went away: nothing more to do. */
export class ReaderGone extends Error {}

/** Text and bytes that are gathered and written in pieces. */
export class Output {
  readonly #write: (bytes: Uint8Array) => number;
  /** Is it a terminal? Then nothing may steer it. */
  readonly isTerminal: boolean;
  readonly width: number | undefined;
  #text = "";
  /** What stands before the text. */
  #bytes: Uint8Array[] = [];
  #bytesLength = 0;

  /** @param write writes some of the bytes and says how many */
  constructor(
    write: (bytes: Uint8Array) => number,
    isTerminal: boolean,
    width: number | undefined,
  ) {
    this.#write = write;
    this.isTerminal = isTerminal;
    this.width = width;
  }

  print(piece: string | Uint8Array): void {
    if (typeof piece === "string") this.#text += piece;
    else this.#gather(piece);
    if (this.#text.length + this.#bytesLength >= pieceBytes) this.flush();
  }

  #gather(bytes: Uint8Array): void {
    const text = encoder.encode(this.#text);
    this.#text = "";
    if (text.length > 0) this.#bytes.push(text);
    this.#bytes.push(bytes);
    this.#bytesLength += text.length + bytes.length;
  }

  line(text = ""): void {
    this.print(`${text}\n`);
  }

  flush(): void {
    this.#gather(new Uint8Array(0));
    let bytes = concatBytes(...this.#bytes);
    this.#bytes = [];
    this.#bytesLength = 0;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(this.#write(bytes));
    } catch (error) {
      if ((error as { code?: unknown }).code === "EPIPE") {
        throw new ReaderGone();
      }
      throw error;
    }
  }
}

export function standardOutput(): Output {
  return streamOutput(1);
}

export function standardError(): Output {
  return streamOutput(2);
}

function streamOutput(descriptor: number): Output {
  const isTerminal = isatty(descriptor);
  const width = isTerminal ? process.stdout.columns || undefined : undefined;
  return new Output(
    (bytes) => writeDescriptor(descriptor, bytes),
    isTerminal,
    width,
  );
}

/** A file, which is never a terminal; the second result closes it. */
export function fileOutput(path: string): [Output, () => void] {
  const file = openSync(path, "w");
  const output = new Output(
    (bytes) => writeSync(file, bytes),
    false,
    undefined,
  );
  return [output, () => closeSync(file)];
}

// Controls (C0, DEL, C1), line and paragraph separators, bidirectional marks,
// zero-width space, the byte order mark, tags and lone surrogates. The joiners
// U+200C and U+200D stay: Persian, Hindi and emoji are spelled with them.
const steering =
  /[\p{Cc}\u2028\u2029\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}\p{Cs}]/gu;

const named: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Text with each steering character as `\n`, `\u001b` or `\u{e0001}`. */
export function escapeControls(text: string): string {
  return text.replace(steering, (found) => named[found] ?? unicode(found));
}

/** JSON text with each steering character as a JSON escape: it parses to the same value. */
export function escapeJson(json: string): string {
  return json.replace(steering, (found) => {
    let escaped = "";
    for (let i = 0; i < found.length; i++) {
      escaped += unit(found.charCodeAt(i));
    }
    return escaped;
  });
}

function unicode(found: string): string {
  const point = found.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : unit(point);
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
