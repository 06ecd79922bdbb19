/**
 * The sync suites on the terminal and on the page.
 *
 * @module
 */

import { alignColumns } from "../format.ts";
import { isMet, showGoal, type SyncRow, type SyncUnit } from "./row.ts";

const HEAD = [
  "operation",
  "mode",
  "median",
  "p99",
  "max",
  "floor",
  "target",
  "",
];

/** The tables as lines of the terminal. */
export function syncText(rows: readonly SyncRow[]): string[] {
  const lines: string[] = [];
  for (const [suite, part] of bySuite(rows)) {
    lines.push("", suite, ...alignColumns([HEAD, ...part.map(cellsOf)], 2));
  }
  return [...lines, "", ...syncSummary(rows)];
}

/** The tables as lines of the page. */
export function syncPage(rows: readonly SyncRow[]): string[] {
  const lines: string[] = [];
  for (const [suite, part] of bySuite(rows)) {
    const title = suite === "table 2"
      ? "Table 2: sync"
      : "Distributed scenarios";
    lines.push(
      "",
      `## ${title}`,
      "",
      `| ${HEAD.join(" | ")} |`,
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    );
    for (const row of part) {
      const cells = cellsOf(row).map((cell) => cell.replaceAll("|", "\\|"));
      const verdict = cells.pop()!;
      lines.push(
        `| ${cells.join(" | ")} | ${
          verdict === "" || verdict === "met" ? verdict : `**${verdict}**`
        } |`,
      );
    }
  }
  return lines;
}

/** How many targets were met, and which were not. */
export function syncSummary(rows: readonly SyncRow[]): string[] {
  const held = rows.filter((row) => isMet(row) !== undefined);
  const missed = held.filter((row) => isMet(row) === false);
  const broken = rows.filter((row) =>
    row.wrong !== undefined || row.failed !== undefined
  );
  return [
    `${held.length - missed.length} of ${held.length} sync targets met.`,
    ...missed.map((row) =>
      `MISSED: ${row.operation}, ${row.mode}: ${figures(row)} instead of ${
        goalsOf(row)
      }`
    ),
    ...broken.map((row) =>
      `${verdictOf(row)}: ${row.operation}, ${row.mode}: ${
        row.wrong ?? row.failed
      }`
    ),
  ];
}

function bySuite(rows: readonly SyncRow[]): [string, SyncRow[]][] {
  const suites = new Map<string, SyncRow[]>();
  for (const row of rows) {
    suites.set(row.suite, [...suites.get(row.suite) ?? [], row]);
  }
  return [...suites];
}

function cellsOf(row: SyncRow): string[] {
  const { median, p99, max, floor, unit, samples } = row;
  const isOne = samples < 2;
  return [
    row.operation,
    row.mode,
    show(median, unit),
    isOne ? "" : show(p99, unit),
    isOne ? "" : show(max, unit),
    show(floor, unit),
    goalsOf(row),
    verdictOf(row),
  ];
}

function figures({ median, p99, unit }: SyncRow): string {
  return `${show(median, unit)}${
    p99 === null ? "" : ` (p99 ${show(p99, unit)})`
  }`;
}

function goalsOf({ goals }: SyncRow): string {
  return goals.map(showGoal).join(", ");
}

function verdictOf(row: SyncRow): string {
  if (row.wrong !== undefined) return "WRONG";
  if (row.failed !== undefined) return "FAILED";
  const met = isMet(row);
  return met === undefined ? "" : met ? "met" : "MISSED";
}

function show(value: number | null, unit: SyncUnit): string {
  if (value === null) return "";
  const text = value >= 1_000
    ? Math.round(value).toLocaleString("en")
    : value >= 100
    ? value.toFixed(0)
    : value >= 10
    ? value.toFixed(1)
    : value.toFixed(2);
  return `${text} ${unit}`;
}
