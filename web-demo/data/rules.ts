/**
 * Who may do what on a team's boards. The page asks these rules before it
 * writes, the server at its door, and every device of what others wrote.
 *
 * @module
 */

import {
  defineRules,
  type Rules,
  type RuleSession,
  rulesFor,
  type WriteRules,
} from "@sheaf/sheaf/browser";
import { Board, Card, Column, Comment, Label, Person } from "./schema.ts";

/** The repository of the one team of this demo. */
export const teamRepository = "team/nordlys";

type Answer = true | string;

const isLead = (session: RuleSession) => session.claims["role"] === "lead";
const isGuest = (session: RuleSession) => session.claims["role"] === "guest";

function onlyLeads(what: string) {
  return ({ session }: { readonly session: RuleSession }): Answer =>
    isLead(session) || `Only leads may ${what}`;
}

function noGuests(what: string) {
  return ({ session }: { readonly session: RuleSession }): Answer =>
    !isGuest(session) ||
    `Guests may read and comment. Only members and leads may ${what}`;
}

/** What is asked about cards; the server asks more. */
export const cardRules: Required<WriteRules<typeof Card>> = {
  create: ({ session, after }) => {
    if (after.by !== session.user) return "A card is made in one's own name";
    return noGuests("add cards")({ session });
  },
  update: ({ session, changed }) => {
    if (changed.includes("by") || changed.includes("at")) {
      return "Who made a card, and when, stays as it was";
    }
    return noGuests("change cards")({ session });
  },
  delete: ({ session, before }) =>
    isLead(session) || before.by === session.user ||
    "Only leads and whoever made a card may delete it",
};

const comments = rulesFor(Comment, {
  create: ({ session, after }) =>
    after.by === session.user || "A comment is made in one's own name",
  update: ({ session, before, changed }) =>
    before.by === session.user && changed.every((name) => name === "text") ||
    "Only whoever said it may change the words",
  delete: ({ session, before }) =>
    isLead(session) || before.by === session.user ||
    "Only leads and whoever said it may take it away",
});

const people = rulesFor(Person, {
  create: onlyLeads("add people"),
  update: ({ session, before, changed }) => {
    if (isLead(session)) return true;
    if (before.id !== session.user) return "Only leads may change others";
    return !changed.includes("role") || "Only leads may change roles";
  },
  delete: onlyLeads("remove people"),
});

const boards = rulesFor(Board, {
  create: onlyLeads("add boards"),
  update: onlyLeads("change boards"),
  delete: onlyLeads("delete boards"),
});

const columns = rulesFor(Column, {
  create: onlyLeads("add columns"),
  update: onlyLeads("change columns"),
  delete: onlyLeads("delete columns"),
});

const labels = rulesFor(Label, {
  create: noGuests("add labels"),
  update: noGuests("change labels"),
  delete: onlyLeads("delete labels"),
});

/** The rules of all collections but the cards'. */
export const otherRules = [people, boards, columns, labels, comments];

/** Who reads. */
export const read = ({ session }: { readonly session: RuleSession }) =>
  session.claims["team"] === "nordlys" || "Only the team reads its boards";

/** The rules that pages ask. */
export const rules: Rules = defineRules({
  "team/nordlys": {
    read,
    collections: [...otherRules, rulesFor(Card, cardRules)],
  },
});
