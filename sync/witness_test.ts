import assert from "node:assert/strict";
import type { RepositoryPort } from "../repo/port.ts";
import { limits } from "../src/base/limits.ts";
import { throwsOnlySyntaxError } from "../tests/kit/garbage.ts";
import { ManualWorld, Place, sessionOf } from "../tests/kit/replica_place.ts";
import {
  ClientSide,
  disks,
  proverFor,
  ServerSide,
  Serving,
  Talk,
} from "../tests/kit/talk.ts";
import { finished } from "../tests/kit/sliced.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";
import { answerAudit, audit, type AuditReport } from "./audit.ts";
import type { WitnessSource } from "./witness.ts";
import { checkProof } from "./witness.ts";
import {
  decodeResume,
  emptyResume,
  encodeResume,
  type ResumeState,
} from "./resume.ts";
import {
  compareWitnesses,
  decodeWitness,
  type WitnessFields,
  witnessLayout,
  WitnessMaker,
} from "./witness.ts";
import { isSigned } from "../repo/admission/signature_check.ts";

const signWitness = (...asked: Parameters<typeof witnessLayout.sign>) =>
  witnessLayout.sign(...asked).bytes;

async function start() {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  return { world, serving, place };
}

function fieldsOf(serving: Serving, changes: Partial<WitnessFields> = {}) {
  const port = serving.place.replica.port();
  return {
    genesisId: port.genesisId,
    epoch: serving.order.epoch,
    position: port.shareable,
    commits: port.commits,
    digest: port.digestOf(port.summary()!),
    order: serving.order.last.order,
    wall: 1,
    ...changes,
  };
}

function talk(
  serving: Serving,
  place: Place,
  resume?: ResumeState,
  witness?: WitnessSource,
) {
  const world = place.world as ManualWorld;
  const server = new ServerSide(world, serving, {}, witness && { witness });
  return new Talk(world, server, new ClientSide(world, place, resume));
}

Deno.test("a witness is its bytes, and any change of them is noticed", async () => {
  const { serving } = await start();
  await serving.place.write("a", "1");
  const prover = proverFor(serving.session);
  const bytes = signWitness(fieldsOf(serving), prover);
  const witness = decodeWitness(bytes);
  assert.ok(isSigned(witnessLayout, witness));
  assert.equal(witness.commits, 1);
  for (let at = 1; at < bytes.length; at += 7) {
    const changed = bytes.slice();
    changed[at]! ^= 1;
    assert.ok(!isSigned(witnessLayout, decodeWitness(changed)), `byte ${at}`);
  }
  throwsOnlySyntaxError(bytes, (bytes) => void decodeWitness(bytes));
});

Deno.test("compareWitnesses() names a server that goes back, or tells two stories", async () => {
  const { serving } = await start();
  const prover = proverFor(serving.session);
  const of = (changes: Partial<WitnessFields>) =>
    decodeWitness(signWitness(fieldsOf(serving, changes), prover));
  const older = of({ position: 100 });
  assert.equal(compareWitnesses(older, of({ position: 101 })), "sound");
  assert.equal(compareWitnesses(older, of({ position: 100 })), "sound");
  assert.equal(
    compareWitnesses(older, of({ position: 99 })),
    "server-rolled-back",
  );
  const other = new Uint8Array(32);
  for (const lie of [{ digest: other }, { order: other }]) {
    assert.equal(
      compareWitnesses(older, of({ position: 100, ...lie })),
      "server-forked",
    );
  }
  const epoch = new Uint8Array(16);
  assert.equal(compareWitnesses(older, of({ position: 9, epoch })), "sound");
});

Deno.test("a maker signs once per change, and at most one in a second", async () => {
  const { world, serving } = await start();
  const port = serving.place.replica.port();
  const maker = new WitnessMaker({
    prover: proverFor(serving.session),
    port,
    order: serving.order,
  });
  const first = maker.newest(world.now());
  assert.equal(maker.newest(world.now() + 5_000), first);
  await serving.place.write("a", "1");
  await disks();
  assert.equal(maker.newest(world.now() + 500), first, "too early");
  const second = maker.newest(world.now() + limits.witnessMs);
  assert.equal(second?.position, port.shareable);
  await serving.place.write("b", "1");
  await disks();
  const back = maker.newest(world.now() - 100_000);
  assert.equal(
    back?.position,
    port.shareable,
    "a clock set back silences nobody",
  );
});

