/**
 * The predicates of `allowed.ts` as an app's rules.
 *
 * @module
 */

import type { Schema } from "../../src/schema/schema.ts";
import type { RuleContext } from "../../src/schema/rule_types.ts";
import { defineRules, rulesFor } from "../../src/schema/rules.ts";
import { type Asker, mayRead, mayWrite } from "./allowed.ts";
import { Mark, releases, Tally } from "./collections.ts";

function askerIn({ session, repository }: RuleContext): Asker {
  const { team } = session.claims as { team: string };
  return { user: session.user, team, repository };
}

function rulesOf<S extends Schema>(schema: S) {
  return rulesFor(schema, {
    create: (context) =>
      mayWrite(askerIn(context), schema.name, undefined, context.after),
    update: (context) =>
      mayWrite(askerIn(context), schema.name, context.before, context.after),
    delete: (context) =>
      mayWrite(askerIn(context), schema.name, context.before, undefined),
  });
}

/** A server has the next release before any client: it says what a new field is. */
const { Card } = releases.at(-1)!;
const collections = [rulesOf(Card), rulesOf(Tally), rulesOf(Mark)];
const all = {
  read: (context: RuleContext) => mayRead(askerIn(context)),
  collections,
  // Entries of key-value stores, and what no app declares.
  others: true,
};

/** The rules of the simulation's repositories. */
export const rules = defineRules({ "public": all, "team/{team}": all });
