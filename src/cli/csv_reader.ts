/**
 * Reads CSV (RFC 4180) in pieces: quotes, line breaks in cells, CRLF, a byte
 * order mark. The first record names the fields.
 *
 * An empty cell is a missing value; a quoted empty cell is an empty string.
 *
 * @module
 */

import { CsvError, parse, type Parser } from "csv-parse";
import { rowFailure } from "./failure.ts";
import type { RawRow, RowGroups } from "./rows.ts";

type Cells = readonly (string | undefined)[];

interface CsvRecord {
  readonly record: Cells;
  readonly info: { readonly lines: number };
}

/** The rows of CSV text. */
export async function* readCsv(
  name: string,
  text: AsyncIterable<string>,
): RowGroups {
  let header: readonly string[] | undefined;
  for await (const records of parseRecords(name, text)) {
    const rows: RawRow[] = [];
    for (const { record, info } of records) {
      const line = firstLine(record, info.lines);
      if (header === undefined) header = parseHeader(name, record, line);
      else rows.push({ line, values: toValues(header, record) });
    }
    if (rows.length > 0) yield rows;
  }
}

/** Feeds the parser piece by piece and hands out the records of each piece. */
async function* parseRecords(
  name: string,
  text: AsyncIterable<string>,
): AsyncGenerator<readonly CsvRecord[]> {
  const parser = openParser();
  let records: CsvRecord[] = [];
  let failure: Error | undefined;
  parser.on("data", (record: CsvRecord) => records.push(record));
  const over = new Promise<void>((resolve) => {
    parser.on("end", resolve);
    parser.on("error", (error) => {
      failure = error;
      resolve();
    });
  });
  for await (const piece of text) {
    await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
    if (failure !== undefined) break;
    yield records;
    records = [];
  }
  parser.end();
  await over;
  // The rows before the bad one come first: whoever reads them may fail sooner.
  yield records;
  if (failure !== undefined) throw explainCsv(name, failure);
}

function openParser(): Parser {
  return parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    max_record_size: recordCharactersMax,
    cast: (cell, { quoting }) => cell === "" && !quoting ? undefined : cell,
  });
}

/** One record is one item (`limits.itemBytesMax`), quotes and escapes included. */
const recordCharactersMax = 32 * 1024 * 1024;

/** The parser tells the line a record ends in. */
function firstLine(record: Cells, lastLine: number): number {
  let line = lastLine;
  for (const cell of record) {
    if (cell === undefined || !/[\r\n]/.test(cell)) continue;
    line -= cell.match(/\r\n|\r|\n/g)?.length ?? 0;
  }
  return line;
}

function parseHeader(
  name: string,
  record: Cells,
  line: number,
): readonly string[] {
  const seen = new Set<string>();
  return record.map((cell, i) => {
    if (cell === undefined || cell === "") {
      throw rowFailure(name, line, `column ${i + 1} has no name`);
    }
    if (seen.has(cell)) {
      throw rowFailure(name, line, `two columns are named "${cell}"`);
    }
    seen.add(cell);
    return cell;
  });
}

function toValues(header: readonly string[], record: Cells): RawRow["values"] {
  const values: { [field: string]: unknown } = Object.create(null);
  for (let i = 0; i < header.length; i++) {
    const cell = record[i];
    const field = header[i];
    if (cell !== undefined && field !== undefined) values[field] = cell;
  }
  return values;
}

function explainCsv(name: string, error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  const line = typeof error.lines === "number" ? error.lines : 1;
  const told = messages[error.code];
  if (told !== undefined) return rowFailure(name, line, told);
  return rowFailure(name, line, error.message);
}

const messages: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH:
    "the row has another number of cells than the header",
  CSV_QUOTE_NOT_CLOSED: "a quote is opened and never closed",
  CSV_INVALID_CLOSING_QUOTE: "a quoted cell goes on after its closing quote",
  INVALID_OPENING_QUOTE: "a quote stands in the middle of an unquoted cell",
  CSV_MAX_RECORD_SIZE: "the row is too large, or a quote is never closed",
};
