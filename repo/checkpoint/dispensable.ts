/**
 * Which failures are a checkpoint's: without it all is well, only later.
 *
 * @module
 */

import { hasCode } from "../../src/base/errors.ts";

/** Is it the checkpoint that is at fault? */
export function isDispensable(cause: unknown): boolean {
  return cause instanceof SyntaxError || hasCode(cause, "checkpoint-damaged");
}
