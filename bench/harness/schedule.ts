/**
 * The schedule of the suites: who runs when.
 *
 * Every repetition of a case is a fresh process for each engine. The engines of
 * one case take turns, first to last and last to first, so that whatever slows
 * the machine hits them alike. One process runs at a time.
 *
 * @module
 */

import { type Answer, type Assignment, suiteModules } from "./case_child.ts";
import { runChild } from "./children.ts";
import { removeFolder } from "./folders.ts";
import type { Figure } from "./figure.ts";
import { mergeTurns } from "./merge.ts";
import type { Progress } from "./progress.ts";
import type { CaseSpec, Order, Outcome, Stage, Suite } from "./suite.ts";

/** Where and with what a suite runs. */
export interface Place {
  /** Folders of single turns are made and removed in here. */
  readonly folder: string;
  /** The folder in whose `node_modules` the peers are. */
  readonly peers: string;
  /** The suite's module, where it is not the one that belongs to its name. */
  readonly module?: string;
}

/** What progress is told to; {@linkcode Progress}, or nobody. */
export type Watcher = Pick<Progress, "begin" | "step" | "note">;

/** The cases that a suite would run, as far as engines go; throws where two would be one. */
export function casesOf(suite: Suite, order: Order): CaseSpec[] {
  const cases = suite.cases(order).filter(({ engine }) =>
    order.engines.length === 0 ||
    order.engines.some((part) => engine.includes(part))
  );
  const seen = new Set<string>();
  for (const { name, engine } of cases) {
    const key = JSON.stringify([name, engine]);
    if (seen.has(key)) {
      throw new TypeError(`Two cases of ${suite.name} are ${key}`);
    }
    seen.add(key);
  }
  return cases;
}

/** Runs what was ordered of one suite. */
export async function runSuite(
  suite: Suite,
  order: Order,
  place: Place,
  watcher: Watcher,
): Promise<Figure[]> {
  const races = racesOf(casesOf(suite, order));
  watcher.begin(
    races.flat().reduce((sum, { repetitions }) => sum + repetitions, 0),
  );
  const figures: Figure[] = [];
  const told = new Set<string>();
  for (const race of races) {
    for (const entrant of await runRace(race, order, place, watcher)) {
      figures.push(...mergeTurns(entrant));
      const line = lineOf(entrant);
      if (line !== undefined && !told.has(line)) watcher.note(line);
      if (line !== undefined) told.add(line);
    }
  }
  return figures;
}

/** Cases with one name are one race, in the order in which the names come. */
function racesOf(cases: readonly CaseSpec[]): CaseSpec[][] {
  return [...Map.groupBy(cases, ({ name }) => name).values()];
}

/** One engine in a race. */
interface Entrant {
  readonly spec: CaseSpec;
  readonly repetitions: (readonly Outcome[])[];
  failed?: string;
  skipped?: string;
}

async function runRace(
  race: readonly CaseSpec[],
  order: Order,
  place: Place,
  watcher: Watcher,
): Promise<Entrant[]> {
  const entrants = race.map((spec): Entrant => ({ spec, repetitions: [] }));
  const rounds = Math.max(...race.map(({ repetitions }) => repetitions));
  for (let round = 0; round < rounds; round++) {
    const turns = round % 2 === 0 ? entrants : entrants.toReversed();
    for (const entrant of turns) {
      const { spec } = entrant;
      if (round >= spec.repetitions) continue;
      watcher.step(`${spec.suite}: ${spec.name}, ${spec.engine}`);
      // Who broke or is not here would only do so again.
      if (entrant.failed !== undefined || entrant.skipped !== undefined) {
        continue;
      }
      await takeTurn(entrant, order, place);
    }
  }
  return entrants;
}

async function takeTurn(
  entrant: Entrant,
  order: Order,
  place: Place,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ dir: place.folder, prefix: "turn-" });
  try {
    const answer = await askChild(entrant.spec, folder, order, place);
    if (typeof answer === "string") entrant.failed = answer;
    else if ("notHere" in answer) entrant.skipped = answer.notHere;
    else entrant.repetitions.push(answer.outcomes);
  } finally {
    await removeFolder(folder);
  }
}

/** What the child answered, or why it did not. */
async function askChild(
  spec: CaseSpec,
  folder: string,
  order: Order,
  place: Place,
): Promise<Answer | string> {
  const home = `${folder}/home`;
  Deno.mkdirSync(home);
  const { isQuick, addresses } = order;
  const stage: Stage = { folder: home, isQuick, addresses, peers: place.peers };
  const answer = `${folder}/answer.json`;
  const argument: Assignment = {
    spec,
    stage,
    answer,
    suite: place.module ?? moduleOf(spec),
  };
  const { complaint } = await runChild({
    module: new URL("case_child.ts", import.meta.url),
    argument,
    msMax: spec.msMax,
  });
  if (complaint !== "") return complaint;
  try {
    return JSON.parse(Deno.readTextFileSync(answer));
  } catch (error) {
    // It ended by itself, and well, before the case did.
    if (error instanceof Deno.errors.NotFound) return "ended without an answer";
    throw error;
  }
}

function moduleOf({ suite }: CaseSpec): string {
  if (suite === "sqlite" || suite === "sync") {
    throw new TypeError(`${suite} has a schedule of its own`);
  }
  return suiteModules[suite];
}

/** One line for who is not here or broke. */
function lineOf({ spec, failed, skipped }: Entrant): string | undefined {
  if (skipped !== undefined) return `${spec.engine} skipped: ${skipped}`;
  return failed === undefined
    ? undefined
    : `${spec.engine} failed at ${spec.name}: ${failed}`;
}
