import { nameOf } from "./commit.ts";
import type { Graph } from "../graph/graph.ts";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import {
  certify,
  dayOne,
  Replica,
  root,
  signerOf,
  Writer,
} from "../../tests/kit/door.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { seededRandom, shuffle } from "../../tests/kit/mod.ts";
import { RuledDevice } from "../../tests/kit/ruled_device.ts";
import type { Signer } from "../../crypto/mod.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import {
  decodeRevocation,
  issueRevocation,
  issueRevocations,
  type Revocation,
  type RevocationFields,
} from "./revocation.ts";
import { verifyReplica } from "../repair/verify.ts";
import { recordKind } from "../log/format.ts";

/** All commits of a session that are known here: what a revocation lets stand. */
function cutsOf(
  graph: Graph,
  sessionKey: Uint8Array,
): Map<string, number> {
  const key = nameOf(sessionKey, 0, 32);
  const cuts = new Map<string, number>();
  for (const { name, length } of graph.chains()) {
    if (name.startsWith(key)) cuts.set(name.slice(32), length);
  }
  return cuts;
}

const ada = signerOf(1);

function revoke(
  replica: Replica,
  changes: Partial<RevocationFields> = {},
  issuer: Signer = root,
): Revocation {
  return issueRevocation({
    genesisId: replica.genesisId,
    sessionKey: ada.publicKey,
    cuts: new Map(),
    wall: dayOne,
    reason: "",
    ...changes,
  }, issuer);
}

function arrival({ bytes }: Revocation) {
  return { kind: recordKind.revocation, bytes };
}

/** The name of the incarnation that `Writer` uses by this number. */
function incarnation(fill: number): string {
  return String.fromCharCode(fill).repeat(8);
}

Deno.test("decodeRevocation() gives back what issueRevocation() took", () => {
  const cuts = new Map([[incarnation(1), 0], [incarnation(2), 300]]);
  const revocation = revoke(new Replica(), { cuts, reason: "löst \u{1F331}" });
  const decoded = decodeRevocation(revocation.bytes);
  deepEqual(decoded, revocation);
  deepEqual([...decoded.cuts], [...cuts]);
  equal(decoded.reason, "löst \u{1F331}");
  deepEqual(decoded.issuerKey, root.publicKey);
});

Deno.test("issueRevocation() refuses what is none", () => {
  const bad: Partial<RevocationFields>[] = [
    { genesisId: new Uint8Array(31) },
    { sessionKey: new Uint8Array(33) },
    { cuts: new Map([["short", 1]]) },
    { cuts: new Map([[incarnation(1), -1]]) },
    { cuts: new Map([[incarnation(1), 1.5]]) },
    { wall: -1 },
    { wall: 2 ** 48 },
    { reason: "x".repeat(limits.revocationReasonBytesMax + 1) },
  ];
  for (const changes of bad) {
    throws(() => revoke(new Replica(), changes), DatabaseError);
  }
});

Deno.test("decodeRevocation() throws nothing but SyntaxError, whatever the bytes", () => {
  const cuts = new Map([[incarnation(1), 5], [incarnation(9), 300]]);
  const { bytes } = revoke(new Replica(), { cuts, reason: "because" });
  throwsOnlySyntaxError(bytes, (spoiled) => void decodeRevocation(spoiled));
  throws(() => decodeRevocation(new Uint8Array(3_000_000)), SyntaxError);
});

Deno.test("a revocation is admitted from the root and from keys that may issue, for its own repository", () => {
  const door = new Replica();
  const [office, clerk, late] = [signerOf(5), signerOf(6), signerOf(7)];
  const next = signerOf(9);
  door.trust(
    certify(office, { mayIssue: true }),
    certify(clerk),
    certify(next, { mayIssue: true, notBefore: dayOne + 1 }),
    certify(late, { mayIssue: true, notAfter: dayOne - 1 }),
  );
  const outcome = (revocation: Revocation) => door.outcome(arrival(revocation));
  equal(outcome(revoke(door, {}, clerk)), "bad-certificate");
  equal(outcome(revoke(door, {}, late)), "bad-certificate");
  equal(outcome(revoke(door, {}, next)), "bad-certificate");
  equal(outcome(revoke(door, {}, signerOf(8))), "bad-certificate");
  equal(outcome(revoke(new Replica("default", "team/other"))), "malformed");
  const forged = revoke(door);
  forged.bytes[forged.bytes.length - 1]! ^= 1;
  equal(outcome(forged), "bad-signature");
  equal(outcome(revoke(door, {}, office)), "admit-credential");
  equal(outcome(revoke(door, {}, office)), "known");
  equal(outcome(revoke(door)), "known"); // It says nothing new.
  const trusted = new Replica("trusted");
  equal(trusted.outcome(arrival(revoke(trusted))), "wrong-mode");
});

