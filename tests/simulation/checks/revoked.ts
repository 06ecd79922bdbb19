/**
 * A revocation holds for good, on every replica: over restarts, in repositories
 * that were closed when it was made, and where it was synced to.
 *
 * @module
 */

import type { Graph } from "../../../repo/graph/graph.ts";
import type { Replica } from "../../../repo/replica.ts";
import { fromHex } from "../../../src/base/bytes.ts";
import { nameOf } from "../../../repo/commit/commit.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

const KEY_CHARACTERS = 32;

/** Has the server a record in each repository that peers use of each session that it revoked? */
export function checkRecords({ server, stage }: Cast): void {
  if (stage.plan.mode !== "default") return;
  for (const name of server.opened) {
    const served = server.replica(name);
    for (const key of server.revoked) {
      if (served === undefined || !server.hasRevoked(key)) continue;
      const author = nameOf(fromHex(key), 0, KEY_CHARACTERS);
      const { graph, loaded: { credentials: { revocations } } } = served;
      check(
        revocations.of(author).length > 0 || !wroteIn(graph, author),
        "revoked",
        () => `the server has no record in ${name} of ${key}`,
      );
    }
  }
}

function wroteIn(graph: Graph, author: string): boolean {
  for (const { name } of graph.chains()) {
    if (name.startsWith(author)) return true;
  }
  return false;
}

/** Who lets other commits of a revoked session stand than the server does; `undefined` where nobody does. */
export function openCut({ clients, server, stage }: Cast): string | undefined {
  if (stage.plan.mode !== "default") return undefined;
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served === undefined) continue;
    const cuts = cutsIn(served);
    for (const client of clients) {
      // A record that was lost on the way is missed by nobody but who needs it.
      if (client.isRevoked || client.isSpoiled(name)) continue;
      const desk = client.desks.find((desk) => desk.name === name);
      const open = desk && otherCut(cutsIn(desk.replica), cuts);
      if (open !== undefined) return `${client.name} ${name}: ${open}`;
    }
  }
  return undefined;
}

function otherCut(
  cuts: ReadonlyMap<string, number>,
  served: ReadonlyMap<string, number>,
): string | undefined {
  for (const chain of new Set([...served.keys(), ...cuts.keys()])) {
    const [here, there] = [cuts.get(chain), served.get(chain)];
    if (here === there) continue;
    return `it lets ${here ?? "all"} commits of a chain of a revoked session ` +
      `stand, the server ${there ?? "all"}`;
  }
  return undefined;
}

/** Chain → how many of its commits stand, of chains whose session was revoked. */
function cutsIn({ graph, loaded }: Replica): Map<string, number> {
  const cuts = new Map<string, number>();
  for (const { name } of graph.chains()) {
    const cut = loaded.credentials.revocations.cutOf(name);
    if (cut < Infinity) cuts.set(name, cut);
  }
  return cuts;
}
