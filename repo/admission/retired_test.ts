/** Chains that their author has ended, at the door: in any order of arrival, and whatever a hostile author says. */

import { deepEqual, equal } from "node:assert/strict";
import { chainBytes } from "../commit/commit.ts";
import { issueRevocation } from "../commit/revocation.ts";
import { retirementLayout } from "../commit/retirement.ts";
import { recordKind } from "../log/format.ts";
import { limits } from "../../src/base/limits.ts";
import {
  dayOne,
  Replica,
  root,
  signerOf,
  Writer,
} from "../../tests/kit/door.ts";
import { judge } from "./admit.ts";
import type { Arrival, Gate } from "./arrival.ts";

const open: Gate = () => undefined;

function ended(
  of: readonly (readonly [chain: string, commits: number])[],
  seed: number,
  { genesisId }: Replica,
): Arrival {
  const ends = of.map(([chain, commits]) => ({
    incarnation: chainBytes(chain).slice(32),
    commits,
  }));
  const { bytes } = retirementLayout.sign({ genesisId, ends }, signerOf(seed));
  return { kind: recordKind.retirement, bytes };
}

/** What a gate's door says: a verdict, or the reason of a refusal and its number. */
function atGate(arrival: Arrival, replica: Replica): string {
  const verdict = judge(arrival, replica, open);
  return verdict.verdict === "refuse"
    ? verdict.refusal.refused
    : verdict.verdict;
}

function author(seed = 1) {
  const writer = new Writer(seed, new Replica());
  const batches = ["a", "b", "c", "d"].map((id) => writer.write([id]));
  return { ...writer, writer, batches, certificate: writer.introduce() };
}

Deno.test("judge() takes a chain up to the end that its author gave it, in any order of arrival", () => {
  const { chain, batches, certificate } = author();
  const end = ended([[chain, 3]], 1, new Replica());
  const within = batches.slice(0, 3);
  for (let place = 0; place <= within.length; place++) {
    const replica = new Replica();
    const arrivals = [certificate, ...within.toSpliced(place, 0, end)];
    for (const arrival of arrivals) {
      equal(replica.outcome(arrival).startsWith("admit"), true);
    }
    equal(replica.graph.lengthOf(chain), 3);
    equal(replica.outcome(batches[3]!), "fork");
    equal(replica.outcome(end), "known");
    equal(replica.outcome(batches[1]!), "known");
    equal(replica.graph.lengthOf(chain), 3);
  }
});

Deno.test("judge() names the first commit behind the end, in a batch of 5 MB that passes it, and takes none of that", () => {
  const writer = new Writer(1, new Replica());
  const { chain } = writer;
  const ids = Array.from({ length: 20_000 }, (_, i) => `${i}`.padEnd(250, "x"));
  const large = writer.write(ids);
  equal(large.bytes.length > 5_000_000, true);
  const replica = new Replica();
  replica.outcome(writer.introduce());
  replica.outcome(ended([[chain, 12_345]], 1, replica));
  const verdict = judge(large, replica);
  deepEqual(
    verdict.verdict === "refuse" &&
      [verdict.refusal.refused, verdict.refusal.number],
    ["fork", 12_345],
  );
  equal(replica.graph.lengthOf(chain), 0);
});

Deno.test("attack: an end before what was accepted takes nothing back, and no gate takes it", () => {
  const { chain, batches, certificate } = author();
  const replica = new Replica();
  for (const arrival of [certificate, ...batches]) replica.outcome(arrival);
  const short = ended([[chain, 2]], 1, replica);
  equal(atGate(short, replica), "fork");
  // Who heard of it from a gate that did not know better goes by it.
  equal(replica.outcome(short), "admit-credential");
  equal(replica.graph.lengthOf(chain), 4);
  equal(replica.outcome(batches[3]!), "known");
});

Deno.test("attack: a gate takes no second end of a chain", () => {
  const { chain, batches, certificate } = author();
  const replica = new Replica();
  for (const arrival of [certificate, ...batches.slice(0, 2)]) {
    replica.outcome(arrival);
  }
  equal(replica.outcome(ended([[chain, 2]], 1, replica)), "admit-credential");
  equal(atGate(ended([[chain, 4]], 1, replica), replica), "fork");
  equal(atGate(batches[2]!, replica), "fork");
  equal(atGate(ended([[chain, 2]], 1, replica), replica), "known");
});

Deno.test("attack: nobody ends a chain of another's, in another repository, or without a certificate", () => {
  const { chain, batches, certificate } = author();
  const replica = new Replica();
  for (const arrival of [certificate, ...batches]) replica.outcome(arrival);
  const thief = new Writer(2, new Replica());
  equal(replica.outcome(ended([[chain, 4]], 2, replica)), "unknown-session");
  equal(replica.outcome(thief.introduce()), "admit-credential");
  // It is a chain of the thief's own that has this incarnation.
  equal(replica.outcome(ended([[chain, 4]], 2, replica)), "admit-credential");
  equal(replica.credentials.retirements.isRetired(chain), false);
  const elsewhere = new Replica("default", "team/other");
  equal(replica.outcome(ended([[chain, 4]], 1, elsewhere)), "malformed");
  const forged = ended([[chain, 4]], 1, replica);
  forged.bytes[forged.bytes.length - 1]! ^= 1;
  equal(replica.outcome(forged), "bad-signature");
  // The author's own name over what the thief has signed.
  const posing = ended([[chain, 4]], 2, replica);
  posing.bytes.set(signerOf(1).publicKey, posing.bytes.length - 96);
  equal(replica.outcome(posing), "bad-signature");
  for (const mode of ["trusted", "fast"] as const) {
    const unsigned = new Replica(mode);
    equal(unsigned.outcome(ended([[chain, 4]], 1, unsigned)), "wrong-mode");
  }
});

Deno.test("attack: ends without number, of chains that never begin, find no room", () => {
  const { certificate } = author();
  const replica = new Replica();
  replica.outcome(certificate);
  const outcomes = new Map<string, number>();
  const ends = limits.retiredChainsMax / limits.retiredAtOnceMax + 2;
  for (let i = 0; i < ends; i++) {
    const of = Array.from(
      { length: limits.retiredAtOnceMax },
      (_, j): [string, number] => {
        const chain = new Uint8Array(40);
        new DataView(chain.buffer).setUint32(36, i * 1_000 + j);
        return [String.fromCharCode(...chain), 1];
      },
    );
    const outcome = replica.outcome(ended(of, 1, replica));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  deepEqual(
    outcomes,
    new Map([["admit-credential", ends - 2], ["too-large", 2]]),
  );
});

Deno.test("judge() holds a chain to its author's end and to the cut of a revocation, whichever comes first", () => {
  const { chain, batches, certificate, signer } = author();
  const cases = [[2, 3], [3, 2]] as const;
  for (const [cut, end] of cases) {
    const base = new Replica();
    const revocation: Arrival = {
      kind: recordKind.revocation,
      bytes: issueRevocation({
        genesisId: base.genesisId,
        sessionKey: signer.publicKey,
        cuts: new Map([[chain.slice(32), cut]]),
        wall: dayOne,
        reason: "",
      }, root).bytes,
    };
    const records = [revocation, ended([[chain, end]], 1, base)];
    for (const said of [records, records.toReversed()]) {
      const replica = new Replica();
      for (const one of [certificate, ...said, ...batches.slice(0, 2)]) {
        equal(replica.outcome(one).startsWith("admit"), true);
      }
      equal(replica.outcome(batches[2]!), cut < end ? "revoked" : "fork");
    }
  }
});
