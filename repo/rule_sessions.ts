/**
 * Sessions as rules see them: what their certificates say.
 *
 * One key has one user and one set of claims (`certificate.ts`), so it does not
 * matter which of its certificates is asked.
 *
 * @module
 */

import { toHex } from "../src/base/bytes.ts";
import { parseJson } from "../src/schema/json.ts";
import type { RuleClaims, RuleSession } from "../src/schema/rule_types.ts";
import type { Certificate, Certificates } from "./certificate.ts";

/** A session, and whether rules are asked about it at all. */
export interface KnownSession {
  readonly session: RuleSession;
  /** May it issue certificates? Then it could give itself any right: it is not judged. */
  readonly mayIssue: boolean;
}

/** What a certificate says of its session. */
export function sessionOf(
  { sessionKey, user, claims, mayIssue }: Certificate,
): KnownSession {
  const key = toHex(sessionKey);
  const session = Object.freeze({ user, claims: parseClaims(claims), key });
  return { session, mayIssue };
}

/** Claims that are no JSON of ours say nothing, on every replica alike. */
function parseClaims(text: string): RuleClaims {
  try {
    return parseJson(text) as RuleClaims;
  } catch {
    return Object.freeze({});
  }
}

/** The sessions of a repository. */
export class RuleSessions {
  readonly #certificates: Certificates;
  readonly #known = new Map<string, KnownSession>();

  constructor(certificates: Certificates) {
    this.#certificates = certificates;
  }

  /** The session of a key, given as 32 characters; `undefined` when it has no certificate. */
  of(key: string): KnownSession | undefined {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [certificate] = this.#certificates.of(key);
    if (certificate === undefined) return undefined;
    const session = sessionOf(certificate);
    this.#known.set(key, session);
    return session;
  }
}
