/**
 * The rules at home: a transaction asks of each of its operations what the gate
 * will ask. Where a rule looks at what the whole commit does, it is asked again
 * at the end of the transaction.
 *
 * While a session has no certificate nobody knows who it will be: it is not
 * judged here, and the server tells when it is certified. Sessions that may issue
 * certificates are not judged anywhere.
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Cells } from "../../src/schema/judge.ts";
import {
  allowed,
  type Decision,
  type RuleClaims,
  type RuleSession,
} from "../../src/schema/rule_types.ts";
import type { WrittenCell } from "../../src/schema/rule_write.ts";
import type { RepositoryRules } from "../../src/schema/rules.ts";
import { type Certificate, decodeCertificate } from "../commit/certificate.ts";
import type { Session } from "../commit/session.ts";
import { toHex } from "../../src/base/bytes.ts";
import { parseJson } from "../../src/schema/json.ts";

export type OwnWrite = Omit<WrittenCell, "session">;

export class OwnRules {
  readonly #rules: RepositoryRules;
  #certificate: Uint8Array | undefined;
  #known: KnownSession | undefined;

  constructor(rules: RepositoryRules) {
    this.#rules = rules;
  }

  /** What judges the writes of a session, on what is here; `undefined` when nothing does. */
  judgeOf({ certificate }: Session, here: Cells): OwnJudge | undefined {
    if (certificate !== this.#certificate || this.#known === undefined) {
      this.#certificate = certificate;
      this.#known = certificate && sessionOf(decodeCertificate(certificate));
    }
    const known = this.#known;
    if (known === undefined || known.mayIssue) return undefined;
    return new OwnJudge(this.#rules, known, here);
  }
}

export class OwnJudge {
  readonly #rules: RepositoryRules;
  readonly #known: KnownSession;
  readonly #before: Cells;
  /** Writes whose rules look at the whole commit. */
  readonly #waiting: OwnWrite[] = [];
  /** What was said last. */
  decision: Decision = allowed;

  /** @param before what is here without the transaction */
  constructor(rules: RepositoryRules, known: KnownSession, before: Cells) {
    this.#rules = rules;
    this.#known = known;
    this.#before = before;
  }

  check(write: OwnWrite): void {
    this.#ask(write, undefined);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Asks what could not be answered before everything was written; `after` is what is here with all that. */
  checkWhole(after: Cells): void {
    for (const write of this.#waiting) this.#ask(write, after);
  }

  #ask(write: OwnWrite, after: Cells | undefined): void {
    const { session } = this.#known;
    const around = { before: this.#before, after };
    const decision = this.#rules.judge({ ...write, session }, around);
    if (decision === undefined) return void this.#waiting.push(write);
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
