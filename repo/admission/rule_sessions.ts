/** The sessions that a gate asks rules about. */

import type { Certificates } from "../commit/certificate.ts";
import { type KnownSession, sessionOf } from "./own_rules.ts";

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
