/**
 * Asking one rule: whatever it does, the answer is a decision.
 *
 * Architecture invariant: a rule that throws, promises or answers anything but
 * a boolean or text denies, on every replica alike (law 7).
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import { show } from "./names.ts";
import { allowed, type Decision, type RuleResult } from "./rule_types.ts";

/** Asks `rule`, whose name is `name`. */
export function askRule<Context>(
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

/** A denial by the rule of this name. */
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