Deno.test("a client names a server that was rolled back, forked, or signs with another key", async () => {
  const kinds = ["server-rolled-back", "server-forked", "bad-witness"] as const;
  for (const kind of kinds) {
    const { serving, place } = await start();
    await place.write("a", "1");
    const both = talk(serving, place);
    await both.settle();
    await both.pass(limits.witnessMs);
    const { shareable } = serving.place.replica.port();
    const lie = kind === "server-forked"
      ? { digest: new Uint8Array(32) }
      : kind === "bad-witness"
      ? {}
      : { position: shareable - 1 };
    const session = kind === "bad-witness" ? sessionOf(7) : serving.session;
    const witness = signWitness(fieldsOf(serving, lie), proverFor(session));
    both.client.message({ is: "witness", channel: 1, witness });
    assert.deepEqual(both.client.told("incident").map((one) => one.kind), [
      kind,
    ]);
    assert.equal(both.client.ended, undefined);
    both.end();
  }
});

Deno.test("a client believes no witness that its server did not sign so", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const kept = both.client.resume!.witness;
  const { position } = decodeWitness(kept);
  const fields = fieldsOf(serving, { position: position + 1 });
  const witness = signWitness(fields, proverFor(serving.session));
  witness[witness.length - 1]! ^= 1;
  both.client.message({ is: "witness", channel: 1, witness });
  assert.deepEqual(both.client.told("incident").map(({ kind }) => kind), [
    "bad-witness",
  ]);
  assert.deepEqual(both.client.resume!.witness, kept);
  both.end();
});

Deno.test("a server that does not know its own cursor in its own epoch was rolled back", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const resume = both.client.resume!;
  both.end();
  const position = resume.cursor!.position + 100;
  const cursor = { ...resume.cursor!, position };
  const again = talk(serving, place, { ...resume, cursor });
  await again.settle();
  assert.equal(again.client.told("incident")[0]?.kind, "server-rolled-back");
  again.end();
});

Deno.test("a server that refuses a place that it gave out, and is not behind it, has another order", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const resume = both.client.resume!;
  both.end();
  const cursor = { ...resume.cursor!, order: new Uint8Array(32) };
  const again = talk(serving, place, { ...resume, cursor });
  await again.settle();
  await again.pass(limits.witnessMs);
  const kinds = again.client.told("incident").map(({ kind }) => kind);
  assert.deepEqual(kinds, ["server-forked"]);
  assert.ok(again.client.told("equal").length > 0);
  again.end();
});

Deno.test("a cursor that was not given out, or is of another epoch, falls back to vectors", async () => {
  const { serving, place } = await start();
  await serving.place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  const resume = both.client.resume!;
  both.end();
  const within = resume.cursor!.position - 1; // In the middle of a record.
  const changes = [
    { order: new Uint8Array(32) },
    { position: within },
    { position: resume.cursor!.position - 64 },
    { position: 2 ** 50 },
    { epoch: new Uint8Array(16) },
    { epoch: new Uint8Array(16), order: new Uint8Array(32) },
  ];
  for (const change of changes) {
    const other = await Place.open({ world: place.world, seed: 3 });
    const { genesisId } = other.replica.port();
    const cursor = { ...resume.cursor!, ...change };
    const again = talk(serving, other, { ...emptyResume(genesisId), cursor });
    const openedOf = () =>
      again.server.messages.find((message) => message.is === "opened");
    while (openedOf() === undefined) assert.ok(await again.flight());
    assert.ok(openedOf()!.vector !== undefined, "the cursor does not stand");
    await again.settle();
    assert.equal(other.text("a"), "1");
    again.end();
  }
});

