/**
 * The sqlite suite behind the options of the bench: its own schedule keeps
 * some processes warm, which the common one never does.
 *
 * @module
 */

import type { Figure } from "../harness/figure.ts";
import type { Watcher } from "../harness/schedule.ts";
import type { Order } from "../harness/suite.ts";
import { groupsOf, plansOf } from "./contestants.ts";
import { type Budget, runSqlite } from "./run.ts";

/** Sizes when none are asked for: those that the targets are stated for. */
const usualSizes: readonly number[] = [100_000];

const fullBudget: Budget = {
  rounds: 5,
  sliceMs: 200,
  samplesMax: 300,
  warmMs: 150,
  freshRuns: 9,
  valueRuns: 3,
};
const quickBudget: Budget = {
  rounds: 3,
  sliceMs: 30,
  samplesMax: 100,
  warmMs: 60,
  freshRuns: 3,
  valueRuns: 1,
};

/** Is there anything to run? */
export function hasSqliteCases(order: Order): boolean {
  return plansOf(order, groupsOf(order.engines)).length > 0;
}

/** Runs what was ordered. */
export function runSqliteSuite(
  order: Order,
  folder: string,
  watcher: Watcher,
): Promise<Figure[]> {
  const groups = groupsOf(order.engines);
  return runSqlite({
    plans: plansOf(order, groups),
    groups,
    sizes: order.sizes.length === 0 ? usualSizes : order.sizes,
    budget: order.isQuick ? quickBudget : fullBudget,
    folder,
  }, watcher);
}
