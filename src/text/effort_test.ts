import assert from "node:assert/strict";
import fc from "fast-check";
import * as Y from "yjs";
import { seededRandom } from "../../tests/kit/mod.ts";
import { sized } from "../../tests/kit/tier.ts";
import { limits } from "../base/limits.ts";
import {
  emptyText,
  joinTexts,
  normalText,
  type TextClient,
  type TextId,
  type TextRun,
  type TextState,
} from "../schema/text_state.ts";
import { textChange } from "../schema/text_kit_test.ts";
import { orderOf } from "./effort.ts";
import { engine } from "./engine.ts";
import type { Piece } from "./line.ts";
import { applySplices } from "./splices.ts";
import { changeOf, piecesPutIn, shownByYjs } from "./update_kit_test.ts";
import { docOf, piecesOf, rootOf } from "./yjs.ts";

/** As many units in a row as pieces that claim to stand at its start, and each before another of them. */
function lies(count: number): TextState {
  const row = { clock: 0, length: count, left: undefined, right: undefined };
  const runs: TextRun[] = [];
  for (let clock = 0; clock < count; clock++) {
    const right = { client: 9, clock };
    runs.push({ clock, length: 1, left: undefined, right, text: "x" });
  }
  const told = [{ ...row, text: "y".repeat(count) }];
  return normalText(
    new Map([[9, { runs: told, gone: [] }], [5, { runs, gone: [] }]]),
  );
}

/** A text that `people` type apart, each in `places` places of one gap. */
function honest(people: number, places: number): TextState {
  const all = Array.from({ length: people }, (_, i) => {
    const changes: TextState[] = [];
    const doc = new Y.Doc();
    doc.clientID = i + 1;
    doc.on("update", (update: Uint8Array) => changes.push(changeOf(update)));
    for (let i = 0; i < places; i++) rootOf(doc).insert(0, "line\n");
    return changes;
  });
  return all.flat().reduce(joinTexts, emptyText);
}

/** How many pieces Yjs meets while it looks for the places of others: it puts each into a set. */
function stepsOf(work: () => void): number {
  const { add } = Set.prototype;
  const met = { pieces: 0 };
  Set.prototype.add = function (value) {
    if (value instanceof Y.Item) met.pieces++;
    if (met.pieces > 4 * limits.textStepsMax) throw new Error("far too many");
    return add.call(this, value);
  };
  try {
    work();
  } finally {
    Set.prototype.add = add;
  }
  return met.pieces / 2; // Into two sets.
}

Deno.test("show() shows all characters of pieces that lie, in as many steps as a text may take", () => {
  const few = lies(limits.textRunsMax - 1);
  const fewSteps = stepsOf(() => engine.show(few));
  assert.ok(fewSteps > limits.textRunsMax, "steps are counted");
  const count = 8 * limits.textRunsMax;
  const state = lies(count);
  let shown = "";
  const steps = stepsOf(() => shown = engine.show(state));
  assert.equal(shown, "x".repeat(count) + "y".repeat(count));
  assert.ok(steps <= limits.textStepsMax, `${steps} steps`);
});

Deno.test("isTooMuch() says no to as many pieces as one change takes, and to honest people", () => {
  assert.ok(!orderOf(lies(limits.textRunsMax - 1)).isTooMuch);
  assert.ok(orderOf(lies(2 * limits.textRunsMax)).isTooMuch);
  const state = honest(2, 950);
  assert.ok(!orderOf(state).isTooMuch);
  assert.equal(engine.show(state), "line\n".repeat(2 * 950));
});

Deno.test("edit() goes on with a text that takes too long: set anew, it reads as it was set", () => {
  const state = lies(2 * limits.textRunsMax);
  const edit = engine.edit(state, "Everything is fine", () => 77);
  const next = joinTexts(state, edit);
  assert.equal(engine.show(next), "Everything is fine");
  const again = engine.edit(next, "Everything is well", () => 78);
  assert.equal(engine.show(joinTexts(next, again)).length, 18);
});

