/**
 * The schedule of the sync suites: every case and mode alone, one after another.
 *
 * @module
 */

import type { Mode } from "../engine.ts";
import type { Progress } from "../progress.ts";
import { cases } from "./cases.ts";
import { failedRow, type SyncRow } from "./row.ts";

/** What is asked of a run. */
export interface SyncOrder {
  readonly modes: readonly Mode[];
  /** Only cases whose name contains this. */
  readonly filter: string;
  readonly isQuick: boolean;
  /** Where the databases are made. */
  readonly folder: string;
}

/** A case that takes longer hangs. */
const CASE_MS_MAX = 180_000;

/** Which cases would run, with their modes. */
export function casesOf(
  { modes, filter }: Pick<SyncOrder, "modes" | "filter">,
): [string, Mode][] {
  return Object.entries(cases)
    .filter(([name]) => `sync ${name}`.includes(filter.toLowerCase()))
    .flatMap(([name, one]) =>
      one.modes.filter((mode) => modes.includes(mode)).map((
        mode,
      ): [string, Mode] => [name, mode])
    );
}

/** Runs what was ordered. */
export async function runSync(
  order: SyncOrder,
  progress: Progress,
): Promise<SyncRow[]> {
  const rows: SyncRow[] = [];
  const wanted = casesOf(order);
  progress.begin(wanted.length);
  for (const [name, mode] of wanted) {
    progress.step(`sync: ${name}, ${mode}`);
    const folder = `${order.folder}/${name}-${mode}`;
    await Deno.mkdir(folder, { recursive: true });
    rows.push(...await runCase(name, mode, folder, order.isQuick));
    await Deno.remove(folder, { recursive: true });
  }
  return rows;
}

async function runCase(
  name: string,
  mode: Mode,
  folder: string,
  isQuick: boolean,
): Promise<SyncRow[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      new URL("child.ts", import.meta.url).href,
      JSON.stringify({ name, stage: { mode, folder, isQuick } }),
    ],
    signal: AbortSignal.timeout(CASE_MS_MAX),
  });
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "";
  if (code === 0 && text.startsWith("[")) return JSON.parse(text);
  const why = new TextDecoder().decode(stderr).trim().split("\n").slice(0, 3)
    .join(" ");
  const suite = "table 2";
  return [
    failedRow(
      { suite, operation: name, mode, unit: "ms" },
      why === "" ? `ended with ${code}, or took too long` : why,
    ),
  ];
}
