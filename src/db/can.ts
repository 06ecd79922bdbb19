/**
 * Asking whether a write would be allowed, by making it and leaving it.
 *
 * It is the very transaction that would write, judged by the very functions
 * that judge it at the door, abandoned before it is a commit.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import type { Replica, Transaction } from "../../repo/mod.ts";

/** May it be written? */
export type Permission =
  | { readonly allowed: true }
  | {
    readonly allowed: false;
    /** Why not, in the rule's own words. */
    readonly reason: string;
    /** Which rule says so, as `"team/{team} task.update"`. */
    readonly rule: string;
  };

const allowed: Permission = Object.freeze({ allowed: true });
/** Ends the transaction before it is one. */
const rehearsed = new Error("This was a rehearsal");

/** What a denied write tells beside its message. */
interface Denial extends DatabaseError {
  readonly denial?: { readonly rule: string; readonly reason: string };
}

/** Runs a write that is never made, and says whether a rule denies it. */
export function rehearse(
  replica: Replica,
  write: (transaction: Transaction) => void,
): Permission {
  try {
    replica.transact((transaction) => {
      write(transaction);
      throw rehearsed;
    });
  } catch (error) {
    if (error === rehearsed) return allowed;
    if (error instanceof DatabaseError && error.code === "denied") {
      const { reason = error.message, rule = "" } = (error as Denial).denial ??
        {};
      return Object.freeze({ allowed: false, reason, rule });
    }
    throw error;
  }
  return allowed;
}
