/**
 * The results as a table for eyes, and as a section of docs/benchmarks.md. Pure.
 *
 * @module
 */

import { alignColumns } from "../harness/format.ts";
import { showDigits } from "../report/show.ts";
import {
  type Failure,
  ours,
  ratioTo,
  type Row,
  verdictsOf,
} from "./results.ts";

/** One run of the bench. */
export interface BrowserRun {
  readonly about: readonly string[];
  readonly command: string;
  readonly size: string;
  readonly contestants: readonly string[];
  readonly rows: readonly Row[];
  readonly failures: readonly Failure[];
}

const begin = "<!-- browser: written by the bench of the browser -->";
const end = "<!-- end of browser -->";

const explanation: readonly string[] = [
  "One page for each database, all in one Chromium, one after the other, with the items, the index (author, done, rank) and",
  "the questions of the other tables. In brackets: Sheaf's median divided by the other's, below 1 Sheaf is ahead.",
  "",
  "- *durable* is strict durability where a database offers it (IndexedDB, Dexie, RxDB), `save()` of TinyBase's persister,",
  "  and for y-indexeddb a strict transaction behind its own; Sheaf's is an OPFS append with flush in its worker.",
  "- *readable* is when the same page reads the item back; Dexie and IndexedDB write with relaxed durability there.",
  "- TinyBase and Yjs hold everything in the page's memory; opening loads all of it. IndexedDB, Dexie and RxDB load what is",
  "  asked for. Yjs has no query: it walks all items. IndexedDB has no live query: who wrote asks again.",
  "- Opening begins with `openDatabase` in a fresh page of a database that was closed; the script of Sheaf's worker is up when",
  "  it says so. Blocks are watched for half a second more, while other authors are asked for: indexes are built then.",
  "- *what a page loads* is each database as this bench imports it, minified, worker and what comes later included; of Sheaf",
  "  `deno task size` says what comes at once.",
];

function showMedian(median: number | null): string {
  return median === null ? "–" : showDigits(median);
}

function cellOf(row: Row, contestant: string): string {
  const figure = row.figures.find((each) => each.contestant === contestant);
  if (figure === undefined) return "–";
  const text = showMedian(figure.median);
  const ratio = contestant === ours ? undefined : ratioTo(row, contestant);
  return ratio === undefined ? text : `${text} (${showDigits(ratio)})`;
}

function tableOf({ rows, contestants }: BrowserRun): string[][] {
  const shown = rows.filter(({ id }) => !id.startsWith("floor"));
  return [
    ["", ...contestants, "target", ""],
    ...shown.map((row) => [
      `${row.operation}, ${row.unit}`,
      ...contestants.map((name) => cellOf(row, name)),
      row.target === undefined ? "" : `≤ ${showDigits(row.target)}`,
      verdictsOf(row).join("; "),
    ]),
  ];
}

function floorLine({ rows }: BrowserRun): string {
  const [floor, asked] = (["floor", "floorAsked"] as const).map((id) => {
    const median = rows.find((row) => row.id === id)?.figures[0]?.median;
    return `${showMedian(median ?? null)} ms`;
  });
  return `floor: one OPFS append and flush takes ${floor} in a worker, and ${asked} as a page that asks a worker for it`;
}

function failureLines({ failures }: BrowserRun): string[] {
  return failures.map(({ contestant, message }) =>
    `${contestant} FAILED: ${message}`
  );
}

/** For the terminal. */
export function textLines(run: BrowserRun): string[] {
  return [
    ...run.about,
    floorLine(run),
    "",
    ...alignColumns(tableOf(run), 1),
    "",
    ...failureLines(run),
  ];
}

/** docs/benchmarks.md with this run's section in it. */
export function withSection(page: string, run: BrowserRun): string {
  const [head = [], ...rows] = tableOf(run);
  const rule = head.map((_, at) => at === 0 ? "---" : "---:");
  const section = [
    begin,
    "",
    `## In a browser, ${run.size} items`,
    "",
    `Written by \`${run.command}\`; every figure comes from that one run.`,
    "",
    ...[...run.about, floorLine(run), ...failureLines(run)]
      .map((line) => `- ${line}`),
    "",
    ...explanation,
    "",
    ...[head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`),
    "",
    end,
  ].join("\n");
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from >= 0 && to > from) {
    return page.slice(0, from) + section + page.slice(to + end.length);
  }
  const notes = page.indexOf("## In short");
  const at = notes < 0 ? page.length : notes;
  return `${page.slice(0, at)}${section}\n\n${page.slice(at)}`;
}
