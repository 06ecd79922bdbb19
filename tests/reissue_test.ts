/**
 * What cannot go on under its name is written again as new commits: all of it,
 * once, by the names that what it speaks of goes by now.
 */

import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { writeHead } from "../repo/commit/batch.ts";
import { recordKind } from "../repo/log/format.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { stateIn } from "../src/schema/merge.ts";
import type { TextState } from "../src/schema/text_state.ts";
import { engine } from "../src/text/engine.ts";
import { AuthorPlace, refusedAt } from "./kit/author_place.ts";

const modes = ["default", "trusted", "fast"] as const;

/** Adds to a counter, so that nothing that is lost or doubled stays unseen. */
function vote(place: AuthorPlace, amount: number) {
  return place.write((tx, leaves) => {
    leaves.update(tx, "sum", { votes: { increment: amount } });
  });
}

function typed(place: AuthorPlace, at: number, text: string) {
  const body = String(place.get("a")!.body);
  return place.write((tx, leaves) => {
    leaves.update(tx, "a", { body: body.slice(0, at) + text + body.slice(at) });
  }).commit!;
}

for (const mode of modes) {
  Deno.test(`a ${mode} chain that is cut within a batch goes from the batch on, and own commits of it count once`, async () => {
    const place = await AuthorPlace.open({ mode });
    place.write((tx, leaves) => void leaves.create(tx, { id: "sum" }));
    await place.replica.durable();
    // One turn, one batch.
    const places = [1, 2, 4, 8].map((amount) => vote(place, amount).commit!);
    await place.replica.durable();
    const { chain } = places[0]!;
    const before = places.map(({ chain, number }) =>
      place.replica.commits.clockAt(chain, number)!.wall
    );
    place.replica.cut([{ chain, from: 3 }]);
    equal(place.get("sum")!.votes, 15);
    equal(place.replica.graph.lengthOf(chain), 1);
    const moved = places.map((commit) => place.placeOf(commit));
    const { chain: now } = moved[0]!;
    notEqual(now, chain);
    deepEqual(
      moved,
      [0, 1, 2, 3].map((number) => ({ chain: now, number, isRefused: false })),
    );
    for (const [i, { chain, number }] of moved.entries()) {
      const { wall } = place.replica.commits.clockAt(chain, number)!;
      ok(wall >= before.at(-1)!, `${i} is dated now`);
    }
    deepEqual(place.replica.refusals(), []);
    await place.agrees(mode);
    equal((await place.peer()).get("sum")!.votes, 15);
    await place.replica.close();
    const again = await place.reopened();
    const next = vote(again, 16).commit!;
    if (mode !== "fast") deepEqual([next.chain, next.number], [now, 4]);
    await again.agrees(`${mode}, and on`);
  });
}

Deno.test("of a fork that is cut within a batch, commits before it come again from others", async () => {
  const place = await AuthorPlace.open({ mode: "trusted" });
  place.write((tx, leaves) => void leaves.create(tx, { id: "sum" }));
  for (const amount of [1, 2, 4, 8]) vote(place, amount);
  await place.replica.durable();
  const { chain } = place.replica.device;
  const { logged } = place.replica.commits.read(chain, 0)!;
  const { bytes, commits } = logged.batch;
  equal(commits.length, 5);
  place.replica.cut([{ chain, from: 3 }], "fork");
  equal(place.get("sum")!.votes, 12, "what is written again");
  equal(place.replica.graph.lengthOf(chain), 0);
  // The server says what it has of the chain, and what is there in its place.
  const writer = new ByteWriter();
  writeHead(writer, chain, 0, 3);
  writer.bytes(bytes.subarray(commits[0]!.at, commits[2]!.end));
  const kind = recordKind.unsignedBatch;
  place.replica.port().receive([{ kind, bytes: writer.copy() }]);
  equal(place.get("sum")!.votes, 15);
  equal(place.replica.graph.lengthOf(chain), 3);
  await place.agrees("a fork");
});

