/**
 * A status never says more than is true: "live" only while the server can be
 * heard, nothing unsent only when the server has it, equal only when nothing
 * was here that the server did not have.
 *
 * @module
 */

import { limits } from "../../../src/base/limits.ts";
import type { Client } from "../client.ts";
import type { Desk } from "../desk.ts";
import { check } from "../failure.ts";
import type { Server } from "../server.ts";
import type { Cast } from "../simulation.ts";
import type { Stage } from "../stage.ts";
import { hasCommit } from "./ids.ts";

/** Who hears nothing for three heartbeats and the one that was due is not live. */
const SILENT_MS_MAX = 4 * limits.heartbeatMs + 2_000;
/** The owner of files says within this time what it has not sent. */
const REPORT_MS = 1_000;
/** A page is told of a refusal when the owner of its files has that durable, which takes two syncs at most. */
const MISSED_LOOKS_MAX = 3;
/** How long after a wipe a client may still believe in the old server. */
const WIPED_MS = 2 * SILENT_MS_MAX;

/** Looks at every status. */
export function checkHonest(cast: Cast): void {
  for (const client of cast.clients) {
    if (client.state !== "up") continue;
    for (const desk of client.desks) {
      checkLive(client, desk, cast);
      checkUnsent(client, desk, cast);
      checkEqualAt(client, desk, cast);
    }
  }
}

function checkLive(
  client: Client,
  { name, channel }: Desk,
  { stage }: Cast,
): void {
  // Nobody can know what an owner of files does not say who sleeps.
  if (client.isAsleep) return;
  const { silentSinceMs } = client.link;
  const silentMs = stage.timeline.nowMs - silentSinceMs;
  check(
    channel.status.state !== "live" || silentMs <= SILENT_MS_MAX,
    "honest",
    () =>
      `${client.name} ${name} is live, though nothing came through for ${
        silentMs.toFixed(0)
      } ms`,
  );
}

function checkUnsent(
  client: Client,
  desk: Desk,
  { server, stage }: Cast,
): void {
  const { state, unsent } = desk.channel.status;
  const served = server.replica(desk.name);
  if (state !== "live" || unsent.commits > 0 || served === undefined) return;
  if (client.isTainted(desk.name)) return;
  if (isOfOld(client, server, stage)) return;
  // In Fast mode what a page writes is durable before the owner of its files has it.
  if (client.isBrowser && stage.plan.mode === "fast") return;
  const longAgoMs = stage.timeline.nowMs - (client.isBrowser ? REPORT_MS : 0);
  // What follows a refused write is written anew, and on its way to the owner of the files again.
  if (client.isBrowser && desk.refusedMs > longAgoMs) return;
  const { sharing } = desk.replica;
  for (const pending of desk.pending) {
    const { entry, commit, durableMs } = pending;
    const { voided } = desk.replica.loaded;
    const { chain, number, isRefused } = voided.placeOf(commit);
    // What is still on its way to the disk is not counted as unsent.
    if (durableMs === undefined || durableMs > longAgoMs) continue;
    const isMarked = stage.plan.mode !== "fast";
    if (!isMarked && sharing.lengthOf(chain) <= number) continue;
    const isThere = isRefused ||
      hasCommit(served, desk.replica, chain, number);
    pending.missedLooks = isThere ? 0 : pending.missedLooks + 1;
    check(
      pending.missedLooks <= (client.isBrowser ? MISSED_LOOKS_MAX : 0),
      "honest",
      () =>
        `${client.name} ${desk.name}: nothing is unsent, but the server lacks ${entry.mark}`,
    );
  }
}

function checkEqualAt(
  client: Client,
  desk: Desk,
  { stage }: Cast,
): void {
  const atMs = desk.channel.status.equalAt?.getTime() ?? 0;
  if (atMs === desk.equalAtMs) return;
  const nowMs = client.world.now();
  check(
    atMs <= nowMs + 1 || stage.blames.has(`clock ${client.name}`),
    "honest",
    () => {
      return `${client.name} ${desk.name}: equal at ${atMs}, which is after ${nowMs}`;
    },
  );
  desk.equalAtMs = atMs;
}

/** A client that says that it is equal with the server has nothing that the server lacks. */
export function checkEqual(
  { server, stage }: Cast,
  client: Client,
  { name, replica }: Desk,
): void {
  const served = server.replica(name);
  if (served === undefined || isOfOld(client, server, stage)) return;
  for (const [chain, count] of replica.sharing.vector()) {
    check(
      hasCommit(served, replica, chain, count - 1),
      "honest",
      () =>
        `${client.name} ${name}: equal, but the server has ${
          served.graph.lengthOf(chain)
        } of ${count} of a chain, or others`,
    );
  }
}

/** Has it not been connected with this server since that lost its disk, so that it speaks of the old one? */
function isOfOld(client: Client, server: Server, stage: Stage): boolean {
  const connectedMs = server.connectedMs.get(client.link.client) ?? -Infinity;
  return connectedMs <= server.wipedMs &&
    stage.timeline.nowMs - server.wipedMs < WIPED_MS;
}
