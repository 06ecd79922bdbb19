/**
 * Runs one suite from beginning to end, and says how still the machine was
 * meanwhile.
 *
 * @module
 */

import { installPeers, peerVersions } from "../peers/install.ts";
import { hasSqliteCases, runSqliteSuite } from "../sqlite/suite.ts";
import { runSyncSuite, syncRacesOf } from "../sync/run.ts";
import { loadSuite, suiteModules } from "./case_child.ts";
import type { Figure, SuiteName, SuiteRun } from "./figure.ts";
import { describeMachine, describeVersions } from "./machine.ts";
import { noiseOf, paceOf } from "./noise.ts";
import { commandOf, type Options, orderOf } from "./options.ts";
import { casesOf, runSuite, type Watcher } from "./schedule.ts";
import type { Order } from "./suite.ts";

/** A suite that is ready to run. */
interface Runnable {
  readonly hasCases: boolean;
  /** Names and versions of other engines, with what keeps them from here. */
  readonly peers: readonly string[];
  run(folder: string, watcher: Watcher): Promise<Figure[]>;
}

/** Where a run happens, and what is known of it. */
export interface Scene {
  /** The run's own folder. */
  readonly folder: string;
  /** One-minute load before anything of ours ran. */
  readonly load: number;
  readonly watcher: Watcher;
}

/** The suites that have something to run, in their order. */
export async function suitesWithCases(
  options: Options,
): Promise<SuiteName[]> {
  const wanted: SuiteName[] = [];
  for (const suite of options.suites) {
    const { hasCases } = await runnableOf(suite, orderOf(options, suite));
    if (hasCases) wanted.push(suite);
  }
  return wanted;
}

/** Runs one suite. */
export async function runOne(
  suite: SuiteName,
  options: Options,
  { folder, load, watcher }: Scene,
): Promise<SuiteRun> {
  const order = orderOf(options, suite);
  const runnable = await runnableOf(suite, order);
  const machine = describeMachine(folder);
  const versions = describeVersions();
  const startedAt = new Date().toISOString();
  const before = { ...paceOf(folder), load };
  const from = performance.now();
  const figures = await runnable.run(folder, watcher);
  const seconds = (performance.now() - from) / 1_000;
  return {
    suite,
    command: commandOf(options, suite),
    startedAt,
    seconds: Math.round(seconds * 10) / 10,
    machine,
    versions,
    peers: runnable.peers,
    noise: noiseOf(before, paceOf(folder), figures, machine.cores),
    figures,
  };
}

async function runnableOf(suite: SuiteName, order: Order): Promise<Runnable> {
  switch (suite) {
    case "sqlite":
      return {
        hasCases: hasSqliteCases(order),
        peers: [],
        run: (folder, watcher) => runSqliteSuite(order, folder, watcher),
      };
    case "sync":
      return {
        hasCases: syncRacesOf(order).length > 0,
        peers: [],
        run: (folder, watcher) => runSyncSuite(order, folder, watcher),
      };
    case "kv":
    case "ycsb":
    case "stress":
    case "compare":
    case "text":
      return await scheduled(suiteModules[suite], order);
  }
}

/** A suite that the common schedule runs. */
async function scheduled(module: string, order: Order): Promise<Runnable> {
  const suite = await loadSuite(module);
  return {
    hasCases: casesOf(suite, order).length > 0,
    peers: suite.peers.length === 0 ? [] : peerVersions(suite.peers),
    run: async (folder, watcher) => {
      const peers = suite.peers.length === 0
        ? folder
        : (await installPeers((line) => watcher.note(line))).folder;
      return await runSuite(suite, order, { folder, peers }, watcher);
    },
  };
}
