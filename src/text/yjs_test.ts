import assert from "node:assert/strict";
import fc from "fast-check";
import * as Y from "yjs";
import { textChange, textOf } from "../schema/text_kit_test.ts";
import { emptyText, joinTexts, type TextState } from "../schema/text_state.ts";
import { sized } from "../../tests/kit/tier.ts";
import { engine } from "./engine.ts";
import { changeOf } from "./update_kit_test.ts";
import { docOf, rootOf, updateOf } from "./yjs.ts";

const run = { seed: 23, numRuns: sized(150, 500) } as const;

const step = fc.record({
  who: fc.nat(2),
  from: fc.nat(2),
  what: fc.constantFrom("type", "type", "type", "sync"),
  at: fc.nat(20),
  delete: fc.nat(3),
  insert: fc.constantFrom("", "a", "b", "hello", "x😀y", "é"),
});

/** Yjs documents that edit and meet, and all that each of them did as changes of ours. */
function meeting(
  steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
) {
  const changes: TextState[] = [];
  const docs = [5, 2 ** 34, 7].map((clientID) => {
    const doc = new Y.Doc();
    doc.clientID = clientID;
    doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === "own") changes.push(changeOf(update));
    });
    return doc;
  });
  const sync = (to: Y.Doc, from: Y.Doc) =>
    Y.applyUpdate(to, Y.encodeStateAsUpdate(from), "sync");
  for (const { who, from, what, at, delete: length, insert } of steps) {
    const doc = docs[who]!;
    if (what === "sync") sync(doc, docs[from]!);
    else {
      const text = rootOf(doc).toString();
      const start = Math.min(at, text.length);
      const count = Math.min(length, text.length - start);
      doc.transact(() => {
        rootOf(doc).delete(start, count);
        rootOf(doc).insert(start, insert);
      }, "own");
    }
  }
  for (const doc of docs) sync(docs[0]!, doc);
  return { changes, text: rootOf(docs[0]!).toString() };
}

Deno.test("show() gives what Yjs shows of the same edits, in whatever order the changes come", () => {
  const steps = fc.array(step, { maxLength: 30 });
  fc.assert(
    fc.property(steps, fc.infiniteStream(fc.nat()), (steps, dice) => {
      const { changes, text } = meeting(steps);
      const state = changes.reduce(joinTexts, emptyText);
      assert.equal(engine.show(state), text);
      const order = changes.map((change) => ({ change, by: dice.next().value }))
        .sort((a, b) => a.by - b.by);
      const other = order.map(({ change }) => change)
        .reduce(joinTexts, emptyText);
      assert.deepEqual(other.clients, state.clients);
      assert.equal(engine.show(other), text);
    }),
    run,
  );
});

Deno.test("docOf() gives a document that goes on like the one that made the changes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), step, (steps, last) => {
      const state = meeting(steps).changes.reduce(joinTexts, emptyText);
      const doc = docOf(state);
      const isWhole = !rootOf(doc).toString().includes("\ufffd");
      if (isWhole) {
        assert.deepEqual(changeOf(Y.encodeStateAsUpdate(doc)), state);
      }
      const at = Math.min(last.at, rootOf(doc).length);
      const edit = engine.edit(state, [{ at, insert: last.insert }], () => 99);
      rootOf(doc).insert(at, last.insert);
      assert.equal(engine.show(joinTexts(state, edit)), rootOf(doc).toString());
    }),
    run,
  );
});

Deno.test("updateOf() gives a document that is behind what it lacks, and no more", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.nat(20), (steps, cut) => {
      const { changes, text } = meeting(steps);
      const early = changes.slice(0, cut).reduce(joinTexts, emptyText);
      const late = changes.reduce(joinTexts, emptyText);
      const doc = docOf(early);
      const known = Y.decodeStateVector(Y.encodeStateVector(doc));
      const update = updateOf(late, known);
      const { structs } = Y.decodeUpdate(update);
      for (const { id } of structs) {
        assert.ok(id.clock >= (known.get(id.client) ?? 0));
      }
      Y.applyUpdate(doc, update);
      assert.equal(rootOf(doc).toString(), text);
    }),
    run,
  );
});

Deno.test("show() is a function of the state alone, also of lies", () => {
  fc.assert(
    fc.property(fc.array(textChange, { maxLength: 8 }), (all) => {
      const state = all.reduce(joinTexts, emptyText);
      const other = all.toReversed().reduce(joinTexts, emptyText);
      assert.equal(engine.show(state), engine.show(other));
      assert.ok(engine.show(state).isWellFormed());
    }),
    { ...run, numRuns: sized(400, 3_000) },
  );
});

Deno.test("show() shows the characters of a state that Yjs cannot take", () => {
  const later = { client: 1, clock: 7 };
  const run = { clock: 0, length: 2, left: later, right: undefined };
  assert.equal(engine.show(textOf(1, [{ ...run, text: "ab" }])), "ab");
});

Deno.test("what stands behind a missing unit of its client waits for it", () => {
  const alone = { left: undefined, right: undefined };
  const late = { ...alone, clock: 2, length: 2, text: "cd" };
  assert.equal(textOf(1, [late]).show(engine), "");
  const early = { ...alone, clock: 0, length: 1, text: "a" };
  const behind = { ...late, left: { client: 1, clock: 0 } };
  assert.equal(engine.show(textOf(1, [early, behind])), "a");
});

Deno.test("what stands beside a missing unit waits for it", () => {
  const a = engine.edit(emptyText, "ab", () => 1);
  const b = engine.edit(a, "abc", () => 2);
  assert.equal(engine.show(b), "");
  assert.equal(engine.show(joinTexts(b, a)), "abc");
});
