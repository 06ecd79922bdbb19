/**
 * Rules tried: what they say to anybody, of what is here now. Nothing is written.
 *
 * For the inspector. A server's rules may be others, and have the last word.
 */

import { OwnJudge, sessionOf } from "../../repo/admission/own_rules.ts";
import { Transaction } from "../../repo/write/transaction.ts";
import { toHex } from "../base/bytes.ts";
import { IdSource } from "../schema/names.ts";
import { PatchWriter } from "../schema/patch_codec.ts";
import {
  allowed,
  type Decision,
  type RuleAction,
  type RuleSession,
} from "../schema/rule_types.ts";
import type { Rules } from "../schema/rules.ts";
import type { CreateInput, Schema, UpdateInput } from "../schema/schema.ts";
import { Editor } from "./editor.ts";
import { openedOf, type OpenRepository } from "./internals.ts";
import type { Repository } from "./repository.ts";

/** What somebody would do with an item. */
export interface Tried {
  readonly action: RuleAction;
  readonly schema: Schema;
  /** Of an update or a delete. */
  readonly id: string;
  /** The fields of a create or an update. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Rules tried in one repository. */
export class Trial {
  readonly #rules: Rules;
  readonly #opened: OpenRepository;

  constructor(rules: Rules, repository: Repository) {
    this.#rules = rules;
    this.#opened = openedOf(repository)[0]!; // It is open: who asks sees it.
  }

  /** Who is known here, each as the newest certificate says; without sessions that no rule judges. */
  sessions(): RuleSession[] {
    const byUser = new Map<string, RuleSession>();
    for (const certificate of this.#opened.replica.certificates) {
      const { session, mayIssue } = sessionOf(certificate);
      if (!mayIssue) byUser.set(session.user, session);
    }
    return [...byUser.values()];
  }

  /** Who writes here. */
  get user(): string {
    return this.#opened.replica.session.user;
  }

  /** May this session read the repository? */
  mayRead(session: RuleSession): Decision {
    const { replica: { name, state }, world } = this.#opened;
    // Its items are here: nothing is left open.
    return this.#rules.mayRead(session, name, world.now(), state)!;
  }

  /**
   * May this session write that?
   *
   * @throws {DatabaseError} what the write itself would throw, but for `denied`
   */
  mayWrite(session: RuleSession, tried: Tried): Decision {
    const { replica: { name, state }, world } = this.#opened;
    const known = { session, mayIssue: false };
    const judge = new OwnJudge(this.#rules.of(name), known, state);
    const origin = { wall: world.now(), count: 0, chain: "", operationsAt: -1 };
    const transaction = new Transaction(origin, new PatchWriter(), judge);
    try {
      this.#write(transaction, tried);
      transaction.askWhole(state);
      return allowed;
    } catch (error) {
      if (judge.decision.allowed) throw error;
      return judge.decision;
    } finally {
      transaction.abandon();
    }
  }

  #write(
    transaction: Transaction,
    { action, schema, id, fields }: Tried,
  ): void {
    const { replica: { state }, world } = this.#opened;
    const table = state.table(schema.name);
    const editor = new Editor(schema, table, new IdSource(world));
    if (action === "delete") editor.delete(transaction, id);
    else if (action === "create") {
      editor.create(transaction, fields as CreateInput<Schema>);
    } else editor.update(transaction, id, fields as UpdateInput<Schema>);
  }
}

/** Somebody of whom no certificate is known. */
export function strangerOf(
  user: string,
  claims: RuleSession["claims"],
): RuleSession {
  return Object.freeze({ user, claims, key: toHex(new Uint8Array(32)) });
}
