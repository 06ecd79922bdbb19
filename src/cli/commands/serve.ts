/**
 * `sheaf serve`: a server from flags, environment and a file; runs until it is
 * told to stop.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import process from "node:process";
import {
  type Config,
  optionsOf,
  readConfig,
  valueOf,
} from "../../../server/settings.ts";
import { createServer } from "../../../server/mod.ts";
import { summaryOf } from "../../../server/summary.ts";
import type { Schema } from "../../schema/schema.ts";
import { escapeControls } from "../escape.ts";
import { type Expected, loadModule, rulesModule } from "../load_module.ts";
import type { Context } from "../session.ts";
import type { AppLogin } from "../../../server/login_options.ts";

/** Runs `sheaf serve`. */
export async function runServe(
  { out, signal }: Context,
  file: string | undefined,
  flags: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const config = await readAll(file, flags);
  const options = optionsOf(config);
  const rules = await load(config, rulesModule);
  const schemas = await load(config, schemasModule);
  const app = await load(config, loginModule);
  const server = await createServer({
    ...options,
    ...(rules !== undefined && { rules }),
    ...(schemas !== undefined && { schemas }),
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
  // A variable that is there has a text.
  const environment = { ...process.env } as Record<string, string>;
  const name = named ?? environment["SHEAF_CONFIG"];
  if (name === undefined) return readConfig({ environment, flags });
  const text = await readFile(name, "utf8");
  return readConfig({ file: { name, text }, environment, flags });
}

/** The default export of a module that a setting names. */
async function load<T>(
  config: Config,
  expected: Expected<T>,
): Promise<T | undefined> {
  const path = valueOf(config, expected.key);
  return typeof path === "string"
    ? await loadModule(path, expected)
    : undefined;
}

const loginModule: Expected<AppLogin> = {
  key: "login.module",
  parse: asLogin,
  hint: "export default async (credentials, request) => ({ user: … })",
};

const schemasModule: Expected<readonly Schema[]> = {
  key: "schemas",
  parse: asSchemas,
  hint: "export default [defineSchema(…), …]",
};

function asSchemas(exported: unknown): readonly Schema[] | undefined {
  const isFit = Array.isArray(exported) &&
    exported.every((one: Partial<Schema> | null) => Array.isArray(one?.plan));
  return isFit ? exported : undefined;
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
