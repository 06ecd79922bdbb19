/** Modules of the app that a command is given: rules, logins. */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Rules } from "../schema/rules.ts";
import { Failure } from "./failure.ts";

export interface Expected<T> {
  /** What the person called it: a setting's key or an option. */
  readonly key: string;
  /** `undefined` when it is something else. */
  readonly parse: (exported: unknown) => T | undefined;
  /** How it should read. */
  readonly hint: string;
}

/** The default export of a module, by its path or address. */
export async function loadModule<T>(
  path: string,
  { key, parse, hint }: Expected<T>,
): Promise<T> {
  const address = /^[a-z]+:/.test(path)
    ? path
    : pathToFileURL(resolve(path)).href;
  let module: { readonly default?: unknown };
  try {
    module = await import(address);
  } catch (cause) {
    throw new Failure(
      "invalid-option",
      `Cannot load ${path} for "${key}": ${(cause as Error).message}`,
    );
  }
  const parsed = parse(module.default);
  if (parsed !== undefined) return parsed;
  throw new Failure(
    "invalid-option",
    `${path} default-exports nothing that "${key}" can use`,
    hint,
  );
}

export const rulesModule: Expected<Rules> = {
  key: "rules",
  parse: asRules,
  hint: "export default defineRules({ … })",
};

/** By its shape: the module may have its own copy of this package. */
function asRules(exported: unknown): Rules | undefined {
  const rules = exported as Partial<Rules> | null | undefined;
  const isFit = typeof rules?.of === "function" &&
    typeof rules.mayRead === "function";
  return isFit ? rules as Rules : undefined;
}
