/**
 * The rules of the server: those of the pages, and one that pages do not know.
 * It shows what a refusal looks like: the write is seen at once, comes back with
 * its reason, and waits for its author to settle it.
 *
 * @module
 */

import { defineRules, type Rules, rulesFor } from "@sheaf/sheaf/browser";
import { cardRules, otherRules, read } from "./rules.ts";
import { Card, type CardItem } from "./schema.ts";

const SECRET = /\b(?:sk|pk|ghp|xoxb)_(?:live_|test_)?[A-Za-z0-9]{12,}/;
const REASON = "This looks like a secret key. Guests read these boards: " +
  "keep it in the vault, and write its name here";

function hasSecret({ title, note }: Pick<CardItem, "title" | "note">): boolean {
  return SECRET.test(String(title)) || SECRET.test(String(note));
}

const cards = rulesFor(Card, {
  create: (context) =>
    hasSecret(context.after) ? REASON : cardRules.create(context),
  update: (context) => {
    const isWritten = context.changed.some((name) =>
      name === "title" || name === "note"
    );
    return isWritten && hasSecret(context.after)
      ? REASON
      : cardRules.update(context);
  },
  delete: cardRules.delete,
});

/** What the server asks. */
export const serverRules: Rules = defineRules({
  "team/nordlys": { read, collections: [...otherRules, cards] },
});
