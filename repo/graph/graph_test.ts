import assert from "node:assert/strict";
import fc from "fast-check";
import { dayOne, Replica, Writer } from "../../tests/kit/door.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { compareHlc } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { chainName, type Header, type Position } from "../commit/commit.ts";
import { Graph } from "./graph.ts";

const genesisId = new Uint8Array(32).fill(1);
const nameAt = (i: number) => chainName(new Uint8Array(40).fill(i));

interface Step {
  readonly chain: string;
  readonly header: Header;
}

/** A random history: each step is a commit by one of some chains that saw a part of the rest. */
function historyOf(choices: readonly (readonly [number, number])[]): Step[] {
  const steps: Step[] = [];
  const lengths = new Map<string, number>();
  for (const [who, sees] of choices) {
    const chain = nameAt(who);
    const parents = [...lengths].filter(([name], i) =>
      name !== chain && sees >> i & 1
    ).map(([name, length]) => ({ chain: name, number: length - 1 }))
      .sort((a, b) => a.chain < b.chain ? -1 : 1);
    const header = { wall: dayOne + steps.length, count: 0, parents };
    steps.push({ chain, header });
    lengths.set(chain, (lengths.get(chain) ?? 0) + 1);
  }
  return steps;
}

/** The slow oracle: all commits, minus those that another one names or follows. */
function headsOf(steps: readonly Step[]): string[] {
  const keyOf = ({ chain, number }: Position) =>
    `${chain.charCodeAt(0)}:${number}`;
  const lengths = new Map<string, number>();
  const all = new Set<string>();
  const covered = new Set<string>();
  for (const { chain, header } of steps) {
    const number = lengths.get(chain) ?? 0;
    lengths.set(chain, number + 1);
    all.add(keyOf({ chain, number }));
    if (number > 0) covered.add(keyOf({ chain, number: number - 1 }));
    for (const parent of header.parents) covered.add(keyOf(parent));
  }
  return [...all].filter((key) => !covered.has(key)).sort();
}

const choices = fc.array(fc.tuple(fc.nat(5), fc.nat(63)), { maxLength: 40 });

Deno.test("heads are the commits that no known commit has as parent", () => {
  fc.assert(
    fc.property(choices, (choices) => {
      const graph = new Graph(genesisId);
      const steps = historyOf(choices);
      for (const { chain, header } of steps) graph.add(chain, header);
      const heads = [...graph.chains()].filter(({ isHead }) => isHead)
        .map(({ name, length }) => `${name.charCodeAt(0)}:${length - 1}`);
      assert.deepEqual(heads.sort(), headsOf(steps));
      assert.equal(graph.headCount, heads.length);
      assert.equal(graph.commits, steps.length);
      if (steps.length === 0) return;
      assert.equal(compareHlc(graph.clock, steps.at(-1)!.header), 0);
    }),
    { seed: 1 },
  );
});

Deno.test("the order in which chains interleave does not change a graph", () => {
  fc.assert(
    fc.property(choices, fc.infiniteStream(fc.nat()), (choices, dice) => {
      const steps = historyOf(choices);
      const [inOrder, mixed] = [new Graph(genesisId), new Graph(genesisId)];
      for (const { chain, header } of steps) inOrder.add(chain, header);
      const queues = Map.groupBy(steps, ({ chain }) => chain);
      while (queues.size > 0) {
        const ready = [...queues].filter(([, [next]]) =>
          next!.header.parents.every((parent) => mixed.has(parent))
        );
        const [chain, queue] = ready[dice.next().value! % ready.length]!;
        mixed.add(chain, queue.shift()!.header);
        if (queue.length === 0) queues.delete(chain);
      }
      assert.deepEqual(mixed.encode(), inOrder.encode());
      assert.deepEqual(mixed.vector(), inOrder.vector());
    }),
    { seed: 2 },
  );
});

Deno.test("parentsForNext() names the heads of other chains, and nothing when there are none", () => {
  const graph = new Graph(genesisId);
  assert.deepEqual(graph.parentsForNext(nameAt(1)), []);
  graph.add(nameAt(1), { wall: 1, count: 0, parents: [] });
  assert.deepEqual(graph.parentsForNext(nameAt(1)), []);
  const parents = graph.parentsForNext(nameAt(2));
  assert.deepEqual(parents, [{ chain: nameAt(1), number: 0 }]);
  graph.add(nameAt(2), { wall: 2, count: 0, parents });
  assert.deepEqual(graph.parentsForNext(nameAt(2)), []);
  assert.deepEqual(graph.parentsForNext(nameAt(1)), [
    { chain: nameAt(2), number: 0 },
  ]);
});

