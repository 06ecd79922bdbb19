/**
 * Tables of the document: operations down, engines across; where a table is
 * held to targets, one line a figure instead.
 *
 * @module
 */

import type { Durability, Figure } from "../harness/figure.ts";
import { targetText } from "./figures_table.ts";
import { type Growth, showExponent } from "./growth.ts";
import { engineLabel, isOurs, showDigits, showValue } from "./show.ts";
import {
  isSound,
  rowsOf,
  type Standing,
  standingsOf,
  targetsOf,
  troubleWord,
} from "./standing.ts";
import type { Part } from "./suite_view.ts";

/** Foreign text as one line that Markdown and HTML leave alone. */
export function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;").replaceAll("|", "\\|");
}

/** The lines of one table. */
export function partTable(part: Part): string[] {
  return part.figures.some((one) => targetsOf(one).length > 0)
    ? longTable(part)
    : wideTable(part);
}

/** One line a figure, with what it was held to. */
function longTable({ figures }: Part): string[] {
  const stood = standingsByFigure(figures);
  return [
    "| operation | engine | durability | median | p75 | p99 | p99.5 | spread | ratio | floor | target |",
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ...figures.map((one) => longLine(one, stood.get(one))),
  ];
}

function longLine(one: Figure, standing: Standing | undefined): string {
  const { median, p75, p99, p995, spread, unit, floor } = one;
  const cells = [
    plain(one.operation),
    plain(engineLabel(one.engine)),
    one.durability,
    ...isSound(one)
      ? [median, p75, p99, p995].map((value) => showValue(value, unit))
      : [troubleCell(one), "", "", ""],
    spread === null ? "" : `${(spread * 100).toFixed(0)} %`,
    ratioCell(one, standing),
    floor === undefined ? "" : showValue(floor, unit),
    targetText(one).replace("MISSED", "**MISSED**"),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The ratio that a target is about, else the one to the best rival. */
function ratioCell(one: Figure, standing: Standing | undefined): string {
  if (!isSound(one)) return "";
  const ratio = one.against?.ratio ?? standing?.ratio ?? null;
  return ratio === null ? "" : showDigits(ratio);
}

/** A column for each engine: median, p99 in brackets; whether ours are ahead or behind. */
function wideTable({ figures }: Part): string[] {
  const engines = columnsOf(figures);
  const rows = [...rowsOf(figures).values()];
  const stood = standingsByFigure(figures);
  return [
    `| operation | ${
      engines.map((engine) => headOf(engine, figures)).join(" | ")
    } |`,
    `| --- |${" ---: |".repeat(engines.length)}`,
    ...rows.map((row) => {
      const cells = engines.map((engine) =>
        cellOf(row.find((one) => one.engine === engine), figures, stood)
      );
      return `| ${plain(row[0]?.operation ?? "")} | ${cells.join(" | ")} |`;
    }),
  ];
}

/** What every operation costs as the collection grows: operations down, engines across. */
export function growthTable(growths: readonly Growth[]): string[] {
  const engines = columnsOf(growths);
  const rows = Map.groupBy(
    growths,
    ({ table, operation }) => plain(`${table}, ${operation}`),
  );
  return [
    `| n^x | ${engines.map((one) => plain(engineLabel(one))).join(" | ")} |`,
    `| --- |${" ---: |".repeat(engines.length)}`,
    ...[...rows].map(([name, row]) => {
      const cells = engines.map((engine) => {
        const own = row.find((one) => one.engine === engine);
        return own === undefined ? "" : showExponent(own.exponent);
      });
      return `| ${name} | ${cells.join(" | ")} |`;
    }),
  ];
}

function columnsOf(figures: readonly Pick<Figure, "engine">[]): string[] {
  const engines = [...new Set(figures.map(({ engine }) => engine))];
  return [
    ...engines.filter(isOurs),
    ...engines.filter((engine) => !isOurs(engine)),
  ];
}

function headOf(engine: string, figures: readonly Figure[]): string {
  const durability = writesOf(engine, figures);
  const name = plain(engineLabel(engine));
  return durability === undefined ? name : `${name}, ${durability}`;
}

/** How durable an engine's first write of a table is; named once, above its column. */
function writesOf(
  engine: string,
  figures: readonly Figure[],
): Durability | undefined {
  return figures.find((one) =>
    one.engine === engine && one.durability !== "none"
  )?.durability;
}

function cellOf(
  one: Figure | undefined,
  figures: readonly Figure[],
  stood: ReadonlyMap<Figure, Standing>,
): string {
  if (one === undefined) return "";
  if (!isSound(one)) return troubleCell(one);
  const tail = one.p99 === null ? "" : ` (${showValue(one.p99, one.unit)})`;
  const { durability } = one;
  const isOther = durability !== "none" &&
    durability !== writesOf(one.engine, figures);
  const verdict = stood.get(one)?.verdict;
  const mark = verdict === "behind" ? " ▼" : verdict === "ahead" ? " ▲" : "";
  return `${showValue(one.median, one.unit)}${tail}${
    isOther ? `, ${durability}` : ""
  }${mark}`;
}

function troubleCell(one: Figure): string {
  const word = troubleWord(one);
  return word === "skipped" ? word : `**${word}**`;
}

function standingsByFigure(
  figures: readonly Figure[],
): ReadonlyMap<Figure, Standing> {
  return new Map(standingsOf(figures).map((one) => [one.ours, one]));
}
