import { deepEqual, equal, notDeepEqual, ok, throws } from "node:assert/strict";
import {
  concatBytes,
  equalBytes,
  fromHex,
  toHex,
} from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { blankCell } from "../../src/schema/cell.ts";
import { cellDigestBytes } from "../../src/schema/cell_digest.ts";
import { field } from "../../src/schema/field.ts";
import { compareText, OrderedMap } from "../../src/schema/ordered_map.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";
import { hashesOf } from "../../tests/kit/hash_count.ts";
import { Note, Place } from "../../tests/kit/replica_place.ts";
import { seededRandom } from "../../tests/kit/random.ts";
import { finished } from "../../tests/kit/sliced.ts";
import {
  halfBytesOf,
  nodeDigest,
  oracleDigest,
  oracleLeaf,
} from "../../tests/kit/state_oracle.ts";
import vectors from "../../tests/vectors/format.json" with { type: "json" };
import { withAnswers } from "../../tests/kit/with_answers.ts";
import { chainName } from "../commit/commit.ts";
import type { Sliced } from "../port.ts";
import { State, type ViewOf } from "./state.ts";
import { StateTree } from "./state_tree.ts";
import type { Table } from "./table.ts";
import { decodeCommit } from "../commit/batch.ts";

const NO_DIGEST = new Uint8Array(32);

/** All items as the oracle sees them, in the order of their places. */
function leavesIn(table: Table) {
  const { name: collection } = table;
  const leaves = table.ids().map((id) => {
    const cell = cellDigestBytes(table.cellOf(id)!);
    return { id, cell, ...oracleLeaf({ collection, id }, cell) };
  });
  return leaves.sort((a, b) => a.place < b.place ? -1 : 1);
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
  const leaves = leavesIn(replica.state.table(Note.name));
  for (const prefix of ["", "3", "0f"]) {
    const digests = finished(tree.digests(halfBytesOf(prefix)));
    equal(digests.length, 16);
    digests.forEach((digest, half) => {
      const below = prefix + half.toString(16);
      deepEqual(digest, oracleDigest(leaves, below));
      deepEqual(
        finished(tree.items(halfBytesOf(below), 1000)).map(({ id }) => id),
        leaves.filter(({ place }) => place.startsWith(below))
          .map(({ id }) => id),
      );
    });
  }
});

/** Some items, and the 16 digests of each node above them, the root's first. */
interface Page {
  readonly cells: readonly { readonly id: string; readonly cell: Uint8Array }[];
  readonly above: readonly (readonly Uint8Array[])[];
}

/** Are these all the notes below a prefix of the state that has this root? */
function isProved(root: Uint8Array, prefix: string, page: Page): boolean {
  let digest = root;
  for (const [depth, digests] of page.above.entries()) {
    if (!equalBytes(nodeDigest(digests), digest)) return false;
    digest = digests[halfBytesOf(prefix)[depth]!]!;
  }
  const leaves = page.cells.map(({ id, cell }) =>
    oracleLeaf({ collection: Note.name, id }, cell)
  );
  const start = prefix.slice(0, page.above.length);
  return leaves.every(({ place }) => place.startsWith(prefix)) &&
    equalBytes(oracleDigest(leaves, start), digest);
}

Deno.test("a page proves itself with the digests beside it, and a spoilt one does not", async () => {
  const { replica: { state } } = await written(400);
  const tree = new StateTree(state);
  const leaves = leavesIn(state.table(Note.name));
  const isMany = (prefix: string) =>
    leaves.filter(({ place }) => place.startsWith(prefix)).length > 1;
  const digestsAt = (prefix: string) =>
    finished(tree.digests(halfBytesOf(prefix)));
  const root = nodeDigest(digestsAt(""));
  deepEqual(root, oracleDigest(leaves));
  const pages = Array.from({ length: 256 }, (_, i) => toHex(Uint8Array.of(i)));
  const items = leaves.slice(0, 50).map(({ place }) => place);
  for (const prefix of [...pages, ...items]) {
    const cells = leaves.filter(({ place }) => place.startsWith(prefix));
    const above = [...prefix].map((_, i) => prefix.slice(0, i))
      .filter(isMany).map(digestsAt);
    ok(isProved(root, prefix, { cells, above }), `page ${prefix}`);
    ok(!isProved(NO_DIGEST, prefix, { cells, above }), "another root");
    const stranger = leaves.find(({ place }) => !place.startsWith(prefix))!;
    const spoilt = [[...cells, stranger]];
    const [first, ...others] = cells;
    if (first !== undefined) {
      spoilt.push(
        others,
        [{ ...first, cell: first.cell.map((byte) => byte ^ 1) }, ...others],
        [{ ...first, id: stranger.id }, ...others],
        [{ ...first, cell: concatBytes(...digestsAt(prefix)) }],
      );
    }
    for (const cells of spoilt) ok(!isProved(root, prefix, { cells, above }));
    above.forEach((digests, depth) => {
      const half = halfBytesOf(prefix)[depth]!;
      for (const at of [half, (half + 1) % 16]) {
        const other = digests.with(at, digests[at]!.map((byte) => byte ^ 1));
        const page = { cells, above: above.with(depth, other) };
        ok(!isProved(root, prefix, page));
      }
    });
  }
});

