import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { sha256 } from "../crypto/mod.ts";
import { concatBytes, encodeText } from "../src/base/bytes.ts";
import { cellDigestBytes } from "../src/schema/cell_codec.ts";
import { field } from "../src/schema/field.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { defineSchema } from "../src/schema/schema.ts";
import { createView } from "../src/schema/view.ts";
import { Note, Place } from "../tests/kit/replica_place.ts";
import { payloadOf } from "./batch.ts";
import { State, type ViewOf } from "./state.ts";
import { type CellEntries, StateTree } from "./state_tree.ts";

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
    const digests = tree.digests(prefix);
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
        tree.items([...prefix, half], 1000).map(({ id }) => id),
        below.map(({ id }) => id),
      );
    });
  }
});

Deno.test("items() names at most as many as are asked for", async () => {
  const tree = new StateTree((await written()).replica.state);
  equal(tree.items([], 5).length, 5);
  equal(tree.items([], 1000).length, 200);
  const place = halfBytesOf(placeOf("note", "n17"));
  deepEqual(tree.items(place, 10), [{ collection: "note", id: "n17" }]);
  deepEqual(tree.items([...place.slice(0, -1), 15 - place.at(-1)!], 10), []);
});

Deno.test("an item that differs is found half-byte by half-byte", async () => {
  const [ada, bob] = [await written(), await Place.open({ seed: 2 })];
  bob.replica.receive(await ada.arrivals());
  const ports = [ada.replica.port(), bob.replica.port()];
  const differing = (prefix: number[]) => {
    const [left, right] = ports.map((port) => port.stateDigests(prefix));
    return left!.flatMap((digest, half) =>
      digest.every((byte, i) => byte === right![half]![i]) ? [] : [half]
    );
  };
  deepEqual(differing([]), []);
  await bob.write("n42", "another text");
  const prefix: number[] = [];
  while (ports[0]!.itemsBelow(prefix, 2).length > 1) {
    const [half, ...others] = differing(prefix);
    equal(others.length, 0);
    prefix.push(half!);
  }
  deepEqual(ports[0]!.itemsBelow(prefix, 2), [{
    collection: "note",
    id: "n42",
  }]);
  await ada.write("n43", "asked again");
  ok(differing([]).length > 0, "the tree is made anew after a change");
});

Deno.test("digests are the same whatever the schemas, checkpoints and orders of arrival", async () => {
  const { replica, ...ada } = await written();
  const Other = defineSchema("note", { votes: field.string() });
  const views: ViewOf[] = [
    () => createView(Other),
    () => createView(undefined),
  ];
  const expected = new StateTree(replica.state).digests([]);
  notDeepEqual(expected[0], new Uint8Array(32));
  for (const viewOf of views) {
    const state = new State(viewOf);
    replica.commits.each(({ batch, address }) => {
      for (const commit of batch.commits) {
        const patch = decodePatch(payloadOf(batch, commit));
        const operationsAt = address + commit.payloadAt +
          patch.operationsOffset;
        const { wall, count } = commit;
        const origin = { wall, count, chain: batch.chain, operationsAt };
        state.fold(patch.operations, patch.createOffsets, origin);
      }
    });
    deepEqual(new StateTree(state).digests([]), expected);
  }
  await replica.checkpoint();
  await replica.close();
  const again = await Place.open({ storage: ada.storage, world: ada.world });
  deepEqual(again.replica.port().stateDigests([]), expected);
});

Deno.test("a tree that knows cells from an earlier one says what a fresh one says", async () => {
  const place = await written(50);
  const { state } = place.replica;
  const known: CellEntries = new WeakMap();
  const before = new StateTree(state, known).digests([]);
  void place.write("n3", "changed");
  void place.write("new", "fresh");
  await place.vote("n7");
  const after = new StateTree(state, known).digests([]);
  deepEqual(after, new StateTree(state).digests([]));
  notDeepEqual(after, before);
});
