/** Which kinds of login a server offers, and what each is told. */

import { encodeText } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { checkOptions } from "../src/base/known_options.ts";
import { limits } from "../src/base/limits.ts";

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

export type Credentials =
  | { readonly kind: "anonymous" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "jwt"; readonly jwt: string }
  | { readonly kind: "app"; readonly app: Json };

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

/** Whom a token stands for. */
export interface TokenUser {
  readonly user: string;
  readonly claims?: Claims;
}

/** How tokens are verified; one of `secret`, `publicKey` and `jwksUrl`. */
export interface JwtOptions {
  /** Shared secret of HS256, 32 bytes or more. */
  readonly secret?: string;
  /** Public key: PEM, or a JSON Web Key as JSON. */
  readonly publicKey?: string;
  /** Where the provider publishes its keys. */
  readonly jwksUrl?: string;
  /** Who must have issued the token. */
  readonly issuer?: string;
  /** For whom it must have been issued. */
  readonly audience?: string;
  /** Which claim names the user (default: "sub"). */
  readonly userClaim?: string;
  /** Which claims go into the session's: names, or new names by old ones. */
  readonly claims?: readonly string[] | Readonly<Record<string, string>>;
}

const jwtOptions = {
  secret: 0,
  publicKey: 0,
  jwksUrl: 0,
  issuer: 0,
  audience: 0,
  userClaim: 0,
  claims: 0,
};

/** Can it be a user's name in a certificate? */
export function isUser(user: unknown): user is string {
  return typeof user === "string" && user !== "" && user.isWellFormed() &&
    encodeText(user).length <= limits.userBytesMax;
}

export function checkLoginOptions(options: LoginOptions): void {
  checkOptions(options, loginOptions, "login.");
  checkOptions(options.jwt ?? {}, jwtOptions, "login.jwt.");
  for (const [token, given] of Object.entries(options.tokens ?? {})) {
    const user = given?.user;
    if (token.length >= 8 && isUser(user)) continue;
    throw new DatabaseError(
      "invalid-option",
      `\`login.tokens\` has an entry for user ${
        JSON.stringify(user)
      } that is not allowed: an entry is a token of 8 characters or more, ` +
        'and whose it is, as in { "secret-of-bob": { user: "bob" } }',
    );
  }
}
