/**
 * The door: what it takes, what it parks, and the reason for each refusal.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  certify,
  dayOne,
  prepare,
  Replica,
  root,
  signerOf,
  Writer,
} from "../../tests/kit/door.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { refuse } from "../../src/base/errors.ts";
import { ByteWriter, fromHex } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import vectors from "../../tests/vectors/format.json" with { type: "json" };
import "../../mod.ts";
import { isTried, sized } from "../../tests/kit/tier.ts";
import { admit, checkGate, judge } from "./admit.ts";
import type { Arrival, Gate } from "./arrival.ts";
import { decodeBatch, type Run, writeBatch } from "../commit/batch.ts";
import { commitId } from "../../tests/kit/chain.ts";
import { chainStart, encodeHeader, type Header } from "../commit/commit.ts";
import type { Mode } from "../commit/genesis.ts";
import { boundedPatches } from "./merge_gate.ts";
import { recordKind } from "../log/format.ts";

/** A replica that knows the certificates of writers 1, 2 and 3. */
function reader(mode: Mode = "default", name?: string): Replica {
  return new Replica(mode, name).trust(
    ...[1, 2, 3].map((seed) => certify(signerOf(seed))),
  );
}

const lone: Header = { wall: dayOne, count: 0, parents: [] };

Deno.test("admit() takes a sound batch, and knows it when it comes again", () => {
  const ada = new Writer(1, reader());
  const arrival = ada.write(["a", "b"]);
  const bob = reader();
  const { verdict } = bob.receive(arrival)[0]!;
  assert.ok(verdict.verdict === "admit" && verdict.from === 0);
  assert.deepEqual(bob.graph.vector(), ada.replica.graph.vector());
  assert.deepEqual(bob.graph.summary(), ada.replica.graph.summary());
  assert.equal(bob.outcome(arrival), "known");
  assert.equal(bob.log.length, 1);
  assert.equal(bob.log[0]!.bytes, arrival.bytes, "the bytes are not touched");
});

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`admit() takes a payload in its one form, and refuses each other spelling of it, in ${mode} mode`, async () => {
    await lateRich.load();
    const outcome = (hex: string) => {
      const ada = new Writer(1, reader(mode));
      const payload = fromHex(hex);
      const commit = { header: encodeHeader(lone), payload, payloadAt: -1 };
      return reader(mode)
        .outcome(ada.pack({ chain: ada.chain, first: 0, commits: [commit] }));
    };
    for (const { why, bytes, instead } of vectors.refusedPayloads) {
      assert.equal(outcome(instead), "admit", why);
      assert.equal(outcome(bytes), "malformed", why);
    }
  });
}

Deno.test("admit() takes certificates, then the batches that need them", () => {
  const ada = new Writer(1, reader());
  const arrival = ada.write(["a"]);
  const bob = new Replica();
  assert.equal(bob.outcome(arrival), "unknown-session");
  assert.equal(bob.outcome(ada.introduce()), "admit-credential");
  assert.equal(bob.outcome(ada.introduce()), "known");
  assert.equal(bob.outcome(arrival), "admit");
});

Deno.test("admit() refuses certificates that the root did not make", () => {
  const bob = new Replica();
  const eve = signerOf(66);
  const outcome = (bytes: Uint8Array) =>
    bob.outcome({ kind: recordKind.certificate, bytes });
  assert.equal(outcome(certify(eve, {}, eve).bytes), "bad-certificate");
  const { bytes } = certify(eve);
  bytes[40]! ^= 1;
  assert.equal(outcome(bytes), "bad-signature");
  assert.equal(outcome(bytes.slice(1)), "malformed");
  assert.equal([...bob.certificates].length, 0);
});

Deno.test("admit() refuses what another key sealed", () => {
  const ada = new Writer(1, reader());
  const eve = new Writer(2, ada.replica);
  // Eve writes in Ada's chain and seals with her own key.
  const run = { chain: ada.chain, first: 0, commits: [prepare(lone, "a")] };
  assert.equal(reader().outcome(eve.pack(run)), "bad-signature");
});

