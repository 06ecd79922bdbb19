/**
 * Testing rules: asks them what the door and a device would ask, with items that
 * a schema has completed, and fails a rule that asks clock or dice.
 *
 * @module
 */

import type {
  Decision,
  RuleClaims,
  RuleSession,
} from "../../src/schema/rule_types.ts";
import { type Cell, nowhere } from "../../src/schema/cell.ts";
import { parseJson } from "../../src/schema/json.ts";
import { type FoldedCells, judgeCommits } from "../../src/schema/judge.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import { fold } from "../../src/schema/merge.ts";
import type { Operation } from "../../src/schema/patch.ts";
import {
  prepareCreate,
  prepareDelete,
  prepareUpdate,
} from "../../src/schema/prepare.ts";
import { rich } from "../../src/schema/rich.ts";
import type { RepositoryRules, Rules } from "../../src/schema/rules.ts";
import type {
  CreateInput,
  Schema,
  UpdateInput,
} from "../../src/schema/schema.ts";
import { createView, type View } from "../../src/schema/view.ts";
import { RuleJudge } from "../../repo/admission/rule_gate.ts";

/** Who asks. */
export interface TestedSession {
  /** The user of the session's certificate. */
  readonly user: string;
  /** Its claims; none when left out. */
  readonly claims?: RuleClaims;
}

/** Begins a question: who asks? */
export interface RuleTester {
  /** The session that asks; at a moment, where rules look at it. */
  as(session: TestedSession, at?: Date): SessionTester;
}

/** A session that asks: where? */
export interface SessionTester {
  /** The repository, by its name. */
  in(repository: string): RepositoryTester;
}

/** What rules say to one session in one repository. */
export interface RepositoryTester {
  /** May it read the repository? */
  read(): Decision;
  /** May it create this item? */
  create<S extends Schema>(schema: S, item: CreateInput<S>): Decision;
  /** May it make these changes to this item? */
  update<S extends Schema>(
    schema: S,
    item: CreateInput<S>,
    changes: UpdateInput<S>,
  ): Decision;
  /** May it delete this item? */
  delete<S extends Schema>(schema: S, item: CreateInput<S>): Decision;
  /** The same repository with these items, for rules to look up. */
  with<S extends Schema>(
    schema: S,
    ...items: readonly CreateInput<S>[]
  ): RepositoryTester;
  /** May it write all of this in one transaction, on the items that are there? */
  commit(write: (tx: TestedCommit) => void): Decision;
}

/** What one transaction writes. */
export interface TestedCommit {
  /** Creates an item. */
  create<S extends Schema>(schema: S, item: CreateInput<S>): void;
  /** Changes an item. */
  update<S extends Schema>(
    schema: S,
    id: string,
    changes: UpdateInput<S>,
  ): void;
  /** Deletes an item. */
  delete(schema: Schema, id: string): void;
}

/**
 * Asks rules what they would say, without a database.
 *
 * ```ts
 * import { defineRules, defineSchema, field, rulesFor } from "@sheaf/sheaf";
 * import { ruleTester } from "@sheaf/sheaf/testing";
 *
 * const Task = defineSchema("task", {
 *   title: field.string(),
 *   owner: field.string(),
 * });
 * const rules = defineRules({
 *   "team/{team}": {
 *     read: ({ session, params }) => session.claims.team === params.team,
 *     collections: [rulesFor(Task, {
 *       create: ({ session, after }) =>
 *         after.owner === session.user || "A task begins with its writer",
 *     })],
 *   },
 * });
 *
 * const ada = ruleTester(rules)
 *   .as({ user: "ada", claims: { team: "acme" } })
 *   .in("team/acme");
 * console.assert(ada.read().allowed);
 * console.assert(ada.create(Task, { title: "Wash", owner: "ada" }).allowed);
 * console.assert(!ada.create(Task, { title: "Wash", owner: "bob" }).allowed);
 * ```
 */
export function ruleTester(rules: Rules): RuleTester {
  lateRich.provide(rich); // No database may be open that would load it.
  return {
    as: ({ user, claims = {} }, at = new Date(1_800_000_000_000)) => {
      const frozen = parseJson(JSON.stringify(claims)) as RuleClaims;
      const key = "00".repeat(32);
      const session = Object.freeze({ user, claims: frozen, key });
      return { in: (name) => testerOf(rules.of(name), session, at.getTime()) };
    },
  };
}

let ids = 0;
const context = {
  newId: () => `item-${++ids}`,
  elementId: () => `element-${++ids}`,
  origin: nowhere,
  generation: 0,
};

/** When a commit is made whose items are there already. */
const later = { ...nowhere, wall: 1 };

