/**
 * From an operation on a cell to the question that its rule is asked.
 *
 * The item as it is now says what an operation is, not its writer: to create
 * what is there already is to change every field that its shape names; what is
 * meant for a generation that has ended is history, changes nothing, and no rule
 * is asked (the gate lets nobody begin with it). An operation that no honest writer makes is denied without asking:
 * one on what is not there (it would hit what others create), one that skips a
 * generation, or one that writes a field as what it is not.
 */

import { type Cell, dueGeneration, isThere } from "./cell.ts";
import { mergeClassOf } from "./kinds.ts";
import type { Operation, ShapeField } from "./patch.ts";
import type { RuleSession } from "./rule_types.ts";
import type { Schema } from "./schema.ts";

export interface WrittenCell {
  /** Who is asked about; nobody where the rules are waived. */
  readonly session: RuleSession | undefined;
  /** When it is judged: the moment of acceptance, or of the write; wall milliseconds. */
  readonly wall: number;
  readonly operation: Operation;
  readonly before: Cell | undefined;
  /** Its item after it; only computed where a rule looks at it. */
  readonly after: () => Cell;
}

/** Why no honest writer makes this operation on this cell; `undefined` when one may. */
export function faultOf(
  { what, generation }: Operation,
  before: Cell | undefined,
): string | undefined {
  const isOld = before !== undefined && isThere(before);
  if (!isOld && what !== "create") return "It is not there";
  return generation === dueGeneration(before)
    ? undefined
    : "It is of another generation";
}

/** Does it write a field as what the rules' schema says that it is not? */
export function kindFault(
  operation: Operation,
  schema: Schema,
): string | undefined {
  const { plan, ordinals } = schema;
  const odd = fieldsOf(operation).find(({ name, kind }) => {
    const known = plan[ordinals.get(name) ?? -1];
    return known && mergeClassOf(known.kind) !== mergeClassOf(kind);
  });
  return odd && `${odd.name} is no ${mergeClassOf(odd.kind)}`;
}

function fieldsOf(operation: Operation): readonly ShapeField[] {
  if (operation.what === "create") return operation.shape.fields;
  return operation.what === "update"
    ? operation.changes.map(({ field }) => field)
    : [];
}

/**
 * Every field that is written, also with the value that was there: it may win
 * over others' writes. A create over what is there writes its whole shape.
 */
export function changedBy(operation: Operation, isOver: boolean): string[] {
  const names = [...new Set(fieldsOf(operation).map(({ name }) => name))];
  return operation.what === "create" && !isOver
    ? names.filter((name) => operation.item[name] !== undefined)
    : names;
}