Deno.test("admit() refuses a batch of another repository or mode", () => {
  const ada = new Writer(1, reader("default", "team/acme"));
  const arrival = ada.write(["a"]);
  assert.equal(
    reader("default", "team/other").outcome(arrival),
    "bad-signature",
  );
  const unsigned = new Writer(1, reader("trusted")).write(["a"]);
  assert.equal(reader("default").outcome(unsigned), "unsigned");
  for (const mode of ["trusted", "fast"] as const) {
    assert.equal(reader(mode).outcome(arrival), "wrong-mode");
    assert.equal(reader(mode).outcome(ada.introduce()), "wrong-mode");
    assert.equal(reader(mode).outcome(unsigned), "admit");
  }
  // Announced as the kind that is allowed, the bytes do not decode.
  const disguised: Arrival = { ...unsigned, kind: recordKind.signedBatch };
  assert.equal(reader("default").outcome(disguised), "malformed");
});

Deno.test("admit() refuses commits that no certificate of their key covers", () => {
  const ada = new Writer(1, reader());
  const arrival = ada.write(["a", "b"], dayOne);
  const outcomeWith = (...dates: [number, number][]) =>
    new Replica().trust(
      ...dates.map(([notBefore, notAfter]) =>
        certify(ada.signer, { notBefore, notAfter })
      ),
    ).outcome(arrival);
  assert.equal(outcomeWith([dayOne, dayOne]), "admit");
  assert.equal(outcomeWith([dayOne - 5, dayOne - 1]), "expired-session");
  assert.equal(outcomeWith([dayOne + 1, dayOne + 5]), "expired-session");
  assert.equal(outcomeWith(), "unknown-session");
  assert.equal(
    outcomeWith([dayOne + 1, dayOne + 5], [dayOne - 1, dayOne]),
    "admit",
  );
});

Deno.test("admit() takes a batch whose commits are covered by several certificates", () => {
  const ada = new Writer(1, reader());
  const run = {
    chain: ada.chain,
    first: 0,
    commits: [prepare(lone, "a"), prepare({ ...lone, wall: dayOne + 10 }, "b")],
  };
  const arrival = ada.pack(run);
  const first = certify(ada.signer, { notBefore: dayOne, notAfter: dayOne });
  const second = certify(ada.signer, {
    notBefore: dayOne + 5,
    notAfter: dayOne + 10,
  });
  assert.equal(new Replica().trust(first, second).outcome(arrival), "admit");
  assert.equal(new Replica().trust(first).outcome(arrival), "expired-session");
});

Deno.test("admit() parks what comes before its predecessor, and releases it", () => {
  const ada = new Writer(1, reader());
  const arrivals = ["a", "b", "c"].map((text) => ada.write([text]));
  const bob = reader();
  assert.equal(bob.outcome(arrivals[2]!), "park");
  assert.equal(bob.outcome(arrivals[1]!), "park");
  const verdicts = bob.receive(arrivals[0]!);
  assert.deepEqual(
    verdicts.map(({ verdict }) => verdict.verdict),
    ["admit", "admit", "admit"],
  );
  assert.deepEqual(bob.graph.summary(), ada.replica.graph.summary());
  assert.equal(bob.parking.size, 0);
});

Deno.test("admit() parks a commit until its parents come, after its seal was checked", () => {
  const shared = reader();
  const [ada, bob] = [new Writer(1, shared), new Writer(2, shared)];
  const parent = ada.write(["a"]);
  const child = bob.write(["b"]);
  const carol = reader();
  const forged = child.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  assert.equal(
    carol.outcome({ kind: recordKind.signedBatch, bytes: forged }),
    "bad-signature",
  );
  assert.equal(carol.outcome(child), "park");
  assert.equal(carol.outcome(child), "park");
  assert.equal(carol.parking.size, 1, "the same batch is parked once");
  assert.equal(carol.receive(parent).length, 2);
  assert.deepEqual(carol.graph.summary(), shared.graph.summary());
});

Deno.test("a parked forgery is refused when its predecessor comes", () => {
  const ada = new Writer(1, reader());
  const [first, second] = [ada.write(["a"]), ada.write(["b"])];
  const bytes = second.bytes.slice();
  bytes[bytes.length - 65]! ^= 1; // The payload's last byte.
  const bob = reader();
  assert.equal(bob.outcome({ kind: recordKind.signedBatch, bytes }), "park");
  assert.equal(bob.outcome(second), "park", "the true one is not shut out");
  const verdicts = bob.receive(first).map(({ verdict }) =>
    verdict.verdict === "refuse" ? verdict.refusal.refused : verdict.verdict
  );
  assert.deepEqual(verdicts, ["admit", "gap", "admit"]);
});

