/**
 * The rules at the door: may the commits of a batch be?
 *
 * Each operation is judged on its item as the commit's ancestors left it, and
 * sees what the operations before it did, in its commit and in its batch. Who
 * had seen everything that is known here saw the present state; for the others
 * the past of each item that they touch is looked up.
 *
 * Architecture invariant: the judgement depends on the commit and its ancestors,
 * whatever else is known here (law 7). It changes nothing.
 *
 * @module
 */

import { assert, type Refusal, refuseAt } from "../src/base/errors.ts";
import type { Cell, Origin } from "../src/schema/cell.ts";
import { fold } from "../src/schema/merge.ts";
import type { Operation } from "../src/schema/patch.ts";
import type { DecodedPatch } from "../src/schema/patch_codec.ts";
import type { RuleSession } from "../src/schema/rule_types.ts";
import type { RepositoryRules } from "../src/schema/rules.ts";
import { createView, type View } from "../src/schema/view.ts";
import type { Vector } from "./ancestry.ts";
import type { BatchRules } from "./arrival.ts";
import type { Batch, BatchCommit } from "./batch.ts";
import type { Graph } from "./graph.ts";
import type { CommitReader } from "./commit_reader.ts";
import { Past } from "./past.ts";
import type { LoadedReplica } from "./replica_open.ts";
import { RuleSessions } from "./rule_sessions.ts";
import type { State } from "./state.ts";

/** What the rules are judged with. */
export interface DoorRulesParts {
  readonly rules: RepositoryRules;
  readonly sessions: RuleSessions;
  readonly graph: Graph;
  readonly state: State;
  readonly past: Past;
}

/** The rules at the door of a replica. */
export function doorRulesOf(
  rules: RepositoryRules,
  loaded: LoadedReplica,
  commits: CommitReader,
): DoorRules {
  const { certificates, graph, state } = loaded;
  const sessions = new RuleSessions(certificates);
  const past = new Past({ ...loaded, commits });
  return new DoorRules({ rules, sessions, graph, state, past });
}

/** How cells are made of a collection that nothing is known of yet. */
const asWritten: View = /* @__PURE__ */ createView(undefined);

/** The rules of one repository at its door. */
export class DoorRules implements BatchRules {
  readonly #parts: DoorRulesParts;

  constructor(parts: DoorRulesParts) {
    this.#parts = parts;
  }

