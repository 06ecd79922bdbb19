/**
 * Same commits, byte-equal state: on the server and on every client that may
 * read a repository.
 *
 * @module
 */

import { assertOneForm } from "../../one_form.ts";
import { verifyReplica } from "../../../repo/repair/verify.ts";
import type { Replica } from "../../../repo/replica.ts";
import { equalBytes, toHex } from "../../../src/base/bytes.ts";
import type { Client } from "../client.ts";
import type { Desk } from "../desk.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";
import { hasCommit } from "./ids.ts";
import { openCut } from "./revoked.ts";
import { digestOf } from "../../kit/digest.ts";

/** Why not everything is over yet; `undefined` when it is. */
export function openQuestion(cast: Cast): string | undefined {
  const { clients, server, villains } = cast;
  const busy = villains.find(({ isBusy }) => isBusy);
  if (busy !== undefined) return `${busy.name} is still here`;
  if (server.state !== "up") return `the server is ${server.state}`;
  if (server.isAccepting) return "what was kept is being accepted";
  for (const client of clients) {
    if (client.state !== "up") return `${client.name} is ${client.state}`;
    if (!client.isCalm) return `${client.name} is opening`;
    if (client.isRevoked) continue;
    for (const desk of client.desks) {
      const question = questionOf(cast, client, desk);
      if (question !== undefined) {
        return `${client.name} ${desk.name}: ${question}`;
      }
    }
  }
  // A page hears of a revocation when its owner's log is durable.
  return openCut(cast);
}

function questionOf(
  { server }: Cast,
  client: Client,
  { name, channel, replica, pending }: Desk,
): string | undefined {
  const { state, reason, unsent } = channel.status;
  if (state !== "live") {
    return `${state} ${
      reason === undefined ? "" : `${reason.code}: ${reason.message}`
    }`;
  }
  if (unsent.commits > 0) return `${unsent.commits} unsent commits`;
  for (const { entry } of pending) {
    return `nobody knows what became of ${entry.mark}`;
  }
  const served = server.replica(name);
  if (served === undefined) return "the server has it closed";
  return difference(served, replica, client.name);
}

function difference(
  served: Replica,
  replica: Replica,
  who: string,
): string | undefined {
  for (const { name, length } of served.graph.chains()) {
    const known = replica.graph.lengthOf(name);
    if (known !== length) {
      return `${who} has ${known} of chain ${
        nameOf(name)
      }, the server ${length}`;
    }
    if (!hasCommit(replica, served, name, length - 1)) {
      return `${who} has other commits of chain ${
        nameOf(name)
      } than the server`;
    }
  }
  for (const { name, length } of replica.graph.chains()) {
    if (served.graph.lengthOf(name) > 0) continue;
    return `the server lacks chain ${nameOf(name)} of ${length}`;
  }
  return undefined;
}

function nameOf(chain: string): string {
  return toHex(Uint8Array.from(chain, (char) => char.charCodeAt(0))).slice(-16);
}

/** Compares ids and state, and reads the server's log as a stranger would. */
export async function checkConverged(
  { clients, server, stage }: Cast,
): Promise<void> {
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served === undefined) continue;
    assertOneForm(served);
    const [state, ids] = digestsOf(served);
    for (const client of clients) {
      if (client.isRevoked) continue;
      for (const desk of client.desks) {
        if (desk.name !== name) continue;
        const { replica } = desk;
        check(
          equalBytes(state, digestOf(replica.state)),
          "converge",
          () => `${client.name} ${name}: another state than the server`,
        );
        // A page has no log to read ids from.
        check(
          client.isBrowser || equalBytes(ids, digestsOf(replica)[1]),
          "converge",
          () => `${client.name} ${name}: other commit ids than the server`,
        );
      }
    }
    const report = await stage.timeline.settle(
      verifyReplica(served.loaded, {}, () => Promise.resolve()),
    );
    check(report.ok, "verify", () => `${name}: ${report.damage?.reason}`);
  }
}

function digestsOf(replica: Replica): [Uint8Array, Uint8Array] {
  replica.commits.hashFrom(0);
  return [digestOf(replica.state), replica.graph.summary()!];
}
