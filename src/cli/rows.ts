/**
 * Rows of an input, whatever its format.
 *
 * A raw row is what stands in the file: strings in CSV, JSON values in JSON, and
 * values as they are in MessagePack.
 * What a field makes of it is decided in `infer.ts` and `importer.ts`.
 */

import { type Format, type Input, textOf } from "./input.ts";
import type { RowGroups } from "./field.ts";
import { readCsv } from "./csv_reader.ts";
import { readJson, readJsonLines } from "./json_reader.ts";
import { readMsgpack } from "./msgpack.ts";

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
