/**
 * What may be written and read in a simulation, said once as plain predicates.
 * `rules.ts` hands them to Sheaf; the judge of `checks/judge.ts` asks them of
 * every admitted commit by itself.
 *
 * @module
 */

import { placeMark } from "./collections.ts";

/** An item as anybody reads it. */
type Item = { readonly [field: string]: unknown };

/** Who wants something, and where. */
export interface Asker {
  readonly user: string;
  readonly team: string;
  readonly repository: string;
}

/** May the asker read this repository? */
export function mayRead({ team, repository }: Asker): boolean {
  return repository === "public" || repository === `team/${team}`;
}

/** May the asker turn an item from `before` into `after`? */
export function mayWrite(
  asker: Asker,
  collection: string,
  before: Item | undefined,
  after: Item | undefined,
): boolean {
  if (!mayRead(asker)) return false;
  if (collection === "card") return mayWriteCard(asker, before, after);
  if (collection === "tally") return mayWriteTally(asker, before, after);
  if (collection === "mark") return mayWriteMark(asker, before, after);
  return true;
}

function mayWriteCard(
  { user }: Asker,
  before: Item | undefined,
  after: Item | undefined,
): boolean {
  if (after === undefined) return before?.owner === user;
  if (after.title === "forbidden") return false;
  return after.owner === (before === undefined ? user : before.owner);
}

function mayWriteTally(
  { user }: Asker,
  before: Item | undefined,
  after: Item | undefined,
): boolean {
  if (after === undefined) return false;
  return after.owner === (before === undefined ? user : before.owner);
}

function mayWriteMark(
  asker: Asker,
  before: Item | undefined,
  after: Item | undefined,
): boolean {
  // Who takes a write back takes its mark back.
  if (after === undefined) return before?.owner === asker.user;
  if (before !== undefined) return false;
  return after.owner === asker.user &&
    after.place === placeMark(asker.repository);
}
