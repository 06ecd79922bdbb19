/**
 * Every setting of a server by its one name: as it stands in a file, in the
 * environment (`SHEAF_…`) and as a flag.
 *
 * Architecture invariant: a key that is not known and a value that is not
 * allowed are errors that name the key and where it stood; nothing is ignored.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { logLevels } from "./log.ts";
import { defaultQuotas } from "./options.ts";

/** What a setting's value is. */
export type SettingKind =
  | "text"
  | "secret"
  | "count"
  | "boolean"
  | "list"
  | "users"
  | readonly string[];

/** One setting. */
export interface Setting {
  /** Its name in a file; dots nest. */
  readonly key: string;
  readonly kind: SettingKind;
  /** For a person; also the flag's help. */
  readonly help: string;
  /** The flag, where it is not the key in kebab case. */
  readonly flag?: string;
  /** What a flag's value is called. */
  readonly value?: string;
  /** Lowest number that is allowed (default: 1). */
  readonly min?: number;
  readonly max?: number;
}

/** A user of a static token. */
export interface TokenSetting {
  readonly token: string;
  readonly user: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A parsed value. */
export type SettingValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly TokenSetting[];

const PORT_MAX = 65_535;
const DAYS_MAX = 3_650;

const toggle = (key: string, help: string): Setting => (
  { key, kind: "boolean", help }
);

const text = (key: string, value: string, help: string): Setting => ({
  ...{ key, value, help },
  kind: "text",
});

const quota = (name: keyof typeof defaultQuotas, what: string): Setting => ({
  key: `quotas.${name}`,
  kind: "count",
  help: `${what} (default: ${defaultQuotas[name]})`,
  flag: `quota-${kebab(name)}`,
  value: "n",
});

/** All of them. */
export const settings: readonly Setting[] = [
  { key: "data", kind: "text", value: "dir", help: "folder of the database" },
  {
    key: "port",
    kind: "count",
    value: "n",
    min: 0,
    max: PORT_MAX,
    help: "TCP port; 0 picks a free one",
  },
  text("hostname", "host", "interface to listen on; 0.0.0.0 is all of them"),
  text("path", "path", "what all addresses begin with, as /api/sheaf"),
  text("name", "name", "what clients call this server"),
  {
    key: "mode",
    kind: ["default", "trusted", "fast"],
    value: "mode",
    help: "mode of repositories that are new",
  },
  text("rules", "module", "module that default-exports the rules"),
  { key: "noRules", kind: "boolean", help: "start without earlier rules" },
  { key: "restored", kind: "boolean", help: "wait for what a disk lost" },
  text(
    "schemas",
    "module",
    "module that default-exports schemas, whose constraints hold",
  ),
  {
    key: "login.anonymous",
    kind: "boolean",
    flag: "anonymous",
    help: "let everybody log in",
  },
  {
    key: "login.tokens",
    kind: "users",
    flag: "token",
    value: "user=secret",
    help: "let a user log in with a token; may be repeated",
  },
  {
    key: "login.jwt.secret",
    kind: "secret",
    flag: "jwt-secret",
    value: "text",
    help: "accept JSON Web Tokens (HS256) of this secret",
  },
  {
    key: "login.jwt.publicKey",
    kind: "text",
    flag: "jwt-public-key",
    value: "pem",
    help: "accept JSON Web Tokens of this public key, PEM or JWK",
  },
  {
    key: "login.jwt.jwksUrl",
    kind: "text",
    flag: "jwt-jwks-url",
    value: "url",
    help: "accept JSON Web Tokens of the keys published there",
  },
  {
    key: "login.jwt.issuer",
    kind: "text",
    flag: "jwt-issuer",
    value: "text",
    help: "who must have issued them",
  },
  {
    key: "login.jwt.audience",
    kind: "text",
    flag: "jwt-audience",
    value: "text",
    help: "for whom they must have been issued",
  },
  {
    key: "login.jwt.userClaim",
    kind: "text",
    flag: "jwt-user-claim",
    value: "name",
    help: "which of their claims names the user (default: sub)",
  },
  {
    key: "login.jwt.claims",
    kind: "list",
    flag: "jwt-claim",
    value: "name",
    help: "a claim that rules may read; may be repeated",
  },
  {
    key: "login.module",
    kind: "text",
    flag: "login",
    value: "module",
    help: "module that default-exports a login function of your own",
  },
  {
    key: "sessionDays",
    kind: "count",
    value: "days",
    max: DAYS_MAX,
    help: "how long a session's certificate is good for",
  },
  {
    key: "origins",
    kind: "list",
    flag: "origin",
    value: "origin",
    help: "web pages that may connect (default: of the same host; * is all)",
  },
  text("tls.cert", "file", "certificate chain, PEM"),
  { key: "tls.key", kind: "text", value: "file", help: "private key, PEM" },
  text("static", "dir", "folder of static files to serve"),
  {
    key: "adminToken",
    kind: "secret",
    value: "secret",
    help: "allow /admin to who shows this",
  },
  text(
    "rootKeyFile",
    "file",
    "keep a copy of the root secret there; a new database takes it over",
  ),
  toggle("trustProxy", "believe x-forwarded-for: only behind your own proxy"),
  {
    key: "logLevel",
    kind: logLevels,
    value: "level",
    help: "lowest level that is logged",
  },
  {
    key: "idleMs",
    kind: "count",
    value: "ms",
    help: "close a repository that nobody uses after this long",
  },
  {
    key: "openMax",
    kind: "count",
    value: "n",
    help: "repositories that are open at once",
  },
  {
    key: "drainMs",
    kind: "count",
    value: "ms",
    min: 0,
    help: "how long a shutdown waits for clients",
  },
  toggle("scrub", "read all files now and then, to find rot in time"),
  quota("connections", "connections in total"),
  quota("connectionsPerAddress", "connections of one address"),
  quota("connectionsPerSession", "connections of one session"),
  quota("unproved", "connections that have not proved themselves"),
  quota("unprovedPerAddress", "connections of one address that have not"),
  quota("commitsPerSecond", "commits a second of one session"),
  quota("bytesPerSecond", "bytes a second of one session"),
  quota("loginsPerMinute", "logins a minute of one address"),
  quota("repositoryBytes", "bytes of one repository's log"),
  quota("repositories", "repositories in all"),
  quota("chainsPerMinute", "new chains a minute of one session"),
  quota("repositoriesPerMinute", "new repositories a minute of one session"),
];

/** `someName.of` as `some-name-of`. */
export function kebab(name: string): string {
  return name.replaceAll(".", "-")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The flag of a setting, without dashes. */
export function flagOf({ key, flag }: Setting): string {
  return flag ?? kebab(key);
}

/** The environment variable of a setting. */
export function variableOf(setting: Setting): string {
  return `SHEAF_${kebab(setting.key).replaceAll("-", "_").toUpperCase()}`;
}

/** An error about one key. */
export function badSetting(where: string, why: string): DatabaseError {
  return new DatabaseError("invalid-option", `${where}: ${why}`);
}

/** Reads a value as it stands in JSON. */
export function parseJsonValue(
  setting: Setting,
  value: unknown,
  where: string,
): SettingValue {
  const { kind } = setting;
  if (kind === "list") return parseList(value, where);
  if (kind === "users") return parseUsers(value, where);
  if (kind === "count" && typeof value !== "number") {
    throw badSetting(where, `takes a number, not ${display(value)}`);
  }
  if (kind === "boolean" && typeof value !== "boolean") {
    throw badSetting(where, `takes true or false, not ${display(value)}`);
  }
  const isText = kind !== "count" && kind !== "boolean";
  if (isText && typeof value !== "string") {
    throw badSetting(where, `takes a text, not ${display(value)}`);
  }
  return checkValue(setting, value as string | number | boolean, where);
}

/** Reads a value as it stands in the environment or in flags. */
export function parseTextValue(
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

/** Is it an object with keys? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function display(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
