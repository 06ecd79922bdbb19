/**
 * The page docs/benchmarks.md, written from the last full run of each suite.
 *
 * Two parts are carried over from the page as it was: the notes, which people
 * write, and the section of the browser, which its own bench writes.
 *
 * @module
 */

import type { Figure, SuiteRun } from "../harness/figure.ts";
import { howToRead, notShown, suiteProse } from "./doc_prose.ts";
import { growthTable, partTable, plain } from "./doc_tables.ts";
import { targetText } from "./figures_table.ts";
import { growthsOf } from "./growth.ts";
import { reasonUnknown } from "./reasons.ts";
import {
  countOf,
  engineLabel,
  showShare,
  showSize,
  showValue,
  suiteTitles,
} from "./show.ts";
import {
  isMet,
  isSound,
  lostRows,
  type Standing,
  standingsOf,
  standingWords,
  targetsOf,
  troublesOf,
} from "./standing.ts";
import { partsOf } from "./suite_view.ts";
import { tallyOf } from "./summary.ts";

const notesBegin = "<!-- notes: written by hand, kept by the bench -->";
const notesEnd = "<!-- end of notes -->";
const browserBegin = "<!-- browser: written by the bench of the browser -->";
const browserEnd = "<!-- end of browser -->";

/** So many tables, sizes and modes of one row are told; the tables show the others. */
const toldOfRowMax = 4;

/** The page's text; `earlier` is the page as it was, if there was one. */
export function docReport(
  suites: readonly SuiteRun[],
  earlier: string | undefined,
): string {
  const browser = between(earlier, browserBegin, browserEnd);
  const notes = between(earlier, notesBegin, notesEnd) ?? "\n\nNone yet.\n\n";
  return [
    "# Benchmarks",
    "",
    "Written by `deno task bench --doc`; the figures of each suite come from its last full run, whose command, machine and date",
    "stand with it.",
    "",
    ...inShort(suites),
    "",
    ...howToRead,
    ...suites.flatMap(suiteLines),
    ...browser === undefined ? [] : ["", browserBegin + browser + browserEnd],
    "",
    ...notShown,
    "",
    "## Notes",
    "",
    notesBegin + notes + notesEnd,
    "",
  ].join("\n");
}

function inShort(suites: readonly SuiteRun[]): string[] {
  const lines = suites.map((run) => {
    const { ahead, level, behind } = tallyOf(standingsOf(run.figures));
    const aimed = run.figures.filter((one) => targetsOf(one).length > 0);
    const met = aimed.filter((one) => isMet(one) === true).length;
    return `| [${suiteTitles[run.suite]}](#${
      anchorOf(suiteTitles[run.suite])
    }) | ${ahead} | ${level} | ${behind} | ${
      aimed.length === 0 ? "" : `${met} of ${aimed.length}`
    } |`;
  });
  return [
    "| suite | ahead | level | behind | targets met |",
    "| --- | ---: | ---: | ---: | --- |",
    ...lines,
  ];
}

function suiteLines(run: SuiteRun): string[] {
  const { machine, versions, noise, peers } = run;
  return [
    "",
    `## ${suiteTitles[run.suite]}`,
    "",
    `- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}, ` +
    `${machine.fileSystem}, append + fdatasync ${
      machine.fdatasyncMicros.toFixed(0)
    } µs`,
    `- Sheaf ${versions.sheaf} at ${versions.commit}, Deno ${versions.deno}, V8 ${versions.v8}, SQLite ${versions.sqlite}, ${
      run.startedAt.slice(0, 10)
    }`,
    ...peers.length === 0 ? [] : [`- ${plain(peers.join(", "))}`],
    `- load before ${noise.loadBefore.toFixed(1)}; after ÷ before: CPU ${
      noise.cpuDrift.toFixed(2)
    }, fdatasync ${noise.syncDrift.toFixed(2)}; median spread ${
      showShare(noise.spread)
    }; ${(run.seconds / 60).toFixed(1)} minutes`,
    ...noise.warning === undefined ? [] : [`- **${plain(noise.warning)}**`],
    "",
    "```sh",
    run.command,
    "```",
    "",
    ...run.command.includes("--quick")
      ? [
        "**A quick run: few samples. It shows that the bench runs, no more.**",
        "",
      ]
      : [],
    ...suiteProse[run.suite],
    ...partsOf(run.figures).flatMap((part) => [
      "",
      `### ${plain(part.table)}${
        part.size === 0 ? "" : `, ${showSize(part.size)} items`
      }`,
      "",
      ...partTable(part),
    ]),
    ...growthLines(run.figures),
    ...behindLines(standingsOf(run.figures)),
    ...missedLines(run.figures),
    ...uncountedLines(run.figures),
  ];
}

