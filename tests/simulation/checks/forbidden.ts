/**
 * What the rules forbid is not even for a moment to be read on the server; nor
 * elsewhere, but where it was written by somebody who knows no rules, or, for a
 * moment, where a network brought it past the server. A server that lost what
 * it had shows for a moment what had been history, until what ended it is back.
 *
 * @module
 */

import type { Replica } from "../../../repo/replica.ts";
import { Card } from "../collections.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** Looks at the server, and at everybody who is up and knows the rules. */
export function checkForbidden(
  { clients, server, stage }: Cast,
  isEnd = false,
): void {
  const mayShow = !isEnd && stage.blames.has("wipe");
  if (!stage.plan.hasRules || mayShow) return;
  const mayPass = stage.plan.accidents.includes("hostile");
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served !== undefined) checkCards("the server", served);
  }
  for (const { name, isNaughty, desks } of clients) {
    if (isNaughty || mayPass && !isEnd) continue;
    for (const { replica } of desks) checkCards(name, replica);
  }
}

function checkCards(who: string, replica: Replica): void {
  for (const { id, title } of replica.state.find(Card.name)?.items() ?? []) {
    check(
      title !== "forbidden",
      "forbidden",
      () => `${who} shows ${id} of ${replica.name}, which nobody may write`,
    );
  }
}