Deno.test("a replica that believes it has what it lacks is noticed, named, and healed by vectors", async () => {
  const { world, serving, place } = await start();
  for (let i = 0; i < 30; i++) await serving.place.write(`a${i}`, "1");
  const first = talk(serving, place);
  await first.settle();
  await first.pass(limits.witnessMs);
  const { cursor } = first.client.resume!;
  first.end();
  const other = await Place.open({ world, seed: 2 });
  const { genesisId } = other.replica.port();
  const again = talk(serving, other, { ...emptyResume(genesisId), cursor });
  await again.settle();
  await again.pass(limits.witnessMs);
  await again.pass(limits.witnessMs);
  const [incident] = again.client.told("incident");
  assert.equal(incident?.kind, "desync");
  const [chain] = serving.place.replica.port().vector().keys();
  assert.deepEqual(incident?.report?.commits, [{
    chain,
    from: 0,
    to: 30,
    how: "missing",
  }]);
  assert.deepEqual(
    other.replica.graph.summary(),
    serving.place.replica.graph.summary(),
  );
  assert.ok(again.client.told("equal").length > 0, "equal in the end");
  again.end();
});

Deno.test("what a cursor left out is asked for by vector, and no record is blamed", async () => {
  const { world, serving, place } = await start();
  for (let i = 0; i < 5; i++) await serving.place.write(`a${i}`, "1");
  const first = talk(serving, place);
  await first.settle();
  const { cursor } = first.client.resume!;
  first.end();
  const other = await Place.open({ world, seed: 2 });
  const { genesisId } = other.replica.port();
  const again = talk(serving, other, { ...emptyResume(genesisId), cursor });
  await serving.place.write("a5", "1"); // Stands on what the cursor says is there.
  await again.settle();
  await again.pass(limits.parkMsMax);
  await again.settle();
  const kinds = again.client.told("incident").map(({ kind }) => kind);
  assert.deepEqual(kinds.filter((kind) => kind === "bad-record"), []);
  assert.equal(other.text("a5"), "1");
  again.end();
});

Deno.test("a revocation that a cursor left out is asked for by vector, and no record is blamed", async () => {
  const { world, serving, place } = await start();
  const author = talk(serving, place);
  await place.write("a", "1");
  await author.settle();
  const other = await Place.open({ world, seed: 2 });
  const first = talk(serving, other);
  await first.settle();
  const { resume } = first.client;
  first.end();
  // As another life of the server's log had it, of which the order says nothing.
  const { session } = place.replica;
  other.revoke(session, place.replica.port().vector());
  await place.write("b", "1");
  await author.settle();
  author.end();
  serving.place.revoke(session, place.replica.port().vector());
  const again = talk(serving, other, resume);
  await again.settle();
  const kinds = again.client.told("incident").map(({ kind }) => kind);
  assert.deepEqual(kinds, []);
  assert.equal(other.text("b"), "1");
  again.end();
});

Deno.test("a server that lacks what a replica believes it has is noticed, and given it", async () => {
  const { serving, place } = await start();
  for (let i = 0; i < 3; i++) await place.write(`a${i}`, "1");
  const port = place.replica.port();
  const resume = {
    ...emptyResume(port.genesisId),
    cursor: serving.order.last,
    uploadedTo: port.shareable,
    commits: port.commits,
  };
  const both = talk(serving, place, resume);
  await both.settle();
  await both.pass(limits.witnessMs);
  await both.pass(limits.witnessMs);
  assert.equal(both.client.told("incident")[0]?.kind, "desync");
  assert.equal(serving.place.text("a2"), "1");
  assert.deepEqual(
    place.replica.graph.summary(),
    serving.place.replica.graph.summary(),
  );
  both.end();
});

Deno.test("a replica that lacks something and goes on writing is noticed after its last ack", async () => {
  const { serving, place, world } = await start();
  await serving.place.write("a", "1");
  const first = talk(serving, place);
  await first.settle();
  await first.pass(limits.witnessMs);
  const { cursor } = first.client.resume!;
  first.end();
  const other = await Place.open({ world, seed: 2 });
  const { genesisId } = other.replica.port();
  await other.write("b", "2");
  const again = talk(serving, other, { ...emptyResume(genesisId), cursor });
  await again.settle();
  await again.pass(limits.witnessMs);
  await again.pass(limits.witnessMs);
  assert.equal(again.client.told("incident")[0]?.kind, "desync");
  assert.equal(other.text("a"), "1");
  again.end();
});

