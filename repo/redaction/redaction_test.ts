import { deepEqual, equal, ok } from "node:assert/strict";
import type { Signer } from "../../crypto/mod.ts";
import { filesWith } from "../../tests/kit/found_text.ts";
import { seededRandom } from "../../tests/kit/random.ts";
import {
  bareSession,
  certificateFor,
  Note,
  Place,
  type PlaceOptions,
  rootSigner,
} from "../../tests/kit/replica_place.ts";
import { isTried, sized } from "../../tests/kit/tier.ts";
import { faultyStorage } from "../../tests/kit/mod.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Arrival } from "../admission/arrival.ts";
import { batchIn } from "../commit/batch.ts";
import { withPayloads } from "../commit/batch_parts.ts";
import { issueCertificate } from "../commit/certificate.ts";
import {
  type Redaction,
  type RedactionFields,
  redactionLayout,
} from "../commit/redaction.ts";
import { composeRedactions } from "./compose.ts";
import { recordKind } from "../log/format.ts";
import { verifyReplica } from "../repair/verify.ts";

const SECRET = "wild rose lane";
const ann = { collection: Note.name, id: "ann" };
const bob = { collection: Note.name, id: "bob" };

function redact(place: Place, ...items: typeof ann[]): Promise<number> {
  return place.replica.redact(items, rootSigner, "asked");
}

async function verified(place: Place): Promise<void> {
  await place.replica.durable();
  const report = await verifyReplica(place.replica.loaded, {}, async () => {});
  equal(report.damage?.reason, undefined);
}

function take(place: Place, arrivals: readonly Arrival[]): string[] {
  return place.replica.receive(arrivals).map(({ verdict }) =>
    "refusal" in verdict ? verdict.refusal.refused : verdict.verdict
  );
}

/** The root digest of its state. */
function digestOf(place: Place): string {
  const digests = drainValue(place.replica.port().stateDigests([]));
  return digests.map((one) => one.toHex()).join();
}

function drainValue<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** A place where ann and bob are spoken of, in one commit and in several. */
async function told(options: PlaceOptions = {}): Promise<Place> {
  const place = await Place.open(options);
  await place.write("ann", SECRET);
  await place.write("bob", "bob stays");
  await place.vote("ann");
  await place.write("ann", `${SECRET} 7`);
  return place;
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`redaction: values go from log and checkpoint, names, votes and others stay, in ${mode} mode`, async () => {
    let place = await told({ mode });
    await place.replica.durable();
    await place.replica.checkpoint();
    ok(filesWith(place.storage, SECRET).length >= 2);
    equal(await redact(place, ann), 2);
    deepEqual(filesWith(place.storage, SECRET), []);
    equal(place.text("ann"), undefined);
    equal(place.votes("ann"), 1);
    equal(place.text("bob"), "bob stays");
    await verified(place);
    const before = digestOf(place);
    await place.replica.close();
    place = await place.reopen();
    equal(digestOf(place), before);
    equal(place.text("ann"), undefined);
    equal(place.replica.loaded.skipped.length, 0);
    await place.write("ann", "said anew");
    equal(place.text("ann"), "said anew");
    await verified(place);
    equal(await redact(place, bob), 1);
    equal(place.text("ann"), "said anew");
    equal(place.text("bob"), undefined);
    await place.replica.close();
  });
}

Deno.test("redaction: rows of others that a checkpoint leaves in the log are read where they were", async () => {
  let place = await Place.open();
  const filler = "x".repeat(400);
  for (let i = 0; i < 4_000; i++) {
    const done = place.write(`n${i}`, i === 2_000 ? SECRET : `${i} ${filler}`);
    if (i % 1_000 === 999) await done;
  }
  await place.replica.checkpoint();
  await place.replica.close();
  place = await place.reopen();
  ok(place.replica.loaded.checkpoint !== undefined);
  await redact(place, { collection: Note.name, id: "n2000" });
  for (const i of [0, 1_999, 2_001, 3_999]) {
    equal(place.text(`n${i}`), `${i} ${filler}`);
  }
  equal(place.text("n2000"), undefined);
  deepEqual(filesWith(place.storage, SECRET), []);
  await place.replica.close();
  place = await place.reopen();
  equal(place.text("n2001"), `2001 ${filler}`);
  equal(place.text("n2000"), undefined);
  await place.replica.close();
});

