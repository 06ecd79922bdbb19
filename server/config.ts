/**
 * The configuration of a server that is started from the command line:
 * defaults, then a JSON file, then the environment, then flags.
 *
 * @module
 */

import { limits } from "../src/base/limits.ts";
import type { Json, LoginOptions } from "./login.ts";
import type { LogLevel } from "./log.ts";
import type { TokenUser } from "./login_tokens.ts";
import type { Mode } from "../repo/mod.ts";
import type { QuotaOptions, ServerOptions } from "./options.ts";
import {
  badSetting,
  isRecord,
  parseJsonValue,
  parseTextValue,
  type Setting,
  settings,
  type SettingValue,
  type TokenSetting,
  variableOf,
} from "./settings.ts";

/** Where a value was said. */
export type Source = "default" | "file" | "environment" | "flag";

/** What holds, and since where. */
export type Config = ReadonlyMap<
  string,
  { readonly value: SettingValue; readonly source: Source }
>;

/** What a configuration is read from. */
export interface ConfigInput {
  /** Text of the JSON file, and its name for messages. */
  readonly file?: { readonly name: string; readonly text: string };
  readonly environment?: Readonly<Record<string, string>>;
  /** Values of flags, by key. */
  readonly flags?: ReadonlyMap<string, readonly string[]>;
}

/** What holds when nothing is said. */
const defaults: Readonly<Record<string, SettingValue>> = {
  data: "./data",
  port: 8080,
  hostname: "127.0.0.1",
  path: "/",
  name: "sheaf",
  mode: "default",
  "login.anonymous": false,
  sessionDays: 30,
  trustProxy: false,
  logLevel: "info",
  idleMs: 60_000,
  openMax: 1_000,
  drainMs: 5_000,
  scrub: true,
};

/** Is this variable ours, and no setting: the name of the file, or what tests are told? */
function isNoSetting(variable: string): boolean {
  return variable === "SHEAF_CONFIG" || variable.startsWith("SHEAF_TEST_");
}

/**
 * Reads a configuration.
 *
 * @throws {DatabaseError} `invalid-option`, which names the key
 */
export function readConfig(input: ConfigInput): Config {
  const config = new Map<string, { value: SettingValue; source: Source }>();
  const put = (key: string, value: SettingValue, source: Source) =>
    config.set(key, { value, source });
  for (const [key, value] of Object.entries(defaults)) {
    put(key, value, "default");
  }
  for (const [key, value] of fileValues(input.file)) put(key, value, "file");
  for (const [key, value] of environmentValues(input.environment ?? {})) {
    put(key, value, "environment");
  }
  for (const [key, texts] of input.flags ?? []) {
    const setting = settings.find((one) => one.key === key)!;
    put(key, parseTextValue(setting, texts, `Flag for "${key}"`), "flag");
  }
  return config;
}

function* fileValues(
  file: ConfigInput["file"],
): Generator<[string, SettingValue]> {
  if (file === undefined) return;
  const { name, text } = file;
  if (text.length > limits.configBytesMax) {
    throw badSetting(name, `is over ${limits.configBytesMax} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badSetting(name, `is no JSON: ${(cause as Error).message}`);
  }
  if (!isRecord(value)) throw badSetting(name, "must hold a JSON object");
  yield* nestedValues(value, "", name);
}

function* nestedValues(
  record: Record<string, unknown>,
  prefix: string,
  file: string,
): Generator<[string, SettingValue]> {
  for (const [name, value] of Object.entries(record)) {
    const key = `${prefix}${name}`;
    const where = `Key "${key}" in ${file}`;
    const setting = settings.find((one) => one.key === key);
    if (setting !== undefined) {
      yield [key, parseJsonValue(setting, value, where)];
    } else if (
      isRecord(value) && settings.some((one) => one.key.startsWith(`${key}.`))
    ) {
      yield* nestedValues(value, `${key}.`, file);
    } else {
      throw badSetting(where, "is not known");
    }
  }
}

function* environmentValues(
  environment: Readonly<Record<string, string>>,
): Generator<[string, SettingValue]> {
  const byVariable = new Map(settings.map((one) => [variableOf(one), one]));
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith("SHEAF_") || isNoSetting(name)) continue;
    const setting = byVariable.get(name);
    if (setting === undefined) {
      throw badSetting(`Environment variable ${name}`, "is not known");
    }
    const texts = isPlural(setting) ? text.split(",") : [text];
    const where = `Environment variable ${name}`;
    yield [setting.key, parseTextValue(setting, texts, where)];
  }
}

function isPlural({ kind }: Setting): boolean {
  return kind === "list" || kind === "users";
}

/** The value of a key, where it has one. */
export function valueOf(config: Config, key: string): SettingValue | undefined {
  return config.get(key)?.value;
}

/** A server's options, but for what is to be loaded from modules. */
export function optionsOf(config: Config): ServerOptions {
  const value = (key: string) => valueOf(config, key);
  const optional = <T>(name: string, key = name): Record<string, T> => {
    const found = value(key);
    // Proof: the key's kind was checked when it was read.
    return found === undefined ? {} : { [name]: found as T };
  };
  return {
    ...optional<string>("data"),
    ...optional<number>("port"),
    ...optional<string>("hostname"),
    ...optional<string>("path"),
    ...optional<string>("name"),
    ...optional<Mode>("mode"),
    ...optional<number>("sessionDays"),
    ...optional<readonly string[]>("origins"),
    ...optional<string>("static"),
    ...optional<string>("adminToken"),
    ...optional<string>("rootKeyFile"),
    ...optional<boolean>("noRules"),
    ...optional<boolean>("restored"),
    ...optional<boolean>("trustProxy"),
    ...optional<LogLevel>("logLevel"),
    ...optional<number>("idleMs"),
    ...optional<number>("openMax"),
    ...optional<number>("drainMs"),
    ...optional<boolean>("scrub"),
    ...tlsOf(config),
    quotas: section(config, "quotas.") as QuotaOptions,
    login: loginOf(config),
  };
}

function tlsOf(config: Config): Pick<ServerOptions, "tls"> {
  const { cert, key } = section(config, "tls.");
  if (cert === undefined && key === undefined) return {};
  if (typeof cert === "string" && typeof key === "string") {
    return { tls: { cert, key } };
  }
  throw badSetting("tls", "takes both a `cert` and a `key` file");
}

function loginOf(config: Config): LoginOptions {
  const jwt = section(config, "login.jwt.");
  const users = valueOf(config, "login.tokens") as
    | readonly TokenSetting[]
    | undefined;
  return {
    anonymous: valueOf(config, "login.anonymous") === true,
    ...(users !== undefined && { tokens: tokensOf(users) }),
    ...(Object.keys(jwt).length > 0 && { jwt }),
  };
}

function tokensOf(
  users: readonly TokenSetting[],
): Record<string, TokenUser> {
  const tokens = users.map(({ token, user, claims }) =>
    // Proof: claims came out of JSON.parse.
    [token, { user, claims: (claims ?? {}) as Record<string, Json> }] as const
  );
  return Object.fromEntries(tokens);
}

/** The keys of a section, without its name. */
function section(config: Config, prefix: string): Record<string, SettingValue> {
  const found: Record<string, SettingValue> = {};
  for (const [key, { value }] of config) {
    if (key.startsWith(prefix)) found[key.slice(prefix.length)] = value;
  }
  return found;
}
