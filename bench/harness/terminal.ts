/**
 * A suite's run on the terminal.
 *
 * Each row is a heading with its engines below, so that a hundred columns hold
 * what matters most; wider terminals show the rest.
 *
 * @module
 */

import { growthsOf, showExponent } from "../report/growth.ts";
import { showDigits, showSize, showValue } from "../report/show.ts";
import {
  isMet,
  isSound,
  type Standing,
  standingsOf,
  troublesOf,
  troubleWord,
} from "../report/standing.ts";
import type { Figure, SuiteRun, Target } from "./figure.ts";
import { alignColumns } from "./format.ts";
import { type Machine, type Versions, warningOf } from "./machine.ts";

/** Terminals narrower than this go without what others can spare. */
const columnsWide = 150;

interface Column {
  readonly title: string;
  /** Left out where there is little room. */
  readonly isSpare?: true;
  cell(figure: Figure, standing: Standing | undefined): string;
}

const columns: readonly Column[] = [
  { title: "", cell: ({ engine }) => `  ${engine}` },
  { title: "durability", cell: ({ durability }) => durability },
  { title: "median", cell: (one) => showValue(one.median, one.unit) },
  { title: "p75", isSpare: true, cell: (one) => tail(one.p75, one) },
  { title: "p99", cell: (one) => tail(one.p99, one) },
  { title: "p995", isSpare: true, cell: (one) => tail(one.p995, one) },
  { title: "max", cell: (one) => tail(one.max, one) },
  {
    title: "spread",
    cell: ({ spread }) =>
      spread === null ? "" : `${(spread * 100).toFixed(0)} %`,
  },
  { title: "rate", cell: rateOf },
  { title: "n", isSpare: true, cell: ({ samples }) => `${samples}` },
  { title: "ratio", cell: (_, standing) => ratioOf(standing) },
  { title: "", cell: verdictOf },
];

/** Everything that a suite's run has to say, as lines; `width` in characters. */
export function suiteText(run: SuiteRun, width: number): string[] {
  const standings = new Map(
    standingsOf(run.figures).map((standing) => [standing.ours, standing]),
  );
  const shown = columns.filter(({ isSpare }) =>
    width >= columnsWide || isSpare !== true
  );
  const lines: string[] = [];
  for (const [title, figures] of tablesOf(run)) {
    lines.push("", title);
    const body = figures.map((figure) =>
      shown.map((column) => column.cell(figure, standings.get(figure)))
    );
    const [head = "", ...rest] = alignColumns(
      [shown.map((column) => column.title), ...body],
      2,
    );
    lines.push(head);
    let operation: string | undefined;
    figures.forEach((figure, at) => {
      if (figure.operation !== operation) lines.push(figure.operation);
      operation = figure.operation;
      lines.push(rest[at] ?? "");
    });
  }
  return [
    ...lines,
    ...growthLines(run.figures),
    "",
    ...summaryOf(run, [...standings.values()]),
  ];
}

/** What each operation costs as the collection grows, a line each. */
function growthLines(figures: readonly Figure[]): string[] {
  const rows = Map.groupBy(
    growthsOf(figures),
    ({ table, operation }) => `${table}, ${operation}`,
  );
  if (rows.size === 0) return [];
  return [
    "",
    "As the collection grows:",
    ...[...rows].map(([name, row]) =>
      `${name}: ${
        row.map(({ engine, exponent }) => `${engine} ${showExponent(exponent)}`)
          .join(", ")
      }`
    ),
  ];
}