Deno.test("redaction: who hears of it before, after or with the commits has the same", async () => {
  const author = await told({ seed: 2 });
  const original = await author.arrivals();
  await redact(author, ann);
  const after = await author.arrivals();
  const record = after.find(({ kind }) => kind === recordKind.redaction)!;
  const places: Place[] = [];
  const orders = [
    [...original, record],
    [original[0]!, record, ...original.slice(1)],
    [record, ...after],
    [...original, record, ...after],
  ];
  for (const order of orders) {
    const place = await Place.open({ seed: 3 });
    const verdicts = take(place, order);
    ok(!verdicts.includes("denied"), String(verdicts));
    await place.replica.redacted;
    await place.replica.durable();
    deepEqual(filesWith(place.storage, SECRET), []);
    await verified(place);
    places.push(place);
  }
  for (const place of places) equal(digestOf(place), digestOf(author));

  // A device that was away hands in what it has.
  const [place] = places;
  deepEqual(new Set(take(place!, original)), new Set(["known"]));
  deepEqual(filesWith(place!.storage, SECRET), []);
});

Deno.test("redaction: whoever has no right to it erases nothing", async () => {
  const place = await told({ seed: 2 });
  const [said] = composed(place);
  const server = bareSession(8);
  const issuing = certificateFor(server, undefined, true);
  const other = bareSession(9);
  take(place, [{ kind: recordKind.certificate, bytes: issuing }]);
  const self = issueCertificate({
    ...{ sessionKey: other.signer.publicKey, user: "mal", claims: "{}" },
    ...{ mayIssue: false, mayRedact: true, notBefore: 0, notAfter: 2 ** 45 },
  }, server.signer as Signer);
  const refusals = [
    [signed(said!, server.signer as Signer), "bad-certificate"],
    [signed(said!, other.signer as Signer), "bad-certificate"],
    [{ kind: recordKind.certificate, bytes: self.bytes }, "bad-certificate"],
    [signed({ ...said!, genesisId: new Uint8Array(32) }), "malformed"],
    [signed({ ...said!, items: [] }), "malformed"],
    [signed({ ...said!, chains: [] }), "malformed"],
    [spoilt(signed(said!)), "bad-signature"],
    [signed(changed(said!, { was: new Uint8Array(32) })), "fork"],
    [signed(changed(said!, { is: new Uint8Array(32) })), "fork"],
    [signed({ ...said!, items: [bob] }), "fork"],
  ] as const;
  for (const [arrival, refused] of refusals) {
    deepEqual(take(place, [arrival]), [refused]);
  }
  await place.replica.redacted;
  equal(place.text("ann"), `${SECRET} 7`);

  const redactor = bareSession(10);
  const certificate = issueCertificate({
    ...{ sessionKey: redactor.signer.publicKey, user: "dpo", claims: "{}" },
    ...{ mayIssue: false, mayRedact: true, notBefore: 0, notAfter: 2 ** 45 },
  }, rootSigner);
  const arrivals = [
    { kind: recordKind.certificate, bytes: certificate.bytes },
    signed(said!, redactor.signer as Signer),
    signed(said!, redactor.signer as Signer),
  ];
  deepEqual(take(place, arrivals), [
    "admit-credential",
    "admit-credential",
    "known",
  ]);
  await place.replica.redacted;
  equal(place.text("ann"), undefined);
});

Deno.test("redaction: a batch without values is taken only where a record says that these are left", async () => {
  const author = await told({ seed: 2 });
  const original = await author.arrivals();
  await redact(author, ann);
  const after = await author.arrivals();
  const isBatch = ({ kind }: Arrival) => kind === recordKind.signedBatch;
  const certificate = original[0]!;
  const erased = after.filter(isBatch);
  const record = after.find(({ kind }) => kind === recordKind.redaction)!;

  const place = await Place.open({ seed: 3 });
  deepEqual(take(place, [certificate, erased[0]!]), [
    "admit-credential",
    "denied",
  ]);
  deepEqual(take(place, [record]), ["admit-credential"]);
  // What is left says something else.
  const batch = batchIn(recordKind.signedBatch, erased[0]!.bytes)!;
  const { payloadAt, end } = batch.commits[0]!;
  const forged = batch.bytes.slice(payloadAt, end);
  forged[forged.length - 1] = 3 - 1;
  const { bytes } = withPayloads(batch, new Map([[0, forged]]));
  deepEqual(take(place, [{ kind: recordKind.signedBatch, bytes }]), ["denied"]);
  deepEqual(new Set(take(place, erased)), new Set(["admit"]));
  equal(place.votes("ann"), 1);
  equal(place.text("bob"), "bob stays");
  await verified(place);
});

