/**
 * A run as JSON and CSV.
 *
 * @module
 */

import type { Figure, Run } from "./figure.ts";

/** The columns that a figure has by itself. */
const plain = [
  "suite",
  "table",
  "operation",
  "engine",
  "durability",
  "size",
  "unit",
  "isMoreBetter",
  "median",
  "p75",
  "p99",
  "p995",
  "max",
  "samples",
  "repetitions",
  "spread",
  "floor",
  "wrong",
  "failed",
  "skipped",
] as const satisfies readonly (keyof Figure)[];

type Cell = string | number | boolean | null | undefined;

/** The columns that are made of parts. */
const derived: Readonly<Record<string, (figure: Figure) => Cell>> = {
  mean: ({ beside }) => beside.mean,
  perSecond: ({ beside }) => beside.perSecond,
  cpuSeconds: ({ beside }) => beside.cpuSeconds,
  perCpuSecond: ({ beside }) => beside.perCpuSecond,
  peakBytes: ({ beside }) => beside.peakBytes,
  targetOf: ({ target }) => target?.of,
  target: ({ target }) => target?.value,
  against: ({ against }) => against?.engine,
  ratio: ({ against }) => against?.ratio,
};

/** The JSON file's text. */
export function toJson(run: Run): string {
  return JSON.stringify(run, undefined, 1) + "\n";
}

/** The CSV file's text: a heading and a line a figure, by RFC 4180. */
export function toCsv(run: Run): string {
  const lines = [[...plain, ...Object.keys(derived)].join(",")];
  for (const figure of run.suites.flatMap(({ figures }) => figures)) {
    const cells = [
      ...plain.map((name): Cell => figure[name]),
      ...Object.values(derived).map((cell) => cell(figure)),
    ];
    lines.push(cells.map(csvCell).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

function csvCell(value: Cell): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
