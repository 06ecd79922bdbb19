/**
 * What was weighed, as lines of text, and what is wrong with it. Pure.
 *
 * @module
 */

import type { Weight } from "./browser/weigh.ts";
import { features, type Part } from "./size_budget.ts";

/** A part on the scale; `below` is what it comes on top of, alone. */
export interface Measured {
  readonly part: Part;
  readonly weight: Weight;
  readonly below?: Weight;
}

/** Bytes of gzip. */
export interface Sums {
  readonly atOnce: number;
  readonly later: number;
}

/** Sources that are shown one by one where they weigh at least this much. */
const FILE_BYTES_MIN = 20;

/** What chunks weigh that come at once, or later. */
export function totalOf(
  weight: Pick<Weight, "chunks"> | undefined,
  isLazy: boolean,
): number {
  const chunks = weight?.chunks ?? [];
  return chunks.filter((chunk) => chunk.isLazy === isLazy)
    .reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
}

/** What the part itself weighs. */
export function sumsOf({ weight, below }: Measured): Sums {
  const part = (isLazy: boolean) =>
    Math.max(0, totalOf(weight, isLazy) - totalOf(below, isLazy));
  return { atOnce: part(false), later: part(true) };
}

/** The package, or the folder of ours, that a source belongs to. */
export function ownerOf(source: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? [];
  if (name !== undefined) return `${name} (package)`;
  return source.includes("/") ? source.replace(/\/[^/]*$/, "") : "mod.ts";
}

/** What each owner weighs in one bundle, heaviest first. */
export function sharesBy(
  weight: Weight,
  nameOf: (source: string) => string,
): [name: string, sums: Sums][] {
  const found = new Map<string, { atOnce: number; later: number }>();
  for (const { shares, isLazy } of weight.chunks) {
    for (const [source, bytes] of shares) {
      if (source.startsWith("text:")) continue;
      const name = nameOf(source);
      const sums = found.get(name) ?? { atOnce: 0, later: 0 };
      sums[isLazy ? "later" : "atOnce"] += bytes;
      found.set(name, sums);
    }
  }
  return [...found].sort(([, left], [, right]) =>
    right.atOnce + right.later - left.atOnce - left.later
  );
}

function kilobytes(bytes: number | undefined): string {
  return bytes === undefined ? "" : (bytes / 1_000).toFixed(1);
}

function row(cells: readonly string[]): string {
  const [name = "", ...figures] = cells;
  return (name.padEnd(34) + figures.map((cell) => cell.padStart(9)).join(""))
    .trimEnd();
}

function partRow(measured: Measured): string {
  const { name, on, target, atOnce } = measured.part;
  const sums = sumsOf(measured);
  const over = sums.atOnce - (target ?? Infinity);
  return row([
    on === undefined ? name : `  + ${name}`,
    kilobytes(sums.atOnce),
    kilobytes(sums.later),
    kilobytes(target),
    kilobytes(atOnce),
  ]) + (over > 0 ? `   TARGET MISSED by ${kilobytes(over)} KB` : "");
}

function featureRow(weight: Weight, name: string, sources: RegExp): string {
  const isPart = (source: string) => sources.test(source) ? name : "";
  const [, sums] = sharesBy(weight, isPart).find(([found]) => found === name) ??
    [];
  return row([name, kilobytes(sums?.atOnce ?? 0), kilobytes(sums?.later ?? 0)]);
}

/** The report, line by line. */
export function reportSize(
  measured: readonly Measured[],
  { withFiles = false }: { readonly withFiles?: boolean } = {},
): string[] {
  const [core] = measured;
  if (core === undefined) return [];
  const shares = withFiles
    ? sharesBy(core.weight, (source) => source)
    : sharesBy(core.weight, ownerOf);
  return [
    row(["KB of gzip, minified", "at once", "later", "target", "ceiling"]),
    ...measured.map(partRow),
    "",
    row([`${core.part.name}, alone`, "at once"]),
    ...Array.from(
      core.weight.entries,
      ([name, bytes]) => row([name, kilobytes(bytes)]),
    ),
    "",
    row([`in ${core.part.name}, by feature`, "at once", "later"]),
    ...features.map(([name, sources]) =>
      featureRow(core.weight, name, sources)
    ),
    "",
    row([`in ${core.part.name}`, "at once", "later"]),
    ...shares.filter(([, { atOnce, later }]) => atOnce + later > FILE_BYTES_MIN)
      .map(([name, { atOnce, later }]) =>
        row([name, kilobytes(atOnce), kilobytes(later)])
      ),
  ];
}

/** Ceilings that do not hold, and what no browser path may contain. */
export function findFaults(measured: readonly Measured[]): string[] {
  return measured.flatMap((each) => {
    const { name, atOnce, later, alone = {} } = each.part;
    const sums = sumsOf(each);
    const over = (what: string, bytes: number, ceiling: number) =>
      bytes > ceiling
        ? [`${name} loads ${bytes} bytes ${what}; the ceiling is ${ceiling}`]
        : [];
    return [
      ...over("at once", sums.atOnce, atOnce),
      ...over("later", sums.later, later),
      ...Object.entries(alone).flatMap(([entry, ceiling]) =>
        over(
          `at once for its ${entry} alone`,
          each.weight.entries.get(`${entry}.js`) ?? Infinity,
          ceiling,
        )
      ),
      ...each.weight.forbidden.map((found) =>
        `${name} holds ${found}, which no browser path may`
      ),
    ];
  });
}
