import { deepEqual, equal, throws } from "node:assert/strict";
import { Graph } from "../repo/graph/graph.ts";
import { chainName } from "../repo/commit/commit.ts";
import { chainEndsOf, cutSummary, readSummary } from "./summary.ts";

const nameAt = (i: number) => chainName(new Uint8Array(40).fill(i));

/** Of chains of so many commits, of which some are void. */
function summaryOf(...chains: readonly (readonly boolean[])[]): Uint8Array {
  const graph = new Graph(new Uint8Array(32));
  for (const [i, commits] of chains.entries()) {
    for (const [wall, isVoid] of commits.entries()) {
      graph.add(nameAt(i), { wall, count: 0, parents: [] }, isVoid);
    }
    graph.setHashed(nameAt(i), commits.length, new Uint8Array(32).fill(7));
  }
  return graph.summary()!;
}

const mixed = summaryOf([true], [false, false], [false, true, true, false]);

Deno.test("readSummary() reads how long chains are and what of them is void", () => {
  const said = [...readSummary(mixed)].map((
    [chain, { count, voids }],
  ) => [chain, count, [...voids ?? []]]);
  deepEqual(said, [
    [nameAt(0), 1, [[0, 1]]],
    [nameAt(1), 2, []],
    [nameAt(2), 4, [[1, 3]]],
  ]);
  deepEqual(chainEndsOf(mixed), readSummary(mixed));
  const sound = [0, 81, 159, mixed.length];
  for (let end = 0; end <= mixed.length; end++) {
    if (sound.includes(end)) continue;
    throws(() => readSummary(mixed.subarray(0, end)), SyntaxError, `${end}`);
  }
});

Deno.test("readSummary() refuses a chain of which it says that something is void, and then what: nothing", () => {
  const bytes = new Uint8Array([...summaryOf([false]), 0]);
  throws(() => readSummary(bytes), SyntaxError);
  bytes[45]! |= 0x80; // 2^47 of its length.
  throws(() => readSummary(bytes), SyntaxError);
});

Deno.test("cutSummary() cuts between chains, and counts all of them", () => {
  for (
    const [bytesMax, size] of [[0, 0], [80, 0], [81, 1], [160, 2]] as const
  ) {
    const { chains, bytes } = cutSummary(mixed, bytesMax);
    equal(chains, 3);
    equal(readSummary(bytes).size, size);
  }
  deepEqual(cutSummary(mixed, mixed.length).bytes, mixed);
});
