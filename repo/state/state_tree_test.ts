import { deepEqual, equal, notDeepEqual, ok, throws } from "node:assert/strict";
import { sha256 } from "../../crypto/mod.ts";
import { concatBytes, encodeText } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { blankCell } from "../../src/schema/cell.ts";
import { cellDigestBytes } from "../../src/schema/cell_digest.ts";
import { field } from "../../src/schema/field.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";
import { Note, Place } from "../../tests/kit/replica_place.ts";
import { seededRandom } from "../../tests/kit/random.ts";
import { finished } from "../../tests/kit/sliced.ts";
import { withAnswers } from "../../tests/kit/with_answers.ts";
import type { Sliced } from "../port.ts";
import { State, type ViewOf } from "./state.ts";
import { StateTree } from "./state_tree.ts";
import { decodeCommit } from "../commit/batch.ts";

function halfBytesOf(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);
}

function placeOf(collection: string, id: string): Uint8Array {
  return sha256(encodeText(`${collection}\0${id}`));
}

async function written(count = 200): Promise<Place> {
  const place = await Place.open();
  for (let i = 0; i < count; i++) void place.write(`n${i}`, `text ${i}`);
  for (let i = 0; i < count; i += 7) void place.vote(`n${i}`);
  await place.replica.durable();
  return place;
}

Deno.test("a digest covers the items below its prefix, in the order of their places", async () => {
  const { replica } = await written();
  const tree = new StateTree(replica.state);
  const table = replica.state.table(Note.name);
  const ids = table.ids().map((id) => ({ id, place: placeOf("note", id) }));
  for (const prefix of [[], [3], [0, 15]]) {
    const digests = finished(tree.digests(prefix));
    equal(digests.length, 16);
    digests.forEach((digest, half) => {
      const below = ids.filter(({ place }) =>
        [...prefix, half].every((next, i) => halfBytesOf(place)[i] === next)
      );
      below.sort((a, b) => a.place.toHex() < b.place.toHex() ? -1 : 1);
      const entries = below.flatMap(({ id, place }) => [
        place,
        sha256(cellDigestBytes(table.cellOf(id)!)),
      ]);
      const expected = below.length === 0
        ? new Uint8Array(32)
        : sha256(concatBytes(encodeText("sheaf state 1\n"), ...entries));
      deepEqual(digest, expected);
      deepEqual(
        finished(tree.items([...prefix, half], 1000)).map(({ id }) => id),
        below.map(({ id }) => id),
      );
    });
  }
});

Deno.test("items() names at most as many as are asked for", async () => {
  const tree = new StateTree((await written()).replica.state);
  equal(finished(tree.items([], 5)).length, 5);
  equal(finished(tree.items([], 1000)).length, 200);
  const place = halfBytesOf(placeOf("note", "n17"));
  deepEqual(finished(tree.items(place, 10)), [{
    collection: "note",
    id: "n17",
  }]);
  deepEqual(
    finished(tree.items([...place.slice(0, -1), 15 - place.at(-1)!], 10)),
    [],
  );
});

Deno.test("an item that differs is found half-byte by half-byte", async () => {
  const [ada, bob] = [await written(), await Place.open({ seed: 2 })];
  bob.replica.receive(await ada.arrivals());
  const ports = [ada.replica.port(), bob.replica.port()];
  const differing = (prefix: number[]) => {
    const [left, right] = ports.map((port) =>
      finished(port.stateDigests(prefix))
    );
    return left!.flatMap((digest, half) =>
      digest.every((byte, i) => byte === right![half]![i]) ? [] : [half]
    );
  };
  deepEqual(differing([]), []);
  await bob.write("n42", "another text");
  const prefix: number[] = [];
  while (finished(ports[0]!.itemsBelow(prefix, 2)).length > 1) {
    const [half, ...others] = differing(prefix);
    equal(others.length, 0);
    prefix.push(half!);
  }
  deepEqual(finished(ports[0]!.itemsBelow(prefix, 2)), [{
    collection: "note",
    id: "n42",
  }]);
  await ada.write("n43", "asked again");
  ok(differing([]).length > 0, "the tree follows a change");
});

