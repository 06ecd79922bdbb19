/**
 * The constraints at the gate: may the commits of a batch be, by what is here
 * when they come? Asked of everybody, also of those who obey no rule.
 *
 * @module
 */

import { type Refusal, refuseAt } from "../src/base/errors.ts";
import { type Cell, isHistory, isThere } from "../src/schema/cell.ts";
import type {
  CommitJudge,
  JudgedCommit,
  JudgedWrite,
} from "../src/schema/judge.ts";
import { show } from "../src/schema/names.ts";
import { faultOf, kindFault } from "../src/schema/rule_write.ts";
import { type Constraints, Draft, type WrittenItem } from "./constraints.ts";

/** Asks the commits of one batch in their order. */
export class ConstraintJudge implements CommitJudge {
  readonly #constraints: Constraints;
  readonly #draft: Draft;

  constructor(constraints: Constraints) {
    this.#constraints = constraints;
    this.#draft = new Draft(constraints);
  }

  asksOf(collection: string): boolean {
    return this.#constraints.asksOf(collection);
  }

  judge({ number, writes }: JudgedCommit): Refusal | undefined {
    for (const write of writes) {
      const fault = this.#formFault(write);
      if (fault !== undefined) return refuseAt(number, "constraint", fault);
    }
    const fault = this.#draft.take(wholeOf(writes));
    if (fault === undefined) return undefined;
    const { constraint: rule, collection, id, detail } = fault;
    const text = `"${collection}" item ${show(id)}: ${detail}`;
    return { ...refuseAt(number, "constraint", text), rule };
  }

  note({ writes }: JudgedCommit): void {
    this.#draft.take(wholeOf(writes));
  }

  /**
   * No honest writer makes it: it would leave parts of an item that was refused,
   * put another one in its place, or hide a field from what is asked of it.
   */
  #formFault({ operation, before }: JudgedWrite): string | undefined {
    const { shape: { collection }, id } = operation;
    const schema = this.#constraints.of(collection)?.constraints.schema;
    if (schema === undefined || isHistory(operation, before)) return undefined;
    const fault = faultOf(operation, before) ?? kindFault(operation, schema);
    return fault && `"${collection}" item ${show(id)}: ${fault}`;
  }
}

/** What operations do to items, as a whole: each item once. */
function wholeOf(writes: readonly JudgedWrite[]): WrittenItem[] {
  const items = new Map<string, WrittenItem>();
  for (const { operation, before, after } of writes) {
    const { shape: { collection }, id } = operation;
    const key = `${collection} ${id}`; // No collection has a space in its name.
    const known = items.get(key) ??
      { collection, id, before: there(before) };
    items.set(key, { ...known, after: there(after()) });
  }
  return [...items.values()];
}

function there(cell: Cell | undefined): Cell | undefined {
  return cell !== undefined && isThere(cell) ? cell : undefined;
}
