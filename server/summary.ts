/**
 * What a server prints when it starts: its settings with secrets masked, its
 * root key, where the root secret lies, what is unwise, and how a client
 * connects.
 *
 * @module
 */

import { toHex } from "../src/base/bytes.ts";
import {
  type Config,
  settings,
  type SettingValue,
  type TokenSetting,
  valueOf,
} from "./settings.ts";

/** What is known of a server that has started. */
export interface Started {
  readonly url: string;
  readonly rootKey: Uint8Array;
  /** Was the database made just now? */
  readonly isNew: boolean;
}

const WIDTH = 18;

/** The lines of a summary. */
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

/** What an operator should know. */
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
