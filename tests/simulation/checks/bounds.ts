/**
 * Nothing grows without bound: what waits for parents and for the wire, chains
 * of a session, collections.
 *
 * @module
 */

import type { Replica } from "../../../repo/replica.ts";
import { limits } from "../../../src/base/limits.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";
import type { Stage } from "../stage.ts";

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
    const served = server.replica(name);
    if (served !== undefined) checkServed(served, stage);
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

/** Whoever floods fills no list of the server's. */
function checkServed(served: Replica, { judge }: Stage): void {
  const { name, mode, graph, state, loaded } = served;
  const { parked } = served.status();
  const chainsMax = mode === "default"
    ? limits.sessionChainsMax
    : limits.unsignedChainsMax;
  const chains = new Map<string, number>();
  const { retirements } = loaded.credentials;
  for (const { name: chain, length } of graph.chains()) {
    if (length >= retirements.lengthOf(chain)) continue;
    const key = chain.slice(0, 32);
    chains.set(key, (chains.get(key) ?? 0) + 1);
  }
  // What a lost server had comes back also where somebody else has taken the room.
  const collections = state.tables().map(({ name }) => name);
  const had = judge?.hadCollections(name, collections) ?? 0;
  check(
    parked <= limits.parkedMax && state.size <= limits.collectionsMax + had &&
      Math.max(0, ...chains.values()) <= chainsMax,
    "bounds",
    () =>
      `server ${name}: ${parked} parked, ${state.size} collections, ${[
        ...chains.values(),
      ]} chains by session`,
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
