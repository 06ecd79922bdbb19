/**
 * Nothing grows without bound: what waits for parents, and what waits for the
 * wire.
 *
 * @module
 */

import { limits } from "../../../src/base/limits.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** A window of records, and frames beside it that need no credit. */
const BUFFERED_MAX = limits.windowBytes + 2 * limits.frameBytesMax;

/** How long a stranger may stay. */
const UNPROVED_MS = limits.proveMsMax + 1_000;

/** Looks at everybody who is up. */
export function checkBounds(
  { clients, server, stage, intruder }: Cast,
): void {
  for (const client of clients) {
    for (const { name, replica } of client.desks) {
      const { parked } = replica.status();
      check(
        parked <= limits.parkedMax,
        "bounds",
        () => `${client.name} ${name}: ${parked} parked`,
      );
    }
  }
  for (const name of stage.repositories) {
    const parked = server.replica(name)?.status().parked ?? 0;
    check(
      parked <= limits.parkedMax,
      "bounds",
      () => `server ${name}: ${parked} parked`,
    );
  }
  for (const { who, sinceMs } of server.wires.values()) {
    const ms = stage.timeline.nowMs - sinceMs;
    check(
      who !== intruder.link.client || ms <= UNPROVED_MS,
      "bounds",
      () => `a stranger has a wire for ${ms.toFixed(0)} ms`,
    );
  }
  const { bufferedMax } = stage.network;
  check(
    bufferedMax <= BUFFERED_MAX,
    "bounds",
    () => `${bufferedMax} bytes wait on one wire`,
  );
}

/** When all is quiet: no place is taken that nobody has, and nothing is missing that somebody could bring back. */
export function checkServer({ clients, server, stage }: Cast): void {
  const { connections, restoring } = server.service!.status();
  check(
    connections === server.wires.size,
    "bounds",
    () => `${connections} places are taken by ${server.wires.size} wires`,
  );
  // What only a revoked session or a power cut in Fast mode took stays away.
  const isWhole = stage.plan.mode !== "fast" &&
    clients.every(({ isRevoked }) => !isRevoked);
  const [first] = restoring;
  check(
    !isWhole || first === undefined,
    "bounds",
    () => `${first!.missing} commits of ${first!.repository} did not come back`,
  );
}
