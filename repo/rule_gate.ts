/**
 * The rules at the gate: may the commits of a batch be, as things are now?
 *
 * Who takes a batch from its author asks once, in the order of acceptance. Each
 * operation is judged on its item as it is here, with what the operations before
 * it did, in its commit and in its batch: parents are the author's choice, and a
 * right that was taken away is not kept by naming old ones.
 *
 * Nobody else judges by rules: other replicas take what was accepted.
 *
 * @module
 */

import { assert, type Refusal, refuseAt } from "../src/base/errors.ts";
import type { Cell } from "../src/schema/cell.ts";
import { fold } from "../src/schema/merge.ts";
import type { Operation } from "../src/schema/patch.ts";
import type { DecodedPatch } from "../src/schema/patch_codec.ts";
import { allowed, type RuleSession } from "../src/schema/rule_types.ts";
import type { RepositoryRules } from "../src/schema/rules.ts";
import { createView, type View } from "../src/schema/view.ts";
import type { Batch } from "./batch.ts";
import type { LoadedReplica } from "./replica_open.ts";
import { RuleSessions } from "./rule_sessions.ts";
import type { State } from "./state.ts";

/** How cells are made of a collection that nothing is known of yet. */
const asWritten: View = /* @__PURE__ */ createView(undefined);

/** The rules of one repository at its gate. */
export class RuleGate {
  readonly #rules: RepositoryRules;
  readonly #sessions: RuleSessions;
  readonly #state: State;

  constructor(
    rules: RepositoryRules,
    { certificates, state }: Pick<LoadedReplica, "certificates" | "state">,
  ) {
    this.#rules = rules;
    this.#sessions = new RuleSessions(certificates);
    this.#state = state;
  }

  /**
   * The first commit from index `from` on that a rule denies.
   *
   * @param patches of the commits from there on
   * @param nowMs the moment of acceptance, wall milliseconds
   * @param accepted how many commits of the chain are known to have been
   *   accepted before: they are not asked about
   */
  judge(
    batch: Batch,
    from: number,
    patches: readonly DecodedPatch[],
    nowMs: number,
    accepted = 0,
  ): Refusal | undefined {
    const known = this.#sessions.of(batch.chain.slice(0, 32));
    assert(known !== undefined, "the certificate was checked before");
    if (known.mayIssue) return undefined;
    const drafts = new Drafts(this.#state);
    for (let i = from; i < batch.commits.length; i++) {
      const isNew = batch.first + i >= accepted;
      const session = isNew ? known.session : undefined;
      const { operations } = patches[i - from]!;
      const refusal = this.#commit(
        batch,
        i,
        operations,
        session,
        drafts,
        nowMs,
      );
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** @param session who is asked about, if anybody is */
  #commit(
    { chain, first, commits }: Batch,
    index: number,
    operations: readonly Operation[],
    session: RuleSession | undefined,
    drafts: Drafts,
    nowMs: number,
  ): Refusal | undefined {
    const { wall, count } = commits[index]!;
    const origin = { wall, count, chain, operationsAt: -1 };
    for (const operation of operations) {
      const { id, shape: { collection } } = operation;
      // Everybody may write it: no rule is asked, now or later.
      if (this.#rules.collection(collection) === allowed) continue;
      const before = drafts.cellOf(collection, id);
      const view = this.#state.find(collection)?.view ?? asWritten;
      const after = fold(before, operation, origin, -1, view);
      drafts.put(collection, after);
      if (session === undefined) continue;
      const decision = this.#rules.judge({
        session,
        wall: nowMs,
        operation,
        before,
        after: () => after,
        view,
      });
      if (decision.allowed) continue;
      const { reason, rule } = decision;
      return { ...refuseAt(first + index, "denied", reason), rule };
    }
    return undefined;
  }
}

/** Items as a batch has left them so far. */
class Drafts {
  readonly #state: State;
  readonly #cells = new Map<string, Map<string, Cell>>();

  constructor(state: State) {
    this.#state = state;
  }

  cellOf(collection: string, id: string): Cell | undefined {
    return this.#cells.get(collection)?.get(id) ??
      this.#state.find(collection)?.cellOf(id);
  }

  put(collection: string, cell: Cell): void {
    let cells = this.#cells.get(collection);
    if (cells === undefined) this.#cells.set(collection, cells = new Map());
    cells.set(cell.id, cell);
  }
}