Deno.test("admit() skips the commits that it knows, whatever batch they are in", () => {
  const ada = new Writer(1, reader());
  const header = (i: number): Header => ({ ...lone, wall: dayOne + i });
  const commits = ["a", "b", "c", "d"].map((text, i) =>
    prepare(header(i), text)
  );
  const run = (start: number, end: number) => ({
    chain: ada.chain,
    first: start,
    commits: commits.slice(start, end),
  });
  const ids: Uint8Array[] = [chainStart(ada.replica.genesisId, ada.chain)];
  for (const { header, payload } of commits) {
    ids.push(commitId(ids.at(-1)!, header, payload));
  }
  const bob = reader();
  assert.equal(bob.outcome(ada.pack(run(0, 2), ids[0])), "admit");
  assert.equal(bob.outcome(ada.pack(run(1, 2), ids[1])), "known");
  const { verdict } = bob.receive(ada.pack(run(1, 4), ids[1]))[0]!;
  assert.ok(verdict.verdict === "admit" && verdict.from === 1);
  assert.deepEqual(bob.graph.chain(ada.chain)!.hashedId, ids[4]);
  assert.equal(bob.graph.commits, 4);
  for (let number = 0; number < 4; number++) {
    const { header, payload } = commits[number]!;
    const bytes = [...header, payload.length, ...payload];
    assert.deepEqual([...bob.commitAt(ada.chain, number)!], bytes);
  }
});

Deno.test("admit() refuses a second commit with the same number", () => {
  for (const mode of ["default", "trusted"] as const) {
    const one = new Writer(1, reader(mode));
    const other = new Writer(1, reader(mode));
    const bob = reader(mode);
    assert.equal(bob.outcome(one.write(["a", "b"])), "admit");
    assert.equal(bob.outcome(other.write(["a", "c"])), "fork");
    assert.equal(
      bob.outcome(other.write(["d"])),
      mode === "default" ? "gap" : "admit",
      "it may go on from a fork: nobody can tell",
    );
  }
});

Deno.test("admit() calls a spoilt copy of what is known forged where it begins its chain, and never a fork", () => {
  const ada = new Writer(1, reader());
  const bob = reader();
  const first = ada.write(["a", "b"]);
  const second = ada.write(["c", "d"]);
  for (const arrival of [first, second]) {
    assert.equal(bob.outcome(arrival), "admit");
  }
  for (
    const [{ kind, bytes }, outcome] of [
      [first, "bad-signature"],
      [second, "gap"],
    ] as const
  ) {
    const spoilt = bytes.slice();
    const at = spoilt.length - 70; // The last payload, before the seal.
    spoilt[at] = spoilt[at]! ^ 1;
    assert.equal(bob.outcome({ kind, bytes: spoilt }), outcome);
  }
});

Deno.test("admit() refuses what goes on with the chain that this replica is writing", () => {
  const ada = new Writer(1, reader());
  // Shown here at once, not sealed yet: nobody else can have this commit.
  ada.replica.graph.add(ada.chain, lone);
  for (const texts of [["a"], ["a", "b"]]) {
    const arrival = new Writer(1, reader()).write(texts);
    assert.equal(ada.replica.outcome(arrival), "fork");
  }
});

Deno.test("admit() refuses clocks that do not go up along a chain", () => {
  for (const wall of [dayOne, dayOne - 1]) {
    const ada = new Writer(1, reader());
    const commits = [prepare(lone, "a"), prepare({ ...lone, wall }, "b")];
    const run = { chain: ada.chain, first: 0, commits };
    assert.equal(reader().outcome(ada.pack(run)), "bad-clock");

    const bob = reader();
    const head = ada.write(["a"]);
    assert.equal(bob.outcome(head), "admit");
    const tail = { chain: ada.chain, first: 1, commits: commits.slice(1) };
    assert.equal(bob.outcome(ada.pack(tail)), "bad-clock");
  }
});

Deno.test("admit() takes a late commit whose parent's clock nobody has any more, and looks none up where the chain's end tells", () => {
  const ada = new Writer(1, reader());
  const parents = ["a", "b", "c"].map((text, i) =>
    ada.write([text], dayOne + i * 10)
  );
  const outcome = (number: number, wall: number) => {
    const bob = reader();
    let lookUps = 0;
    bob.clockAt = () => {
      lookUps++;
      return undefined;
    };
    for (const arrival of parents) bob.receive(arrival);
    const writer = new Writer(2, bob);
    const header = { wall, count: 0, parents: [{ chain: ada.chain, number }] };
    const commits = [prepare(header, "x")];
    const run = { chain: writer.chain, first: 0, commits };
    return [bob.outcome(writer.pack(run)), lookUps];
  };
  assert.deepEqual(outcome(0, dayOne + 5), ["admit", 1]);
  assert.deepEqual(outcome(0, dayOne + 21), ["admit", 0]);
  assert.deepEqual(outcome(2, dayOne + 20), ["bad-clock", 0]);
  assert.deepEqual(outcome(3, dayOne + 30), ["park", 0]);
});

