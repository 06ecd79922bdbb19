import assert from "node:assert/strict";
import * as Y from "yjs";
import { limits } from "../base/limits.ts";
import {
  emptyText,
  joinTexts,
  normalText,
  type TextRun,
  type TextState,
} from "../schema/text_state.ts";
import { isTooMuch } from "./effort.ts";
import { engine } from "./engine.ts";
import { changeOf } from "./update_kit_test.ts";
import { rootOf } from "./yjs.ts";

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
  assert.ok(!isTooMuch(lies(limits.textRunsMax - 1)));
  assert.ok(isTooMuch(lies(2 * limits.textRunsMax)));
  const state = honest(2, 950);
  assert.ok(!isTooMuch(state));
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
