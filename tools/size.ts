/**
 * `deno task size`: what a page loads for Sheaf, and what of it weighs what.
 * Fails past the ceilings of `size_budget.ts`; says loudly what misses its
 * target. With `--files` it lists modules instead of folders; `--rivals` weighs
 * the same small app on other databases, which it installs, and on us.
 *
 * @module
 */

import { endBundling } from "./browser/bundle.ts";
import { weigh, type Weight } from "./browser/weigh.ts";
import { type Part, parts } from "./size_budget.ts";
import { findFaults, type Measured, reportSize } from "./size_report.ts";
import { weighRivals } from "./size_rivals.ts";

function partNamed(name: string): Part {
  const part = parts.find((part) => part.name === name);
  if (part === undefined) throw new Error(`There is no part "${name}".`);
  return part;
}

function weighPart(part: Part): Promise<Weight> {
  const { entries, on, external = [], fetched = [] } = part;
  const below = on === undefined ? {} : partNamed(on).entries;
  return weigh({ entries: { ...below, ...entries }, external, fetched });
}

async function measure(): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const part of parts) {
    const weight = await weighPart(part);
    // What an app leaves out is left out below as well.
    const below = part.on === undefined ? undefined : await weigh({
      entries: partNamed(part.on).entries,
      external: part.external ?? [],
    });
    measured.push({ part, weight, ...below && { below } });
  }
  return measured;
}

async function main(): Promise<number> {
  if (Deno.args.includes("--rivals")) {
    console.log((await weighRivals()).join("\n"));
    await endBundling();
    return 0;
  }
  const measured = await measure();
  await endBundling();
  const withFiles = Deno.args.includes("--files");
  console.log(reportSize(measured, { withFiles }).join("\n"));
  const faults = findFaults(measured);
  for (const fault of faults) console.error(`\nFAILED: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
