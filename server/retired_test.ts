/** Chains that their author has ended, at a server: in any order of arrival, and whatever a hostile author says. */

import { deepEqual, equal } from "node:assert/strict";
import { chainBytes } from "../repo/commit/commit.ts";
import { issueRevocation } from "../repo/commit/revocation.ts";
import { retirementLayout } from "../repo/commit/retirement.ts";
import { recordKind } from "../repo/log/format.ts";
import { ChainGate } from "./chain_gate.ts";
import { limits } from "../src/base/limits.ts";
import { dayOne, Replica, root, signerOf, Writer } from "../tests/kit/door.ts";
import { admit, patchesOf } from "../repo/admission/admit.ts";
import type { Arrival, Gate } from "../repo/admission/arrival.ts";

/** The gate of a server that has nothing against anybody but what is said of chains. */
function gateOf(replica: Replica, accepted = 0): Gate {
  const gate = new ChainGate(1e9);
  const { graph, mode, credentials } = replica;
  const chains = { graph, loaded: { mode, credentials } };
  return (batch, from, decode) => {
    const patches = decode(patchesOf);
    if ("refused" in patches) return patches;
    return gate.check(chains, batch, from, patches, accepted);
  };
}

/** What becomes of an arrival at a server. */
function served(replica: Replica, arrival: Arrival, accepted = 0): string {
  const [judged] = admit(
    arrival,
    replica,
    replica.parking,
    (admitted) => {
      if (admitted.verdict === "admit") {
        replica.take(admitted.batch, admitted.lastId);
      } else replica.credentials.add(admitted.credential);
    },
    gateOf(replica, accepted),
  );
  const { verdict } = judged!;
  if (verdict.verdict !== "refuse") return verdict.verdict;
  const { refused, number } = verdict.refusal;
  return number === undefined ? refused : `${refused} ${number}`;
}

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

function author(seed = 1) {
  const writer = new Writer(seed, new Replica());
  const batches = ["a", "b", "c", "d"].map((id) => writer.write([id]));
  return { ...writer, writer, batches, certificate: writer.introduce() };
}

Deno.test("a server takes a chain up to the end that its author gave it, in any order of arrival", () => {
  const { chain, batches, certificate } = author();
  const end = ended([[chain, 3]], 1, new Replica());
  const within = batches.slice(0, 3);
  for (let place = 0; place <= within.length; place++) {
    const replica = new Replica();
    const arrivals = [certificate, ...within.toSpliced(place, 0, end)];
    for (const arrival of arrivals) {
      equal(served(replica, arrival).startsWith("admit"), true);
    }
    equal(replica.graph.lengthOf(chain), 3);
    equal(served(replica, batches[3]!), "fork 3");
    equal(served(replica, end), "known");
    equal(served(replica, batches[1]!), "known");
    equal(replica.graph.lengthOf(chain), 3);
  }
});

Deno.test("a server names the first commit behind the end, in a batch of 5 MB that passes it, and takes none of that", () => {
  const writer = new Writer(1, new Replica());
  const { chain } = writer;
  const ids = Array.from({ length: 20_000 }, (_, i) => `${i}`.padEnd(250, "x"));
  const large = writer.write(ids);
  equal(large.bytes.length > 5_000_000, true);
  const replica = new Replica();
  served(replica, writer.introduce());
  served(replica, ended([[chain, 12_345]], 1, replica));
  equal(served(replica, large), "fork 12345");
  equal(replica.graph.lengthOf(chain), 0);
});

Deno.test("a server takes back what it had accepted behind an end, and others what a server has", () => {
  const { chain, batches, certificate } = author();
  const replica = new Replica();
  for (const arrival of [certificate, ...batches.slice(0, 2)]) {
    served(replica, arrival);
  }
  equal(served(replica, ended([[chain, 2]], 1, replica)), "admit-credential");
  equal(served(replica, batches[2]!, 3), "admit", "a witness proves it");
  equal(served(replica, batches[3]!, 3), "fork 3", "and nothing more");
  const follower = new Replica();
  for (
    const arrival of [
      ...[certificate, ended([[chain, 2]], 1, replica)],
      ...batches.slice(0, 3),
    ]
  ) equal(follower.outcome(arrival).startsWith("admit"), true);
});

Deno.test("attack: an end before what was accepted takes nothing back, and no server takes it", () => {
  const { chain, batches, certificate } = author();
  const replica = new Replica();
  for (const arrival of [certificate, ...batches]) served(replica, arrival);
  const short = ended([[chain, 2]], 1, replica);
  equal(served(replica, short), "fork");
  // Who heard of it from a server that did not know better keeps what is there.
  equal(replica.outcome(short), "admit-credential");
  equal(replica.graph.lengthOf(chain), 4);
  equal(served(replica, batches[3]!), "known");
});

Deno.test("attack: a server takes no second end of a chain", () => {
  const { chain, batches, certificate } = author();
  const replica = new Replica();
  for (const arrival of [certificate, ...batches.slice(0, 2)]) {
    served(replica, arrival);
  }
  equal(served(replica, ended([[chain, 2]], 1, replica)), "admit-credential");
  equal(served(replica, ended([[chain, 4]], 1, replica)), "fork");
  equal(served(replica, batches[2]!), "fork 2");
  equal(served(replica, ended([[chain, 2]], 1, replica)), "known");
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

Deno.test("a server holds a chain to its author's end and to the cut of a revocation, whichever comes first", () => {
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
        equal(served(replica, one).startsWith("admit"), true);
      }
      equal(served(replica, batches[2]!), cut < end ? "revoked 2" : "fork 2");
    }
  }
});
