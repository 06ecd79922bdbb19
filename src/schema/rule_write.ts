/**
 * From an operation on a cell to the question that its rule is asked.
 *
 * The item as it is now says what an operation is, not its writer: to create
 * what is there already is to change every field that its shape names; what is
 * meant for a generation that has ended is history, changes nothing, and no rule
 * is asked. An operation that no honest writer makes is denied without asking:
 * one on what is not there (it would hit what others create), one that skips a
 * generation, or one that writes a field as what it is not.
 *
 * @module
 */

import type { Cell } from "./cell.ts";
import { mergeClassOf } from "./kinds.ts";
import { showCell } from "./merge.ts";
import type { FieldKind, Operation } from "./patch.ts";
import {
  allowed,
  type Decision,
  type RuleAction,
  type RuleSession,
} from "./rule_types.ts";
import type { RepositoryRules } from "./rules.ts";
import type { Schema } from "./schema.ts";
import type { View } from "./view.ts";

/** One operation and what it does, as cells of one view. */
export interface WrittenCell {
  readonly session: RuleSession;
  /** When it is judged: the moment of acceptance, or of the write; wall milliseconds. */
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
  if (isHistory(operation, before)) return allowed;
  const fault = faultOf(operation, before) ??
    kindFault(operation, entry.schema);
  if (fault !== undefined) return rules.deny(collection, operation.what, fault);
  const item = before?.item;
  const isOver = operation.what === "create" && item !== undefined;
  const action: RuleAction = isOver ? "update" : operation.what;
  return rules.ask(entry, {
    session,
    wall,
    action,
    before: before === undefined
      ? undefined
      : showCell(before, view, entry.view),
    after: showCell(after(), view, entry.view),
    changed: isOver ? namesOf(operation) : changedBy(operation),
  });
}

/** Is it meant for a generation that has ended? */
function isHistory({ generation }: Operation, before?: Cell): boolean {
  if (before === undefined || generation > before.generation) return false;
  return generation < before.generation || before.item === undefined;
}

/** Why no honest writer makes this operation on this cell; `undefined` when one may. */
function faultOf(
  { what, generation }: Operation,
  before: Cell | undefined,
): string | undefined {
  if (before?.item !== undefined) {
    return generation === before.generation
      ? undefined
      : "It is meant for another generation of the item";
  }
  if (what !== "create") return "The item is not there";
  const next = before === undefined ? 0 : before.generation + 1;
  return generation === next ? undefined : "It skips a generation";
}

/** Does it write a field as what the rules' schema says that it is not? */
function kindFault(operation: Operation, schema: Schema): string | undefined {
  for (const { name, kind } of fieldsOf(operation)) {
    const ordinal = schema.ordinals.get(name);
    if (ordinal === undefined) continue;
    const known = mergeClassOf(schema.shape.fields[ordinal]!.kind);
    const given = mergeClassOf(kind);
    if (given !== known) return `${name} is a ${known}, not a ${given}`;
  }
  return undefined;
}

function fieldsOf(
  operation: Operation,
): readonly { readonly name: string; readonly kind: FieldKind }[] {
  switch (operation.what) {
    case "create":
      return operation.shape.fields;
    case "update":
      return operation.changes.map(({ field }) => field);
    case "delete":
      return [];
  }
}

function namesOf(operation: Operation): string[] {
  return [...new Set(fieldsOf(operation).map(({ name }) => name))];
}

/** Every field that is written, also with the value that was there: it may win over others' writes. */
function changedBy(operation: Operation): string[] {
  const names = namesOf(operation);
  return operation.what === "create"
    ? names.filter((name) => operation.item[name] !== undefined)
    : names;
}
