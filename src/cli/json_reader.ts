/**
 * Reads JSON (one array of objects) and JSONL (one object a line) in pieces.
 *
 * An array is cut into its elements by a scanner that only knows strings and
 * brackets; `exact_json.ts` then judges each element, so nothing malformed passes
 * and nothing is lost.
 */

import { InexactJson, parseExactJson } from "./exact_json.ts";
import { rowFailure } from "./failure.ts";
import type { RawRow, RowGroups } from "./field.ts";

/** One element is one item (`limits.itemBytesMax`), escapes included. */
const elementCharactersMax = 64 * 1024 * 1024;

export async function* readJsonLines(
  name: string,
  text: AsyncIterable<string>,
): RowGroups {
  let rest = "";
  let line = 1;
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > elementCharactersMax) throw tooLong(name, line);
    const rows: RawRow[] = [];
    for (const text of lines) {
      if (text.trim() !== "") rows.push(parseRow(name, line, text));
      line++;
    }
    if (rows.length > 0) yield rows;
  }
  if (rest.trim() !== "") yield [parseRow(name, line, rest)];
}

export async function* readJson(
  name: string,
  text: AsyncIterable<string>,
): RowGroups {
  const cutter = new ArrayCutter(name);
  for await (const piece of text) {
    const rows = cutter.push(piece);
    if (rows.length > 0) yield rows;
  }
  cutter.end();
}

function parseRow(name: string, line: number, text: string): RawRow {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) {
      const lines = text.slice(0, error.at).split("\n").length - 1;
      throw rowFailure(name, line + lines, error.message);
    }
    const why = error instanceof Error ? error.message : String(error);
    throw rowFailure(name, line, `not JSON: ${why}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw rowFailure(name, line, `expected an object, found ${shown(text)}`);
  }
  return { line, values: Object.assign(Object.create(null), value) };
}

function shown(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > 40 ? `${trimmed.slice(0, 40)}…` : trimmed;
}

function tooLong(name: string, line: number): Error {
  return rowFailure(name, line, "one row is over 64 million characters");
}

type Place = "start" | "element" | "comma" | "end";

/** Cuts the text of one array into its elements, piece by piece. */
class ArrayCutter {
  readonly #name: string;
  #place: Place = "start";
  /** Is a comma just behind? */
  #expects = false;
  #line = 1;
  /** Text of the element that is open, from earlier pieces. */
  #open = "";
  #openLine = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** Takes the next piece; the elements that end in it. */
  push(piece: string): RawRow[] {
    const rows: RawRow[] = [];
    let at = 0;
    while (at < piece.length) {
      if (this.#place !== "element") {
        at = this.#between(piece, at);
        continue;
      }
      const end = this.#elementEnd(piece, at);
      this.#open += piece.slice(at, end);
      if (this.#open.length > elementCharactersMax) {
        throw tooLong(this.#name, this.#openLine);
      }
      if (this.#place !== "element") {
        rows.push(parseRow(this.#name, this.#openLine, this.#open));
        this.#open = "";
      }
      at = end;
    }
    return rows;
  }

  /** Nothing more comes: was the array whole? */
  end(): void {
    if (this.#place === "end") return;
    if (this.#place === "start") {
      throw this.#failure("expected an array of objects, found nothing");
    }
    if (this.#place === "element") {
      this.#line = this.#openLine;
      throw this.#failure("the object that begins here is never closed");
    }
    throw this.#failure("the array is never closed");
  }

  #between(piece: string, at: number): number {
    const character = piece[at] ?? "";
    if (character === "\n") this.#line++;
    if (" \t\r\n\ufeff".includes(character)) return at + 1;
    if (this.#place === "start" && character === "[") {
      this.#place = "comma";
      this.#expects = true;
      return at + 1;
    }
    if (this.#place === "start") {
      throw this.#failure(
        `expected an array of objects, found "${character}"`,
        character === "{"
          ? "use --format jsonl for one object per line"
          : undefined,
      );
    }
    if (this.#place === "end") {
      throw this.#failure(`"${character}" after the end of the array`);
    }
    return this.#afterElement(character, at);
  }

  #afterElement(character: string, at: number): number {
    const isFirst = this.#expects && this.#openLine === 0;
    if (character === "]" && (!this.#expects || isFirst)) {
      this.#place = "end";
      return at + 1;
    }
    if (character === "," && !this.#expects) {
      this.#expects = true;
      return at + 1;
    }
    if (!this.#expects || character === "," || character === "]") {
      const wanted = this.#expects ? "an object" : '"," or "]"';
      throw this.#failure(`expected ${wanted}, found "${character}"`);
    }
    this.#place = "element";
    this.#expects = false;
    this.#openLine = this.#line;
    return at;
  }

  /** The end of the open element in this piece, or the piece's end. */
  #elementEnd(piece: string, start: number): number {
    for (let at = start; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === 10) this.#line++;
      if (this.#inString) {
        this.#stepInString(code);
      } else if (code === 34) {
        this.#inString = true;
      } else if (code === 123 || code === 91) {
        this.#depth++;
      } else if (this.#depth === 0 && (code === 44 || code === 93)) {
        this.#place = "comma";
        return at;
      } else if (code === 125 || code === 93) {
        this.#depth--;
      }
    }
    return piece.length;
  }

  #stepInString(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === 92) this.#escaped = true;
    else if (code === 34) this.#inString = false;
  }

  #failure(message: string, hint?: string): Error {
    return rowFailure(this.#name, this.#line, message, hint);
  }
}
