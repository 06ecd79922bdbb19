/**
 * From an operation on a cell to the question that its rule is asked.
 *
 * An operation that no honest writer makes is denied without asking: one that
 * creates what is there, changes or deletes what is not (it would hit what
 * others create), or skips a generation. So each rule is asked of what it is for.
 *
 * @module
 */

import type { Cell } from "./cell.ts";
import { showCell } from "./merge.ts";
import type { Operation } from "./patch.ts";
import type { Decision, RuleSession } from "./rule_types.ts";
import type { RepositoryRules } from "./rules.ts";
import type { View } from "./view.ts";

/** One operation and what it does, as cells of one view. */
export interface WrittenCell {
  readonly session: RuleSession;
  /** Wall milliseconds of its commit. */
  readonly wall: number;
  readonly operation: Operation;
  readonly before: Cell | undefined;
  /** Its item after it; only computed where a rule is asked. */
  readonly after: () => Cell;
  /** What the cells' items were made with. */
  readonly view: View;
}

/** May the session write this? */
export function judgeWrite(
  rules: RepositoryRules,
  { session, wall, operation, before, after, view }: WrittenCell,
): Decision {
  const { collection } = operation.shape;
  const entry = rules.collection(collection);
  if ("allowed" in entry) return entry;
  const fault = faultOf(operation, before);
  if (fault !== undefined) return rules.deny(collection, operation.what, fault);
  const old = before === undefined
    ? undefined
    : showCell(before, view, entry.view);
  const now = showCell(after(), view, entry.view);
  return rules.ask(entry, {
    session,
    wall,
    action: operation.what,
    before: old,
    after: now,
    changed: changedBy(operation),
  });
}

/** Why no honest writer makes this operation on this cell; `undefined` when one may. */
function faultOf(
  { what, generation }: Operation,
  before: Cell | undefined,
): string | undefined {
  const isThere = before?.item !== undefined;
  if (what === "create") {
    if (isThere) return "The item is there already";
    const next = before === undefined ? 0 : before.generation + 1;
    return generation === next ? undefined : "It skips a generation";
  }
  if (!isThere) return "The item is not there";
  return generation === before.generation
    ? undefined
    : "It is meant for another generation of the item";
}

/** Every field that is written, also with the value that was there: it may win over others' writes. */
function changedBy(operation: Operation): string[] {
  if (operation.what === "update") {
    return [...new Set(operation.changes.map(({ field }) => field.name))];
  }
  if (operation.what === "delete") return [];
  const { item, shape } = operation;
  return shape.fields.map(({ name }) => name)
    .filter((name) => item[name] !== undefined);
}