Deno.test("commits that are written again name tags, elements and units that are written again with them", async () => {
  const place = await AuthorPlace.open();
  place.put("first", "first");
  await place.replica.durable();
  place.write((tx, leaves) =>
    void leaves.create(tx, {
      id: "a",
      tags: ["old", "stays"],
      steps: ["one", "two", "three"],
      body: "a text",
    })
  );
  place.write((tx, leaves) => {
    leaves.update(tx, "a", {
      tags: { add: ["new", "own"], remove: ["old"] },
      steps: { move: [{ from: 0, to: 2 }], insert: [{ at: 0, value: "zero" }] },
    });
    leaves.update(tx, "a", { tags: { remove: ["own"] } });
  });
  typed(place, 2, "good ");
  typed(place, 4, "x");
  const [chain] = place.replica.graph.vector().keys();
  place.write((tx, leaves) =>
    void leaves.update(tx, "a", {
      tags: { remove: ["new"] },
      steps: { delete: [1] },
    })
  );
  const before = place.get("a");
  deepEqual([before!.tags, before!.body], [["stays"], "a goxod text"]);
  for (let round = 0; round < 2; round++) {
    const cuts = [{
      chain: place.replica.device.chain,
      from: round === 0 ? 1 : 0,
    }];
    place.replica.cut(cuts);
    deepEqual(place.get("a"), before, `round ${round}`);
    await place.agrees(`round ${round}`);
    deepEqual((await place.peer()).get("a"), before);
  }
  equal(place.replica.graph.lengthOf(chain!), 1);
  // What is written now still finds them.
  place.write((tx, leaves) => leaves.update(tx, "a", { steps: ["two"] }));
  deepEqual(place.get("a")!.steps, ["two"]);
  await place.agrees("and on");
});

Deno.test("what was typed behind refused text goes on at the chain's end, and both can come again", async () => {
  for (const mode of modes) {
    const place = await AuthorPlace.open({ mode });
    place.write((tx, leaves) =>
      void leaves.create(tx, { id: "a", body: "0123456789" })
    );
    const refused = typed(place, 2, "no");
    const behind = typed(place, 9, "yes");
    const apart = place.put("b", "b").commit!;
    const { chain, number } = behind;
    equal(place.get("a")!.body, "01no23456yes789");
    place.replica.refuse(refused.chain, [refusedAt(refused.number)]);
    equal(place.get("a")!.body, "0123456yes789", mode);
    ok(place.placeOf(refused).isRefused);
    deepEqual([apart.chain, apart.number], [chain, number + 1]);
    const isRefused = false;
    deepEqual(place.placeOf(behind), { chain, number: number + 2, isRefused });
    equal(place.replica.graph.size, 1, "no chain begins");
    await place.agrees(`${mode}, typed behind`);
    equal((await place.peer()).get("a")!.body, "0123456yes789");
    const [refusal, ...more] = place.replica.refusals();
    deepEqual([refusal!.number, more], [refused.number, []]);
    place.replica.retry(refusal!);
    equal(place.get("a")!.body, "01no23456yes789", mode);
    await place.agrees(`${mode}, tried again`);
  }
});

/** Types under a client of one's choice, as another page of the device may. */
function typedAs(place: AuthorPlace, client: number, at: number, text: string) {
  const { table } = place.editor;
  const cell = table.cellOf("a")!;
  const state = stateIn(cell, "body", "text") as TextState;
  const edit = engine.edit(state, [{ at, insert: text }], () => client);
  return place.replica.transact((tx) => {
    tx.put(table, {
      what: "update",
      shape: { collection: "leaf", version: 1, fields: [body] },
      id: "a",
      generation: cell.generation,
      changes: [{ field: body, change: { what: "edit", text: edit } }],
    }, tx.cellOf(table, "a"));
  }).commit!;
}

const body = { name: "body", kind: "text" } as const;

Deno.test("what was typed behind refused text and comes late is written again when the server does not know its units", async () => {
  // Fast mode begins a new chain of the key with each opening: as pages do.
  const place = await AuthorPlace.open({ mode: "fast" });
  place.write((tx, leaves) =>
    void leaves.create(tx, { id: "a", body: "0123456789" })
  );
  const refused = typedAs(place, 5, 2, "no");
  await place.replica.durable();
  const page = await place.reopened();
  const late = typedAs(page, 5, 9, "yes");
  const within = typedAs(page, 5, 3, "t");
  equal(page.get("a")!.body, "01nto23456yes789");
  const { chain, number } = late;
  notEqual(chain, refused.chain);
  place.replica.refuse(refused.chain, [refusedAt(refused.number)]);
  await page.tell(place);
  equal(place.get("a")!.body, "0123456789", "units wait for those before");
  const unknown = (number: number) => ({
    ...refusedAt(number),
    reason: "unknown-name",
  });
  place.replica.refuse(chain, [unknown(number)]);
  equal(place.get("a")!.body, "0123456yes789");
  equal(place.replica.refusals().length, 1);
  // What stands within the refused text is nothing without that, once it was written again.
  place.replica.refuse(chain, [unknown(within.number)]);
  const last = place.replica.graph.vector().get(place.replica.device.chain)!;
  place.replica.refuse(place.replica.device.chain, [unknown(last - 1)]);
  equal(place.get("a")!.body, "0123456yes789");
  const [first, second, ...more] = place.replica.refusals();
  deepEqual([first!.number, more], [refused.number, []]);
  place.replica.retry(first!);
  place.replica.retry(second!);
  equal(place.get("a")!.body, "01nto23456yes789");
  await place.agrees("tried again");
});