Deno.test("commits behind the cut are refused with their number, the others are not", () => {
  const [source, door] = [new Replica(), new Replica()];
  const writer = new Writer(1, source);
  const batches = [["a"], ["b", "c"], ["d"]].map((ids) => writer.write(ids));
  door.receive(writer.introduce());
  const cuts = new Map([[incarnation(0), 2]]);
  door.receive(arrival(revoke(door, { cuts, reason: "stolen" })));
  equal(door.outcome(batches[0]!), "admit");
  const [judged] = door.receive(batches[1]!);
  deepEqual(judged!.verdict, {
    verdict: "refuse",
    refusal: { refused: "revoked", detail: "stolen", number: 2 },
  });
  equal(door.outcome(batches[0]!), "known");
  const more = new Map([[incarnation(0), 3]]);
  equal(
    door.outcome(arrival(revoke(door, { cuts: more }))),
    "admit-credential",
  );
  equal(door.outcome(batches[1]!), "admit");
  equal(door.outcome(batches[2]!), "revoked");
  const other = new Writer(1, new Replica(), 7).write(["x"]);
  equal(door.outcome(other), "revoked"); // An incarnation that is not listed.
});

Deno.test("what a replica holds beyond a revocation stays and is counted", () => {
  const [source, door] = [new Replica(), new Replica()];
  const writer = new Writer(1, source);
  door.receive(writer.introduce());
  for (const id of ["a", "b", "c"]) door.receive(writer.write([id]));
  equal(door.revocations.heldBeyond(door.graph), 0);
  const cuts = new Map([[incarnation(0), 1]]);
  door.receive(arrival(revoke(door, { cuts })));
  equal(door.revocations.heldBeyond(door.graph), 2);
  equal(door.graph.commits, 3);
  deepEqual(cutsOf(door.graph, ada.publicKey), new Map([[incarnation(0), 3]]));
});

Deno.test("several revocations of a key mean the same in any order", () => {
  const cuts = fc.array(
    fc.dictionary(fc.constantFrom("1", "2", "3"), fc.nat(9)),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(cuts, fc.integer(), (list, seed) => {
      const random = seededRandom(seed);
      const told = [0, 1].map(() => {
        const door = new Replica();
        const revocations = shuffle(list, random).map((cuts) =>
          revoke(door, {
            cuts: new Map(
              Object.entries(cuts).map((
                [n, count],
              ) => [incarnation(+n), count]),
            ),
          })
        );
        for (const revocation of revocations) door.receive(arrival(revocation));
        return [0, 1, 2, 3].map((fill) =>
          door.revocations.cutOf(new Writer(1, door, fill).chain)
        );
      });
      deepEqual(told[0], told[1]);
      const largest = Math.max(...list.map((cuts) => cuts["1"] ?? 0));
      equal(told[0]![1], largest);
    }),
    { seed: 4, numRuns: 30 },
  );
});

Deno.test("revocations of one key are bounded", () => {
  const door = new Replica();
  const of = (count: number) =>
    arrival(revoke(door, { cuts: new Map([[incarnation(0), count]]) }));
  for (let count = 0; count < limits.revocationsOfKeyMax; count++) {
    door.revocations.add(decodeRevocation(of(count).bytes));
  }
  equal(door.revocations.size, limits.revocationsOfKeyMax);
  equal(door.outcome(of(99_999)), "too-large");
  equal(door.outcome(of(5)), "known");
});

Deno.test("revocations of one repository, and incarnations of one revocation, are bounded", () => {
  const door = new Replica();
  const one = revoke(door);
  for (let i = 0; i < limits.revocationsMax; i++) {
    const sessionKey = new Uint8Array(32);
    new DataView(sessionKey.buffer).setUint32(0, i);
    door.revocations.add({ ...one, sessionKey });
  }
  equal(door.outcome(arrival(one)), "too-large");
  const cuts = (count: number) =>
    new Map(
      Array.from({ length: count }, (_, i) => {
        const name = i.toString(16).padStart(8, "0");
        return [name, 1] as const;
      }),
    );
  const most = limits.revocationCutsMax;
  equal(
    decodeRevocation(revoke(door, { cuts: cuts(most) }).bytes).cuts.size,
    most,
  );
  throws(() => revoke(door, { cuts: cuts(most + 1) }), {
    code: "value-too-large",
  });
});

