/**
 * What is printed about mutants.
 *
 * @module
 */

import type { Fate } from "./hunt.ts";
import type { Mutant } from "./mutants.ts";

const TEXT_MAX = 60;

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX - 1)}…` : line;
}

/** A mutant in a line. */
export function lineOf(mutant: Mutant): string {
  const { id, path, line, operator, before, after } = mutant;
  const change = `${short(before) || "·"} → ${short(after) || "·"}`;
  return `${id} ${path}:${line} ${operator}: ${change}`;
}

/** Those that lived, each with the tests that ran. */
export function survivorsOf(fates: readonly Fate[]): string[] {
  return fates
    .filter(({ killedBy }) => killedBy === undefined)
    .flatMap(({ mutant, ran }) => [
      lineOf(mutant),
      `  ${ran.length === 0 ? "no test reaches it" : ran.join(" ")}`,
    ]);
}

/** How many were found. */
export function summaryOf(fates: readonly Fate[]): string {
  const killed = fates.filter(({ killedBy }) => killedBy !== undefined).length;
  const share = fates.length === 0 ? 0 : 100 * killed / fates.length;
  return `${killed} of ${fates.length} mutants killed: ${share.toFixed(1)} %`;
}