function testerOf(
  rules: RepositoryRules,
  session: RuleSession,
  wall: number,
): RepositoryTester {
  const testerWith = (items: Items): RepositoryTester => {
    const commit = (write: (tx: TestedCommit) => void): Decision => {
      const operations = operationsOf(items, write);
      const judge = new RuleJudge(rules, session, wall);
      return withoutWorld(() => decisionOf(items, operations, judge));
    };
    const having = (schema: Schema, list: readonly unknown[]) => {
      const all = items.copy();
      for (const item of list) all.write(schema, createOf(schema, item));
      return testerWith(all);
    };
    return {
      read: () => withoutWorld(() => rules.mayRead(session, wall, items)!),
      create: (schema, item) => commit((tx) => tx.create(schema, item)),
      update(schema, item, changes) {
        const there = withId(schema, item);
        return having(schema, [there])
          .commit((tx) => tx.update(schema, there.id, changes));
      },
      delete(schema, item) {
        const there = withId(schema, item);
        return having(schema, [there])
          .commit((tx) => tx.delete(schema, there.id));
      },
      with: (schema, ...list) => having(schema, list),
      commit,
    };
  };
  return testerWith(new Items());
}

function withId<S extends Schema>(
  schema: S,
  item: CreateInput<S>,
): CreateInput<S> & { id: string } {
  return { ...item, id: createOf(schema, item).id };
}

function createOf(schema: Schema, item: unknown): Operation {
  return prepareCreate(schema, item, context);
}

/** What is in a repository. */
class Items implements FoldedCells {
  readonly #cells = new Map<string, Cell>();
  readonly #views = new Map<string, View>();

  copy(): Items {
    const copy = new Items();
    for (const [key, cell] of this.#cells) copy.#cells.set(key, cell);
    for (const [name, view] of this.#views) copy.#views.set(name, view);
    return copy;
  }

  cellOf(collection: string, id: string): Cell | undefined {
    return this.#cells.get(`${collection}/${id}`);
  }

  viewOf(collection: string): View {
    return this.#views.get(collection) ?? createView(undefined);
  }

  /** The cell of an item that must be there. */
  living(schema: Schema, id: string): Cell {
    const cell = this.cellOf(schema.name, id);
    if (cell?.item !== undefined) return cell;
    throw new Error(`there is no "${schema.name}" item "${id}": use with()`);
  }

  write(schema: Schema, operation: Operation, origin = nowhere): void {
    const { name } = schema;
    let view = this.#views.get(name);
    if (view === undefined) this.#views.set(name, view = createView(schema));
    const before = this.cellOf(name, operation.id);
    const cell = fold(before, operation, origin, -1, view);
    this.#cells.set(`${name}/${operation.id}`, cell);
  }
}

/** What a transaction would write on these items. */
function operationsOf(
  items: Items,
  write: (tx: TestedCommit) => void,
): Operation[] {
  const operations: Operation[] = [];
  const after = items.copy();
  const add = (schema: Schema, operation: Operation) => {
    after.write(schema, operation, later);
    operations.push(operation);
  };
  write({
    create: (schema, item) => add(schema, createOf(schema, item)),
    update(schema, id, changes) {
      const before = after.living(schema, id);
      const operation = prepareUpdate(schema, before, changes, context);
      if (operation !== undefined) add(schema, operation);
    },
    delete: (schema, id) =>
      add(schema, prepareDelete(schema, after.living(schema, id))),
  });
  return operations;
}

function decisionOf(
  items: Items,
  operations: readonly Operation[],
  judge: RuleJudge,
): Decision {
  const batch = { chain: "", first: 0, commits: [later] };
  const patch = { operations, createOffsets: [], operationsOffset: 0 };
  const refusal = judgeCommits(batch, 0, [patch], items, [judge]);
  if (refusal === undefined) return { allowed: true };
  const { detail = "", rule = "" } = refusal;
  return { allowed: false, reason: detail, rule };
}

/** Runs with a clock and dice that fail: a rule that asks them denies and says so. */
function withoutWorld<T>(run: () => T): T {
  const { Date: realDate } = globalThis;
  const { random } = Math;
  const fail = (what: string) => () => {
    throw new Error(`a rule must not ask ${what}: replicas would disagree`);
  };
  const noClock = fail("the clock");
  globalThis.Date = new Proxy(realDate, {
    construct: (target, given) =>
      given.length === 0 ? noClock() : Reflect.construct(target, given),
    apply: noClock,
    get: (target, name) => name === "now" ? noClock : Reflect.get(target, name),
  });
  Math.random = fail("the dice");
  try {
    return run();
  } finally {
    globalThis.Date = realDate;
    Math.random = random;
  }
}
