/**
 * The schedule of the sync suites: every case in fresh processes, its
 * modes to and fro, one process at a time.
 *
 * @module
 */

import type { Mode } from "../sqlite/engine.ts";
import { runChild } from "../harness/children.ts";
import type { Figure } from "../harness/figure.ts";
import { removeFolder } from "../harness/folders.ts";
import type { Watcher } from "../harness/schedule.ts";
import { isAsked, type Order } from "../harness/suite.ts";
import { cases } from "./cases.ts";
import type { Assignment } from "./child.ts";
import { failedFigure, figuresOfTurns, type SyncRow } from "./row.ts";

/** A case that takes longer hangs. */
const caseMsMax = 180_000;

/** Fresh processes for each case and mode; one, where the first took so long. */
const repetitions = { full: 3, quick: 1 } as const;
const onceMs = 4_000;

/** One case with the modes that take turns at it. */
export interface SyncRace {
  readonly name: string;
  readonly modes: readonly Mode[];
}

/** Which cases would run, with their modes. */
export function syncRacesOf(
  { engines, filter }: Pick<Order, "engines" | "filter">,
): SyncRace[] {
  return Object.entries(cases).map(([name, one]): SyncRace => ({
    name,
    modes: one.modes.filter((mode) =>
      isAsked({ engines, filter }, {
        suite: "sync",
        table: name,
        operation: "",
        engine: `sheaf-${mode}`,
      })
    ),
  })).filter(({ modes }) => modes.length > 0);
}

/** Runs what was ordered. */
export async function runSyncSuite(
  order: Order,
  parent: string,
  watcher: Watcher,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const races = syncRacesOf(order);
  const rounds = order.isQuick ? repetitions.quick : repetitions.full;
  watcher.begin(rounds * races.flatMap(({ modes }) => modes).length);
  for (const race of races) {
    const entrants = race.modes.map((mode): Entrant => ({ mode, turns: [] }));
    for (let round = 0; round < rounds; round++) {
      for (const one of round % 2 === 0 ? entrants : entrants.toReversed()) {
        watcher.step(`sync: ${race.name}, ${one.mode}`);
        if (one.failed !== undefined || one.isLong) continue;
        const begun = performance.now();
        const rows = await runTurn(race.name, one.mode, parent, order.isQuick);
        one.isLong = performance.now() - begun > onceMs;
        if (typeof rows === "string") one.failed = rows;
        else one.turns.push(rows);
      }
    }
    figures.push(
      ...entrants.flatMap((one) => figuresOfEntrant(race.name, one)),
    );
  }
  return figures;
}

/** One mode at one case. */
interface Entrant {
  readonly mode: Mode;
  readonly turns: (readonly SyncRow[])[];
  failed?: string;
  isLong?: boolean;
}

function figuresOfEntrant(
  operation: string,
  { mode, turns, failed }: Entrant,
): Figure[] {
  if (failed === undefined) return figuresOfTurns(turns);
  const name = { suite: "table 2", operation, mode, unit: "ms" } as const;
  return [failedFigure(name, failed)];
}

/** The rows that one process found, or why it found none. */
async function runTurn(
  name: string,
  mode: Mode,
  parent: string,
  isQuick: boolean,
): Promise<readonly SyncRow[] | string> {
  const folder = `${parent}/${name}-${mode}`;
  const answer = `${folder}.json`;
  await Deno.mkdir(folder, { recursive: true });
  const argument: Assignment = {
    name,
    stage: { mode, folder, isQuick },
    answer,
  };
  try {
    const { complaint } = await runChild({
      module: new URL("child.ts", import.meta.url),
      argument,
      msMax: caseMsMax,
    });
    return complaint === ""
      ? JSON.parse(Deno.readTextFileSync(answer))
      : complaint;
  } finally {
    await removeFolder(folder);
    await removeFolder(answer);
  }
}
