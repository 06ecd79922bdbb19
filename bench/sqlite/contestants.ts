/**
 * Who runs in the sqlite suite, by the engines that were asked for.
 *
 * @module
 */

import { isAsked, type Order } from "../harness/suite.ts";
import type { Contestant, Mode } from "./engine.ts";
import { engineOf, rivalOf, title } from "./results.ts";
import { type RowPlan, rowPlans } from "./table1.ts";

/** SQLite FULL with Default and Trusted, SQLite OFF with Fast. */
const groups: readonly (readonly Mode[])[] = [["default", "trusted"], ["fast"]];

/** The groups of contestants that take turns; a mode never runs without the SQLite that it is held against. */
export function groupsOf(engines: readonly string[]): Contestant[][] {
  const isWanted = (contestant: Contestant): boolean =>
    engines.length === 0 ||
    engines.some((part) => engineOf(contestant).includes(part));
  return groups.map((modes): Contestant[] => {
    const wanted = modes.filter(isWanted);
    const rivals = [...new Set(modes.map(rivalOf))].filter((rival) =>
      wanted.length > 0 || isWanted(rival)
    );
    return [...rivals, ...wanted];
  }).filter((group) => group.length > 0);
}

/** The rows that were asked for and that somebody in the groups runs. */
export function plansOf(
  order: Pick<Order, "filter">,
  groups: readonly (readonly Contestant[])[],
): RowPlan[] {
  return rowPlans.filter((plan) => {
    const row = {
      suite: "sqlite",
      table: title,
      operation: plan.operation,
      engine: "",
    } as const;
    return isAsked({ engines: [], filter: order.filter }, row) &&
      groups.some((group) => isFor(plan, group));
  });
}

/** Does anybody of the group run this row? */
export function isFor(plan: RowPlan, group: readonly Contestant[]): boolean {
  return plan.modes.some((mode) =>
    group.includes(mode) || group.includes(rivalOf(mode))
  );
}
