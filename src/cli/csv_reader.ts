/**
 * Reads CSV (RFC 4180) in pieces: quotes, line breaks in cells, CRLF, a byte
 * order mark. The first record names the fields.
 *
 * An empty cell is a missing value; a quoted empty cell is an empty string.
 */

import { CsvError, parse, type Parser } from "csv-parse";
import { limits } from "../base/limits.ts";
import { rowFailure } from "./failure.ts";
import type { RawRow, RowGroups } from "./field.ts";

type Cells = readonly (string | undefined)[];

interface CsvRecord {
  readonly record: Cells;
  /** Empty lines of the whole input before it. */
  readonly emptyLines: number;
}

/** The rows of CSV text, whose pieces end between characters. */
export async function* readCsv(
  name: string,
  text: AsyncIterable<string>,
): RowGroups {
  const lines = new LineCount();
  let header: readonly string[] | undefined;
  for await (const records of parseRecords(name, text, lines)) {
    const rows: RawRow[] = [];
    for (const { record, emptyLines } of records) {
      const line = lines.next(emptyLines);
      lines.pass(record);
      if (header === undefined) header = parseHeader(name, record, line);
      else rows.push({ line, values: toValues(header, record) });
    }
    if (rows.length > 0) yield rows;
  }
}

/**
 * The line in which a record begins. The parser's own count takes CRLF in a
 * quoted cell for two lines.
 */
class LineCount {
  #lines = 0;

  next(emptyLines: number): number {
    return this.#lines + emptyLines + 1;
  }

  pass(record: Cells): void {
    this.#lines++;
    for (const cell of record) {
      if (cell === undefined || !/[\r\n]/.test(cell)) continue;
      this.#lines += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
    }
  }
}

/** Feeds the parser piece by piece and hands out the records of each piece. */
async function* parseRecords(
  name: string,
  text: AsyncIterable<string>,
  lines: LineCount,
): AsyncGenerator<readonly CsvRecord[]> {
  let records: CsvRecord[] = [];
  const parser = openParser((record) => records.push(record));
  let failure: Error | undefined;
  const over = new Promise<void>((resolve) => {
    parser.on("end", resolve);
    parser.on("error", (error) => {
      failure = error;
      resolve();
    });
  });
  parser.resume();
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
  if (failure !== undefined) throw explainCsv(name, failure, lines);
}

function openParser(onRecord: (record: CsvRecord) => void): Parser {
  return parse({
    bom: true,
    skip_empty_lines: true,
    max_record_size: recordCharactersMax,
    cast(cell, { quoting, index, empty_lines }) {
      // At once: the row may have millions of them.
      if (index === columnsMax) throw tooWide(empty_lines);
      return cell === "" && !quoting ? undefined : cell;
    },
    // Taking records here spares each one the way through the stream.
    on_record(record, { empty_lines }) {
      onRecord({ record, emptyLines: empty_lines });
      return null;
    },
  });
}

/** One record is one item (`limits.itemBytesMax`), quotes and escapes included. */
const recordCharactersMax = 32 * 1024 * 1024;

/** The id and the fields of a schema: no item has more. */
const columnsMax = limits.fieldsMax + 1;

function tooWide(empty_lines: number): CsvError {
  return new CsvError(
    "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH",
    `the row has over ${columnsMax} cells, a schema ${limits.fieldsMax} fields`,
    undefined,
    { empty_lines },
  );
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
    const field = header[i];
    // Missing cells too: an inferred schema then has the columns' order.
    if (field !== undefined) values[field] = record[i];
  }
  return values;
}

/** The row that was being read when the parser stopped. */
function explainCsv(name: string, error: Error, lines: LineCount): Error {
  if (!(error instanceof CsvError)) return error;
  const emptyLines = Number(error.empty_lines ?? 0);
  const told = messages[error.code] ?? cellCounts(error.message);
  return rowFailure(name, lines.next(emptyLines), told);
}

/** The parser tells in prose how many cells it expected and got. */
function cellCounts(message: string): string {
  const [, expected, got] = /expect (\d+), got (\d+)/.exec(message) ?? [];
  if (expected === undefined) return message;
  return `the row has ${got} cells, the header ${expected}`;
}

const messages: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quote is opened and never closed",
  CSV_INVALID_CLOSING_QUOTE: "a quoted cell goes on after its closing quote",
  INVALID_OPENING_QUOTE: "a quote stands in the middle of an unquoted cell",
  CSV_MAX_RECORD_SIZE: "the row is too large, or a quote is never closed",
};
