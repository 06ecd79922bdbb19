import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import {
  bareSession,
  certificateFor,
  lateSession,
  ManualWorld,
  Place,
  sessionOf,
  turns,
} from "../../tests/kit/replica_place.ts";
import { filesOf, restored } from "../../tests/kit/images.ts";
import { repositoryHistory } from "../../src/db/history.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import { sessionName } from "./session.ts";
import { verifyReplica, type VerifyReport } from "../repair/verify.ts";
import { recordKind } from "../log/format.ts";

function verify({ replica }: Place): Promise<VerifyReport> {
  return verifyReplica(replica.loaded, {}, () => Promise.resolve());
}

function usersOf({ replica }: Place): (string | undefined)[] {
  replica.flush();
  return repositoryHistory(replica).map(({ user }) => user);
}

/** Tells `target` everything that `source` would. */
function tell(source: Place, target: Place): string[] {
  const port = source.replica.port();
  const { records } = port.read(0, Number.MAX_SAFE_INTEGER);
  const arrivals = [...port.credentials(), ...records]
    .map(({ kind, bytes }) => ({ kind, bytes }));
  return target.replica.receive(arrivals).map(({ verdict }) => verdict.verdict);
}

Deno.test("a replica writes before anybody certified its session, over restarts", async () => {
  const session = bareSession(1);
  const first = await Place.open({ session });
  await first.write("a", "one");
  await first.replica.close();
  const second = await first.reopen();
  equal(second.text("a"), "one");
  await second.write("b", "two");
  equal(second.replica.graph.size, 1, "the same chain goes on");
  deepEqual(usersOf(second), ["user-1", "user-1"], "shown as the local user");
  const report = await verify(second);
  deepEqual([report.ok, report.signatures, report.certificates], [true, 2, 0]);
});

Deno.test("nobody takes what a session without a certificate wrote, until it is certified", async () => {
  const session = bareSession(1);
  const ada = await Place.open({ session });
  const bob = await Place.open({ seed: 2 });
  await ada.write("a", "one");
  deepEqual(tell(ada, bob), ["refuse"]);
  const certificate = certificateFor(session);
  ada.replica.useSession({ ...ada.replica.session, certificate });
  await ada.write("a", "two");
  deepEqual(tell(ada, bob), ["admit-credential", "admit", "known", "admit"]);
  equal(bob.text("a"), "two");
  equal(ada.replica.graph.size, 1, "the same key, the same chain");
  ok((await verify(ada)).ok, "its certificate came after its first batch");
  ok((await verify(bob)).ok);
});

Deno.test("a certificate of a closed repository is told when it is opened again", async () => {
  const session = bareSession(1);
  const first = await Place.open({ session });
  await first.write("a", "one");
  await first.replica.close();
  const certificate = certificateFor(session);
  const ada = await first.reopen({ session: { ...session, certificate } });
  const { end } = ada.replica.loaded.log;
  ok(end > first.replica.loaded.log.end);
  await turns();
  equal(ada.replica.port().shareable, end, "durable without being asked");
  const bob = await Place.open({ seed: 2 });
  deepEqual(tell(ada, bob), ["admit-credential", "admit", "known"]);
  await ada.replica.close();
  const again = await ada.reopen();
  equal(again.replica.loaded.log.end, end, "once is enough");
});