/** Runs an audit between two ports. */
function audited(
  ours: RepositoryPort,
  theirs: RepositoryPort,
): { report: AuditReport; questions: number } {
  const run = audit(ours);
  let questions = 0;
  for (let step = run.next();;) {
    if (step.done === true) return { report: step.value, questions };
    const query = step.value;
    if (query !== undefined) questions++;
    step = run.next(
      query ? finished(answerAudit(theirs, query)) : new Uint8Array(),
    );
  }
}

Deno.test("an audit names commits that are void on one side alone", async () => {
  const { serving, place } = await start();
  for (const id of ["a", "b", "c", "d"]) await place.write(id, "1");
  const both = talk(serving, place);
  await both.settle();
  both.end();
  const [ours, theirs] = [place, serving.place].map(({ replica }) =>
    replica.port()
  ) as [RepositoryPort, RepositoryPort];
  const [chain = ""] = ours.vector().keys();
  const refused = (number: number) => ({
    ...{ number, reason: "denied", rule: "", detail: "", kept: false },
  });
  ours.refuse(chain, [refused(1), refused(2)]);
  await place.replica.durable();
  const found = (...pair: [RepositoryPort, RepositoryPort]) =>
    audited(...pair).report.commits;
  const difference = [{ chain, from: 1, to: 3, how: "different" }];
  assert.deepEqual(found(ours, theirs), difference);
  assert.deepEqual(found(theirs, ours), difference);
});

Deno.test("an audit of equal replicas finds nothing, in two questions", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  const { report, questions } = audited(
    place.replica.port(),
    serving.place.replica.port(),
  );
  assert.deepEqual(report, {
    equal: true,
    commits: [],
    items: [],
    isPartial: false,
  });
  assert.equal(questions, 2);
  both.end();
});

Deno.test("an audit finds the first commit that differs, in few questions", async () => {
  const { place } = await start();
  for (let i = 0; i < 500; i++) void place.write(`a${i}`, "1");
  await place.replica.durable();
  const port = place.replica.port();
  const [chain = ""] = port.vector().keys();
  const summary = port.summary()!.slice();
  summary[summary.length - 1]! ^= 1;
  const from = 321;
  const theirs = withAnswers(port, {
    summary: () => summary,
    *idsAt(chain, numbers) {
      const ids = yield* port.idsAt(chain, numbers);
      return ids?.map((id, i) => numbers[i]! < from ? id : new Uint8Array(32));
    },
  });
  const { report, questions } = audited(port, theirs);
  assert.deepEqual(report.commits, [{
    chain,
    from,
    to: 500,
    how: "different",
  }]);
  assert.ok(questions < 6, `${questions} questions`);
});

Deno.test("an audit names the items whose state differs under the same commits", async () => {
  const { place } = await start();
  for (let i = 0; i < 300; i++) void place.write(`a${i}`, "1");
  await place.replica.durable();
  const port = place.replica.port();
  const [victim] = finished(port.itemsBelow([3, 7], 1));
  assert.ok(victim !== undefined);
  const theirs = withAnswers(port, {
    *stateDigests(prefix) {
      const digests = yield* port.stateDigests(prefix);
      return digests.map((digest, half) => {
        const below = finished(port.itemsBelow([...prefix, half], 1_000));
        const isOnTheWay = below.some(({ id }) => id === victim.id);
        return isOnTheWay ? new Uint8Array(32) : digest;
      });
    },
  });
  const { report, questions } = audited(port, theirs);
  assert.equal(report.equal, false);
  assert.deepEqual(report.items.map(({ id }) => id), [victim.id]);
  assert.ok(questions < 20, `${questions} questions`);
});

