import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import { seededRandom, shuffle } from "../tests/kit/mod.ts";
import { sized } from "../tests/kit/tier.ts";
import { Ancestry, type Vector } from "./ancestry.ts";
import type { Position } from "./commit.ts";

interface Commit extends Position {
  readonly parents: readonly Position[];
  /** Chain → count, by the definition. */
  readonly seen: ReadonlyMap<string, number>;
}

/** Commits of a few chains in an order in which they may have come. */
function randomHistory(random: () => number): Commit[] {
  const commits: Commit[] = [];
  const lengths = new Map<string, number>();
  for (let i = 0; i < 120; i++) {
    const chain = "abcdef"[Math.floor(random() * 6)]!;
    const number = lengths.get(chain) ?? 0;
    const parents: Position[] = [];
    for (const [other, length] of [...lengths].sort()) {
      if (other === chain || random() < 0.7) continue;
      // Mostly the newest one, sometimes one of long ago.
      const back = random() < 0.8 ? 1 : 1 + Math.floor(random() * length);
      parents.push({ chain: other, number: length - back });
    }
    const seen = new Map([[chain, number + 1]]);
    for (const past of [...parents, { chain, number: number - 1 }]) {
      const known = commits.find((commit) =>
        commit.chain === past.chain && commit.number === past.number
      );
      for (const [of, count] of known?.seen ?? []) {
        seen.set(of, Math.max(count, seen.get(of) ?? 0));
      }
    }
    lengths.set(chain, number + 1);
    commits.push({ chain, number, parents, seen });
  }
  return commits;
}

function named(ancestry: Ancestry, vector: Vector): [string, number][] {
  const counts: [string, number][] = [];
  for (const chain of "abcdef") {
    const count = vector[ancestry.ordinalOf(chain)] ?? 0;
    if (count > 0) counts.push([chain, count]);
  }
  return counts;
}

for (const bytesMax of [0, 2_000, undefined]) {
  Deno.test(`vectors are right in any order of questions, with ${bytesMax ?? "many"} bytes to keep them`, () => {
    const run = fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => {
      const random = seededRandom(seed);
      const history = randomHistory(random);
      const ancestry = new Ancestry(bytesMax);
      const asked: Commit[] = [];
      for (const commit of history) {
        const { chain, number, parents } = commit;
        if (parents.length > 0) ancestry.add(chain, number, parents);
        asked.push(commit);
        if (random() < 0.5) continue;
        for (
          const { chain, number, seen } of shuffle(asked, random).slice(0, 5)
        ) {
          const vector = ancestry.vectorOf(chain, number + 1);
          deepEqual(named(ancestry, vector), [...seen].sort());
        }
        const before = ancestry.vectorOf(chain, number);
        const after = ancestry.withParents(before, parents);
        const own = new Map([...commit.seen, [chain, number]]);
        deepEqual(
          named(ancestry, after),
          [...own].filter(([, count]) => count > 0).sort(),
        );
      }
    });
    fc.assert(run, { seed: 2, numRuns: sized(20, 600) });
  });
}

Deno.test("a chain that is not known gets no place in memory", () => {
  const ancestry = new Ancestry();
  ancestry.vectorOf("nobody", 0);
  deepEqual(ancestry.ordinalOf("first"), 0);
});
