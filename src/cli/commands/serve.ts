/**
 * `sheaf serve`: a server from flags, environment and a file; runs until it is
 * told to stop.
 *
 * @module
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Config,
  optionsOf,
  readConfig,
  valueOf,
} from "../../../server/config.ts";
import type { AppLogin } from "../../../server/login.ts";
import { createServer } from "../../../server/mod.ts";
import { summaryOf } from "../../../server/summary.ts";
import type { Rules } from "../../schema/rules.ts";
import { escapeControls } from "../escape.ts";
import { Failure } from "../failure.ts";
import type { Context } from "../session.ts";

/** Runs `sheaf serve`. */
export async function runServe(
  { out, signal }: Context,
  file: string | undefined,
  flags: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const config = await readAll(file, flags);
  const options = optionsOf(config);
  const rules = await load(config, "rules", asRules);
  const app = await load(config, "login.module", asLogin);
  const server = await createServer({
    ...options,
    ...(rules !== undefined && { rules }),
    login: { ...options.login, ...(app !== undefined && { app }) },
  });
  try {
    for (const line of summaryOf(config, server)) {
      out.line(escapeControls(line));
    }
    out.flush();
    await aborted(signal);
  } finally {
    await server.close();
  }
}

async function readAll(
  named: string | undefined,
  flags: ReadonlyMap<string, readonly string[]>,
): Promise<Config> {
  const environment = Deno.env.toObject();
  const name = named ?? environment["SHEAF_CONFIG"];
  if (name === undefined) return readConfig({ environment, flags });
  const text = await Deno.readTextFile(name);
  return readConfig({ file: { name, text }, environment, flags });
}

/** The default export of a module that a setting names. */
async function load<T>(
  config: Config,
  key: string,
  parse: (exported: unknown) => T | undefined,
): Promise<T | undefined> {
  const path = valueOf(config, key);
  if (typeof path !== "string") return undefined;
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
    key === "rules"
      ? "export default defineRules({ … })"
      : "export default async (credentials, request) => ({ user: … })",
  );
}

/** By its shape: the module may have its own copy of this package. */
function asRules(exported: unknown): Rules | undefined {
  const rules = exported as Partial<Rules> | null | undefined;
  const isFit = typeof rules?.of === "function" &&
    typeof rules.mayRead === "function";
  return isFit ? rules as Rules : undefined;
}

function asLogin(exported: unknown): AppLogin | undefined {
  return typeof exported === "function" ? exported as AppLogin : undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}
