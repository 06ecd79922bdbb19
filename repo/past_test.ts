import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import { Card, RuledDevice } from "../tests/kit/ruled_device.ts";
import { seededRandom, shuffle } from "../tests/kit/mod.ts";
import { sized } from "../tests/kit/tier.ts";
import type { Cell } from "../src/schema/cell.ts";
import { cellDigestBytes } from "../src/schema/cell_codec.ts";
import { createView } from "../src/schema/view.ts";
import type { Position } from "./commit.ts";
import { Past } from "./past.ts";
import type { Replica } from "./replica.ts";
import { ancestry, type Includes, stateOf } from "./time_travel.ts";

const ids = ["card-0", "card-1", "card-2"];

/** A replica that holds what several devices wrote while they heard of each other now and then. */
async function history(seed: number): Promise<Replica> {
  const random = seededRandom(seed);
  const devices = await Promise.all(
    [1, 2, 3, 4].map((i) => RuledDevice.open({ seed: seed * 10 + i })),
  );
  for (let step = 0; step < 40; step++) {
    const [from, to] = shuffle(devices, random);
    if (random() < 0.3) to!.take(from!.records());
    const id = ids[Math.floor(random() * ids.length)]!;
    const isThere = from!.get(id, "id") !== undefined;
    if (isThere && random() < 0.1) from!.remove(id);
    else if (random() < 0.5) from!.put(id, { rank: step });
    else from!.put(id, isThere ? { votes: { increment: 1 } } : { votes: 1 });
  }
  const all = devices[0]!;
  for (const from of devices) all.take(from.records());
  return all.replica;
}

function digest(cell: Cell | undefined): string {
  return cell === undefined ? "" : cellDigestBytes(cell).toHex();
}

interface Expected {
  readonly position: Position;
  readonly parents: readonly Position[];
  readonly cells: string[];
}

/** What each commit had seen, folded from nothing. */
function expectedOf(replica: Replica): Expected[] {
  const { commits } = replica;
  const found: Expected[] = [];
  commits.each(({ batch, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const position = { chain: batch.chain, number: batch.first + i };
      const all = ancestry(commits, position);
      const includes: Includes = (chain, number, wall) =>
        all(chain, number, wall) &&
        !(chain === position.chain && number === position.number);
      const state = stateOf(commits, () => createView(Card), includes);
      const table = state.find(Card.name);
      const cells = ids.map((id) => digest(table?.cellOf(id)));
      const { parents } = batch.commits[i]!;
      found.push({ position, parents, cells });
    }
  });
  return found;
}

function check(replica: Replica, past: Past, expected: Expected[]): void {
  const table = replica.state.find(Card.name)!;
  for (const { position, parents, cells } of expected) {
    const { chain, number } = position;
    const vector = past.withParents(past.vectorOf(chain, number), parents);
    const found = ids.map((id) =>
      digest(past.cellAt(table, id, vector, chain))
    );
    deepEqual(found, cells);
  }
}

Deno.test("an item is found as its author saw it, whoever is asked about first", async () => {
  const run = fc.asyncProperty(
    fc.integer({ min: 1, max: 1e6 }),
    async (seed) => {
      const random = seededRandom(seed);
      const replica = await history(seed);
      const expected = expectedOf(replica);
      const past = new Past({ ...replica.loaded, commits: replica.commits });
      check(replica, past, expected);
      check(replica, past, shuffle(expected, random));
      check(replica, past, [...expected].reverse());
      await replica.close();
    },
  );
  await fc.assert(run, {
    seed: 11,
    numRuns: sized(6, 200),
    endOnFailure: true,
  });
});
