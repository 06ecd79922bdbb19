/** Servers whose session is over: whoever has the key since then proves nothing, and is given nothing. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { issueCertificate } from "../repo/commit/certificate.ts";
import type { Signer } from "../crypto/mod.ts";
import { limits } from "../src/base/limits.ts";
import {
  bareSession,
  certificateFor,
  ManualWorld,
  Place,
} from "../tests/kit/replica_place.ts";
import { ClientPlace, ServerPlace, until } from "../tests/kit/sync_place.ts";
import {
  ClientSide,
  proverFor,
  ServerSide,
  Serving,
  Talk,
} from "../tests/kit/talk.ts";
import type { ServerProver } from "./proof.ts";
import { checkProof, type ProofContext } from "./witness.ts";
import { witnessLayout } from "./witness.ts";

const signWitness = (...asked: Parameters<typeof witnessLayout.sign>) =>
  witnessLayout.sign(...asked).bytes;

const DAY_MS = 24 * 3_600_000;
const issuer = bareSession(70);
const thief = bareSession(71);

/** A server's session with these dates, which another server certified that has not been anywhere since. */
function proverIn(notBefore: number, notAfter: number): ServerProver {
  const own = issueCertificate({
    sessionKey: thief.signer.publicKey,
    user: thief.user,
    claims: "{}",
    mayIssue: true,
    notBefore,
    notAfter,
  }, issuer.signer as Signer); // Proof: a test's session signs at once.
  const certificates = [own.bytes, certificateFor(issuer, undefined, true)];
  return { ...proverFor(thief), certificates };
}

async function start(prover?: ServerProver) {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  await place.write("a", "1");
  const session = prover && { session: prover };
  const meet = () =>
    new Talk(
      world,
      new ServerSide(world, serving, session),
      new ClientSide(world, place),
    );
  return { world, serving, place, meet };
}

Deno.test("checkProof() believes a witness of the time that its signer's certificate covers, and of no other", async () => {
  const { world, place } = await start();
  const now = world.now();
  const port = place.replica.port();
  const summary = port.summary()!;
  const prover = proverIn(now - 2 * DAY_MS, now + DAY_MS);
  const isBelieved = (wall: number, changes: Partial<ProofContext> = {}) => {
    const statement = signWitness({
      genesisId: port.genesisId,
      epoch: new Uint8Array(16),
      position: 1,
      commits: 1,
      digest: port.digestOf(summary),
      order: new Uint8Array(32),
      wall,
    }, prover);
    const { certificates } = prover;
    const proof = { statement, certificates, summary };
    const context = { port, nowMs: now, ...changes };
    return checkProof(proof, context) !== undefined;
  };
  const nowMs = now + 9 * DAY_MS;
  deepEqual(
    [now - 2 * DAY_MS, now, now + DAY_MS].map((wall) =>
      isBelieved(wall, { nowMs })
    ),
    [true, true, true],
  );
  equal(isBelieved(now - 2 * DAY_MS - 1, { nowMs }), false);
  equal(isBelieved(now + DAY_MS + 1, { nowMs }), false);
  equal(isBelieved(now + limits.clockAheadMsMax), true);
  equal(isBelieved(now + limits.clockAheadMsMax + 1), false);
  for (const { signer: { publicKey } } of [thief, issuer]) {
    const isRevoked: ProofContext["isRevoked"] = ({ sessionKey }) =>
      sessionKey.toHex() === publicKey.toHex();
    equal(isBelieved(now, { isRevoked }), false);
  }
  place.revoke(bareSession(72));
  equal(isBelieved(now), true);
  place.revoke(issuer);
  equal(isBelieved(now), false);
});

for (const revoked of [thief, issuer]) {
  const which = revoked === thief ? "its" : "its issuer's";
  Deno.test(`a client gives nothing to a server when ${which} session was revoked, as a repository knows`, async () => {
    const { place, serving, meet } = await start(proverIn(0, 2 ** 47));
    place.revoke(revoked);
    await place.replica.durable();
    const talk = meet();
    await talk.settle();
    equal(talk.client.ended?.code, "forbidden");
    match(talk.client.ended.detail, /was revoked/);
    equal(serving.place.replica.graph.commits, 0);
    talk.end();
  });
}

Deno.test("a client leaves a server as soon as it hears that its session was revoked", async () => {
  const { place, serving, meet } = await start();
  const talk = meet();
  await talk.settle();
  equal(serving.place.text("a"), "1");
  place.revoke(serving.session);
  await place.replica.durable();
  await talk.settle();
  equal(talk.client.ended?.code, "forbidden");
  await place.write("b", "1");
  await talk.settle();
  equal(serving.place.text("b"), undefined);
  talk.end();
});

Deno.test("a client leaves a server when a repository joins that knows of its session's end", async () => {
  const { place, serving, meet } = await start();
  const talk = meet();
  await talk.settle();
  const { client } = talk;
  const port = place.replica.port();
  client.perform(client.core.close(port.name));
  place.revoke(serving.session);
  await place.replica.durable();
  await talk.settle();
  equal(client.ended, undefined);
  client.perform(client.core.open(port, client.server));
  equal(client.ended!.code, "forbidden");
  talk.end();
});

Deno.test("a client gives nothing to a server whose session has ended by the server's clock, or surely by its own", async () => {
  const { clockCorrectionMsMax } = limits;
  const { time } = new ManualWorld();
  const cases = [
    [time - 1, 0, "forbidden"],
    [time, 0, undefined],
    // The server sets its clock back, or it is this device's that is ahead.
    [time - 1, -1, undefined],
    [time - clockCorrectionMsMax, -clockCorrectionMsMax, undefined],
    [time - clockCorrectionMsMax - 1, -2 * clockCorrectionMsMax, "forbidden"],
  ] as const;
  for (const [notAfter, clockMs, code] of cases) {
    const { world, serving, place } = await start();
    const there = new ManualWorld();
    there.time += clockMs;
    const session = proverIn(0, notAfter);
    const server = new ServerSide(there, serving, { session });
    const talk = new Talk(world, server, new ClientSide(world, place));
    await talk.settle();
    equal(talk.client.ended?.code, code, `${notAfter - time} ${clockMs}`);
    equal(talk.client.told("opened").length > 0, code === undefined);
    talk.end();
  }
});

Deno.test("a client comes back, ever more seldom, to the address of a server that was revoked", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const ann = await ClientPlace.connect(server, 1);
  await ann.write("a", "1");
  await ann.live();
  ann.place.revoke(server.place.replica.session);
  await until(world, () => ann.channel.status.state === "offline");
  equal(ann.channel.status.reason?.code, "forbidden");
  await ann.write("b", "1");
  const end = world.monotonic() + 10 * limits.backoffMsMax;
  await until(world, () => world.monotonic() >= end, 2 ** 30, 1_000);
  ok(server.attempts > 8 && server.attempts < 40, `${server.attempts}`);
  equal(server.place.text("b"), undefined);
  equal(ann.channel.status.unsent.commits, 1);
  ann.close();
  await server.stop();
});
