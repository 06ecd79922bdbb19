/**
 * The rules at the gate: may the commits of a session be, as things are now?
 *
 * Who takes a batch from its author asks once, in the order of acceptance, with
 * each item as it is here: parents are the author's choice, and a right that was
 * taken away is not kept by naming old ones.
 *
 * Nobody else judges by rules: other replicas take what was accepted.
 *
 * @module
 */

import { assert, type Refusal, refuseAt } from "../src/base/errors.ts";
import type { CommitJudge, JudgedCommit } from "../src/schema/judge.ts";
import { allowed, type RuleSession } from "../src/schema/rule_types.ts";
import type { RepositoryRules } from "../src/schema/rules.ts";
import type { Schema } from "../src/schema/schema.ts";
import type { Certificates } from "./certificate.ts";
import type { Declared } from "./merge_gate.ts";
import { RuleSessions } from "./rule_sessions.ts";

/** The rules of one repository at its gate. */
export class RuleGate implements Declared {
  readonly #rules: RepositoryRules;
  readonly #sessions: RuleSessions;
  /** Collections that have their room, whatever others begin: the rules' and some more. */
  readonly reserved: ReadonlySet<string>;

  constructor(
    rules: RepositoryRules,
    { certificates }: { readonly certificates: Certificates },
    others: readonly Schema[] = [],
  ) {
    const schemas = [...rules.schemas(), ...others];
    this.reserved = new Set(schemas.map(({ name }) => name));
    this.#rules = rules;
    this.#sessions = new RuleSessions(certificates);
  }

  /** What the fields of a collection are; `undefined` where the rules do not say. */
  schemaOf(collection: string): Schema | undefined {
    const entry = this.#rules.collection(collection);
    return "allowed" in entry ? undefined : entry.schema;
  }

  /**
   * What judges the commits of a chain; nobody where its session may issue.
   *
   * @param nowMs the moment of acceptance, wall milliseconds
   * @param isWaived whether somebody who may lets be what the rules deny: then it is only asked whether the commits
   *   are such as honest programs write
   */
  judgesOf(chain: string, nowMs: number, isWaived = false): CommitJudge[] {
    const known = this.#sessions.of(chain.slice(0, 32));
    assert(known !== undefined, "the certificate was checked before");
    if (known.mayIssue) return [];
    const session = isWaived ? undefined : known.session;
    return [new RuleJudge(this.#rules, session, nowMs)];
  }
}

/** The rules, asked about one session at one moment. */
export class RuleJudge implements CommitJudge {
  readonly #rules: RepositoryRules;
  readonly #session: RuleSession | undefined;
  readonly #nowMs: number;

  constructor(
    rules: RepositoryRules,
    session: RuleSession | undefined,
    nowMs: number,
  ) {
    this.#rules = rules;
    this.#session = session;
    this.#nowMs = nowMs;
  }

  asksOf(collection: string): boolean {
    return this.#rules.collection(collection) !== allowed;
  }

  judge(commit: JudgedCommit): Refusal | undefined {
    for (const { operation, before, after, view } of commit.writes) {
      const decision = this.#rules.judge({
        session: this.#session,
        wall: this.#nowMs,
        operation,
        before,
        after,
        view,
      }, commit);
      assert(decision !== undefined, "all is known of a commit that is judged");
      if (decision.allowed) continue;
      const { reason, rule } = decision;
      return { ...refuseAt(commit.number, "denied", reason), rule };
    }
    return undefined;
  }
}
