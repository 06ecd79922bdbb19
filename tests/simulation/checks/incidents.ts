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
    for (const { kind, message } of client.incidents) {
      const isExplained = blamesFor(kind, client.name).some((blame) =>
        stage.blames.has(blame)
      );
      check(
        isExplained,
        "incidents",
        () => `${client.name} reports ${kind} for no reason: ${message}`,
      );
    }
  }
}

function blamesFor(kind: string, client: string): string[] {
  const hostile = `hostile ${client}`;
  if (kind === "clock") return [`clock ${client}`, hostile];
  if (kind === "restore-incomplete") return ["wipe"];
  if (kind === "foreign-refused") return ["wipe", "revoke", hostile];
  return [hostile];
}
