/**
 * A run as JSON and CSV, and the JSON read back.
 *
 * @module
 */

import type { Machine, Versions } from "./machine.ts";
import type { Row } from "./results.ts";
import type { SyncRow } from "./sync/row.ts";

/** What the JSON file holds. */
export interface RunFile {
  readonly machine: Machine;
  readonly versions: Versions;
  readonly rows: readonly Row[];
  /** Rows of the sync suites. */
  readonly sync: readonly SyncRow[];
}

const csvColumns = [
  "suite",
  "operation",
  "mode",
  "size",
  "unit",
  "median",
  "p75",
  "p99",
  "p995",
  "samples",
  "against",
  "ratio",
  "target",
  "met",
  "wrong",
  "failed",
] as const satisfies readonly (keyof Row)[];

/** The JSON file's text. */
export function toJson(run: RunFile): string {
  return JSON.stringify(run, undefined, 2) + "\n";
}

/** The CSV file's text: a heading and a line a row (RFC 4180). */
export function toCsv(rows: readonly Row[]): string {
  const lines = rows.map((row) =>
    csvColumns.map((name) => csvCell(row[name])).join(",")
  );
  return [csvColumns.join(","), ...lines].join("\r\n") + "\r\n";
}

function csvCell(value: string | number | boolean | null | undefined): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Reads the rows of an earlier run; throws `SyntaxError` if the text is something else. */
export function parseRows(text: string): EarlierRow[] {
  const file: unknown = JSON.parse(text);
  const rows: unknown = isRecord(file) ? file.rows : undefined;
  if (!Array.isArray(rows)) {
    throw new SyntaxError(
      "This is not a file that --json wrote: it has no rows",
    );
  }
  return rows.map(parseRow);
}

/** What a comparison needs of an earlier row. */
export interface EarlierRow {
  readonly suite: string;
  readonly operation: string;
  readonly mode: string;
  readonly size: number;
  readonly unit: string;
  readonly median: number | null;
  readonly p75: number | null;
  readonly ratio: number | null;
}

function parseRow(row: unknown): EarlierRow {
  if (!isRecord(row)) throw new SyntaxError("A row is not an object");
  return {
    suite: text(row.suite),
    operation: text(row.operation),
    mode: text(row.mode),
    size: figure(row.size) ?? 0,
    unit: text(row.unit),
    median: figure(row.median),
    p75: figure(row.p75),
    ratio: figure(row.ratio),
  };
}

function text(value: unknown): string {
  if (typeof value !== "string") {
    throw new SyntaxError("A row lacks its suite, operation, mode or unit");
  }
  return value;
}

function figure(value: unknown): number | null {
  if (value === null) return null;
  if (typeof value !== "number") throw new SyntaxError("A row lacks a figure");
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
