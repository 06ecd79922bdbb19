import { deepEqual, equal } from "node:assert/strict";
import { createView } from "../../src/schema/view.ts";
import { ManualWorld, Note, Place } from "../../tests/kit/replica_place.ts";
import type { Position } from "../commit/commit.ts";
import { ancestry, cellOf, stateOf, upTo } from "./time_travel.ts";
import type { Includes } from "./logged_commits.ts";
import { digestOf } from "../../tests/kit/digest.ts";
import { recordKind } from "../log/format.ts";

const viewOf = () => createView(Note);

/** The last commit of the replica's own chain. */
function own(place: Place, seed: number): Position {
  const user = `user-${seed}`;
  for (const { name, length } of place.replica.graph.chains()) {
    const certificate = place.replica.certificates.of(name.slice(0, 32))[0];
    if (certificate?.user === user) return { chain: name, number: length - 1 };
  }
  throw new Error(`There is no chain of ${user}`);
}

function seen({ replica }: Place, includes: Includes, id = "a"): unknown[] {
  const name = { collection: Note.name, id };
  const item = cellOf(replica.commits, viewOf, includes, name)?.item;
  const state = stateOf(replica.commits, viewOf, includes);
  const same = state.find(Note.name)?.cellOf(id)?.item;
  deepEqual(same, item, "one item and the whole state agree");
  return [item?.text, item?.votes];
}

/** Two devices that meet, part, and meet again. */
async function concurrent(): Promise<
  { ada: Place; bob: Place; moments: Record<string, Position> }
> {
  const world = new ManualWorld();
  const ada = await Place.open({ seed: 1, world });
  const bob = await Place.open({ seed: 2, world });
  const moments: Record<string, Position> = {};
  await ada.write("a", "first");
  moments.first = own(ada, 1);
  bob.replica.receive(await ada.arrivals());
  world.time += 10;
  await bob.write("a", "bob's");
  await bob.vote("a");
  moments.bob = own(bob, 2);
  world.time += 10;
  await ada.vote("a");
  moments.ada = own(ada, 1);
  ada.replica.receive(await bob.arrivals());
  await ada.vote("a");
  moments.both = own(ada, 1);
  await ada.replica.durable();
  return { ada, bob, moments };
}

Deno.test("ancestry() is the commit, its ancestors, and nothing concurrent", async () => {
  const { ada, bob, moments } = await concurrent();
  const { first, bob: bobs, ada: adas, both } = moments;
  const [a, b] = [first!.chain, bobs!.chain];
  const counts = (at: Position | undefined) => {
    const includes = ancestry(ada.replica.commits, at!);
    const count = (chain: string) =>
      [0, 1, 2, 3].filter((number) => includes(chain, number, 0)).length;
    return [count(a), count(b)];
  };
  deepEqual(counts(first), [1, 0]);
  deepEqual(counts(bobs), [1, 2]);
  deepEqual(counts(adas), [2, 0]);
  deepEqual(counts(both), [3, 2]);
  await Promise.all([ada.replica.close(), bob.replica.close()]);
});

Deno.test("ancestry() reaches ancestors of ancestors, in other chains", async () => {
  const places = await Promise.all(
    [1, 2, 3].map((seed) => Place.open({ seed })),
  );
  const [ada, bob, eve] = places as [Place, Place, Place];
  await ada.write("a", "ada's");
  bob.replica.receive(await ada.arrivals());
  await bob.vote("a");
  eve.replica.receive(await bob.arrivals());
  equal(eve.replica.graph.headCount, 1, "only bob's is a head");
  await eve.vote("a");
  deepEqual(seen(eve, ancestry(eve.replica.commits, own(eve, 3))), [
    "ada's",
    2,
  ]);
  await Promise.all(places.map((place) => place.replica.close()));
});

Deno.test("the state at a commit is what its author saw", async () => {
  const { ada, bob, moments } = await concurrent();
  const at = (name: string) =>
    seen(ada, ancestry(ada.replica.commits, moments[name]!));
  deepEqual(at("first"), ["first", 0]);
  deepEqual(at("bob"), ["bob's", 1]);
  deepEqual(at("ada"), ["first", 1]);
  deepEqual(at("both"), ["bob's", 3]);
  deepEqual(at("both"), [ada.text("a"), ada.votes("a")]);
  await Promise.all([ada.replica.close(), bob.replica.close()]);
});

Deno.test("the state at a moment has the commits up to that millisecond, inclusive", async () => {
  const world = new ManualWorld();
  const place = await Place.open({ world });
  const start = world.time;
  await place.write("a", "one");
  world.time += 5;
  await place.write("a", "two");
  await place.vote("a"); // In the same millisecond.
  world.time += 5;
  await place.write("a", "three");
  const at = (ms: number) => seen(place, upTo(start + ms));
  deepEqual(at(-1), [undefined, undefined]);
  deepEqual(at(0), ["one", 0]);
  deepEqual(at(4), ["one", 0]);
  deepEqual(at(5), ["two", 1]);
  deepEqual(at(9), ["two", 1]);
  deepEqual(at(10), ["three", 1]);
  deepEqual(at(1e15), ["three", 1]);
  await place.replica.close();
});

Deno.test("the past does not depend on the order in which commits came", async () => {
  const { ada, bob, moments } = await concurrent();
  await bob.write("a", "bob's, in the same millisecond");
  await ada.write("a", "ada's, in the same millisecond");
  ada.replica.receive(await bob.arrivals());
  const other = await Place.open({ seed: 3 });
  const arrivals = await ada.arrivals();
  const certificates = arrivals.filter(({ kind }) =>
    kind === recordKind.certificate
  );
  const batches = arrivals.filter(({ kind }) =>
    kind !== recordKind.certificate
  );
  other.replica.receive([...certificates, ...batches.reverse()]);
  for (const moment of Object.values(moments)) {
    const [there, here] = [ada, other].map((place) =>
      digestOf(stateOf(
        place.replica.commits,
        viewOf,
        ancestry(place.replica.commits, moment),
      ))
    );
    deepEqual(here, there);
  }
  const all = stateOf(other.replica.commits, viewOf, () => true);
  deepEqual(digestOf(all), digestOf(ada.replica.state));
  await Promise.all([ada, bob, other].map((place) => place.replica.close()));
});

Deno.test("cellOf() tells apart ids that contain each other, and finds ids beyond ASCII", async () => {
  const place = await Place.open();
  await place.write("a", "short");
  await place.write("aa", "long");
  await place.write("ä", "umlaut");
  await place.vote("aa");
  const all: Includes = () => true;
  deepEqual(["a", "aa", "ä", "b"].map((id) => seen(place, all, id)[0]), [
    "short",
    "long",
    "umlaut",
    undefined,
  ]);
  equal(seen(place, all, "a")[1], 0);
  await place.replica.close();
});