Deno.test("orderOf() shows of a text with one order what Yjs shows, also of lies", () => {
  let linear = 0;
  const change = fc.oneof(
    { weight: 9, arbitrary: fc.nat(30) },
    { weight: 1, arbitrary: textChange },
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12, size: "max" }), (changes) => {
      let state = emptyText;
      for (const one of changes) {
        const change = typeof one === "number" ? typed(state, one) : one;
        state = joinTexts(state, change);
        const order = orderOf(state);
        if (!order.isLinear) continue;
        linear++;
        assert.equal(order.show(), shownByYjs(state));
      }
    }),
    { seed: 9, numRuns: sized(500, 5_000) },
  );
  assert.ok(linear > 500, `${linear} linear texts`);
});

/** What somebody types somewhere. */
function typed(state: TextState, at: number): TextState {
  const text = engine.show(state);
  const from = Math.min(at, text.length);
  const splice = { at: from, delete: at % 3, insert: "a😀" };
  if (from + splice.delete > text.length) splice.delete = 0;
  return engine.edit(state, [splice], () => 10 + state.clients.size);
}

/** Runs of a few clients, each beside any units that came before it, some deleted. */
function disorder(random: () => number): TextState {
  const below = (end: number) => Math.floor(random() * end);
  const ids: TextId[] = [];
  const ends = [0, 0, 0, 0];
  const any = () => random() < 0.3 ? undefined : ids[below(ids.length)];
  let state = emptyText;
  for (let more = 2 + below(14); more > 0; more--) {
    const client = below(ends.length);
    const length = 1 + below(3);
    const clock = ends[client]!;
    const start = below(2);
    const [left, other] = [any(), any()];
    const isTwisted = left?.client === other?.client && random() < 0.98;
    const right = isTwisted ? undefined : other;
    const run = { clock, length, left, right };
    const text = random() < 0.2
      ? undefined
      : "a😀b".slice(start, start + length);
    const runs = [{ ...run, text }];
    const change = new Map<number, TextClient>([[client, { runs, gone: [] }]]);
    if (random() < 0.2 && ids.length > 0) {
      const { client, clock } = ids[below(ids.length)]!;
      const gone = [{ clock, length: 1 }];
      change.set(client, { runs: change.get(client)?.runs ?? [], gone });
    }
    state = joinTexts(state, normalText(change));
    for (let i = 0; i < length; i++) ids.push({ client, clock: clock + i });
    ends[client] = clock + length;
  }
  return state;
}

/** Each unit, and whether it is deleted, as they follow each other. */
function unitsOf(pieces: Iterable<Piece>): string[] {
  return Array.from(pieces).flatMap(({ client, clock, length, isDeleted }) =>
    Array.from(
      { length },
      (_, i) => `${client}:${clock + i}${isDeleted ? "-" : ""}`,
    )
  );
}

Deno.test("orderOf() has each unit of a known order where Yjs has it, whoever lies", () => {
  let known = 0;
  const check = (state: TextState) => {
    const order = orderOf(state);
    if (!order.isKnown) return;
    known++;
    const doc = docOf(state, order);
    assert.deepEqual(unitsOf(order.pieces()), unitsOf(piecesOf(doc)));
    assert.equal(order.show(), rootOf(doc).toString());
  };
  for (const people of [2, 3, 5]) check(honest(people, 7));
  const random = seededRandom(17);
  const rounds = sized(1_000, 20_000);
  for (let i = 0; i < rounds; i++) check(disorder(random));
  const lies = fc.array(textChange, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(lies, (lies) => check(lies.reduce(joinTexts, emptyText))),
    { seed: 17, numRuns: rounds },
  );
  assert.ok(known > rounds * 0.9, `${known} are known`);
});

Deno.test("show() and edit() of what many typed apart ask Yjs for nothing", () => {
  const state = honest(4, 50);
  assert.ok(!orderOf(state).isLinear);
  const shown = shownByYjs(state);
  const pieces = piecesPutIn(() => {
    assert.equal(state.show(engine), shown);
    const change = engine.edit(state, [{ at: 7, insert: "mine" }], () => 77);
    const after = joinTexts(state, change);
    assert.equal(
      after.show(engine),
      applySplices(shown, [{ at: 7, insert: "mine" }]),
    );
  });
  assert.equal(pieces, 0);
});
