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
 * Static tokens: a list of secrets, each for one user.
 *
 * Architecture invariant: in memory there are only hashes of tokens, and a
 * look-up takes the same time whichever token is shown.
 */

import { encodeText, fromHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { sha256 } from "../crypto/mod.ts";
import {
  type AppAnswer,
  type Credentials,
  isUser,
  type Json,
  type JwtOptions,
  type LoggedIn,
  type LoginOptions,
  type LoginRefusal,
  type TokenUser,
} from "./login_options.ts";
import { isRecord } from "./body.ts";
import { loadOptional, packageMissing } from "./optional_package.ts";

/** The kinds of login that are offered. */
export interface Login {
  readonly kinds: readonly Credentials["kind"][];
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

const HASHED = /^sha256:([0-9a-f]{64})$/i;

export class StaticTokens {
  readonly #entries: readonly {
    readonly hash: Uint8Array;
    readonly user: TokenUser;
  }[];

  /** @param users by token, or by `sha256:` and its hash */
  constructor(users: Readonly<Record<string, TokenUser>>) {
    const entries = Object.entries(users);
    if (entries.length > limits.configEntriesMax) {
      throw new DatabaseError(
        "invalid-option",
        `\`login.tokens\` has more than ${limits.configEntriesMax} entries`,
      );
    }
    this.#entries = entries.map(([token, user]) => ({
      hash: hashOf(token),
      user,
    }));
  }

  get size(): number {
    return this.#entries.length;
  }

  find(token: string): TokenUser | undefined {
    const hash = sha256(encodeText(token));
    let found: TokenUser | undefined;
    for (const entry of this.#entries) {
      if (isEqualInConstantTime(entry.hash, hash)) found = entry.user;
    }
    return found;
  }
}

function hashOf(token: string): Uint8Array {
  const hashed = HASHED.exec(token)?.[1];
  return hashed === undefined
    ? sha256(encodeText(token))
    : fromHex(hashed.toLowerCase());
}

/** Compares equally long bytes without telling where they differ. */
function isEqualInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** Is it this secret? Both are hashed first, so that lengths do not tell either. */
export function isSecret(shown: string, secret: string): boolean {
  return isEqualInConstantTime(
    sha256(encodeText(shown)),
    sha256(encodeText(secret)),
  );
}
