/**
 * Where a command prints: standard output in large pieces, and messages on
 * standard error.
 *
 * A reader that went away (`sheaf export | head`) ends the command quietly.
 *
 * @module
 */

import { concatBytes } from "../base/bytes.ts";

const pieceBytes = 64 * 1024;
const encoder = new TextEncoder();

/** The reader of standard output went away: nothing more to do. */
export class ReaderGone extends Error {}

/** Text and bytes that are gathered and written in pieces. */
export class Output {
  readonly #write: (bytes: Uint8Array) => number;
  /** Is it a terminal? Then nothing may steer it. */
  readonly isTerminal: boolean;
  /** Its width in characters, where it has one. */
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

  /** Prints text or bytes as they are. */
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

  /** Prints text and ends the line. */
  line(text = ""): void {
    this.print(`${text}\n`);
  }

  /** Writes what was gathered. */
  flush(): void {
    this.#gather(new Uint8Array(0));
    let bytes = concatBytes(...this.#bytes);
    this.#bytes = [];
    this.#bytesLength = 0;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(this.#write(bytes));
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw new ReaderGone();
      throw error;
    }
  }
}

/** Standard output. */
export function standardOutput(): Output {
  return streamOutput(Deno.stdout);
}

/** Standard error. */
export function standardError(): Output {
  return streamOutput(Deno.stderr);
}

function streamOutput(stream: typeof Deno.stdout): Output {
  const isTerminal = stream.isTerminal();
  const width = isTerminal ? terminalWidth() : undefined;
  return new Output((bytes) => stream.writeSync(bytes), isTerminal, width);
}

function terminalWidth(): number | undefined {
  try {
    const { columns } = Deno.consoleSize();
    return columns > 0 ? columns : undefined;
  } catch {
    return undefined;
  }
}

/** A file, which is never a terminal; the second result closes it. */
export function fileOutput(path: string): [Output, () => void] {
  const file = Deno.openSync(path, {
    write: true,
    create: true,
    truncate: true,
  });
  const output = new Output((bytes) => file.writeSync(bytes), false, undefined);
  return [output, () => file.close()];
}
