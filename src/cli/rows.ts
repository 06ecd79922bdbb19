/**
 * Rows of an input, whatever its format.
 *
 * A raw row is what stands in the file: strings in CSV, JSON values in JSON, and
 * values as they are in MessagePack.
 * What a field makes of it is decided in `infer.ts` and `coerce.ts`.
 *
 * @module
 */

import { type Format, type Input, textOf } from "./input.ts";
import { readCsv } from "./csv_reader.ts";
import { readJson, readJsonLines } from "./json_reader.ts";
import { readMsgpack } from "./msgpack.ts";

/** One row as it stands in the input. */
export interface RawRow {
  /** The line its first character stands in; of MessagePack the item's number: from 1. */
  readonly line: number;
  /** Values by field name: an object without prototype. */
  readonly values: { readonly [field: string]: unknown };
}

/** Rows arrive in groups, so that a million rows are not a million awaits. */
export type RowGroups = AsyncGenerator<readonly RawRow[]>;

/** Reads the rows of an input; `onBytes` hears how far it was read. */
export function readRows(
  input: Input,
  format: Format,
  onBytes: (done: number) => void,
): RowGroups {
  if (format === "msgpack") {
    return readMsgpack(input.name, input.pieces(onBytes));
  }
  const text = textOf(input, onBytes);
  if (format === "csv") return readCsv(input.name, text);
  if (format === "jsonl") return readJsonLines(input.name, text);
  return readJson(input.name, text);
}
