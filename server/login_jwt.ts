/**
 * JSON Web Tokens of an identity provider, verified by `jose`.
 *
 * Architecture invariant: the key decides which algorithms may sign, never the
 * token; "none" is no algorithm, and a public key is never used as a secret.
 */

import { createPublicKey } from "node:crypto";
import {
  createRemoteJWKSet,
  errors,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import { encodeText } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import type { AppAnswer, Json, JwtOptions } from "./login_options.ts";

interface Keys {
  readonly algorithms: string[];
  readonly find: JWTVerifyGetKey;
}

const ASYMMETRIC = [
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
];
const CURVES: Readonly<Record<string, readonly string[]>> = {
  "P-256": ["ES256"],
  "P-384": ["ES384"],
  "P-521": ["ES512"],
  "Ed25519": ["EdDSA", "Ed25519"],
};
const SECRET_BYTES_MIN = 32;
const CLOCK_TOLERANCE_SECONDS = 30;

/** The provider's keys cannot be had; nothing is wrong with the token. */
export class KeysUnavailable extends Error {}

export function jwtVerifier(
  options: JwtOptions,
  world: { now(): number },
): (token: string) => Promise<AppAnswer> {
  const { algorithms, find } = keysOf(options);
  const { issuer, audience } = options;
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, find, {
        algorithms,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(world.now()),
        ...(issuer !== undefined && { issuer }),
        ...(audience !== undefined && { audience }),
      });
      return userOf(payload, options);
    } catch (cause) {
      return { refused: refusalOf(cause) };
    }
  };
}

function keysOf({ secret, publicKey, jwksUrl }: JwtOptions): Keys {
  const given = [secret, publicKey, jwksUrl].filter((key) => key !== undefined);
  if (given.length !== 1) {
    throw invalid("takes one of `secret`, `publicKey` and `jwksUrl`");
  }
  if (secret !== undefined) return secretKeys(secret);
  if (publicKey !== undefined) return publicKeys(publicKey);
  return remoteKeys(jwksUrl!);
}

function invalid(what: string, cause?: unknown): DatabaseError {
  return new DatabaseError("invalid-option", `\`login.jwt\` ${what}`, {
    cause,
  });
}

function secretKeys(secret: string): Keys {
  const key = encodeText(secret);
  if (key.length < SECRET_BYTES_MIN) {
    throw invalid(`needs a \`secret\` of ${SECRET_BYTES_MIN} bytes or more`);
  }
  return { algorithms: ["HS256"], find: () => Promise.resolve(key) };
}

function publicKeys(text: string): Keys {
  const jwk = jwkOf(text);
  const algorithms = jwk.kty === "RSA"
    ? ASYMMETRIC.filter((name) => /^[RP]S/.test(name))
    : [...CURVES[jwk.crv ?? ""] ?? []];
  if (algorithms.length === 0) {
    throw invalid(
      "has a `publicKey` of a kind that is not known: use RSA, P-256, P-384, P-521 or Ed25519",
    );
  }
  return { algorithms, find: ({ alg }) => importJWK(jwk, alg) };
}

function jwkOf(text: string): JWK {
  try {
    if (text.trimStart().startsWith("{")) {
      const jwk = JSON.parse(text) as JWK;
      if (jwk.d === undefined && jwk.k === undefined) return jwk;
      throw new SyntaxError("it is a secret key");
    }
    // Proof: Node's and jose's types of one RFC 7517.
    return createPublicKey(text).export({ format: "jwk" }) as JWK;
  } catch (cause) {
    throw invalid("has a `publicKey` that is neither PEM nor a JWK", cause);
  }
}

function remoteKeys(address: string): Keys {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw invalid("has a `jwksUrl` that is no http or https address");
  }
  const remote = createRemoteJWKSet(new URL(address));
  const find: JWTVerifyGetKey = async (header, token) => {
    try {
      return await remote(header, token);
    } catch (cause) {
      const isAboutToken = cause instanceof errors.JWKSNoMatchingKey ||
        cause instanceof errors.JWKSMultipleMatchingKeys ||
        cause instanceof errors.JOSENotSupported;
      if (isAboutToken) throw cause;
      throw new KeysUnavailable("The provider's keys cannot be had", { cause });
    }
  };
  return { algorithms: ASYMMETRIC, find };
}

/** What a stranger may know of why a token was refused. */
function refusalOf(cause: unknown): string {
  if (cause instanceof KeysUnavailable) throw cause;
  if (cause instanceof errors.JWTExpired) return "The token has expired";
  if (cause instanceof errors.JWTClaimValidationFailed) {
    return `The token's claim "${cause.claim}" is not as expected`;
  }
  return "The token is not valid";
}

function userOf(payload: JWTPayload, options: JwtOptions): AppAnswer {
  const { userClaim = "sub", claims = [] } = options;
  const user = payload[userClaim];
  if (typeof user !== "string") {
    return { refused: `The token's claim "${userClaim}" names no user` };
  }
  const names = isList(claims)
    ? claims.map((name) => [name, name] as const)
    : Object.entries(claims);
  const picked: Record<string, Json> = {};
  for (const [from, to] of names) {
    // Proof: a payload was JSON.
    if (Object.hasOwn(payload, from)) picked[to] = payload[from] as Json;
  }
  return { user, claims: picked };
}

function isList(
  claims: NonNullable<JwtOptions["claims"]>,
): claims is readonly string[] {
  return Array.isArray(claims);
}
