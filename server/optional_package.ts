/**
 * Packages that only some servers need, and that npm therefore does not bring
 * by itself.
 */

import { DatabaseError } from "../src/base/errors.ts";

/** What a platform says of a package that is not there. */
const MISSING = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"];

export async function loadOptional<T>(
  load: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await load();
  } catch (cause) {
    if (MISSING.includes(String((cause as { code?: unknown }).code))) return;
    throw cause;
  }
}

/** The error of a setting whose package is missing. */
export function packageMissing(setting: string, name: string): DatabaseError {
  return new DatabaseError(
    "invalid-option",
    `\`${setting}\` needs the package ${name}, which is not installed: npm install ${name}`,
  );
}
