/**
 * The rules and the constraints at the gate: may the commits of a session be, as
 * things are now? Constraints are asked of everybody, also of those who obey no
 * rule.
 *
 * Who takes a batch from its author asks once, in the order of acceptance, with
 * each item as it is here: parents are the author's choice, and a right that was
 * taken away is not kept by naming old ones.
 *
 * Nobody else judges by rules: other replicas take what was accepted.
 */

import { assert, type Refusal, refuseAt } from "../../src/base/errors.ts";
import { type Cell, isHistory, isThere } from "../../src/schema/cell.ts";
import type {
  CommitJudge,
  JudgedCommit,
  JudgedWrite,
} from "../../src/schema/judge.ts";
import { show } from "../../src/schema/names.ts";
import {
  allowed,
  type Decision,
  type RuleSession,
} from "../../src/schema/rule_types.ts";
import type { RepositoryRules } from "../../src/schema/rules.ts";
import type { Schema } from "../../src/schema/schema.ts";
import type { Graph } from "../graph/graph.ts";
import type { Declared } from "./merge_gate.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { RuleSessions } from "./rule_sessions.ts";
import { ReadingRoom } from "./reading_room.ts";
import { faultOf, kindFault } from "../../src/schema/rule_write.ts";
import { type Constraints, Draft, type WrittenItem } from "./constraints.ts";

export class RuleGate implements Declared {
  readonly #rules: RepositoryRules;
  readonly #sessions: RuleSessions;
  readonly #graph: Graph;
  /** Collections that have their room, whatever others begin: the rules' and some more. */
  readonly reserved: ReadonlySet<string>;

  constructor(
    rules: RepositoryRules,
    { credentials, graph }: Pick<LoadedReplica, "credentials" | "graph">,
    others: readonly Schema[] = [],
  ) {
    const schemas = [...rules.schemas(), ...others];
    this.reserved = new Set(schemas.map(({ name }) => name));
    this.#rules = rules;
    this.#sessions = new RuleSessions(credentials.certificates);
    this.#graph = graph;
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
  judgeOf(
    chain: string,
    nowMs: number,
    isWaived = false,
  ): RuleJudge | undefined {
    const key = chain.slice(0, 32);
    const known = this.#sessions.of(key);
    assert(known !== undefined, "the certificate was checked before");
    if (known.mayIssue) return undefined;
    const session = isWaived ? undefined : known.session;
    const isNew = () =>
      Array.from(this.#graph.chains()).every(({ name, length, voids }) =>
        voids?.size === length || !name.startsWith(key)
      );
    return new RuleJudge(this.#rules, session, nowMs, isNew);
  }
}

/** The rules, asked about one session at one moment. */
export class RuleJudge implements CommitJudge {
  readonly #rules: RepositoryRules;
  readonly #session: RuleSession | undefined;
  readonly #nowMs: number;
  readonly #isNew: () => boolean;
  readonly #room = new ReadingRoom();
  #hasBegun = false;

  /** @param isNew whether nothing that the session wrote was ever accepted */
  constructor(
    rules: RepositoryRules,
    session: RuleSession | undefined,
    nowMs: number,
    isNew = () => false,
  ) {
    this.#rules = rules;
    this.#session = session;
    this.#nowMs = nowMs;
    this.#isNew = isNew;
  }

  /** Parts of large fields that were put together for its rules so far. */
  get partsRead(): number {
    return this.#room.parts;
  }

  asksOf(collection: string): boolean {
    return this.#rules.collection(collection) !== allowed;
  }

  judge(commit: JudgedCommit): Refusal | undefined {
    const { before, after } = commit;
    const around = { before, after, room: this.#room };
    for (const { operation, before, after } of commit.writes) {
      const decision = this.#rules.judge({
        session: this.#session,
        wall: this.#nowMs,
        operation,
        before,
        after,
      }, around);
      assert(decision !== undefined, "all is known of a commit that is judged");
      if (!decision.allowed) return refusalOf(commit, decision);
    }
    return this.#beginning(commit);
  }

  note({ operations }: JudgedCommit): void {
    this.#hasBegun ||= operations > 0;
  }

  /** Nobody begins with history: no rule is asked about it, so it would be open to who may write nothing. */
  #beginning(commit: JudgedCommit): Refusal | undefined {
    const { operations, writes } = commit;
    const [first] = writes;
    if (operations === 0) return undefined;
    const mayBe = this.#hasBegun || this.#session === undefined ||
      first === undefined || writes.length < operations ||
      !writes.every((write) => this.#isLate(write)) || !this.#isNew();
    if (mayBe) {
      this.#hasBegun = true; // What follows it in its batch.
      return undefined;
    }
    const { what, shape: { collection }, id } = first.operation;
    const reason = `${show(id)} was deleted meanwhile`;
    return refusalOf(commit, this.#rules.deny(collection, what, reason));
  }

  #isLate({ operation, before }: JudgedWrite): boolean {
    return isHistory(operation, before) &&
      this.asksOf(operation.shape.collection);
  }
}

function refusalOf(
  { number }: JudgedCommit,
  decision: Decision,
): Refusal | undefined {
  if (decision.allowed) return undefined;
  const { reason, rule } = decision;
  return { ...refuseAt(number, "denied", reason), rule };
}

export class ConstraintJudge implements CommitJudge {
  readonly #constraints: Constraints;
  readonly #draft: Draft;

  constructor(constraints: Constraints) {
    this.#constraints = constraints;
    this.#draft = new Draft(constraints);
  }

  asksOf(collection: string): boolean {
    return this.#constraints.asksOf(collection);
  }

  judge({ number, writes }: JudgedCommit): Refusal | undefined {
    for (const write of writes) {
      const fault = this.#formFault(write);
      if (fault !== undefined) return refuseAt(number, "constraint", fault);
    }
    const fault = this.#draft.take(wholeOf(writes));
    if (fault === undefined) return undefined;
    const { constraint: rule, collection, id, detail } = fault;
    const text = `"${collection}" item ${show(id)}: ${detail}`;
    return { ...refuseAt(number, "constraint", text), rule };
  }

  note({ writes }: JudgedCommit): void {
    this.#draft.take(wholeOf(writes));
  }

  /**
   * No honest writer makes it: it would leave parts of an item that was refused,
   * put another one in its place, or hide a field from what is asked of it.
   */
  #formFault({ operation, before }: JudgedWrite): string | undefined {
    const { shape: { collection }, id } = operation;
    const schema = this.#constraints.of(collection)?.constraints.schema;
    if (schema === undefined || isHistory(operation, before)) return undefined;
    const fault = faultOf(operation, before) ?? kindFault(operation, schema);
    return fault && `"${collection}" item ${show(id)}: ${fault}`;
  }
}

/** What operations do to items, as a whole: each item once. */
function wholeOf(writes: readonly JudgedWrite[]): WrittenItem[] {
  const items = new Map<string, WrittenItem>();
  for (const { operation, before, after } of writes) {
    const { shape: { collection }, id } = operation;
    const key = `${collection} ${id}`; // No collection has a space in its name.
    const known = items.get(key) ??
      { collection, id, before: there(before) };
    items.set(key, { ...known, after: there(after()) });
  }
  return [...items.values()];
}

function there(cell: Cell | undefined): Cell | undefined {
  return cell !== undefined && isThere(cell) ? cell : undefined;
}