/** How costs grow, where enough sizes were measured. */
function growthLines(figures: readonly Figure[]): string[] {
  const growths = growthsOf(figures);
  if (growths.length === 0) return [];
  const sizes = [...new Set(growths.flatMap(({ sizes }) => sizes))];
  return [
    "",
    "### As the collection grows",
    "",
    `x of n^x, fitted to the medians at ${
      sizes.map(showSize).join(", ")
    } items: 0 stays as it is, 1 grows with the collection.`,
    "What is named by a number of items (all of them, a tenth) has more to give as there are more.",
    "",
    ...growthTable(growths),
  ];
}

/** Every row that we lose, the worst first. */
function behindLines(standings: readonly Standing[]): string[] {
  const rows = lostRows(standings);
  if (rows.length === 0) return [];
  return [
    "",
    "**Where we are behind, and why**",
    "",
    ...rows.map(({ operation, why, standings }) => {
      const told = standings.slice(0, toldOfRowMax).map(lostWords);
      const more = standings.length - told.length;
      if (more > 0) told.push(`and ${more} more`);
      return `- **${plain(operation)}**: ${told.join("; ")}. ${
        plain(why ?? `Why: ${reasonUnknown}.`)
      }`;
    }),
  ];
}

function lostWords(standing: Standing): string {
  const { ours, rival } = standing;
  const against = rival === undefined
    ? ""
    : `, ${showValue(ours.median, ours.unit)} against ${
      showValue(rival.median, rival.unit)
    }`;
  return `${plain(ours.table)}, ${showSize(ours.size)}, ${
    engineLabel(ours.engine)
  }: ${standingWords(standing)}${against}`;
}

function missedLines(figures: readonly Figure[]): string[] {
  const missed = figures.filter((one) => isSound(one) && isMet(one) === false);
  if (missed.length === 0) return [];
  return [
    "",
    `**${countOf(missed.length, "target")} missed**`,
    "",
    ...missed.map((one) => {
      const ratio = one.against === undefined
        ? ""
        : `, ${one.against.ratio.toFixed(3)} of ${
          engineLabel(one.against.engine)
        }`;
      return `- ${placeOf(one)}: ${showValue(one.median, one.unit)}${ratio}; ${
        targetText(one)
      }`;
    }),
  ];
}

function uncountedLines(figures: readonly Figure[]): string[] {
  const troubles = troublesOf(figures);
  if (troubles.length === 0) return [];
  return [
    "",
    "**Not counted**",
    "",
    ...troubles.map(({ engine, word, why, rows }) =>
      `- ${plain(`${engineLabel(engine)}: ${word}: ${why}`)} (${
        countOf(rows.length, "row")
      })`
    ),
  ];
}

function placeOf({ table, operation, size, engine }: Figure): string {
  return plain(
    `${table}, ${operation}, ${showSize(size)}, ${engineLabel(engine)}`,
  );
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(" ", "-");
}

/** What stands between two marks, or `undefined` where they are not both there. */
function between(
  page: string | undefined,
  begin: string,
  end: string,
): string | undefined {
  const from = page?.indexOf(begin) ?? -1;
  const to = page?.indexOf(end) ?? -1;
  if (page === undefined || from < 0 || to < from) return undefined;
  return page.slice(from + begin.length, to);
}
