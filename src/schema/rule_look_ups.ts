/**
 * Asking one rule: whatever it does, the answer is a decision. And look-ups: what
 * it may see of its repository besides the item that it is asked about.
 *
 * Architecture invariant: a rule that throws, promises or answers anything but a
 * boolean or text denies, on every replica alike (law 7); so is one denied that
 * looks up too much, or what is no item, whatever it makes of that itself.
 */

import { limits } from "../base/limits.ts";
import { isThere } from "./cell.ts";
import type { Cells } from "./judge.ts";
import { show } from "./names.ts";
import { ruleItem } from "./rule_item.ts";
import type { RichState } from "./rich_state.ts";
import {
  allowed,
  type Decision,
  type LookUp,
  type RuleResult,
} from "./rule_types.ts";
import type { Infer, Schema } from "./schema.ts";
import { createView, type View } from "./view.ts";

/** A repository around a commit; `undefined` is what is not known yet. */
export interface Around {
  /** What is here without it. */
  readonly before?: Cells | undefined;
  /** What is here with all that it does. */
  readonly after?: Cells | undefined;
  /** Counts what rules read of large fields, where that has an end. */
  readonly room?: Room;
}

export interface Room {
  readonly isFull: boolean;
  /** A rule reads a field; throws where there is no room for what it is put together of. */
  read(state: RichState): void;
}

interface Asking {
  readonly around: Around;
  /** How many more items it may look up. */
  left: number;
  /** Has it looked at what is not known yet? */
  isEarly: boolean;
}

export class LookUps {
  readonly get: LookUp = (...asked) => this.#look("before", ...asked);
  readonly getAfter: LookUp = (...asked) => this.#look("after", ...asked);
  readonly #views = new WeakMap<Schema, View>();
  #asking: Asking | undefined;

  /** The rule that is asked reads a field of parts. */
  readonly read = (state: RichState): void =>
    this.#asking?.around.room?.read(state);

  /** Asks a rule; `undefined` when it looks at what is not known yet. */
  ask<Context>(
    around: Around,
    name: string,
    rule: (context: Context) => RuleResult,
    context: Context,
  ): Decision | undefined {
    const outer = this.#asking; // A rule may ask what it may do.
    const asking = { around, left: limits.ruleLookUpsMax, isEarly: false };
    this.#asking = asking;
    const decision = askRule(name, rule, context);
    this.#asking = outer;
    if (asking.left < 0) {
      const reason = `It looks up more than ${limits.ruleLookUpsMax} items`;
      return denial(name, reason);
    }
    if (around.room?.isFull) {
      const reason = "Its batch has rules read too much of large fields";
      return denial(name, reason);
    }
    return asking.isEarly ? undefined : decision;
  }

  #look<S extends Schema>(
    when: "before" | "after",
    schema: S,
    id: string,
  ): Infer<S> | undefined {
    const asking = this.#asking;
    if (asking === undefined) throw new Error("nobody asks it now");
    if (--asking.left < 0) throw new Error("it looks up too many items");
    if (typeof id !== "string") throw new Error(`${show(id)} is no id`);
    const cells = asking.around[when];
    if (cells === undefined) {
      asking.isEarly = true;
      throw new Error("it is not known yet");
    }
    const cell = cells.cellOf(schema.name, id);
    if (cell === undefined || !isThere(cell)) return undefined;
    let view = this.#views.get(schema);
    if (view === undefined) this.#views.set(schema, view = createView(schema));
    // Proof: it is shown as the schema says.
    return ruleItem(() => cell, view, this.read) as Infer<S>;
  }
}

function askRule<Context>(
  name: string,
  rule: (context: Context) => RuleResult,
  context: Context,
): Decision {
  let answer: unknown;
  try {
    answer = rule(context);
  } catch (error) {
    return denial(name, `The rule failed: ${messageOf(error)}`);
  }
  if (answer === true) return allowed;
  if (answer === false || answer === "") {
    return denial(name, "The rule does not allow it");
  }
  if (typeof answer === "string") return denial(name, answer);
  return denial(name, faultOf(answer));
}

export function denial(rule: string, reason: string): Decision {
  const text = reason.isWellFormed() ? reason : reason.toWellFormed();
  const isLong = text.length > limits.ruleReasonMax;
  return Object.freeze({
    allowed: false,
    reason: isLong
      ? text.slice(0, limits.ruleReasonMax - 1).toWellFormed() + "…"
      : text,
    rule,
  });
}

function faultOf(answer: unknown): string {
  if (isThenable(answer)) {
    Promise.resolve(answer).catch(() => {}); // Nobody waits for it.
    return "The rule gave a promise: rules are synchronous";
  }
  return `The rule gave ${show(answer)}: true, false or a reason is expected`;
}

function isThenable(value: unknown): boolean {
  try {
    return typeof (value as { then?: unknown } | null)?.then === "function";
  } catch {
    return false;
  }
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : show(error);
  } catch {
    return "it threw what cannot be shown";
  }
}
