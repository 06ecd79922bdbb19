/**
 * `sheaf serve`: a server from flags, environment and a file; runs until it is
 * told to stop.
 *
 * What a server prints when it starts: its settings with secrets masked, its
 * root key, where the root secret lies, what is unwise, and how a client
 * connects.
 */

import { readFile } from "node:fs/promises";
import process from "node:process";
import {
  type Config,
  optionsOf,
  readConfig,
  settings,
  type SettingValue,
  type TokenSetting,
  valueOf,
} from "../../../server/settings.ts";
import { createServer } from "../../../server/mod.ts";
import type { Schema } from "../../schema/schema.ts";
import { escapeControls } from "../output.ts";
import { type Expected, loadModule, rulesModule } from "../load_module.ts";
import type { Context } from "../session.ts";
import type { AppLogin } from "../../../server/login_options.ts";
import { toHex } from "../../base/bytes.ts";

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

interface Started {
  readonly url: string;
  readonly rootKey: Uint8Array;
  readonly isNew: boolean;
}

const WIDTH = 18;

export function summaryOf(config: Config, started: Started): string[] {
  const name = String(valueOf(config, "name"));
  const rows: [string, string][] = [];
  for (const setting of settings) {
    const entry = config.get(setting.key);
    if (entry === undefined || setting.key === "name") continue;
    const shown = setting.kind === "secret" ? "***" : display(entry.value);
    const source = entry.source === "default" ? "" : `  (${entry.source})`;
    rows.push([setting.key, `${shown}${source}`]);
  }
  return [
    `Sheaf server "${name}" listens on ${started.url}`,
    ...rows.map(([key, text]) => `  ${key.padEnd(WIDTH)} ${text}`),
    `  ${"root key".padEnd(WIDTH)} ${toHex(started.rootKey)}`,
    ...rootSecretLines(config, started),
    ...warningsOf(config).map((text) => `warning: ${text}`),
    `client: ${clientLine(config, started)}`,
  ];
}

function display(value: SettingValue): string {
  if (typeof value !== "object") return String(value);
  if (value.length === 0) return "none";
  return value.map((one) => typeof one === "string" ? one : userOf(one))
    .join(", ");
}

function userOf({ user }: TokenSetting): string {
  return `${user}=***`;
}

function rootSecretLines(config: Config, { isNew }: Started): string[] {
  const keys = `${valueOf(config, "data")}/database`;
  const file = valueOf(config, "rootKeyFile");
  const lies = `  ${"root secret".padEnd(WIDTH)} in ${keys}` +
    (file === undefined ? "" : `, and a copy in ${file}`);
  if (!isNew) return [lies];
  return [
    lies,
    file === undefined
      ? `  It was made just now. Back up ${keys}: who has it can certify ` +
        "sessions, and without it a lost disk cannot be replaced."
      : `  Keep ${file} on another disk: who has it can certify sessions, ` +
        "and with it a lost disk can be replaced.",
  ];
}

export function warningsOf(config: Config): string[] {
  const has = (key: string) => valueOf(config, key) !== undefined;
  const isAnonymous = valueOf(config, "login.anonymous") === true;
  const takesJwt = ["secret", "publicKey", "jwksUrl"].some((key) =>
    has(`login.jwt.${key}`)
  );
  const offersLogin = isAnonymous || has("login.tokens") ||
    has("login.module") || takesJwt;
  const warnings: string[] = [];
  if (!has("rules")) {
    warnings.push(
      "no rules: every session may read and write every repository (--rules MODULE)",
    );
  }
  const mode = valueOf(config, "mode") ?? "default";
  if (has("rules") && mode !== "default") {
    warnings.push(
      `rules say who may read, and are asked of no write: ${mode} mode does not tell who wrote (--mode default)`,
    );
  }
  if (isAnonymous) {
    warnings.push("anonymous login is on: everybody gets a session");
  }
  if (takesJwt && !has("login.jwt.audience")) {
    warnings.push(
      "tokens for any audience are taken, also those meant for other apps (--jwt-audience)",
    );
  }
  if (!offersLogin) {
    warnings.push(
      "no kind of login is on: new clients cannot come (--token user=secret, --jwt-…, --anonymous)",
    );
  }
  if (valueOf(config, "origins")?.toString() === "*") {
    warnings.push("pages of every origin may connect");
  }
  if (!has("tls.cert") && !isLocal(String(valueOf(config, "hostname")))) {
    warnings.push(
      "no TLS on a public interface: give --tls-cert and --tls-key, or put a proxy before it",
    );
  }
  return warnings;
}

function isLocal(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" ||
    hostname.startsWith("127.");
}

function clientLine(config: Config, { url, rootKey }: Started): string {
  const address = url.replace(/^http/, "ws");
  const isAnonymous = valueOf(config, "login.anonymous") === true;
  const session = isAnonymous ? "{ anonymous: true }" : '{ token: "…" }';
  return `openDatabase({ path: "ann", rootKey: "${toHex(rootKey)}" }) … ` +
    `db.connect("${address}", { session: ${session} })`;
}