  /** The first commit from index `from` on that a rule denies. */
  judge(
    batch: Batch,
    from: number,
    patches: readonly DecodedPatch[],
  ): Refusal | undefined {
    const known = this.#parts.sessions.of(batch.chain.slice(0, 32));
    assert(known !== undefined, "the certificate was checked before");
    if (known.mayIssue) return undefined;
    const judgement = new Judgement(this.#parts, known.session, batch, from);
    for (let i = from; i < batch.commits.length; i++) {
      const refusal = judgement.commit(i, patches[i - from]!);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}

/** An item that the batch itself has changed. */
interface Draft {
  cell: Cell;
  /** For which sight `cell` was computed. */
  sight: number;
  /** What the batch did to it, in order. */
  readonly done: { readonly operation: Operation; readonly origin: Origin }[];
}

/** The judgement of one batch. */
class Judgement {
  readonly #parts: DoorRulesParts;
  readonly #session: RuleSession;
  readonly #batch: Batch;
  readonly #from: number;
  /** Had its author seen everything that is known here? */
  #isCovered = false;
  /** What it had seen otherwise; looked up when an item asks for it. */
  #vector: Vector | undefined;
  /** Commits from here on name parents that the vector does not have yet. */
  #merged: number;
  /** Counts the changes of what it had seen. */
  #sight = 0;
  readonly #drafts = new Map<string, Map<string, Draft>>();

  constructor(
    parts: DoorRulesParts,
    session: RuleSession,
    batch: Batch,
    from: number,
  ) {
    this.#parts = parts;
    this.#session = session;
    this.#batch = batch;
    this.#from = from;
    this.#merged = from;
  }

  /** Judges the commit at an index. */
  commit(index: number, patch: DecodedPatch): Refusal | undefined {
    const commit = this.#batch.commits[index]!;
    this.#see(index, commit);
    const { wall, count } = commit;
    const origin = { wall, count, chain: this.#batch.chain, operationsAt: -1 };
    const isLast = index === this.#batch.commits.length - 1;
    const { operations } = patch;
    for (let i = 0; i < operations.length; i++) {
      const isKept = !isLast || i < operations.length - 1;
      const refusal = this.#operation(index, operations[i]!, origin, isKept);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #see(index: number, { parents }: BatchCommit): void {
    if (this.#isCovered) return;
    const isFirst = index === this.#from;
    if (parents.length === 0 && !isFirst) return;
    this.#sight++;
    const { graph } = this.#parts;
    this.#isCovered = graph.isCovered(this.#batch.chain, parents);
  }

  #operation(
    index: number,
    operation: Operation,
    origin: Origin,
    isKept: boolean,
  ): Refusal | undefined {
    const { rules, state } = this.#parts;
    const { collection } = operation.shape;
    const view = state.find(collection)?.view ?? asWritten;
    const draft = this.#drafts.get(collection)?.get(operation.id);
    const before = draft === undefined
      ? this.#seen(collection, operation.id, index)
      : this.#drafted(draft, collection, index, view);
    let after: Cell | undefined;
    const decision = rules.judge({
      session: this.#session,
      wall: origin.wall,
      operation,
      before,
      after: () => after ??= fold(before, operation, origin, -1, view),
      view,
    });
    if (!decision.allowed) {
      const { reason, rule } = decision;
      const number = this.#batch.first + index;
      return { ...refuseAt(number, "denied", reason), rule };
    }
    // Where no rule was asked, none will be asked of this collection later.
    if (isKept && after !== undefined) {
      this.#keep(collection, draft, after, { operation, origin });
    }
    return undefined;
  }

  #keep(
    collection: string,
    draft: Draft | undefined,
    cell: Cell,
    done: Draft["done"][number],
  ): void {
    if (draft !== undefined) {
      draft.cell = cell;
      draft.done.push(done);
      return;
    }
    let drafts = this.#drafts.get(collection);
    if (drafts === undefined) this.#drafts.set(collection, drafts = new Map());
    // What a lone commit had seen cannot grow: its drafts are never folded anew.
    const isAlone = this.#from === this.#batch.commits.length - 1;
    const list = isAlone ? [] : [done];
    drafts.set(cell.id, { cell, sight: this.#sight, done: list });
  }

  /** The item as the batch has left it so far, on top of what its author has seen by now. */
  #drafted(
    draft: Draft,
    collection: string,
    index: number,
    view: View,
  ): Cell {
    if (draft.sight === this.#sight) return draft.cell;
    let cell = this.#seen(collection, draft.cell.id, index);
    for (const { operation, origin } of draft.done) {
      cell = fold(cell, operation, origin, -1, view);
    }
    assert(cell !== undefined, "an operation makes a cell");
    draft.cell = cell;
    draft.sight = this.#sight;
    return cell;
  }

  /** The item as what is known here and was seen by the commit at `index` left it. */
  #seen(collection: string, id: string, index: number): Cell | undefined {
    const { state, past } = this.#parts;
    const table = state.find(collection);
    // An item that nobody knows here needs no look into the past.
    if (table === undefined || table.ordinalOf(id) < 0) return undefined;
    if (this.#isCovered) return table.cellOf(id);
    return past.cellAt(table, id, this.#vectorAt(index), this.#batch.chain);
  }

  /** What the commit at `index` had seen, without the batch itself. */
  #vectorAt(index: number): Vector {
    const { chain, first, commits } = this.#batch;
    const { past } = this.#parts;
    this.#vector ??= past.vectorOf(chain, first + this.#from);
    for (; this.#merged <= index; this.#merged++) {
      const { parents } = commits[this.#merged]!;
      if (parents.length === 0) continue;
      this.#vector = past.withParents(this.#vector, parents);
    }
    return this.#vector;
  }
}
