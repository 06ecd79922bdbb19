/**
 * How a device gets its certificate: what an app says of its user, and when a
 * certificate is worth asking for again.
 */

import { DatabaseError } from "../base/errors.ts";
import type { JsonValue } from "../schema/mod.ts";

/** What a device shows to a server for its certificate. */
export type Credentials =
  /** Nothing: the server makes a user up, where it takes such guests. */
  | { readonly anonymous: true }
  /** A secret that the server's owner gave out. */
  | { readonly token: string }
  /** A JSON Web Token of somebody whom the server trusts. */
  | { readonly jwt: string }
  /** Whatever the server's own login function takes. */
  | { readonly app: JsonValue };

/** Credentials, or who gives them each time they are needed. */
export type CredentialsSource =
  | Credentials
  | (() => Credentials | Promise<Credentials>);

/** What a login asks for. */
export interface LoginRequest {
  /** The public key that the certificate is for, 32 bytes. */
  readonly sessionKey: Uint8Array;
  readonly credentials: Credentials;
  /** The certificate that the key has already. */
  readonly certificate?: Uint8Array;
  /** The root public key of the database, 32 bytes. */
  readonly rootKey: Uint8Array;
  /** This device's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Signs with the session key: whoever certifies it asks for a proof that its owner wants that. */
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** What a login gives. */
export interface LoginAnswer {
  /** The certificate of the session key. */
  readonly certificate: Uint8Array;
  /** The certificates of its issuers up to the root, where that is not the root itself. */
  readonly issuers?: readonly Uint8Array[];
}

/**
 * Asks somebody for a certificate. It rejects with a `DatabaseError`
 * `login-failed`, or with the answer that a new key is needed.
 */
export type Login = (
  request: LoginRequest,
  signal: AbortSignal,
) => Promise<LoginAnswer | "key-taken">;

const KINDS = ["anonymous", "token", "jwt", "app"];

/** The credentials to use now, checked for their form. */
export async function credentialsOf(
  source: CredentialsSource,
): Promise<Credentials> {
  const credentials: unknown = typeof source === "function"
    ? await source()
    : source;
  checkCredentials(credentials);
  return credentials;
}

/** Throws `invalid-option` for what are no credentials. */
export function checkCredentials(
  credentials: unknown,
): asserts credentials is Credentials {
  const keys = typeof credentials === "object" && credentials !== null
    ? Object.keys(credentials)
    : [];
  if (keys.length === 1 && KINDS.includes(keys[0]!)) return;
  throw new DatabaseError(
    "invalid-option",
    "`session` must be { anonymous: true }, { token }, { jwt } or { app }, or a function that gives one of them",
  );
}