Deno.test("an audit during which commits come names no items: it is partial", async () => {
  const { place } = await start();
  await place.write("a", "1");
  const port = place.replica.port();
  for (const side of ["here", "there"]) {
    let isLater = false;
    const summary = port.summary()!;
    const other = summary.slice();
    other[other.length - 1]! ^= 1;
    const later = withAnswers(port, {
      summary: () => isLater ? other : summary,
    });
    const theirs = withAnswers(side === "there" ? later : port, {
      *itemsBelow(prefix, limit) {
        isLater = true; // It is of a commit that the summary did not know.
        return yield* port.itemsBelow(prefix, limit);
      },
      *stateDigests() {
        yield;
        return Array.from({ length: 16 }, () => new Uint8Array(32));
      },
    });
    const { report } = audited(side === "here" ? later : port, theirs);
    assert.deepEqual(report, {
      equal: false,
      commits: [],
      items: [],
      isPartial: true,
    });
  }
});

Deno.test("an audit of garbage throws nothing but SyntaxError, and ends", async () => {
  const { place } = await start();
  await place.write("a", "1");
  const port = place.replica.port();
  for (const length of [0, 1, 31, 33, 40, 111, 500]) {
    const run = audit(port);
    try {
      for (let step = run.next(), i = 0; step.done !== true; i++) {
        assert.ok(i < 100_000);
        step = run.next(new Uint8Array(length).fill(0x41));
      }
    } catch (error) {
      assert.ok(error instanceof SyntaxError);
    }
  }
});

Deno.test("an audit can be asked for, and answers", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  both.client.perform(both.client.core.audit(place.replica.port().name));
  await both.settle();
  assert.equal(both.client.told("audited")[0]?.report.equal, true);
  both.end();
});

Deno.test("a restored server believes a sound witness of what there was, and no other", async () => {
  const { world, serving, place } = await start();
  for (let i = 0; i < 9; i++) await place.write(`a${i}`, "1");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const proof = both.client.resume!.proved!;
  const { summary } = proof;
  both.end();
  const fresh = await Serving.open(world);
  const port = fresh.place.replica.port();
  const known = { port, nowMs: world.now() };
  const sound = checkProof(proof, known);
  assert.equal(sound?.commits, 9);
  const forged = signWitness(fieldsOf(serving), proverFor(sessionOf(1)));
  for (
    const bad of [
      { ...proof, summary: summary.slice(78) },
      { ...proof, certificates: [] },
      { ...proof, certificates: [sessionOf(1).certificate!] },
      {
        ...proof,
        statement: forged,
        certificates: [sessionOf(1).certificate!],
      },
      { ...proof, statement: new Uint8Array(10) },
      { ...proof, summary: new Uint8Array(11) },
    ]
  ) assert.equal(checkProof(bad, known), undefined);
});

Deno.test("what a client keeps comes back as it was, or not at all", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const state = both.client.resume!;
  both.end();
  assert.equal(state.uploadedTo, place.replica.port().shareable);
  const bytes = encodeResume(state);
  assert.deepEqual(encodeResume(decodeResume(bytes)), bytes);
  throwsOnlySyntaxError(bytes, (bytes) => void decodeResume(bytes));
  const summary = new Uint8Array(limits.resumeBytesMax);
  const large = { ...state, proved: { ...state.proved!, summary } };
  const kept = decodeResume(encodeResume(large));
  assert.equal(kept.proved, undefined);
  assert.deepEqual(kept.cursor, state.cursor);
  assert.throws(
    () => decodeResume(new Uint8Array(limits.resumeBytesMax + 1)),
    SyntaxError,
  );
});

Deno.test("what was kept for another repository, or for a longer log, is not used", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const state = both.client.resume!;
  both.end();
  for (
    const wrong of [
      { ...state, genesisId: new Uint8Array(32) },
      { ...state, commits: 1_000 },
      { ...state, uploadedTo: 100 },
      { ...state, uploadedTo: 2 ** 40 },
    ]
  ) {
    const again = talk(serving, place, wrong);
    await again.flight();
    await again.flight();
    const opened = again.client.told("opened");
    assert.equal(opened.length, 0, "a vector waits for the server's proof");
    await again.settle();
    assert.deepEqual(again.client.told("incident"), []);
    assert.equal(again.client.told("live").length, 1);
    again.end();
  }
});
