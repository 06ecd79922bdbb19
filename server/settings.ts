/**
 * Every setting of a server by its one name: as it stands in a file, in the
 * environment (`SHEAF_…`) and as a flag.
 *
 * Architecture invariant: a key that is not known and a value that is not
 * allowed are errors that name the key and where it stood; nothing is ignored.
 *
 * What holds: defaults, then a JSON file, then the environment, then flags.
 */

import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { isRecord } from "./body.ts";
import { logLevels } from "./log.ts";
import type { Json, LoginOptions, TokenUser } from "./login_options.ts";
import {
  defaultOptions,
  defaultQuotas,
  type QuotaOptions,
  type ServerOptions,
} from "./options.ts";

export type SettingKind =
  | "text"
  | "secret"
  | "count"
  | "boolean"
  | "list"
  | "users"
  | readonly string[];

export interface Setting {
  /** Its name in a file; dots nest. */
  readonly key: string;
  readonly kind: SettingKind;
  /** For a person; also the flag's help. */
  readonly help: string;
  /** The flag, without dashes. */
  readonly flag: string;
  readonly value?: string;
  /** Lowest number that is allowed (default: 1). */
  readonly min?: number;
  readonly max?: number;
}

export interface TokenSetting {
  readonly token: string;
  readonly user: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

export type SettingValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly TokenSetting[];

const PORT_MAX = 65_535;
const DAYS_MAX = 3_650;

const text = (key: string, value: string, help: string) =>
  setting({ key, kind: "text", value, help });
const secret = (key: string, value: string, help: string) =>
  setting({ key, kind: "secret", value, help });
const count = (key: string, value: string, help: string, bounds = {}) =>
  setting({ key, kind: "count", value, help, ...bounds });
const toggle = (key: string, help: string) =>
  setting({ key, kind: "boolean", help });
const quota = (name: keyof typeof defaultQuotas, what: string) =>
  count(`quotas.${name}`, "n", `${what} (default: ${defaultQuotas[name]})`);

/** A flag names one of many, and says no section where it is clear without. */
function setting(known: Omit<Setting, "flag">): Setting {
  const { key } = known;
  const name = key.replace(/^login\./, "").replace(/^quotas\./, "quota.");
  return {
    ...known,
    flag: kebab(isPlural(known) ? name.replace(/s$/, "") : name),
  };
}

export const settings: readonly Setting[] = [
  text("data", "dir", "folder of the database"),
  count("port", "n", "TCP port; 0 picks a free one", { min: 0, max: PORT_MAX }),
  text("hostname", "host", "interface to listen on; 0.0.0.0 is all of them"),
  text("path", "path", "prefix of all addresses, such as /api/sheaf"),
  text("name", "name", "what clients call this server"),
  setting({
    key: "mode",
    kind: ["default", "trusted", "fast"],
    value: "mode",
    help: "mode of new repositories",
  }),
  text("rules", "module", "module that default-exports the rules"),
  toggle("noRules", "start without rules although there were some"),
  toggle(
    "salt",
    "refuse writes without salt, whose values can be guessed from hashes",
  ),
  toggle("restored", "wait for clients to bring back what a disk lost"),
  text(
    "schemas",
    "module",
    "module that default-exports schemas, whose constraints hold",
  ),
  toggle("login.anonymous", "let everybody log in"),
  setting({
    key: "login.tokens",
    kind: "users",
    value: "user=secret",
    help: "let a user log in with a token; may be repeated",
  }),
  secret(
    "login.jwt.secret",
    "text",
    "accept JSON Web Tokens signed with this secret (HS256)",
  ),
  text(
    "login.jwt.publicKey",
    "pem",
    "accept JSON Web Tokens that this public key verifies, PEM or JWK",
  ),
  text(
    "login.jwt.jwksUrl",
    "url",
    "accept JSON Web Tokens of the keys published at this address",
  ),
  text("login.jwt.issuer", "text", "who must have issued them"),
  text(
    "login.jwt.audience",
    "text",
    "for whom they must have been issued",
  ),
  text(
    "login.jwt.userClaim",
    "name",
    "which of their claims names the user (default: sub)",
  ),
  setting({
    key: "login.jwt.claims",
    kind: "list",
    value: "name",
    help: "a claim that rules may read; may be repeated",
  }),
  {
    ...text(
      "login.module",
      "module",
      "module that default-exports a login function of your own",
    ),
    flag: "login",
  },
  count("sessionDays", "days", "how long a session's certificate is valid", {
    max: DAYS_MAX,
  }),
  setting({
    key: "origins",
    kind: "list",
    value: "origin",
    help: "web pages that may connect (default: of the same host; * is all)",
  }),
  text("tls.cert", "file", "certificate chain, PEM"),
  text("tls.key", "file", "private key, PEM"),
  text("static", "dir", "folder of static files to serve"),
  text(
    "contentSecurityPolicy",
    "policy",
    "what pages among them may load (default: only from the same origin)",
  ),
  secret("adminToken", "secret", "allow /admin to whoever has this token"),
  text(
    "rootKeyFile",
    "file",
    "keep a copy of the root secret there; a new database uses it",
  ),
  toggle("trustProxy", "believe x-forwarded-for: only behind your own proxy"),
  setting({
    key: "logLevel",
    kind: logLevels,
    value: "level",
    help: "lowest level that is logged",
  }),
  count("idleMs", "ms", "close a repository that was idle for this long"),
  count("openMax", "n", "most repositories open at once"),
  count("drainMs", "ms", "how long a shutdown waits for clients", { min: 0 }),
  toggle("scrub", "read all files regularly, to find damage in time"),
  quota("connections", "connections in total"),
  quota("connectionsPerAddress", "connections of one address"),
  quota("connectionsPerSession", "connections of one session"),
  quota("unproved", "connections that have not proved themselves"),
  quota("unprovedPerAddress", "unproved connections of one address"),
  quota("commitsPerSecond", "commits a second of one session"),
  quota("bytesPerSecond", "bytes a second of one session"),
  quota("loginsPerMinute", "logins a minute of one address"),
  quota("repositoryBytes", "bytes of one repository's log"),
  quota("repositories", "repositories in all"),
  quota("chainsPerMinute", "new chains a minute of one session"),
  quota("repositoriesPerMinute", "new repositories a minute of one session"),
];

/** `someName.of` as `some-name-of`. */
function kebab(name: string): string {
  return name.replaceAll(".", "-")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function variableOf(setting: Setting): string {
  return `SHEAF_${kebab(setting.key).replaceAll("-", "_").toUpperCase()}`;
}

function badSetting(where: string, why: string): DatabaseError {
  return new DatabaseError("invalid-option", `${where}: ${why}`);
}

function parseJsonValue(
  setting: Setting,
  value: unknown,
  where: string,
): SettingValue {
  const { kind } = setting;
  if (kind === "list") return parseList(value, where);
  if (kind === "users") return parseUsers(value, where);
  const isOf: string = typeof value;
  const [type, what] = kind === "count"
    ? ["number", "a number"]
    : kind === "boolean"
    ? ["boolean", "true or false"]
    : ["string", "a text"];
  if (isOf !== type) {
    throw badSetting(where, `takes ${what}, not ${display(value)}`);
  }
  return checkValue(setting, value as string | number | boolean, where);
}

/** Reads a value as it stands in the environment or in flags. */
function parseTextValue(
  setting: Setting,
  texts: readonly string[],
  where: string,
): SettingValue {
  const { kind } = setting;
  if (kind === "list") return texts;
  if (kind === "users") return texts.map((text) => parseToken(text, where));
  const text = texts.at(-1) ?? "";
  if (kind === "boolean") return parseBoolean(text, where);
  if (kind === "count") {
    if (!/^\d{1,15}$/.test(text)) {
      throw badSetting(where, `takes a whole number, not ${display(text)}`);
    }
    return checkValue(setting, Number(text), where);
  }
  return checkValue(setting, text, where);
}

function checkValue(
  { kind, min = 1, max = Number.MAX_SAFE_INTEGER }: Setting,
  value: string | number | boolean,
  where: string,
): SettingValue {
  if (typeof value === "number") {
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw badSetting(
      where,
      `takes a whole number from ${min} to ${max}, not ${value}`,
    );
  }
  if (typeof value !== "string") return value;
  if (value === "") throw badSetting(where, "is empty");
  if (typeof kind !== "string" && !kind.includes(value)) {
    throw badSetting(
      where,
      `takes ${kind.join(", ")}, not ${display(value)}`,
    );
  }
  return value;
}

function parseBoolean(text: string, where: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw badSetting(where, `takes true or false, not ${display(text)}`);
}

function parseList(value: unknown, where: string): readonly string[] {
  if (
    Array.isArray(value) &&
    value.every((entry) => typeof entry === "string" && entry !== "")
  ) {
    return value;
  }
  throw badSetting(where, "takes a list of texts");
}

/** `user=secret`; the secret may have more equals signs. */
function parseToken(text: string, where: string): TokenSetting {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) {
    return { user: text.slice(0, at), token: text.slice(at + 1) };
  }
  throw badSetting(where, "takes user=secret");
}

function parseUsers(value: unknown, where: string): TokenSetting[] {
  if (!isRecord(value)) {
    throw badSetting(
      where,
      "takes users by token: { token: { user, claims } }",
    );
  }
  return Object.entries(value).map(([token, entry]) => {
    const known = isRecord(entry) &&
      Object.keys(entry).every((key) => key === "user" || key === "claims");
    const { user, claims } = known ? entry : {};
    if (typeof user !== "string") {
      throw badSetting(where, "has an entry that is not { user, claims }");
    }
    if (claims === undefined) return { token, user };
    if (!isRecord(claims)) {
      throw badSetting(
        where,
        `has claims of ${display(user)} that are no object`,
      );
    }
    return { token, user, claims };
  });
}

function display(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

export type Source = "default" | "file" | "environment" | "flag";

export type Config = ReadonlyMap<
  string,
  { readonly value: SettingValue; readonly source: Source }
>;

export interface ConfigInput {
  /** Text of the JSON file, and its name for messages. */
  readonly file?: { readonly name: string; readonly text: string };
  readonly environment?: Readonly<Record<string, string>>;
  /** Values of flags, by key. */
  readonly flags?: ReadonlyMap<string, readonly string[]>;
}

const defaults: Readonly<Record<string, SettingValue>> = {
  ...defaultOptions,
  data: "./data",
  mode: "default",
  "login.anonymous": false,
};

/** Ours, but for the name of the file, and what tests are told. */
const VARIABLE = /^SHEAF_(?!CONFIG$|TEST_)/;

/** Reads a configuration; `invalid-option` names the key. */
export function readConfig(input: ConfigInput): Config {
  const config = new Map<string, { value: SettingValue; source: Source }>();
  const said: [Source, Iterable<[string, SettingValue]>][] = [
    ["default", Object.entries(defaults)],
    ["file", fileValues(input.file)],
    ["environment", environmentValues(input.environment ?? {})],
    ["flag", flagValues(input.flags ?? new Map())],
  ];
  for (const [source, values] of said) {
    for (const [key, value] of values) config.set(key, { value, source });
  }
  return config;
}

function* flagValues(
  flags: NonNullable<ConfigInput["flags"]>,
): Generator<[string, SettingValue]> {
  for (const [key, texts] of flags) {
    const setting = settings.find((one) => one.key === key)!;
    yield [key, parseTextValue(setting, texts, `Flag for "${key}"`)];
  }
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
    if (!VARIABLE.test(name)) continue;
    const setting = byVariable.get(name);
    const where = `Environment variable ${name}`;
    if (setting === undefined) throw badSetting(where, "is not known");
    const texts = isPlural(setting) ? text.split(",") : [text];
    yield [setting.key, parseTextValue(setting, texts, where)];
  }
}

export function isPlural({ kind }: Pick<Setting, "kind">): boolean {
  return kind === "list" || kind === "users";
}

export function valueOf(config: Config, key: string): SettingValue | undefined {
  return config.get(key)?.value;
}

/** A server's options, but for what is to be loaded from modules. */
export function optionsOf(config: Config): ServerOptions {
  const { rules: _, schemas: __, ...options } = section(config, "");
  return {
    ...options,
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
  const users = valueOf(config, "login.tokens");
  return {
    anonymous: valueOf(config, "login.anonymous") === true,
    ...(users && { tokens: tokensOf(users as readonly TokenSetting[]) }),
    ...(Object.keys(jwt).length > 0 && { jwt }),
  };
}

function tokensOf(users: readonly TokenSetting[]): Record<string, TokenUser> {
  return Object.fromEntries(users.map(({ token, user, claims = {} }) => // Proof: claims came out of JSON.parse.
  [token, { user, claims: claims as Record<string, Json> }]));
}

/** The keys of a section, without its name: those in no section below it. */
function section(config: Config, prefix: string): Record<string, SettingValue> {
  const found: Record<string, SettingValue> = {};
  for (const [key, { value }] of config) {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : ".";
    if (!name.includes(".")) found[name] = value;
  }
  return found;
}