Deno.test("revocations outlive restarts and checkpoints, are verified, and end a chain at every replica", async () => {
  const [writer, door] = [
    await RuledDevice.open({ seed: 1 }),
    await RuledDevice.open({ seed: 2 }),
  ];
  writer.put("x", { rank: 1 });
  door.take(writer.records());
  const cuts = cutsOf(door.replica.graph, writer.key);
  const { bytes } = writer.revoked(cuts, "lost phone");
  equal(
    door.take([{ kind: recordKind.revocation, bytes }])[0]?.verdict.verdict,
    "admit-credential",
  );
  writer.put("x", { rank: 2 });
  for (const isCheckpointed of [false, true]) {
    if (isCheckpointed) await door.replica.checkpoint();
    await door.reopen();
    const verdicts = door.take(writer.records().slice(-1));
    const { verdict } = verdicts[0]!;
    ok(verdict.verdict === "refuse", verdict.verdict);
    equal(verdict.refusal.refused, "revoked");
    equal(door.replica.status().beyondRevocation, 0);
  }
  const report = await verifyReplica(
    door.replica.loaded,
    {},
    () => Promise.resolve(),
  );
  deepEqual([report.ok, report.revocations], [true, 1]);
  const third = await RuledDevice.open({ seed: 3 });
  third.take(door.records());
  equal(third.replica.loaded.credentials.revocations.size, 1);
  for (const device of [writer, door, third]) await device.replica.close();
});

Deno.test("a revocation holds after its repository was opened by its log alone, without a checkpoint", async () => {
  const [writer, door] = [
    await RuledDevice.open({ seed: 1 }),
    await RuledDevice.open({ seed: 2 }),
  ];
  writer.put("x", { rank: 1 });
  door.take(writer.records());
  const cuts = cutsOf(door.replica.graph, writer.key);
  const { bytes } = writer.revoked(cuts, "lost phone");
  door.take([{ kind: recordKind.revocation, bytes }]);
  writer.put("x", { rank: 2 });
  await door.reopen("log");
  const { loaded } = door.replica;
  equal(loaded.checkpoint, undefined);
  deepEqual([...loaded.credentials.revocations].map(({ bytes }) => bytes), [
    bytes,
  ]);
  const { verdict } = door.take(writer.records().slice(-1))[0]!;
  deepEqual(verdict, {
    verdict: "refuse",
    refusal: { refused: "revoked", detail: "lost phone", number: 1 },
  });
  equal(door.get("x", "rank"), 1);
  for (const device of [writer, door]) await device.replica.close();
});

Deno.test("an issuer that was revoked cannot let itself go on", () => {
  const door = new Replica();
  const office = signerOf(5);
  door.trust(certify(office, { mayIssue: true }));
  const sessionKey = office.publicKey;
  equal(
    door.outcome(arrival(revoke(door, { sessionKey }))),
    "admit-credential",
    "by the root",
  );
  const cuts = new Map([[incarnation(0), 1_000_000]]);
  const own = revoke(door, { sessionKey, cuts }, office);
  equal(door.outcome(arrival(own)), "bad-certificate");
});

Deno.test("a revoked issuer writes no more, and the sessions that it certified go on", () => {
  const door = new Replica();
  const office = signerOf(5);
  const [issuer, user] = [5, 1].map((seed) => new Writer(seed, new Replica()));
  door.trust(
    certify(office, { mayIssue: true, user: "office" }),
    certify(ada, {}, office),
  );
  equal(door.outcome(issuer!.write(["a"])), "admit");
  const cuts = new Map([[incarnation(0), 1]]);
  const { publicKey: sessionKey } = office;
  equal(
    door.outcome(arrival(revoke(door, { sessionKey, cuts }))),
    "admit-credential",
  );
  equal(door.outcome(issuer!.write(["b"])), "revoked");
  equal(door.outcome(user!.write(["c"])), "admit");
  equal(door.outcome(arrival(revoke(door))), "admit-credential");
  equal(door.outcome(user!.write(["d"])), "revoked", "by its own key");
});

Deno.test("issueRevocations() names any number of cuts, in records that every door takes", () => {
  const max = limits.revocationCutsMax;
  for (const count of [0, 1, max, max + 1, 2 * max + 5]) {
    const cuts = new Map(
      Array.from(
        { length: count },
        (_, i) => [`${i}`.padStart(8, "0"), i + 1] as const,
      ),
    );
    const fields = {
      genesisId: new Uint8Array(32),
      sessionKey: signerOf(1).publicKey,
      cuts,
      wall: dayOne,
      reason: "stolen",
    };
    const records = issueRevocations(fields, signerOf(2));
    deepEqual(records.length, Math.max(1, Math.ceil(count / max)));
    const all = records.flatMap((one) => [...one.cuts]);
    deepEqual(new Map(all), cuts);
    deepEqual(all.length, count);
  }
});
