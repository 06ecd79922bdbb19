/**
 * Every incident that a client reports is explained by an injected fault.
 *
 * @module
 */

import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** Asks of each incident who is to blame. */
export function checkIncidents({ clients, stage }: Cast): void {
  for (const client of clients) {
    for (const { kind, message, isTainted } of client.incidents) {
      const { hasRules } = stage.plan;
      const isExplained = isTainted ||
        blamesFor(kind, client.name, hasRules)
          .some((blame) => stage.blames.has(blame));
      check(
        isExplained,
        "incidents",
        () => `${client.name} reports ${kind} for no reason: ${message}`,
      );
    }
  }
}

/**
 * A copy has commits whose author may have no certificate yet: the server
 * refuses them until their author comes by itself.
 */
function blamesFor(
  kind: string,
  client: string,
  hasRules: boolean,
): string[] {
  if (kind === "clock") return [`clock ${client}`, "clock s"];
  if (kind === "restore-incomplete") return ["wipe", "tail"];
  // A server that lost what it had signed for refuses it once its rules, or its revocations, are other ones.
  if (kind === "receipt-denied") return ["wipe", "tail"];
  if (kind === "relay-refused") return ["wipe", "revoke", `copy ${client}`];
  // Without rules who writes a field first decides what it is: a villain may, also where a server lost what was there.
  if (kind === "wrong-kind" && !hasRules) return ["wipe", "villain"];
  if (kind === "counter-overflow" && !hasRules) return ["villain"];
  // A disk that is put in place twice goes on twice with one epoch.
  if (kind === "server-rolled-back" || kind === "server-forked") {
    return ["replaced"];
  }
  return [];
}