Deno.test("redaction: two that do not know each other leave the same everywhere", async () => {
  const author = await Place.open({ seed: 2 });
  await both(author);
  const original = await author.arrivals();
  const [first, second] = await Promise.all([ann, bob].map(async (item, i) => {
    const place = await Place.open({ seed: 4 + i });
    take(place, original);
    await place.replica.durable();
    await redact(place, item);
    return place;
  }));
  const records = [first!, second!].map((place) => recordOf(place));
  for (
    const [to, record] of [[first!, records[1]!], [
      second!,
      records[0]!,
    ]] as const
  ) {
    deepEqual(take(to, [record]), ["admit-credential"]);
    await to.replica.redacted;
  }
  equal(digestOf(first!), digestOf(second!));
  take(author, records);
  await author.replica.redacted;
  equal(digestOf(author), digestOf(first!));
  deepEqual(filesWith(author.storage, SECRET), []);
  const newcomer = await Place.open({ seed: 7 });
  const arrivals = await first!.arrivals();
  ok(!take(newcomer, [...records, ...arrivals]).includes("denied"));
  equal(digestOf(newcomer), digestOf(first!));
  await verified(newcomer);
});

Deno.test("redaction: what was refused here goes, and nobody tries it again", async () => {
  const place = await told({ seed: 2 });
  const chain = place.replica.device.chain;
  const { length } = place.replica.graph.chain(chain)!;
  await place.write("ann", `${SECRET} 8`);
  place.replica.refuse(chain, [{
    ...{ number: length, reason: "denied", rule: "r", detail: "no" },
    kept: false,
  }]);
  equal(place.replica.refusals().length, 1);
  await redact(place, ann);
  equal(place.replica.refusals().length, 0);
  deepEqual(filesWith(place.storage, SECRET), []);
  await verified(place);
  // Others get a stub of it, under the same seal.
  const peer = await Place.open({ seed: 3 });
  const { records } = place.replica.port().read(0, 1_000_000);
  const verdicts = take(peer, [
    ...place.replica.port().credentials(),
    ...records,
  ]);
  ok(!verdicts.includes("denied") && !verdicts.includes("bad-signature"));
  equal(digestOf(peer), digestOf(place));
  await place.replica.close();
  const again = await place.reopen();
  await verified(again);
  await again.replica.close();
});

Deno.test("redaction: bytes that a repair set aside go, too", async () => {
  const place = await told();
  const file = place.storage.open(`${place.folder}/quarantine-000000000099`, {
    create: true,
  })!;
  file.writeAt(new TextEncoder().encode(SECRET), 0);
  file.close();
  await redact(place, ann);
  deepEqual(filesWith(place.storage, SECRET), []);
});

Deno.test("redaction: what a repair could not connect goes, too, and comes back without it", async () => {
  for (const hasCheckpoint of [true, false]) {
    const place = await Place.open({ seed: 2 });
    for (let i = 0; i < 100; i++) await place.write(`n${i}`, `text ${i}`);
    await place.write("ann", SECRET);
    await place.write("bob", "bob stays");
    const author = await Place.open({ seed: 3 });
    take(author, await place.arrivals());
    await author.replica.durable();
    await place.replica.close();
    const names = place.storage.list(place.folder);
    for (const name of hasCheckpoint ? [] : names) {
      if (!name.startsWith("checkpoint")) continue;
      place.storage.remove(`${place.folder}/${name}`);
    }
    place.spoil("log-00000000", place.replica.loaded.log.end >> 1);
    let mended = await place.reopen({ repair: true });
    equal(mended.text("ann"), SECRET);
    await redact(author, ann);
    take(mended, [recordOf(author)]);
    await mended.replica.redacted;
    equal(mended.text("ann"), undefined);
    equal(mended.text("bob"), "bob stays");
    deepEqual(filesWith(place.storage, SECRET), []);
    await mended.replica.close();
    mended = await mended.reopen();
    equal(mended.text("ann"), undefined);
    equal(mended.text("bob"), "bob stays");
    take(mended, await author.arrivals());
    equal(digestOf(mended), digestOf(author));
    await mended.replica.durable();
    deepEqual(filesWith(place.storage, SECRET), []);
    await verified(mended);
  }
});

