/**
 * Login: from credentials to a user and claims.
 *
 * A server offers one or more kinds: anonymous, static tokens, JSON Web Tokens,
 * and a function of the app's own. What is not offered is refused. Who may do
 * what is not decided here: rules read the user and the claims.
 *
 * Architecture invariant: credentials are foreign input: parsed, bounded, never
 * logged.
 *
 * @module
 */

import { encodeText } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { checkOptions } from "../src/base/known_options.ts";
import { limits } from "../src/base/limits.ts";
import { type JwtOptions, jwtOptions } from "./jwt_options.ts";
import { loadOptional, packageMissing } from "./optional_package.ts";
import { StaticTokens, type TokenUser } from "./login_tokens.ts";

/** A JSON value. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/** What rules may read of a session. */
export type Claims = Readonly<Record<string, Json>>;

/** What a client shows. */
export type Credentials =
  | { readonly kind: "anonymous" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "jwt"; readonly jwt: string }
  | { readonly kind: "app"; readonly app: Json };

/** Who somebody is. */
export interface LoggedIn {
  readonly user: string;
  readonly claims: Claims;
}

/** Why somebody is nobody, for them to read. */
export interface LoginRefusal {
  readonly refused: string;
}

/** What an app's own function answers. */
export type AppLogin = (
  credentials: Json,
  request: Request,
) => AppAnswer | Promise<AppAnswer>;

/** A user, or a refusal with its reason. */
export type AppAnswer =
  | { readonly user: string; readonly claims?: Claims }
  | LoginRefusal;

/** Which kinds of login a server offers. */
export interface LoginOptions {
  /** Everybody may come; each session key is a user of its own. Claims for all of them may be given. */
  readonly anonymous?: boolean | { readonly claims?: Claims };
  /** Users by token; a key `sha256:<64 hex digits>` is the hash of one. */
  readonly tokens?: Readonly<Record<string, TokenUser>>;
  readonly jwt?: JwtOptions;
  readonly app?: AppLogin;
}

const loginOptions = { anonymous: 0, tokens: 0, jwt: 0, app: 0 };

/** The kinds of login that are offered. */
export interface Login {
  readonly kinds: readonly Credentials["kind"][];
  /**
   * Says who shows the credentials.
   *
   * @param sessionKey hexadecimal
   */
  of(
    credentials: Credentials,
    sessionKey: string,
    request: Request,
  ): Promise<LoggedIn | LoginRefusal>;
}

async function verifierOf(options: JwtOptions, world: { now(): number }) {
  const jwt = await loadOptional(() => import("./login_jwt.ts"));
  if (jwt === undefined) throw packageMissing("login.jwt", "jose");
  return jwt.jwtVerifier(options, world);
}

/** Makes the login that the options ask for. */
export async function createLogin(options: LoginOptions, world: {
  now(): number;
}): Promise<Login> {
  const tokens = new StaticTokens(options.tokens ?? {});
  const verifyJwt = options.jwt && await verifierOf(options.jwt, world);
  const { anonymous, app } = options;
  const kinds: Credentials["kind"][] = [];
  if (isOffered(anonymous)) kinds.push("anonymous");
  if (tokens.size > 0) kinds.push("token");
  if (verifyJwt !== undefined) kinds.push("jwt");
  if (app !== undefined) kinds.push("app");
  const decide = (
    credentials: Credentials,
    sessionKey: string,
    request: Request,
  ) => {
    if (!kinds.includes(credentials.kind)) {
      return notOffered(credentials, kinds);
    }
    switch (credentials.kind) {
      case "anonymous":
        return anonymousUser(anonymous, sessionKey);
      case "token":
        return tokens.find(credentials.token) ?? UNKNOWN_TOKEN;
      case "jwt":
        return verifyJwt!(credentials.jwt);
      case "app":
        return app!(credentials.app, request);
    }
  };
  return {
    kinds,
    of: async (credentials, sessionKey, request) =>
      checkAnswer(await decide(credentials, sessionKey, request)),
  };
}

const UNKNOWN_TOKEN: LoginRefusal = { refused: "The token is not known" };

function isOffered(anonymous: LoginOptions["anonymous"]): boolean {
  return anonymous !== undefined && anonymous !== false;
}

function notOffered(
  { kind }: Credentials,
  kinds: readonly string[],
): LoginRefusal {
  const offered = kinds.length === 0 ? "none" : kinds.join(", ");
  return {
    refused:
      `This server offers no login of kind "${kind}"; it offers ${offered}`,
  };
}

function anonymousUser(
  options: LoginOptions["anonymous"],
  sessionKey: string,
): AppAnswer {
  const claims = typeof options === "object" ? options.claims : undefined;
  const user = `anonymous-${sessionKey.slice(0, 16)}`;
  return claims === undefined ? { user } : { user, claims };
}

/** An answer may come from a token or an app: it must fit a certificate. */
function checkAnswer(answer: AppAnswer): LoggedIn | LoginRefusal {
  if ("refused" in answer) return { refused: String(answer.refused) };
  const { user, claims = {} } = answer;
  if (!isUser(user)) return { refused: "The user's name is not allowed" };
  if (!isRecord(claims)) return { refused: "The claims are no object" };
  if (encodeText(canonicalJson(claims)).length > limits.claimsBytesMax) {
    return { refused: "The claims are too large" };
  }
  return { user, claims };
}

/** Can it be a user's name in a certificate? */
export function isUser(user: unknown): user is string {
  return typeof user === "string" && user !== "" && user.isWellFormed() &&
    encodeText(user).length <= limits.userBytesMax;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON with sorted keys, so that equal claims are equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isRecord(inner)) return inner;
    const entries = Object.entries(inner);
    return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
  });
}

/** Reads credentials of a request; `SyntaxError` when they are none. */
export function parseCredentials(value: unknown): Credentials {
  if (!isRecord(value) || Object.keys(value).length !== 1) {
    throw new SyntaxError(
      "`credentials` must be an object with one of the keys anonymous, token, jwt and app",
    );
  }
  const { anonymous, token, jwt, app } = value;
  if (anonymous === true) return { kind: "anonymous" };
  if (isSecretText(token)) return { kind: "token", token };
  if (isSecretText(jwt)) return { kind: "jwt", jwt };
  // Proof: what JSON.parse made is JSON.
  if (app !== undefined) return { kind: "app", app: app as Json };
  throw new SyntaxError("`credentials` has a key or value that is not known");
}

function isSecretText(value: unknown): value is string {
  return typeof value === "string" && value !== "" &&
    value.length <= limits.httpBodyBytesMax;
}

/** Refuses options of which somebody will be surprised. */
export function checkLoginOptions(options: LoginOptions): void {
  checkOptions(options, loginOptions, "login.");
  checkOptions(options.jwt ?? {}, jwtOptions, "login.jwt.");
  for (const [token, { user }] of Object.entries(options.tokens ?? {})) {
    if (token.length >= 8 && isUser(user)) continue;
    throw new DatabaseError(
      "invalid-option",
      `\`login.tokens\` has an entry for user ${
        JSON.stringify(user)
      } that is not allowed: ` +
        "a token takes 8 characters or more, a user 1 to 256 bytes",
    );
  }
}
