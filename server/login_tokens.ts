/**
 * Static tokens: a list of secrets, each for one user.
 *
 * Architecture invariant: in memory there are only hashes of tokens, and a
 * look-up takes the same time whichever token is shown.
 *
 * @module
 */

import { sha256 } from "../crypto/mod.ts";
import { encodeText, fromHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Claims } from "./login.ts";

/** Whom a token stands for. */
export interface TokenUser {
  readonly user: string;
  readonly claims?: Claims;
}

interface Entry {
  readonly hash: Uint8Array;
  readonly user: TokenUser;
}

const HASHED = /^sha256:([0-9a-f]{64})$/i;

/** The tokens of a configuration. */
export class StaticTokens {
  readonly #entries: readonly Entry[];

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

  /** How many there are. */
  get size(): number {
    return this.#entries.length;
  }

  /** The user of a token. */
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
export function isEqualInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
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
