/**
 * The page docs/benchmarks.md. All of it comes from one run, but for the
 * closing notes: people write those, and they are carried over.
 *
 * @module
 */

import { showFigure, showRatio, showSize, verdictOf } from "./format.ts";
import { headerLines, partsOf, summaryLines } from "./report_text.ts";
import type { RunFile } from "./report_files.ts";
import type { Row } from "./results.ts";
import { syncPage, syncSummary } from "./sync/report.ts";

const notesBegin = "<!-- notes: written by hand, kept by the bench -->";
const notesEnd = "<!-- end of notes -->";

/** The page's text; `earlier` is the page as it was, if there was one. */
export function docReport(
  run: RunFile,
  command: string,
  earlier: string | undefined,
): string {
  const lines = [
    "# Benchmarks",
    "",
    "Written by `deno task bench --doc`; every figure below comes from that one run.",
    "",
    ...headerLines(run.machine, run.versions).map((line) => `- ${line}`),
    "",
    "```sh",
    command,
    "deno task bench --help     # sizes, modes, filter, JSON, CSV, comparison with an earlier run",
    "```",
    "",
    ...(command.includes("--quick")
      ? [
        "**A quick run: few samples. It shows that the bench runs, no more.**",
        "",
      ]
      : []),
    ...explanation,
  ];
  for (const { suite, size, rows } of partsOf(run.rows)) {
    lines.push(
      "",
      `## ${suite === "table 1" ? "Table 1" : "Classic rows"}, ${
        showSize(size)
      } items`,
      "",
      ...tableLines(rows),
    );
  }
  lines.push(...syncPage(run.sync));
  lines.push(
    "",
    "## In short",
    "",
    ...[...summaryLines(run.rows), ...syncSummary(run.sync)].map((line) =>
      `- ${line}`
    ),
  );
  lines.push("", "## Notes", "", notesBegin, ...notesOf(earlier), notesEnd, "");
  return lines.join("\n");
}

/** What each figure promises, and what the figures do not show. */
const explanation: readonly string[] = [
  "## How to read it",
  "",
  "`ratio` is Sheaf's median divided by SQLite's median of the same run: below 1 Sheaf is quicker (or smaller).",
  "Targets are ratios, stated for 100k items. Absolute times drift by a third from day to day; ratios hardly do.",
  "",
  "**Durability.** Default and Trusted stand beside SQLite with WAL and `synchronous=FULL`: on both sides a write",
  "counts as done when fdatasync has returned, and survives a power cut. Fast stands beside SQLite with WAL and",
  "`synchronous=OFF`: a write counts as done when it is in memory and queued (Sheaf) or handed to the operating",
  "system (SQLite); after a power cut the last writes may be missing. Fast is a little weaker than its rival",
  "here: what is still queued in the process is lost if the process is killed. SQLite neither signs nor keeps",
  "history; Sheaf does both in Default mode, and keeps history in all.",
  "",
  "**SQLite** is `node:sqlite` with prepared statements, a 64 MiB page cache, 1 GiB of memory map, rows fetched",
  "as arrays, one proper table with a column a field, and the same indexes as Sheaf: (author, done, rank) and",
  "(rank) where a row says indexed, none elsewhere. Both sides give back equal JavaScript objects (tags parsed,",
  "booleans as booleans: plain objects with every field in place). Every timed answer is afterwards added up field",
  "by field, outside the timed part, and its sum held against the expected one; whole answers are compared before",
  "and after. A wrong one shows as WRONG.",
  "",
  "**Items** have an id, title of 24, done, rank, three tags, createdAt, one of 50 authors and a body of 120",
  "characters: about 250 bytes. Ids look random. The engines take turns in slices, to and fro, each in a process",
  "of its own.",
  "",
  "- *fresh process*: a new process for every sample, its modules loaded, timed from the call that opens to the",
  "  answer read. The operating system's page cache is warm: no row shows a cold disk. *warm process*: opened and",
  "  closed again and again; only opening and answering is timed.",
  "- Reads, queries and updates of an open database are timed after every item was read once, so that each engine has in",
  "  memory what it keeps there: SQLite pages, Sheaf items. *open + 1,000 random reads* shows how it is before.",
  "- *n concurrent creates, each*: n writes asked for in one tick, time until all are acknowledged, divided by n;",
  "  SQLite commits each of its n inserts.",
  "- *live result*: an item of a sorted result of 1,000 moves. SQLite runs its prepared query again, once for",
  "  the first 50 rows, once for all; its write is not counted. Sheaf's live query always holds all 1,000. Its",
  "  figure is the write's synchronous part until the subscriber was called, less what a write to an item outside",
  "  the result took just before (single samples may so fall below zero); *with the write itself* deducts nothing.",
  "  Figures are for one write of ten in a tick, each heard of by itself.",
  "- *read by id* is timed in bursts of 100, *count* in bursts of 10: their tails are tails of bursts.",
  "- *read by id, SQLite locked exclusively*: Sheaf always locks its folder; this is SQLite doing so too (and no",
  "  other process can read).",
  "- *resident memory*: growth by opening, reading and holding all items in a fresh process, garbage collected",
  "  before and after; once with the settings above, once with SQLite's default cache and no memory map.",
  "- *bytes on disk*: the length of all files after closing; *after 10 updates each*: SQLite keeps old rows by a",
  "  trigger.",
  "",
  "**Sync.** One server process, clients in another, all on loopback; targets are absolute figures for a machine like this",
  "one, and `floor` is what the bare wire (two hops of `ws` through a relay process) and, in Default and Trusted mode, two",
  "fdatasyncs take in the same run. *visible on B*: from the call on A until the callback of a live query on B; each write",
  "waits for the one before it to be synced. *new client gets*: from `connect` until all items are there and the server says",
  "so, every hash and seal checked (Default). *sent, received, an edit*: bytes that a TCP proxy counted, compression,",
  "proofs and upgrade included. Every case ends by comparing all items of both clients; a difference shows as WRONG.",
  "",
  "**What the figures do not show**: a cold disk, other disks (fdatasync takes 1 to 5 ms on many), several",
  "processes on one file (SQLite can, Sheaf does not), joins and SQL, items of other sizes, browsers, the",
  "network.",
];

function tableLines(rows: readonly Row[]): string[] {
  const lines = [
    "| operation | engine | median | p75 | p99 | p995 | ratio | target | |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
  ];
  for (const row of rows) {
    const verdict = verdictOf(row);
    const cells = [
      row.operation,
      row.mode,
      ...[row.median, row.p75, row.p99, row.p995].map((figure) =>
        showFigure(figure, row.unit)
      ),
      row.against === null ? "" : showRatio(row.ratio),
      row.target === null ? "" : `≤ ${row.target}`,
      verdict === "met" || verdict === "" ? verdict : `**${verdict}**`,
    ];
    lines.push(
      `| ${
        cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " "))
          .join(" | ")
      } |`,
    );
  }
  return lines;
}

/** The hand-written lines of the page as it was. */
function notesOf(earlier: string | undefined): string[] {
  const begin = earlier?.indexOf(notesBegin) ?? -1;
  const end = earlier?.indexOf(notesEnd) ?? -1;
  if (earlier === undefined || begin < 0 || end < begin) {
    return ["", "None yet.", ""];
  }
  return earlier.slice(begin + notesBegin.length + 1, end - 1).split("\n");
}