Deno.test("digests are the same whatever the schemas, checkpoints and orders of arrival", async () => {
  const { replica, ...ada } = await written();
  const Other = defineSchema("note", { votes: field.string() });
  const views: ViewOf[] = [
    () => createView(Other),
    () => createView(undefined),
  ];
  const expected = finished(new StateTree(replica.state).digests([]));
  notDeepEqual(expected[0], new Uint8Array(32));
  for (const viewOf of views) {
    const state = new State(viewOf);
    replica.commits.each(({ batch, address }) => {
      for (let i = 0; i < batch.commits.length; i++) {
        const { patch, origin } = decodeCommit(batch, i, address);
        state.fold(patch, origin);
      }
    });
    deepEqual(finished(new StateTree(state).digests([])), expected);
  }
  await replica.checkpoint();
  await replica.close();
  const again = await Place.open({ storage: ada.storage, world: ada.world });
  deepEqual(finished(again.replica.port().stateDigests([])), expected);
});

Deno.test("a tree that follows the state says what a fresh one says, also when items and collections come, change and go in between", async () => {
  const { replica: { state } } = await written(50);
  const tree = new StateTree(state);
  const fresh = () => finished(new StateTree(state).digests([]));
  const random = seededRandom(7);
  const one = () => Math.floor(random() * 60);
  let count = 0;
  for (let round = 0; round < 20; round++) {
    const before = finished(tree.digests([]));
    for (let i = one(); i >= 0; i--) {
      const [id, collection] = [`n${one()}`, `c${i % 3}`];
      state.put(
        collection,
        random() < 0.3 ? blankCell(id, collection) : {
          ...blankCell(id, collection),
          generation: ++count,
        },
      );
    }
    deepEqual(finished(tree.digests([])), fresh());
    notDeepEqual(fresh(), before);
  }
});

Deno.test("a tree is made in slices of so many items, and its digests in slices, whatever is written in between", async () => {
  const { replica } = await written(0);
  const { state } = replica;
  const cellOf = (i: number, generation = 0) => ({
    ...blankCell(`n${i}`, "note"),
    generation,
  });
  const count = 2 * limits.auditDigestsPerSlice;
  for (let i = 0; i < count; i++) state.put("note", cellOf(i));
  const table = state.table("note");
  let read = 0;
  const counted = withAnswers(table, {
    cellAt(ordinal) {
      read++;
      return table.cellAt(ordinal);
    },
  });
  const tree = new StateTree(withAnswers(state, { tables: () => [counted] }));
  const slicesOf = <T>(work: Sliced<T>, meanwhile: (slice: number) => void) => {
    for (let slice = 1;; slice++) {
      read = 0;
      const step = work.next();
      ok(read <= limits.auditItemsPerSlice, `${read} items in one slice`);
      if (step.done === true) return [slice, step.value] as const;
      meanwhile(slice);
    }
  };
  const least = count / limits.auditItemsPerSlice + 2;
  const [slices, digests] = slicesOf(tree.digests([]), (slice) => {
    // Both what was read and what was not.
    if (slice < 10) state.put("note", cellOf(slice * 500, slice));
  });
  ok(slices >= least && slices < least + 5, `${slices} slices`);
  deepEqual(digests, finished(new StateTree(state).digests([])));
  const [again] = slicesOf(tree.digests([]), () => {});
  ok(again >= 2, "digests of many items are put together in slices");
});

Deno.test("a tree counts an item of many bytes as several", async () => {
  const { replica: { state } } = await written(0);
  const text = "x".repeat(64 * limits.auditItemBytes);
  const place = await Place.open({ seed: 3 });
  for (let i = 0; i < 8; i++) void place.write(`n${i}`, text);
  await place.replica.durable();
  for (let i = 0; i < 8; i++) {
    state.put("note", place.replica.state.cellOf("note", `n${i}`)!);
  }
  const work = new StateTree(state).items([], 1);
  let slices = 1;
  while (work.next().done !== true) slices++;
  ok(slices >= 4, `${slices} slices`);
});

Deno.test("a tree that could not read an item reads it when it is asked again", async () => {
  const { replica: { state } } = await written(10);
  const table = state.table("note");
  let isDamaged = true;
  const odd = withAnswers(table, {
    cellAt(ordinal) {
      if (ordinal === 7 && isDamaged) throw new Error("damaged");
      return table.cellAt(ordinal);
    },
  });
  const tree = new StateTree(withAnswers(state, { tables: () => [odd] }));
  for (let i = 0; i < 2; i++) {
    throws(() => finished(tree.digests([])), { message: "damaged" });
  }
  isDamaged = false;
  deepEqual(
    finished(tree.digests([])),
    finished(new StateTree(state).digests([])),
  );
});
