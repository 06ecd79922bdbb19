/** The fast fold of the past is what folding every operation gives. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { Editor } from "../../src/db/editor.ts";
import { field } from "../../src/schema/field.ts";
import { IdSource } from "../../src/schema/names.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { View } from "../../src/schema/view.ts";
import { AuthorPlace, Leaf } from "../../tests/kit/author_place.ts";
import { digestOf } from "../../tests/kit/digest.ts";
import { seededRandom } from "../../tests/kit/mod.ts";
import { steadyWorld } from "../../tests/kit/small_database.ts";
import { sized } from "../../tests/kit/tier.ts";
import type { Includes } from "./logged_commits.ts";
import { stateOf, upTo } from "./time_travel.ts";

/** More fields than are looked at, and one of another kind than others know it by. */
const Wide = defineSchema("leaf", {
  title: field.number().default(0),
  ...Object.fromEntries(
    Array.from(
      { length: 20 },
      (_, i) => [`f${i}`, field.string().default("")] as const,
    ),
  ),
}, { version: 3 });

function writeSome(place: AuthorPlace, random: () => number): void {
  const below = (end: number) => Math.floor(random() * end);
  const world = steadyWorld(below(1_000));
  const wide = new Editor(Wide, place.editor.table, new IdSource(world));
  place.write((tx, leaves) => {
    for (let left = 1 + below(3); left > 0; left--) {
      const id = `item ${below(4)}`;
      const isThere = leaves.get(tx, id) !== undefined;
      const dice = isThere ? random() : 1;
      if (dice < 0.08) leaves.delete(tx, id);
      else if (dice < 0.5) leaves.update(tx, id, { title: `${below(99)}` });
      else if (dice < 0.7) leaves.update(tx, id, { rank: below(9) });
      else if (dice < 0.8) {
        leaves.update(tx, id, {
          rank: below(9),
          votes: { increment: 1 },
          tags: { add: ["tag"] },
          title: "",
        });
      } else if (dice < 0.9) {
        wide.update(tx, id, { [`f${below(20)}`]: "x", title: below(9) });
      } else leaves.upsert(tx, { id, title: `${below(99)}` });
    }
  });
}

function check({ replica, editor }: AuthorPlace, includes: Includes): void {
  const { commits } = replica;
  const whole = () => stateOf(commits, () => editor.table.view, includes);
  const fast = digestOf(whole());
  const { touches } = commits;
  commits.touches = undefined;
  try {
    deepEqual(fast, digestOf(whole()));
  } finally {
    commits.touches = touches;
  }
}

Deno.test("the past of two devices that wrote the same fields apart is what every operation makes of it", async () => {
  let late = 0;
  for (let seed = 1; seed <= sized(3, 40); seed++) {
    const random = seededRandom(seed);
    const places = await Promise.all(
      [1, 2].map((seed) => AuthorPlace.open({ mode: "trusted", seed })),
    );
    const [one, two] = places as [AuthorPlace, AuthorPlace];
    for (let step = 0; step < 4; step++) {
      for (const place of places) {
        for (let i = 0; i < 12; i++) writeSome(place, random);
      }
      await one.tell(two);
      await two.tell(one);
    }
    for (const place of places) {
      place.replica.flush();
      const walls: number[] = [];
      place.replica.commits.each(({ batch }) => {
        for (const { wall } of batch.commits) {
          if (wall < (walls.at(-1) ?? 0)) late++;
          walls.push(wall);
        }
      });
      for (const wall of new Set(walls)) check(place, upTo(wall));
      for (const { name, length } of place.replica.graph.chains()) {
        check(place, (chain, number) => chain === name || number < length / 2);
      }
    }
    await Promise.all(places.map(({ replica }) => replica.close()));
  }
  ok(late > 0, "some commits came after later ones");
});

Deno.test("what was overwritten is not made for a picture of the past", async () => {
  const place = await AuthorPlace.open({ mode: "trusted" });
  for (let i = 0; i < 500; i++) place.put(`${i % 5}`, `title ${i}`);
  place.replica.flush();
  let judged = 0;
  class Judging extends View {
    override fitsAsWritten(...asked: Parameters<View["fitsAsWritten"]>) {
      judged++;
      return super.fitsAsWritten(...asked);
    }
  }
  const view = new Judging(Leaf);
  const { commits } = place.replica;
  const state = stateOf(commits, () => view, () => true);
  equal(state.find(Leaf.name)?.cellOf("3")?.item?.title, "title 498");
  equal(judged, 5, "one value of each item");
  await place.replica.close();
});

Deno.test("the past of a log of many stretches keeps its items in the order in which they came", async () => {
  const place = await AuthorPlace.open({ mode: "trusted" });
  const long = "x".repeat(2_000);
  for (let i = 0; i < 600; i++) {
    place.write((tx, leaves) => {
      for (const id of [`${i % 200}`, `${(i * 7) % 200}`]) {
        leaves.upsert(tx, { id, title: `${i} ${long}` });
        leaves.update(tx, id, { title: `${i} after`, rank: i });
        if (i % 11 === 0) leaves.delete(tx, id);
        if (i % 11 === 0) leaves.create(tx, { id, title: `${i} ${long}` });
      }
    });
  }
  place.replica.flush();
  const { commits, loaded: { log } } = place.replica;
  ok(log.end > 1024 * 1024, `${log.end}`);
  const { chain, length } = place.last;
  for (const count of [1, 90, 599, length]) {
    const isFirst = (one: string, number: number) =>
      one === chain && number < count;
    check(place, isFirst);
    check(place, Object.assign(isFirst, { count }));
    const past = stateOf(commits, () => place.editor.table.view, isFirst);
    const ids = past.find(Leaf.name)!.ids();
    deepEqual(ids, place.editor.table.ids().slice(0, ids.length));
  }
  await place.replica.close();
});
