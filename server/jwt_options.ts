/**
 * What a server is told of the JSON Web Tokens that it takes.
 *
 * @module
 */

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

/** The names of {@linkcode JwtOptions}. */
export const jwtOptions = {
  secret: 0,
  publicKey: 0,
  jwksUrl: 0,
  issuer: 0,
  audience: 0,
  userClaim: 0,
  claims: 0,
};
