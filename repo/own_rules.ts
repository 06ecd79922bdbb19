/**
 * The rules at home: a transaction asks of each of its operations what the door
 * of every other replica will ask.
 *
 * While a session has no certificate nobody knows who it will be: it is not
 * judged here, and the server tells when it is certified. Sessions that may issue
 * certificates are not judged anywhere.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { allowed, type Decision } from "../src/schema/rule_types.ts";
import type { WrittenCell } from "../src/schema/rule_write.ts";
import type { RepositoryRules } from "../src/schema/rules.ts";
import { decodeCertificate } from "./certificate.ts";
import { type KnownSession, sessionOf } from "./rule_sessions.ts";
import type { Session } from "./session.ts";

/** An operation of a transaction and what it does. */
export type OwnWrite = Omit<WrittenCell, "session">;

/** Judges what this replica is about to write. */
export class OwnRules {
  readonly #rules: RepositoryRules;
  #certificate: Uint8Array | undefined;
  #known: KnownSession | undefined;

  constructor(rules: RepositoryRules) {
    this.#rules = rules;
  }

  /** What judges the writes of a session; `undefined` when nothing does. */
  judgeOf({ certificate }: Session): OwnJudge | undefined {
    if (certificate !== this.#certificate || this.#known === undefined) {
      this.#certificate = certificate;
      this.#known = certificate && sessionOf(decodeCertificate(certificate));
    }
    const known = this.#known;
    if (known === undefined || known.mayIssue) return undefined;
    return new OwnJudge(this.#rules, known);
  }
}

/** Judges the operations of one transaction. */
export class OwnJudge {
  readonly #rules: RepositoryRules;
  readonly #known: KnownSession;
  /** What was said last. */
  decision: Decision = allowed;

  constructor(rules: RepositoryRules, known: KnownSession) {
    this.#rules = rules;
    this.#known = known;
  }

  /** Fails with `denied` when a rule says so. */
  check(write: OwnWrite): void {
    const { session } = this.#known;
    const decision = this.#rules.judge({ ...write, session });
    this.decision = decision;
    if (decision.allowed) return;
    const { operation: { what, shape, id } } = write;
    throw new DatabaseError(
      "denied",
      `Cannot ${what} "${shape.collection}" item ${JSON.stringify(id)}: ` +
        `${decision.reason} (rule ${decision.rule})`,
    );
  }
}
