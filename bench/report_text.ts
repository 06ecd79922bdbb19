/**
 * The table on the terminal.
 *
 * @module
 */

import {
  alignColumns,
  showFigure,
  showRatio,
  showSize,
  verdictOf,
} from "./format.ts";
import { type Machine, type Versions, warningOf } from "./machine.ts";
import type { Row } from "./results.ts";

/** Everything a run has to say, as lines. */
export function textReport(
  machine: Machine,
  versions: Versions,
  rows: readonly Row[],
): string[] {
  const lines = [...headerLines(machine, versions)];
  for (const { suite, size, rows: part } of partsOf(rows)) {
    lines.push("", `${suite}, ${showSize(size)} items`, ...tableLines(part));
  }
  return [...lines, "", ...summaryLines(rows)];
}

/** Machine and versions in two lines, and what must be known of the file system. */
export function headerLines(machine: Machine, versions: Versions): string[] {
  const warning = warningOf(machine);
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}, ${machine.fileSystem}, ` +
    `append + fdatasync ${machine.fdatasyncMicros.toFixed(0)} µs`,
    `Sheaf ${versions.sheaf} at ${versions.commit}, Deno ${versions.deno}, V8 ${versions.v8}, ` +
    `SQLite ${versions.sqlite}, ${versions.date}`,
    ...(warning === undefined ? [] : [`WARNING: ${warning}`]),
  ];
}

/** Rows by suite and size, in the order in which they come. */
export function partsOf(
  rows: readonly Row[],
): { suite: string; size: number; rows: Row[] }[] {
  const parts: { suite: string; size: number; rows: Row[] }[] = [];
  for (const row of rows) {
    const part = parts.find((one) =>
      one.suite === row.suite && one.size === row.size
    );
    if (part === undefined) {
      parts.push({ suite: row.suite, size: row.size, rows: [row] });
    } else part.rows.push(row);
  }
  return parts;
}

/** How many targets were met, and which were not. */
export function summaryLines(rows: readonly Row[]): string[] {
  const held = rows.filter((row) => row.target !== null);
  const missed = held.filter((row) => row.met !== true);
  const unsound = rows.filter((row) =>
    verdictOf(row) === "WRONG" || verdictOf(row) === "FAILED"
  );
  const lines = [
    `${
      held.length - missed.length
    } of ${held.length} targets met (targets are stated for 100k items).`,
  ];
  for (const row of missed.filter((row) => !unsound.includes(row))) {
    const name = `${row.operation}, ${row.mode}, ${showSize(row.size)}`;
    lines.push(
      `MISSED: ${name}: ${showRatio(row.ratio)} instead of ${row.target}`,
    );
  }
  if (unsound.length > 0) lines.push(...troubleLines(unsound));
  return lines;
}

/** Every different trouble once, with the rows that it spoiled counted. */
function troubleLines(unsound: readonly Row[]): string[] {
  const troubles = new Map<string, Row[]>();
  for (const row of unsound) {
    const trouble = `${verdictOf(row)}: ${row.wrong ?? row.failed}`;
    troubles.set(trouble, [...troubles.get(trouble) ?? [], row]);
  }
  const lines = [
    `${unsound.length} rows are wrong or failed: their figures count for nothing.`,
  ];
  for (const [trouble, rows] of troubles) {
    const first = rows[0] === undefined
      ? ""
      : `${rows[0].operation}, ${rows[0].mode}, ${showSize(rows[0].size)}`;
    lines.push(
      `${trouble} (${first}${
        rows.length > 1 ? ` and ${rows.length - 1} more` : ""
      })`,
    );
  }
  return lines;
}

function tableLines(rows: readonly Row[]): string[] {
  const head = [
    "operation",
    "engine",
    "median",
    "p75",
    "p99",
    "p995",
    "ratio",
    "target",
    "",
  ];
  let before = "";
  const body = rows.map((row) => {
    const name = row.operation === before ? "" : row.operation;
    before = row.operation;
    return [
      name,
      row.mode,
      showFigure(row.median, row.unit),
      showFigure(row.p75, row.unit),
      showFigure(row.p99, row.unit),
      showFigure(row.p995, row.unit),
      row.against === null ? "" : showRatio(row.ratio),
      row.target === null ? "" : `≤ ${row.target}`,
      verdictOf(row),
    ];
  });
  return alignColumns([head, ...body], 2);
}
