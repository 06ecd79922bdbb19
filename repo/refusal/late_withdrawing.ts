/**
 * What takes commits back, as far as it is loaded: few pages ever see a refusal.
 *
 * It is there once the door is prepared. A tab follows withdrawals that it did
 * not foresee: {@linkcode unloaded} says so before anything has changed, and
 * they are followed again.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { withdrawing as code } from "./withdrawing.ts";

type Code = typeof code;

let loaded: Code | undefined;

/** What is thrown where it is needed and not loaded. */
export const unloaded: DatabaseError = new DatabaseError(
  "unreachable",
  "The code that acts on refused writes could not be loaded yet: try again",
);

/** What takes commits back. */
export function withdrawing(): Code {
  if (loaded === undefined) throw unloaded;
  return loaded;
}

/** It is loaded. */
export function provideWithdrawing(code: Code): void {
  loaded = code;
}
