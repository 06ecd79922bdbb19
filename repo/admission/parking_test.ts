import assert from "node:assert/strict";
import {
  certify,
  dayOne,
  prepare,
  Replica,
  signerOf,
  Writer,
} from "../../tests/kit/door.ts";
import { limits } from "../../src/base/limits.ts";
import { decodeBatch } from "../commit/batch.ts";
import type { Position } from "../commit/commit.ts";
import { Parking } from "./parking.ts";
import { recordKind } from "../log/format.ts";

function reader(parking?: Parking): Replica {
  return new Replica("default", "team/acme", parking).trust(
    ...[1, 2].map((seed) => certify(signerOf(seed))),
  );
}

Deno.test("Parking refuses newcomers when it is full, with the reason they waited for", () => {
  const shared = reader();
  const [ada, bob] = [new Writer(1, shared), new Writer(2, shared)];
  const sent = [ada.write(["a"]), ada.write(["b"]), ada.write(["c"])];
  const child = bob.write(["d"]);
  const carol = reader(new Parking(1));
  assert.equal(carol.outcome(sent[1]!), "park");
  assert.equal(carol.outcome(sent[1]!), "park", "it is there already");
  assert.equal(carol.outcome(sent[2]!), "gap");
  assert.equal(carol.outcome(child), "missing-parent");
  assert.equal(carol.outcome(sent[0]!), "admit");
  assert.equal(carol.parking.size, 0);
  for (const arrival of [sent[2]!, child]) {
    assert.equal(carol.outcome(arrival), "admit", "it may be sent again");
  }
});

Deno.test("Parking holds no more bytes than it may", () => {
  const ada = new Writer(1, reader());
  const sent = ["a", "b", "c"].map((text) => ada.write([text.repeat(1_000)]));
  const { length } = sent[1]!.bytes;
  const bob = reader(new Parking(10, length * 2 - 1));
  assert.equal(bob.outcome(sent[1]!), "park");
  assert.equal(bob.outcome(sent[2]!), "gap");
});

Deno.test("Parking has limits where nobody chose any", () => {
  const ada = new Writer(1, new Replica("trusted"));
  const sent = Array.from(
    { length: limits.parkedMax + 2 },
    (_, i) => ada.write(["x"], dayOne + i),
  );
  const bob = new Replica("trusted");
  for (const arrival of sent.slice(1, -1)) bob.receive(arrival);
  assert.equal(bob.parking.size, limits.parkedMax);
  assert.equal(bob.outcome(sent.at(-1)!), "gap");
});

Deno.test("Parking releases ten thousand batches that came backwards", () => {
  const ada = new Writer(1, new Replica("trusted"));
  const sent = Array.from(
    { length: 10_000 },
    (_, i) => ada.write(["x"], dayOne + i),
  );
  const bob = new Replica("trusted");
  for (const arrival of sent.toReversed()) bob.receive(arrival);
  assert.equal(bob.graph.commits, 10_000);
  assert.equal(bob.parking.size, 0);
  assert.deepEqual(bob.graph.encode(), ada.replica.graph.encode());
});

/** A batch of one commit for each position, which is its parent. */
function waiting(shared: Replica, parents: readonly Position[]) {
  const bob = new Writer(2, shared);
  const commits = parents.map((parent, i) =>
    prepare({ wall: dayOne + 1_000 + i, count: 0, parents: [parent] }, "x")
  );
  return bob.pack({ chain: bob.chain, first: 0, commits });
}

Deno.test("Parking has a batch judged once more when all is there that it waits for of one chain, not with each commit", () => {
  const shared = new Replica("trusted");
  const ada = new Writer(1, shared);
  const sent = Array.from({ length: 20 }, (_, i) => ada.write([`${i}`]));
  const numbers = [3, 19, 0, ...sent.keys()];
  const child = waiting(
    shared,
    numbers.map((number) => ({ chain: ada.chain, number })),
  );
  const carol = new Replica("trusted");
  assert.equal(carol.outcome(child), "park");
  const judged = sent.map((arrival) => carol.receive(arrival).length);
  assert.deepEqual(judged, [...Array(19).fill(1), 2]);
  assert.equal(carol.parking.size, 0);
  assert.equal(carol.graph.commits, 20 + numbers.length);
});

Deno.test("Parking gives up what was judged very often, since it waits for one chain after the other", () => {
  const shared = new Replica("trusted");
  const count = limits.parkedTimesMax + 2;
  const chains = Array.from({ length: count }, (_, i) => {
    const writer = new Writer(1, new Replica("trusted"), i + 1);
    return { chain: writer.chain, sent: writer.write(["x"]) };
  });
  const parents = chains.map(({ chain }) => ({ chain, number: 0 }));
  const child = waiting(shared, parents);
  const carol = new Replica("trusted");
  assert.equal(carol.outcome(child), "park");
  let times = 1;
  let last: string | undefined;
  for (const { sent } of chains.toReversed()) {
    const [, again] = carol.receive(sent);
    if (again === undefined) continue;
    times++;
    const { verdict } = again;
    last = verdict.verdict === "refuse"
      ? verdict.refusal.refused
      : verdict.verdict;
  }
  assert.deepEqual([times, last], [
    limits.parkedTimesMax + 1,
    "missing-parent",
  ]);
  assert.deepEqual(carol.parking.size, 0);
  assert.equal(carol.outcome(child), "admit", "it may be sent again");
});

Deno.test("Parking has a limit of bytes where nobody chose any", () => {
  const ada = new Writer(1, reader());
  const sent = ada.write(["a"]);
  const batch = decodeBatch(sent.bytes, true);
  const parking = new Parking();
  const half = limits.parkedBytesMax / 2;
  const missing = { chain: "somebody", number: 7 };
  const park = (bytes: Uint8Array) =>
    parking.park({ kind: recordKind.signedBatch, bytes }, {
      verdict: "park",
      batch,
      missing,
    });
  assert.equal(park(new Uint8Array(half)), undefined);
  assert.equal(park(new Uint8Array(half + 1))?.refused, "missing-parent");
  assert.equal(park(new Uint8Array(half).fill(1)), undefined);
  assert.equal(park(new Uint8Array(1))?.refused, "missing-parent");
});