/** A replica that has cut its history: of a chain the first commits are nobody's any more. */
function cutReader(from: number, arrivals: readonly Arrival[], mode: Mode) {
  const bob = reader(mode);
  for (const arrival of arrivals) bob.receive(arrival);
  const { clockAt, countEqual } = bob;
  bob.clockAt = (chain, number) =>
    number < from ? undefined : clockAt.call(bob, chain, number);
  bob.countEqual = (batch, end) =>
    batch.first < from ? 0 : countEqual.call(bob, batch, end);
  return bob;
}

for (const mode of ["default", "trusted"] as const) {
  Deno.test(`admit() counts what is behind a cut of history as known, and keeps of a batch what is not, in ${mode} mode`, () => {
    const ada = new Writer(1, reader(mode));
    const texts = ["a", "b", "c", "d", "e", "f"];
    const commits = texts.map((text, i) =>
      prepare({ ...lone, wall: dayOne + i }, text)
    );
    const { chain } = ada;
    const run = (from: number, to: number, spoilt = -1) => ({
      chain,
      first: from,
      commits: commits.map((commit, i) =>
        i === spoilt ? prepare({ ...lone, wall: dayOne + i }, "spoilt") : commit
      ).slice(from, to),
    });
    const { genesisId } = ada.replica;
    const ids = [chainStart(genesisId, chain)];
    for (const commit of commits) {
      ids.push(commitId(ids.at(-1)!, commit.header, commit.payload));
    }
    const pack = (run: Run) => ada.pack(run, ids[run.first]);
    const packed = (from: number, to: number) => pack(run(from, to));
    /** Other commits under the seal of those that they stand for. */
    const swap = ({ kind, bytes }: Arrival, run: Run): Arrival => {
      const writer = new ByteWriter();
      writeBatch(writer, run);
      if (mode === "default") writer.bytes(bytes.subarray(-64));
      return { kind, bytes: writer.copy() };
    };
    const known = packed(0, 4);
    const whole = reader(mode);
    whole.receive(known);
    for (const cut of [1, 2, 4]) {
      const bob = () => cutReader(cut, [known], mode);
      // All of it is behind the cut, or known.
      assert.equal(bob().outcome(packed(0, cut)), "known", `${cut}`);
      assert.equal(bob().outcome(packed(0, 4)), "known", `${cut}`);
      // It goes on: what is kept begins where history does, and others take it.
      for (let from = 0; from < cut; from++) {
        const after = bob();
        assert.equal(
          after.outcome(packed(from, 6)),
          "admit",
          `${from}, ${cut}`,
        );
        const kept = after.log.at(-1)!;
        assert.equal(kept.first, cut);
        assert.deepEqual(after.graph.vector(), new Map([[chain, 6]]));
        const third = reader(mode);
        third.receive(known);
        const kind = packed(0, 6).kind;
        assert.equal(third.outcome({ kind, bytes: kept.bytes }), "admit");
      }
      // What nobody can check is not kept, whatever stands there.
      const spoilt = swap(packed(0, 6), run(0, 6, 0));
      const after = bob();
      assert.equal(after.outcome(spoilt), "admit");
      assert.equal(after.log.at(-1)!.first, cut);
      // Behind the cut of others a fork is one still, and what is new has to be sealed.
      if (cut < 4) {
        assert.equal(bob().outcome(pack(run(0, 6, cut))), "fork");
      }
      if (mode === "default") {
        const forged = swap(packed(0, 6), run(0, 6, 5));
        assert.equal(bob().outcome(forged), "gap");
      }
      assert.equal(whole.outcome(pack(run(0, 6, 0))), "fork");
    }
  });
}