Deno.test("parentsForNext() names the heads that came last when there are too many, in order of chain", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), { maxLength: 150 }), (writers) => {
      const graph = new Graph(genesisId);
      /** The slow oracle: every head, the last that came at the end. */
      const heads = new Map<string, Position>();
      writers.forEach((writer, i) => {
        const chain = nameAt(writer);
        // Every third one sees nobody: there would not be many heads otherwise.
        const parents = i % 3 === 0 ? graph.parentsForNext(chain) : [];
        if (i % 3 === 0) {
          const others = [...heads.values()].filter((one) =>
            one.chain !== chain
          );
          const newest = others.slice(-limits.parentsMax);
          newest.sort((a, b) => a.chain < b.chain ? -1 : 1);
          assert.deepEqual(parents, newest);
        }
        const number = graph.lengthOf(chain);
        graph.add(chain, { wall: dayOne + i, count: 0, parents });
        for (const parent of parents) heads.delete(parent.chain);
        heads.delete(chain);
        heads.set(chain, { chain, number });
        assert.equal(graph.headCount, heads.size);
      });
      const again = Graph.decode(graph.encode(), genesisId);
      assert.deepEqual(again.parentsForNext("?"), graph.parentsForNext("?"));
    }),
    { seed: 3 },
  );
});

Deno.test("a graph survives encoding, heads and clock included", () => {
  const replica = new Replica();
  const writers = [1, 2, 3].map((seed) => new Writer(seed, replica));
  for (let i = 0; i < 12; i++) {
    writers[i * i % 3]!.write(["x", "y"], dayOne + i);
  }
  const { graph } = replica;
  const bytes = graph.encode();
  const again = Graph.decode(bytes, replica.genesisId);
  assert.deepEqual(again.encode(), bytes);
  assert.deepEqual(again.vector(), graph.vector());
  assert.deepEqual(again.summary(), graph.summary());
  assert.equal(again.commits, 24);
  assert.equal(compareHlc(again.clock, graph.clock), 0);
  assert.deepEqual(again.parentsForNext("?"), graph.parentsForNext("?"));
  throwsOnlySyntaxError(
    bytes,
    (damaged) => Graph.decode(damaged, replica.genesisId),
  );
});

Deno.test("digest() is there once every chain is hashed to its end", () => {
  const graph = new Graph(genesisId);
  const name = nameAt(1);
  const empty = graph.summary();
  graph.add(name, { wall: 1, count: 0, parents: [] });
  assert.equal(graph.summary(), undefined);
  assert.ok(graph.idBefore(name, 0));
  assert.equal(graph.idBefore(name, 1), undefined);
  const id = new Uint8Array(32).fill(5);
  graph.setHashed(name, 1, id);
  assert.equal(graph.idBefore(name, 1), id);
  assert.notDeepEqual(graph.summary(), empty);
  graph.add(name, { wall: 2, count: 0, parents: [] });
  graph.setHashed(name, 2, id);
  graph.setHashed(name, 1, new Uint8Array(32));
  assert.equal(graph.idBefore(name, 2), id, "hashing never goes back");
});

Deno.test("a digest tells which commits are void, whether they came so or became it, and nothing where none is", () => {
  const name = nameAt(1);
  const header = { wall: 1, count: 0, parents: [] };
  const graphOf = (...voids: boolean[]) => {
    const graph = new Graph(genesisId);
    for (const isVoid of voids) graph.add(name, header, isVoid);
    graph.setHashed(name, voids.length, new Uint8Array(32).fill(5));
    return graph;
  };
  const [spoken, came] = [
    graphOf(false, false, false),
    graphOf(false, true, true),
  ];
  const became = graphOf(false, true, false);
  assert.notDeepEqual(became.summary(), came.summary());
  became.setVoid(name, [2, 1]);
  assert.deepEqual(became.summary(), came.summary());
  assert.deepEqual(became.encode(), came.encode());
  assert.notDeepEqual(came.summary(), spoken.summary());
  const again = Graph.decode(came.encode(), genesisId);
  assert.deepEqual(again.summary(), came.summary());
  assert.deepEqual([...again.chain(name)!.voids!], [[1, 3]]);
  const other = new Graph(genesisId);
  other.become(came);
  assert.deepEqual(other.summary(), came.summary());
});

Deno.test("a summary that is asked for between other steps is that of a fresh graph", () => {
  const graph = new Graph(genesisId);
  const step = (target: Graph, who: number, wall: number) => {
    const name = nameAt(who);
    target.add(name, { wall, count: 0, parents: [] });
    const length = target.lengthOf(name);
    target.setHashed(name, length, new Uint8Array(32).fill(who * 16 + length));
  };
  const steps: [number, number][] = [[3, 1], [1, 2], [3, 3], [2, 4], [1, 5]];
  for (const [i, [who, wall]] of steps.entries()) {
    step(graph, who, wall);
    const fresh = new Graph(genesisId);
    for (const [who, wall] of steps.slice(0, i + 1)) step(fresh, who, wall);
    assert.deepEqual(graph.summary(), fresh.summary(), `step ${i}`);
    const { length } = graph.summary()!;
    assert.equal(length, graph.size * 78);
  }
  const other = new Graph(genesisId);
  step(other, 2, 1);
  step(other, 5, 2);
  const expected = other.summary();
  graph.become(other);
  assert.deepEqual(graph.summary(), expected);
  graph.add(nameAt(5), { wall: 9, count: 0, parents: [] });
  assert.equal(graph.summary(), undefined, "not hashed to its end");
});