/** Machine and versions in two lines, and what must be known of the file system. */
export function headerText(machine: Machine, versions: Versions): string[] {
  const warning = warningOf(machine);
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}, ${machine.fileSystem}, ` +
    `append + fdatasync ${machine.fdatasyncMicros.toFixed(0)} µs`,
    `Sheaf ${versions.sheaf} at ${versions.commit}, Deno ${versions.deno}, V8 ${versions.v8}, ` +
    `SQLite ${versions.sqlite}, ${versions.date}`,
    ...(warning === undefined ? [] : [`WARNING: ${warning}`]),
  ];
}

/** Tables with their titles; figures of one row stand together, in the order in which rows come. */
function tablesOf({ suite, figures }: SuiteRun): Map<string, Figure[]> {
  const tables = new Map<string, Map<string, Figure[]>>();
  for (const figure of figures) {
    const size = figure.size === 0 ? "" : `, ${showSize(figure.size)} items`;
    const title = `${suite}: ${figure.table}${size}`;
    const rows = tables.get(title) ?? new Map<string, Figure[]>();
    rows.set(figure.operation, [...rows.get(figure.operation) ?? [], figure]);
    tables.set(title, rows);
  }
  return new Map(
    [...tables].map(([title, rows]) => [title, [...rows.values()].flat()]),
  );
}

/** Where we stand, which targets were missed, what broke, who was skipped, and how still it was. */
function summaryOf(run: SuiteRun, standings: readonly Standing[]): string[] {
  const lines: string[] = [];
  const count = (verdict: string): number =>
    standings.filter((one) => one.verdict === verdict).length;
  lines.push(
    `${run.suite}: ahead in ${count("ahead")}, level in ${
      count("level")
    }, behind in ${count("behind")} figures of ours; ${
      count("alone")
    } without a rival of the same durability.`,
  );
  const held = run.figures.filter((figure) => isMet(figure) !== undefined);
  const missed = held.filter((figure) => isMet(figure) === false);
  if (held.length > 0) {
    lines.push(`${held.length - missed.length} of ${held.length} targets met.`);
  }
  for (const figure of missed.filter(isSound)) {
    lines.push(`MISSED: ${nameOf(figure)}: ${targetsText(figure)}`);
  }
  for (
    const { engine, word, why, rows: [first, ...more] } of troublesOf(
      run.figures,
    )
  ) {
    const rows = `${nameOf(first)}${
      more.length > 0 ? ` and ${more.length} more` : ""
    }`;
    lines.push(`${word}: ${engine}: ${why} (${rows})`);
  }
  const { warning } = run.noise;
  if (warning !== undefined) lines.push(`NOISE: ${warning}`);
  return lines;
}

function nameOf({ operation, table, size, engine }: Figure): string {
  return `${table}, ${operation}, ${engine}${
    size === 0 ? "" : `, ${showSize(size)}`
  }`;
}

/** One sample has no tail, and a rate neither. */
function tail(value: number | null, { unit, samples, isMoreBetter }: Figure) {
  return samples < 2 || isMoreBetter ? "" : showValue(value, unit);
}

function rateOf({ beside, unit, median }: Figure): string {
  const rate = unit === "per s" ? median : beside.perSecond;
  return rate === undefined ? "" : showValue(rate, "per s");
}

function ratioOf(standing: Standing | undefined): string {
  if (standing?.rival === undefined || standing.ratio === null) return "";
  return `${showDigits(standing.ratio)} of ${standing.rival.engine}`;
}

function verdictOf(figure: Figure, standing: Standing | undefined): string {
  if (!isSound(figure)) return troubleWord(figure);
  const words: string[] = [];
  if (standing !== undefined && standing.verdict !== "alone") {
    words.push(standing.verdict);
  }
  const met = isMet(figure);
  if (met !== undefined) {
    words.push(`${met ? "met" : "MISSED"} ${targetsText(figure)}`);
  }
  if (figure.floor !== undefined) {
    words.push(`floor ${showValue(figure.floor, figure.unit)}`);
  }
  return words.join(", ");
}

/** The targets, each with what was reached, where that is not the median. */
function targetsText(figure: Figure): string {
  const { target, alsoTargets = [] } = figure;
  const targets = target === undefined ? [] : [target, ...alsoTargets];
  return targets.map((one) => targetText(figure, one)).join(", ");
}

function targetText(figure: Figure, { of, value }: Target): string {
  if (of === "ratio") {
    const { against } = figure;
    return against === undefined
      ? `ratio ≤ ${value}`
      : `ratio ${showDigits(against.ratio)} ≤ ${value} of ${against.engine}`;
  }
  const sign = figure.isMoreBetter ? "≥" : "≤";
  return `${of} ${showValue(figure[of], figure.unit)} ${sign} ${
    showValue(value, figure.unit)
  }`;
}