Deno.test("admit() refuses a clock that is not later than a parent's, last of its chain or not", () => {
  const shared = reader();
  const ada = new Writer(1, shared);
  const parents = ["a", "b", "c"].map((text, i) =>
    ada.write([text], dayOne + i * 10)
  );
  for (
    const [number, wall, expected] of [
      [0, dayOne, "bad-clock"],
      [0, dayOne + 1, "admit"],
      [1, dayOne + 10, "bad-clock"],
      [1, dayOne + 11, "admit"],
      [2, dayOne + 20, "bad-clock"],
      [2, dayOne + 21, "admit"],
    ] as const
  ) {
    const bob = reader();
    for (const arrival of parents) bob.receive(arrival);
    const writer = new Writer(2, bob);
    const header = { wall, count: 0, parents: [{ chain: ada.chain, number }] };
    const run = {
      chain: writer.chain,
      first: 0,
      commits: [prepare(header, "x")],
    };
    assert.equal(bob.outcome(writer.pack(run)), expected);
  }
});

Deno.test("admit() gives one verdict on a commit, wherever its parents stand in their chains", () => {
  // Law 7: the same child before and after its parent's chain grew.
  const ada = new Writer(1, reader());
  const [first, second] = [ada.write(["a"]), ada.write(["b"], dayOne + 50)];
  const eve = new Writer(2, ada.replica);
  const header = {
    wall: dayOne + 1,
    count: 0,
    parents: [{ chain: ada.chain, number: 0 }],
  };
  const child = eve.pack({
    chain: eve.chain,
    first: 0,
    commits: [prepare(header, "x")],
  });
  const [early, late] = [reader(), reader()];
  for (const arrival of [first, child, second]) early.receive(arrival);
  for (const arrival of [first, second, child]) late.receive(arrival);
  assert.deepEqual(early.graph.encode(), late.graph.encode());
  assert.equal(early.graph.commits, 3);
});

Deno.test("admit() refuses a signed commit whose patch cannot be read", () => {
  const ada = new Writer(1, reader());
  const { header, payload } = prepare(lone, "a");
  const outcomeOf = (payload: Uint8Array) =>
    reader().outcome(ada.pack({
      chain: ada.chain,
      first: 0,
      commits: [{ header, payload, payloadAt: -1 }],
    }));
  assert.equal(outcomeOf(payload), "admit");
  throwsOnlySyntaxError(payload, (damaged) => {
    const outcome = outcomeOf(damaged);
    // A payload of the other format lacks values that nobody has erased.
    const isRefused = outcome === "malformed" || outcome === "denied";
    if (isRefused) throw new SyntaxError("as expected of a cut");
    assert.equal(outcome, "admit");
  });
});

Deno.test("admit() lets a gate ask what it costs nothing to know before it decodes", () => {
  const ada = new Writer(1, reader());
  const { header } = prepare(lone, "a");
  const unreadable = ada.pack({
    chain: ada.chain,
    first: 0,
    commits: [{ header, payload: new Uint8Array([9]), payloadAt: -1 }],
  });
  const outcomeOf = (gate: Gate) => {
    const place = reader();
    const [judged] = admit(unreadable, place, place.parking, () => {}, gate);
    const { verdict } = judged!;
    assert.equal(verdict.verdict, "refuse");
    return verdict.verdict === "refuse" && verdict.refusal.refused;
  };
  assert.equal(outcomeOf(() => refuse("quota")), "quota");
  assert.equal(outcomeOf(() => undefined), "malformed");
  const decoding: Gate = (_batch, _from, decode) => {
    decode(boundedPatches);
    return refuse("denied");
  };
  assert.equal(outcomeOf(decoding), "malformed");
});

Deno.test("checkGate() takes nothing before its time, and tells what time it is", () => {
  const batch = decodeBatch(new Writer(1, reader()).write(["a"]).bytes, true);
  const { clockAheadMsMax } = limits;
  const { wall } = batch.commits[0]!;
  assert.equal(checkGate(batch, wall), undefined);
  assert.equal(checkGate(batch, wall + 1e9), undefined);
  const early = checkGate(batch, wall - 1);
  assert.equal(early?.refused, "early");
  assert.equal(checkGate(batch, wall - clockAheadMsMax)?.refused, "early");
  const refusal = checkGate(batch, wall - clockAheadMsMax - 1);
  assert.equal(refusal?.refused, "bad-clock");
  assert.match(refusal!.detail!, /60001 ms ahead/);
  for (
    const { detail, ms } of [
      { detail: early!.detail!, ms: wall - 1 },
      { detail: refusal!.detail!, ms: wall - clockAheadMsMax - 1 },
    ]
  ) assert.equal(Date.parse(detail.slice(-24)), ms);
});

