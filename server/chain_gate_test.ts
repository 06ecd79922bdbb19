import { deepEqual, equal } from "node:assert/strict";
import type { Batch } from "../repo/commit/batch.ts";
import { chainBytes, joinChain } from "../repo/commit/commit.ts";
import { Credentials } from "../repo/commit/credentials.ts";
import type { Mode } from "../repo/commit/genesis.ts";
import { retirementLayout } from "../repo/commit/retirement.ts";
import { Graph } from "../repo/graph/graph.ts";
import { limits } from "../src/base/limits.ts";
import type { DecodedPatch } from "../src/schema/patch_codec.ts";
import { signerOf } from "../tests/kit/door.ts";
import { ChainGate } from "./chain_gate.ts";

const full = { operations: [{}] } as unknown as DecodedPatch;
const empty = { operations: [] } as unknown as DecodedPatch;
let begun = 0;

function batchOf(key: number, first = 0, stubs = 0, count = 5): Batch {
  const incarnation = new Uint8Array(8);
  new DataView(incarnation.buffer).setUint32(0, ++begun);
  const chain = joinChain(new Uint8Array(32).fill(key), incarnation);
  const commits = Array.from({ length: count }, (_, i) => ({
    isVoid: i < stubs,
  }));
  return { chain, first, commits } as unknown as Batch;
}

function chainsOf(
  graph: Graph,
  mode: Mode = "default",
  credentials = new Credentials(),
) {
  return { graph, loaded: { mode, credentials } };
}

function grow(graph: Graph, { chain }: Batch): void {
  graph.add(chain, { wall: begun, count: 0, parents: [] });
}

/** Lets a session begin chains until it is refused; says how many. */
function fill(
  gate: ChainGate,
  graph: Graph,
  key: number,
  chains = chainsOf(graph),
): number {
  for (let count = 0;; count++) {
    const batch = batchOf(key);
    const refusal = gate.check(chains, batch, 0, [full], 0) ??
      gate.begin(graph, batch, 0, `${key}`, count * 1_000);
    if (refusal !== undefined) {
      equal(refusal.refused, "quota");
      return count;
    }
    grow(graph, batch);
  }
}

Deno.test("ChainGate.check() refuses the first commit that changes nothing, unless it was accepted before", () => {
  const gate = new ChainGate(100);
  const graph = new Graph(new Uint8Array(32));
  const batch = batchOf(1, 5);
  const check = (accepted: number) =>
    gate.check(chainsOf(graph), batch, 2, [full, empty, empty], accepted)
      ?.number;
  deepEqual([0, 8, 9, 10].map(check), [8, 8, 9, undefined]);
});

Deno.test("ChainGate.check() takes a few stubs of a chain that never said anything, and all that others follow", () => {
  const gate = new ChainGate(100);
  const graph = new Graph(new Uint8Array(32));
  const max = limits.voidCommitsMax;
  const check = (stubs: number, count: number, accepted = 0) => {
    const batch = batchOf(1, 0, stubs, count);
    const patches = batch.commits.map(({ isVoid }) => isVoid ? empty : full);
    return gate.check(chainsOf(graph), batch, 0, patches, accepted)?.refused;
  };
  equal(check(max, max), undefined);
  equal(check(max + 1, max + 1), "quota");
  equal(check(max + 1, max + 1, max + 1), undefined, "accepted before");
  equal(check(10 * max, 10 * max + 1), undefined, "one of them says something");
  const known = batchOf(1, 1, max, max);
  graph.add(known.chain, { wall: 1, count: 0, parents: [] });
  const patches = known.commits.map(() => empty);
  equal(
    gate.check(chainsOf(graph), known, 0, patches, 0),
    undefined,
    "it has spoken",
  );
});