Deno.test("redaction: in any order with restarts, all have the same", async () => {
  for (let seed = 1; seed <= sized(12, 200); seed++) {
    const next = seededRandom(seed);
    const dice = (sides: number) => Math.floor(next() * sides);
    const author = await told({ seed: 2 });
    await both(author);
    const items = [ann, bob];
    const original = await author.arrivals();
    const all: Arrival[] = [...original];
    for (const item of dice(2) === 0 ? items : items.toReversed()) {
      await redact(author, item);
      all.push(recordOf(author));
      if (dice(2) === 0) await author.write("ann", `later ${dice(9)}`);
    }
    all.push(...await author.arrivals());
    let place = await Place.open({ seed: 3 });
    const left = [...all];
    while (left.length > 0) {
      const [arrival] = left.splice(dice(left.length), 1);
      take(place, [arrival!]);
      if (dice(5) === 0) await place.replica.checkpoint();
      if (dice(5) > 0) continue;
      await place.replica.close();
      place = await place.reopen({ seed: 3 });
    }
    take(place, await author.arrivals()); // What had come too early for its record.
    await place.replica.redacted;
    equal(digestOf(place), digestOf(author), `seed ${seed}`);
    await place.replica.durable();
    deepEqual(filesWith(place.storage, SECRET), [], `seed ${seed}`);
    await verified(place);
    await place.replica.close();
  }
});

Deno.test("a power cut at any moment of it leaves what there was, or nothing of what is erased", async () => {
  const world = { seed: 5 };
  const workload = async (storage: Storage) => {
    const place = await Place.open({ ...world, storage });
    await place.write("ann", SECRET);
    await place.write("bob", "bob stays");
    await place.replica.checkpoint();
    await place.write("ann", `${SECRET} 9`);
    const begun = (storage as ReturnType<typeof faultyStorage>).operations;
    await redact(place, ann);
    return begun;
  };
  const whole = faultyStorage();
  const begun = await workload(whole);
  for (let n = begun + 1; n <= whole.operations; n++) {
    if (!isTried(n, 2)) continue;
    for (const slow of [false, true]) {
      const storage = faultyStorage({ freezeAt: n, slow });
      try {
        await workload(storage);
      } catch (error) {
        ok(error instanceof DatabaseError, String(error));
      }
      for (const kept of ["synced", "all", 1, 2, 3] as const) {
        const image = storage.powerCut(kept);
        const what = `frozen at ${n}, kept ${kept}`;
        const place = await Place.open({ ...world, storage: image });
        equal(place.text("bob"), "bob stays", what);
        await verified(place);
        const { size } = place.replica.loaded.credentials.redactions;
        equal(place.text("ann"), size > 0 ? undefined : `${SECRET} 9`, what);
        if (size > 0) deepEqual(filesWith(image, SECRET), [], what);
        else equal(await redact(place, ann), 2, what);
        await place.write("ann", "life goes on");
        await place.replica.close();
        deepEqual(filesWith(image, SECRET), [], what);
        const again = await Place.open({ ...world, storage: image });
        equal(again.text("ann"), "life goes on", what);
        await again.replica.close();
      }
    }
  }
});

/** One commit that speaks of both. */
async function both(place: Place): Promise<void> {
  const done = [
    place.write("ann", `${SECRET} 1`),
    place.write("bob", `${SECRET} 2`),
  ];
  await Promise.all(done);
}

function recordOf(place: Place): Arrival {
  const { redactions } = place.replica.loaded.credentials;
  const { bytes } = [...redactions].at(-1)!;
  return { kind: recordKind.redaction, bytes };
}

function composed(place: Place): RedactionFields[] {
  const { loaded } = place.replica;
  return composeRedactions(loaded, [ann], { wall: 1, reason: "" });
}

function signed(said: RedactionFields, signer: Signer = rootSigner): Arrival {
  const { bytes } = redactionLayout.sign(said, signer);
  return { kind: recordKind.redaction, bytes };
}

function spoilt({ kind, bytes }: Arrival): Arrival {
  const other = bytes.slice();
  other[other.length - 1]! ^= 1;
  return { kind, bytes: other };
}

function changed(
  said: RedactionFields,
  changes: Partial<Redaction["chains"][0]["commits"][0]>,
): RedactionFields {
  const chains = said.chains.map(({ chain, commits }) => ({
    chain,
    commits: commits.map((one) => ({ ...one, ...changes })),
  }));
  return { ...said, chains };
}