Deno.test("another session goes on in a chain of its own, and the old one stays certified", async () => {
  const [one, two] = [bareSession(1), bareSession(3)];
  const ada = await Place.open({ session: one });
  await ada.write("a", "one");
  // Certified, and given another key, while the repository was closed.
  const second = {
    ...two,
    certificate: certificateFor(two),
    others: [certificateFor(one)],
  };
  void ada.write("a", "not flushed yet");
  ada.replica.useSession(second);
  await ada.write("a", "two");
  equal(ada.replica.graph.size, 2);
  deepEqual(usersOf(ada), ["user-1", "user-1", "user-3"]);
  const bob = await Place.open({ seed: 2 });
  const verdicts = tell(ada, bob);
  ok(verdicts.every((verdict) => verdict !== "refuse" && verdict !== "park"));
  equal(bob.text("a"), "two");
  ok((await verify(ada)).ok);
  ok((await verify(bob)).ok);
  await ada.replica.close();
  const again = await ada.reopen({ session: second });
  await again.write("a", "three");
  equal(again.replica.graph.size, 2, "the new chain goes on");
});

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`useSession() writes what waits as who wrote it, in ${mode} mode`, async () => {
    const [one, two] = [bareSession(1), bareSession(3)];
    const ada = await Place.open({ mode, session: one });
    const first = ada.write("a", "of the first");
    const { end } = ada.replica.loaded.log;
    ada.replica.useSession(two);
    ok(ada.replica.loaded.log.end > end, "in the log before the next writes");
    await Promise.all([first, ada.write("a", "of the second")]);
    const chains = [...ada.replica.graph.chains()].map(({ name, length }) => ({
      name: name.slice(0, 32),
      length,
    }));
    deepEqual(chains, [
      { name: sessionName(one), length: 1 },
      { name: sessionName(two), length: 1 },
    ]);
    await ada.replica.close();
    equal((await ada.reopen({ session: two })).text("a"), "of the second");
  });
}

Deno.test("what an issuer says comes after what the root says of the issuer", async () => {
  const [server, device] = [bareSession(8), bareSession(9)];
  const issuer = certificateFor(server, undefined, true);
  const certificate = certificateFor(device, server.secretKey);
  const ada = await Place.open({
    session: { ...device, certificate, others: [issuer] },
  });
  await ada.write("a", "one");
  const bob = await Place.open({ seed: 2 });
  const verdicts = tell(ada, bob);
  deepEqual(verdicts.slice(0, 2), ["admit-credential", "admit-credential"]);
  equal(bob.text("a"), "one");
  ok((await verify(bob)).ok);
});

Deno.test("a certificate that goes back to no root is kept out of the log", async () => {
  const [stranger, device] = [bareSession(8), bareSession(9)];
  const certificate = certificateFor(device, stranger.secretKey);
  const ada = await Place.open({ session: { ...device, certificate } });
  await ada.write("a", "one");
  equal(ada.replica.certificates.of(sessionName(device)).length, 0);
  ok((await verify(ada)).ok, "as if nobody had certified it");
});

Deno.test("a session that may issue is known in a repository before it writes", async () => {
  const first = await Place.open({ seed: 1 });
  await first.write("a", "one");
  await first.replica.close();
  const server = bareSession(8);
  const certificate = certificateFor(server, undefined, true);
  const second = await first.reopen({ session: { ...server, certificate } });
  equal(second.replica.certificates.of(sessionName(server)).length, 1);
  const plain = await first.reopen({
    storage: memoryStorage(),
    session: sessionOf(1),
  });
  equal([...plain.replica.certificates].length, 1);
});

Deno.test("useSession() waits for no transaction, and is nothing to a closed repository", async () => {
  const ada = await Place.open({ session: bareSession(1) });
  throws(
    () => ada.replica.transact(() => ada.replica.useSession(sessionOf(1))),
    { code: "invalid-option" },
  );
  await ada.replica.close();
  ada.replica.useSession(sessionOf(1));
});

Deno.test("a repair brings back what a session without a certificate wrote", async () => {
  const session = bareSession(1);
  const ada = await Place.open({ session });
  for (const text of ["one", "two", "three"]) await ada.write("a", text);
  const bob = await Place.open({ seed: 2, world: new ManualWorld(5) });
  await bob.write("b", "of bob");
  await ada.replica.durable();
  tell(bob, ada);
  await ada.write("c", "after bob");
  await ada.replica.close();
  const { log } = ada.replica.loaded;
  ok(log.end > 0);
  // The genesis is hit: everything behind it is taken back in through the door.
  ada.spoil("log-00000000", 64 + 9 + 4);
  const mended = await ada.reopen({ repair: true });
  deepEqual([mended.text("a"), mended.text("b"), mended.text("c")], [
    "three",
    "of bob",
    "after bob",
  ]);
  ok((await verify(mended)).ok);
});