Deno.test("ChainGate.check() takes a few chains that hold stubs alone of a session of which nothing was accepted", () => {
  const gate = new ChainGate(1e9);
  const graph = new Graph(new Uint8Array(32));
  const begin = (key: number, stubs = 5) => {
    const batch = batchOf(key, 0, stubs);
    const patches = batch.commits.map(({ isVoid }) => isVoid ? empty : full);
    const refusal = gate.check(chainsOf(graph), batch, 0, patches, 0) ??
      gate.begin(graph, batch, 0, `${key}`, 0);
    if (refusal !== undefined) return refusal.refused;
    for (const { isVoid } of batch.commits) {
      graph.add(batch.chain, { wall: begun, count: 0, parents: [] }, isVoid);
    }
    return batch.chain;
  };
  const chains = Array.from({ length: limits.voidChainsMax }, () => begin(1));
  equal(chains.includes("quota"), false);
  equal(begin(1), "quota");
  equal(begin(2) === "quota", false, "another session");
  const fresh = new ChainGate(1e9);
  const stubs = batchOf(1);
  const silent = { ...stubs, commits: [{ isVoid: true }] } as unknown as Batch;
  equal(
    fresh.check(chainsOf(graph), silent, 0, [empty], 0)?.refused,
    "quota",
    "restart",
  );
  equal(
    fresh.check(chainsOf(graph), silent, 0, [empty], 1),
    undefined,
    "proved",
  );
  graph.add(chains[3]!, { wall: begun, count: 1, parents: [] });
  equal(begin(1) === "quota", false, "it may say something");
  equal(begin(3, 4) === "quota", false);
  for (let i = 0; i < limits.voidChainsMax; i++) {
    equal(begin(3) === "quota", false, "a session that spoke first");
  }
});

Deno.test("ChainGate counts chains by session, and lets the known and the accepted go on", () => {
  const gate = new ChainGate(1e9);
  const graph = new Graph(new Uint8Array(32));
  equal(fill(gate, graph, 1), limits.sessionChainsMax);
  const known = batchOf(1);
  equal(
    gate.check(chainsOf(graph), known, 0, [full], 3),
    undefined,
    "accepted before",
  );
  grow(graph, known);
  equal(
    gate.check(chainsOf(graph), known, 0, [full], 0),
    undefined,
    "it is there",
  );
  equal(
    gate.check(chainsOf(graph), batchOf(1), 0, [full], 0)?.refused,
    "quota",
  );
  equal(fill(new ChainGate(1e9), graph, 2), limits.sessionChainsMax);
});

Deno.test("ChainGate does not count what its author retired, once it is whole", () => {
  const graph = new Graph(new Uint8Array(32));
  const credentials = new Credentials();
  const chains = chainsOf(graph, "default", credentials);
  const gate = new ChainGate(1e9);
  const max = limits.sessionChainsMax;
  const [key, signer] = [7, signerOf(7)];
  equal(fill(gate, graph, key, chains), max);
  const ends = [...graph.chains()].slice(0, 100).map(({ name }) => name)
    .sort().map((name, i) => ({
      incarnation: chainBytes(name).slice(32),
      // Of every second one a commit is still to come.
      commits: 1 + i % 2,
    }));
  const said = { genesisId: new Uint8Array(32), ends };
  // These chains are of a key that nobody has: it is put where the signer's stands.
  const issuerKey = new Uint8Array(32).fill(key);
  const one = { ...retirementLayout.sign(said, signer), issuerKey };
  credentials.add({ what: "retirement", one });
  equal(fill(gate, graph, key, chains), 50);
  equal(fill(new ChainGate(1e9), graph, key, chains), 0, "restarted");
  equal(fill(gate, graph, 8, chains), max, "another session");
});

Deno.test("ChainGate lets a session begin more where nothing is signed, and so nothing retired", () => {
  const graph = new Graph(new Uint8Array(32));
  const chains = chainsOf(graph, "trusted");
  equal(fill(new ChainGate(1e9), graph, 1, chains), limits.unsignedChainsMax);
});

Deno.test("ChainGate lets a new session in where others have begun all that a summary can name", () => {
  const graph = new Graph(new Uint8Array(32));
  const gate = new ChainGate(1e9);
  let key = 1;
  while (graph.size < limits.summaryChainsMax) fill(gate, graph, key++);
  equal(fill(gate, graph, key), limits.sessionChainsMin);
});

Deno.test("ChainGate slows a session that begins chains, by the clock", () => {
  const gate = new ChainGate(60);
  const graph = new Graph(new Uint8Array(32));
  const begin = (nowMs: number) => {
    const batch = batchOf(1);
    return gate.begin(graph, batch, 0, "one", nowMs)?.refused;
  };
  for (let i = 0; i < 60; i++) equal(begin(0), undefined);
  equal(begin(0), "quota");
  equal(gate.begin(graph, batchOf(2), 0, "two", 0), undefined, "another one");
  equal(begin(1_000), undefined);
  equal(begin(1_000), "quota");
});