Deno.test("judge() answers garbage with a refusal and changes nothing", () => {
  const ada = new Writer(1, reader());
  const { bytes } = ada.write(["one", "two"]);
  const bob = reader();
  const before = bob.graph.encode();
  const refused = new Set<string>();
  throwsOnlySyntaxError(bytes, (damaged) => {
    const { signedBatch, certificate, unsignedBatch } = recordKind;
    for (const kind of [signedBatch, certificate, unsignedBatch]) {
      const verdict = judge({ kind, bytes: damaged }, bob);
      if (verdict.verdict === "refuse") refused.add(verdict.refusal.refused);
      else assert.equal(verdict.verdict, "park", "only a gap may wait");
    }
    const cut = judge({ kind: recordKind.signedBatch, bytes: damaged }, bob);
    if (cut.verdict === "refuse" && cut.refusal.refused === "malformed") {
      throw new SyntaxError("as expected of a cut");
    }
  });
  assert.deepEqual(bob.graph.encode(), before);
  assert.ok(refused.has("malformed") && refused.has("bad-signature"));
  assert.ok(refused.has("unknown-session") && refused.has("expired-session"));
});

Deno.test("no flipped bit of a signed batch is ever admitted, parked ones included", () => {
  const ada = new Writer(1, reader());
  const [first, second] = [ada.write(["one"]), ada.write(["two"])];
  for (let bit = 0; bit < second.bytes.length * 8; bit++) {
    if (!isTried(bit, 7)) continue;
    const bytes = second.bytes.slice();
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    const bob = reader();
    bob.receive({ kind: recordKind.signedBatch, bytes });
    bob.receive(first);
    assert.equal(bob.graph.commits, 1, `bit ${bit}`);
    assert.equal(bob.log.length, 1);
  }
});

/** Three authors who see each other now and then; what they sent, in order. */
function conversation(mode: Mode, choices: readonly number[]): Arrival[] {
  const writers = [1, 2, 3].map((seed) => new Writer(seed, reader(mode)));
  const sent: Arrival[] = [];
  const seen = [0, 0, 0];
  choices.forEach((choice, i) => {
    const who = choice % 3;
    const writer = writers[who]!;
    if (choice & 8) {
      for (; seen[who]! < sent.length; seen[who]!++) {
        writer.replica.receive(sent[seen[who]!]!);
      }
    }
    const texts = Array.from({ length: 1 + choice % 4 }, (_, j) => `${i}.${j}`);
    sent.push(writer.write(texts, dayOne + i * (choice & 4)));
  });
  return sent;
}

Deno.test("batches in any order, with repetitions, end in the same graph", () => {
  const choices = fc.array(fc.nat(15), { minLength: 1, maxLength: 14 });
  const orders = fc.infiniteStream(fc.nat());
  for (const mode of ["default", "trusted"] as const) {
    fc.assert(
      fc.property(choices, orders, (choices, dice) => {
        const sent = conversation(mode, choices);
        const straight = reader(mode);
        for (const arrival of sent) {
          assert.equal(straight.outcome(arrival), "admit");
        }
        const mixed = reader(mode);
        const queue = [...sent, ...sent];
        while (queue.length > 0) {
          const [arrival] = queue.splice(dice.next().value! % queue.length, 1);
          const outcome = mixed.outcome(arrival!);
          assert.ok(["admit", "park", "known"].includes(outcome), outcome);
        }
        assert.deepEqual(mixed.graph.encode(), straight.graph.encode());
        assert.deepEqual(mixed.graph.summary(), straight.graph.summary());
        assert.equal(mixed.parking.size, 0);
        assert.equal(mixed.log.length, sent.length, "nothing is taken twice");
      }),
      { seed: 3, numRuns: sized(12, 40) },
    );
  }
});

Deno.test("a replica that replays its log through the door ends where it was", () => {
  const sent = conversation("default", [0, 9, 10, 3, 12, 11, 13, 2, 8]);
  const bob = reader();
  for (const arrival of [...sent].reverse()) bob.receive(arrival);
  const again = reader();
  for (const { bytes } of bob.log) {
    assert.equal(
      again.outcome({ kind: recordKind.signedBatch, bytes }),
      "admit",
    );
  }
  assert.deepEqual(again.graph.encode(), bob.graph.encode());
  assert.deepEqual(root.publicKey, again.rootKey);
});