Deno.test("verification still refuses what another key signed that nobody certified", async () => {
  const [one, two] = [bareSession(1), bareSession(3)];
  const ada = await Place.open({ session: one });
  await ada.write("a", "one");
  await ada.replica.close();
  const stolen = await ada.reopen({ session: two });
  const report = await verify(stolen);
  equal(report.ok, false);
  ok(report.damage!.reason.startsWith("unknown-session"));
});

Deno.test("a certificate that came before the first write stands before it", async () => {
  const session = bareSession(1);
  const ada = await Place.open({ session });
  const bob = await Place.open({ seed: 2 });
  const certificate = certificateFor(session);
  ada.replica.useSession({ ...ada.replica.session, certificate });
  await ada.write("a", "one");
  const kinds = ada.replica.port().read(0, 1 << 20).records
    .map(({ kind }) => kind);
  deepEqual(kinds, [recordKind.certificate, recordKind.signedBatch]);
  deepEqual(tell(ada, bob), ["admit-credential", "known", "admit"]);
});

Deno.test("a session whose key signs later writes at once, and shares what is sealed", async () => {
  const late = lateSession(sessionOf(1));
  const ada = await Place.open({ session: late.session });
  const bob = await Place.open({ seed: 2 });
  const port = ada.replica.port();
  const { shareable } = port;
  const writes = [ada.write("a", "one")];
  ada.replica.flush();
  writes.push(ada.write("b", "two"));
  ada.replica.flush();
  await turns();
  deepEqual([ada.text("a"), ada.text("b")], ["one", "two"]);
  equal(late.waiting.length, 2, "the second needs nothing of the first seal");
  const { log } = ada.replica.loaded;
  deepEqual([port.shareable, port.commits], [shareable, 0]);
  equal(log.sealed, shareable);
  ok((await verify(ada)).ok, "what lacks its seal is not judged");
  late.signOne(1);
  await turns();
  deepEqual([port.shareable, port.commits], [shareable, 0]);
  late.signOne();
  await Promise.all(writes);
  deepEqual([port.shareable, port.commits], [log.end, 2]);
  deepEqual(tell(ada, bob), ["admit-credential", "known", "admit"]);
  deepEqual([bob.text("a"), bob.text("b")], ["one", "two"]);
  const report = await verify(ada);
  deepEqual([report.ok, report.signatures, report.bytes], [true, 2, log.end]);
});

Deno.test("what lacks its seal in a crash was never written, and its chain goes on", async () => {
  const late = lateSession(sessionOf(1));
  const ada = await Place.open({ session: late.session });
  const write = ada.write("a", "one");
  await turns();
  late.signOne();
  await write;
  void ada.write("a", "two");
  await turns();
  equal(ada.text("a"), "two");
  const again = await ada.reopen({ storage: restored(filesOf(ada.storage)) });
  equal(again.text("a"), "one");
  ok(again.replica.loaded.recovery.droppedBytes > 64);
  const third = again.write("a", "three");
  await turns();
  late.signOne(1);
  await third;
  equal(again.replica.graph.size, 1);
  ok((await verify(again)).ok);
});

Deno.test("a key that fails makes the repository read-only, and nothing of it is shared", async () => {
  const session = sessionOf(1);
  const { publicKey } = session.signer;
  const sign = () => Promise.reject(new Error("The key is gone"));
  const ada = await Place.open({
    session: { ...session, signer: { publicKey, sign } },
  });
  const { shareable } = ada.replica.port();
  await rejects(ada.write("a", "one"), { code: "storage-readonly" });
  throws(() => ada.write("a", "two"), { code: "storage-readonly" });
  equal(ada.replica.port().shareable, shareable);
  await rejects(ada.replica.close(), { code: "storage-readonly" });
});