Deno.test("no server says that a commit is to be written again: such a refusal is shown", async () => {
  const place = await AuthorPlace.open();
  const { chain } = place.put("a", "a").commit!;
  const port = place.replica.port();
  port.refuse(chain, [{ ...refusedAt(0), reason: "reissued" }]);
  deepEqual(
    place.replica.refusals().map(({ reason }) => reason),
    ["denied"],
  );
  equal(place.replica.graph.lengthOf(chain), 1);
  equal(place.get("a"), undefined);
});

Deno.test("what is written again is no step of undo, and listeners end with what is there", async () => {
  const place = await AuthorPlace.open();
  place.put("b", "one");
  await place.replica.durable();
  const { chain } = place.put("b", "two").commit!;
  place.put("a", "new");
  const noted: number[] = [];
  place.replica.noting = (notes) => void noted.push(notes.length);
  const seen = new Map<string, unknown>();
  place.editor.table.subscribe((changes) => {
    for (const { ordinal, after } of changes) {
      seen.set(place.editor.table.cellAt(ordinal).id, after);
    }
  });
  place.replica.cut([{ chain, from: 1 }]);
  deepEqual(noted, []);
  deepEqual([...seen].sort(), [
    ["a", place.get("a")],
    ["b", place.get("b")],
  ]);
  deepEqual([place.get("a")?.title, place.get("b")?.title], ["new", "two"]);
});

Deno.test("more commits than are written together are all written again, and no rule is asked of them", async () => {
  const place = await AuthorPlace.open();
  place.write((tx, leaves) => void leaves.create(tx, { id: "sum" }));
  await place.replica.durable();
  const { chain } = vote(place, 1000).commit!;
  for (let i = 1; i <= 700; i++) vote(place, i);
  const sum = place.get("sum")!.votes;
  place.replica.cut([{ chain, from: 1 }]);
  equal(place.get("sum")!.votes, sum);
  equal(place.replica.graph.commits, 702);
  equal(place.replica.loaded.voided.unissued.length, 0);
  await place.agrees("many");
});

Deno.test("own commits that stand on foreign ones which are cut are written again without them", async () => {
  const place = await AuthorPlace.open();
  const other = await AuthorPlace.open({ seed: 6 });
  other.put("theirs", "theirs");
  await other.tell(place);
  const own = place.put("own", "own").commit!;
  await place.replica.durable();
  const [theirs] = other.replica.graph.vector().keys();
  const { chain } = own;
  place.replica.cut([{ chain: theirs!, from: 0 }], "foreign");
  deepEqual(place.editor.table.ids(), ["own"]);
  notEqual(place.placeOf(own).chain, chain);
  equal(place.replica.graph.size, 1);
  await place.agrees("without theirs");
  // Somebody has them after all.
  await other.tell(place);
  deepEqual(place.editor.table.ids().sort(), ["own", "theirs"]);
  await place.agrees("they came again");
});

Deno.test("a refusal takes nothing that was typed behind what it takes and came back as a server has it", async () => {
  for (const mode of modes) {
    const place = await AuthorPlace.open({ mode });
    const other = await AuthorPlace.open({ mode, seed: 6 });
    place.write((tx, leaves) =>
      void leaves.create(tx, { id: "a", body: "0123456789" })
    );
    await place.replica.durable();
    other.put("theirs", "theirs");
    await other.tell(place);
    const no = typed(place, 2, "no");
    const yes = typed(place, 9, "yes");
    const { chain, number } = yes;
    const server = await place.peer();
    const [theirs] = other.replica.graph.vector().keys();
    place.replica.cut([{ chain: theirs!, from: 0 }], "foreign");
    const again = place.placeOf(no);
    notEqual(again.chain, chain);
    // Another server takes both, as somebody else has them.
    await server.tell(place);
    equal(place.replica.graph.lengthOf(chain), number + 1);
    place.replica.refuse(again.chain, [refusedAt(again.number)]);
    equal(place.replica.graph.chain(chain)!.voids, undefined, mode);
    await place.agrees(`${mode}, refused`);
    await place.tell(server);
    deepEqual(await server.knowledge(), await place.knowledge());
  }
});

Deno.test("foreign commits that are cut are not there after the next opening either", async () => {
  const place = await AuthorPlace.open();
  const other = await AuthorPlace.open({ seed: 6 });
  place.put("own", "own");
  await place.replica.durable();
  other.put("theirs", "theirs");
  await other.tell(place);
  const [theirs] = other.replica.graph.vector().keys();
  place.replica.cut([{ chain: theirs!, from: 0 }], "foreign");
  deepEqual(place.editor.table.ids(), ["own"]);
  await place.agrees("without theirs");
});
