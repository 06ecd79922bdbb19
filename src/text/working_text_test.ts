import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { textChange, textOf } from "../schema/text_kit_test.ts";
import { emptyText, joinTexts, type TextState } from "../schema/text_state.ts";
import { sized } from "../../tests/kit/tier.ts";
import { changeOf, shownByYjs } from "./update_kit_test.ts";
import { WorkingText } from "./working_text.ts";

const run = { seed: 41, numRuns: sized(1_000, 10_000) } as const;

const step = fc.record({
  what: fc.constantFrom(
    "type",
    "type",
    "hear",
    "hear",
    "hear",
    "forget",
    "lie",
  ),
  who: fc.nat(1),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  delete: fc.nat(3),
  insert: fc.constantFrom("", "a", "b", "word ", "é", "x😀y"),
  isGiven: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
  lie: textChange,
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function type(working: WorkingText, { at, insert, ...rest }: Step): void {
  const { text } = working;
  const from = placeIn(text, at);
  const to = placeIn(text.slice(from), rest.delete / 4) + from;
  working.splice([{ at: from, delete: to - from, insert }]);
}

/** A place in a text that is not within a character. */
function placeIn(text: string, at: number): number {
  const characters = [...text];
  return characters.slice(0, Math.floor(at * characters.length)).join("")
    .length;
}

/** Two who write one text: they hear of it now and then, and some of it is taken back. */
class Writers {
  #state = emptyText;
  readonly #earlier: TextState[] = [];
  readonly #writers = [1, 2].map((client) => this.#begin(client));
  /** How often somebody heard, and knew by proof what to show. */
  heard = 0;
  proven = 0;

  #begin(client: number): WorkingText {
    const working = new WorkingText(this.#state);
    working.doc.clientID = client;
    return working;
  }

  take(one: Step): void {
    const { what, who, at, lie, isGiven } = one;
    const working = this.#writers[who]!;
    if (what === "type") {
      type(working, one);
      if (isGiven) this.#write(working.give(this.#state));
    } else if (what === "hear") this.#hear(who);
    else if (what === "lie") this.#write(lie);
    else this.#state = this.#earlier.at(-Math.ceil(at * 3)) ?? this.#state;
    for (const one of this.#writers) this.#check(one);
  }

  #write(change: TextState): void {
    this.#earlier.push(this.#state);
    this.#state = joinTexts(this.#state, change);
  }

  #hear(who: number): void {
    const working = this.#writers[who]!;
    const isLost = working.given !== this.#state.endOf(working.doc.clientID);
    this.heard++;
    if (isLost || !working.take(this.#state, shownByYjs)) {
      this.#writers[who] = this.#begin(100 + this.heard);
    } else if (working.isGiven) {
      equal(working.text, shownByYjs(this.#state));
    }
    if (working.shows(this.#state)) this.proven++;
  }

  #check(working: WorkingText): void {
    if (!working.shows(this.#state)) return;
    equal(working.text, shownByYjs(this.#state));
  }
}

Deno.test("take() shows what the state shows, or says that it does not, whoever types, lies or is taken back", () => {
  const steps = fc.array(step, { maxLength: 40, size: "max" });
  let [heard, proven] = [0, 0];
  fc.assert(
    fc.property(steps, fc.boolean(), (steps, areHonest) => {
      const writers = new Writers();
      for (const one of steps) {
        if (one.what !== "lie" || !areHonest) writers.take(one);
      }
      heard += writers.heard;
      proven += writers.proven;
    }),
    run,
  );
  ok(proven > heard / 4, `${proven} of ${heard}`);
});

Deno.test("give() says what Yjs says of the same edits", () => {
  const edits = fc.array(step, { maxLength: 30 });
  fc.assert(
    fc.property(edits, edits, (before, edits) => {
      const first = new WorkingText(emptyText);
      for (const one of before) type(first, one);
      const working = new WorkingText(first.give());
      let told = emptyText;
      working.doc.on("update", (update: Uint8Array) => {
        told = joinTexts(told, changeOf(update));
      });
      for (const one of edits) type(working, one);
      deepEqual(working.give().clients, told.clients);
      ok(working.isGiven);
    }),
    run,
  );
});

Deno.test("take() does not go on with a document in which a character came in two halves", () => {
  const working = new WorkingText(emptyText);
  const [first, second] = ["\ud83d", "\ude00"].map((text, clock) =>
    textOf(7, [{
      clock,
      length: 1,
      left: clock === 0 ? undefined : { client: 7, clock: 0 },
      right: undefined,
      text,
    }])
  );
  const half = joinTexts(emptyText, first!);
  const whole = joinTexts(half, second!);
  for (const state of [half, whole]) {
    const isSound = working.take(state, shownByYjs);
    if (isSound) equal(working.text, shownByYjs(state));
  }
  equal(shownByYjs(whole), "😀");
});
