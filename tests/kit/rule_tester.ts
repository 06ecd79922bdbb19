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
import type { Cell } from "../../src/schema/cell.ts";
import { parseJson } from "../../src/schema/json.ts";
import { fold, nowhere } from "../../src/schema/merge.ts";
import type { Operation } from "../../src/schema/patch.ts";
import {
  prepareCreate,
  prepareDelete,
  prepareUpdate,
} from "../../src/schema/prepare.ts";
import { judgeWrite } from "../../src/schema/rule_write.ts";
import type { RepositoryRules, Rules } from "../../src/schema/rules.ts";
import type {
  CreateInput,
  Schema,
  UpdateInput,
} from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";

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

function testerOf(
  rules: RepositoryRules,
  session: RuleSession,
  wall: number,
): RepositoryTester {
  const ask = (schema: Schema, before: Cell | undefined, asked: Operation) => {
    const view = createView(schema);
    const origin = { ...nowhere, wall };
    const after = () => fold(before, asked, origin, -1, view);
    const operation = asked;
    const written = { session, wall, operation, before, after, view };
    return withoutWorld(() => judgeWrite(rules, written));
  };
  const cellOf = (schema: Schema, item: unknown) => {
    const operation = prepareCreate(schema, item, context);
    return fold(undefined, operation, nowhere, -1, createView(schema));
  };
  return {
    read: () => withoutWorld(() => rules.mayRead(session, wall)),
    create: (schema, item) =>
      ask(schema, undefined, prepareCreate(schema, item, context)),
    update: (schema, item, changes) => {
      const before = cellOf(schema, item);
      const operation = prepareUpdate(schema, before, changes, context);
      if (operation === undefined) return { allowed: true }; // Nothing is written.
      return ask(schema, before, operation);
    },
    delete: (schema, item) => {
      const before = cellOf(schema, item);
      return ask(schema, before, prepareDelete(schema, before));
    },
  };
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