Deno.test("cells and digests are the pinned ones", () => {
  const { chain, cells, digests } = vectors.state;
  const state = new State(() => createView(undefined));
  for (const { collection, id, generation, registers, bytes } of cells) {
    const fields = registers?.map(({ name }) => ({
      name,
      kind: "string" as const,
    }));
    const values = registers?.map(({ name, value }) => [name, value] as const);
    const stamps = registers?.map(({ name, wall, count }) =>
      [name, { wall, count, chain: chainName(fromHex(chain)) }] as const
    );
    const cell = {
      ...blankCell(id, collection),
      generation,
      item: values && { id, ...Object.fromEntries(values) },
      shape: { collection, version: 1, fields: fields ?? [] },
      stamps: OrderedMap.of(compareText, stamps),
    };
    equal(toHex(cellDigestBytes(cell)), bytes);
    state.put(collection, cell);
  }
  const tree = new StateTree(state);
  for (const { prefix, digest } of digests) {
    const all = finished(tree.digests(halfBytesOf(prefix.slice(0, -1))));
    const half = halfBytesOf(prefix).at(-1);
    equal(toHex(half === undefined ? nodeDigest(all) : all[half]!), digest);
  }
});

Deno.test("items() names at most as many as are asked for", async () => {
  const tree = new StateTree((await written()).replica.state);
  equal(finished(tree.items([], 5)).length, 5);
  equal(finished(tree.items([], 1000)).length, 200);
  const name = { collection: "note", id: "n17" };
  const place = halfBytesOf(oracleLeaf(name, NO_DIGEST).place);
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

Deno.test("a tree is made and hashed in slices, whatever is written in between, and after a change only what it changed", async () => {
  const { replica } = await written(0);
  const { state } = replica;
  const cellOf = (i: number, generation = 0) => ({
    ...blankCell(`n${i}`, "note"),
    generation,
  });
  const count = 4 * limits.auditDigestsPerSlice;
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
  const { auditItemsPerSlice, auditDigestsPerSlice } = limits;
  const slicesOf = <T>(work: Sliced<T>, meanwhile: (slice: number) => void) => {
    for (let slice = 1, all = 0;; slice++) {
      read = 0;
      const [hashes, step] = hashesOf(() => work.next());
      ok(read <= auditItemsPerSlice, `${read} items in one slice`);
      const nodes = hashes - 2 * read;
      ok(nodes <= auditDigestsPerSlice, `${nodes} nodes in one slice`);
      all += hashes;
      if (step.done === true) return { slice, all, digests: step.value };
      meanwhile(slice);
    }
  };
  const least = count / auditItemsPerSlice + 1;
  const { slice, digests } = slicesOf(tree.digests([]), (slice) => {
    // Both what was read and what was not, and at last what was hashed.
    if (slice < 10) state.put("note", cellOf(slice * 400, slice));
    if (slice > least - 2) state.put("note", cellOf(slice, slice));
  });
  ok(slice >= least && slice < least + 5, `${slice} slices`);
  deepEqual(digests, finished(new StateTree(state).digests([])));
  state.put("note", cellOf(7, 100));
  const again = slicesOf(tree.digests([]), () => {});
  equal(again.slice, 1);
  ok(again.all > 2 && again.all < 10, `${again.all} hashes after one change`);
  deepEqual(again.digests, finished(new StateTree(state).digests([])));
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
