import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { memoryStorage, openDatabase } from "../../mod.ts";
import { seededRandom } from "../../tests/kit/mod.ts";
import { sized } from "../../tests/kit/tier.ts";
import { limits } from "../base/limits.ts";
import { defineSchema } from "../schema/mod.ts";
import { ByteWriter } from "../base/bytes.ts";
import { textStateOf, writeTextState } from "../schema/text_codec.ts";
import { TextLine } from "./line.ts";
import { textChange } from "../schema/text_kit_test.ts";
import {
  emptyText,
  joinTexts,
  normalText,
  SavedOrder,
  type TextSplice,
  TextState,
} from "../schema/text_state.ts";
import { orderOf } from "./effort.ts";
import { engine } from "./engine.ts";
import { field, type TextChange } from "./mod.ts";
import { applySplices } from "./splices.ts";
import { piecesPutIn, shownByYjs } from "./update_kit_test.ts";
import { WorkingText } from "./working_text.ts";
import { docOf, rootOf } from "./yjs.ts";

const step = fc.record({
  what: fc.constantFrom(
    "write",
    "write",
    "write",
    "whole",
    "hear",
    "hear",
    "refuse",
    "reopen",
  ),
  who: fc.nat(1),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  delete: fc.nat(3),
  insert: fc.constantFrom("", "a", "b", "word ", "é", "x😀y"),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Characters may not be torn apart. */
function spliceOf(text: string, { at, ...rest }: Step): TextSplice {
  const characters = [...text];
  const from = Math.floor(at * characters.length);
  const before = characters.slice(0, from).join("");
  const gone = characters.slice(from, from + rest.delete).join("");
  return { at: before.length, delete: gone.length, insert: rest.insert };
}

/** A text as a checkpoint gives it back: nothing of it has been read. */
function reopened(state: TextState, reads?: () => void): TextState {
  const shown = state.show(engine)!;
  const order = state.order();
  const saved = order instanceof TextLine ? order.bytes(0) : order?.bytes();
  const w = new ByteWriter();
  writeTextState(w, state);
  const bytes = w.copy();
  const all = textStateOf(bytes, shown, saved);
  if (reads === undefined || saved === undefined) return all;
  const unread = {
    bytes: bytes.length,
    names: () => new Set(state.clients.keys()),
    read: () => (reads(), state.clients),
  };
  const back = new TextState(unread, shown);
  back.keepOrder(new SavedOrder(saved, shown));
  return back;
}

/** Two who write one text, hear of each other, and are refused; what both show after each step is checked. */
class Pair {
  readonly #states: [TextState, TextState];
  readonly #clients: number[];

  /** @param clients that it types under first, as far as nobody has */
  constructor(begin: TextState, clients: readonly number[] = []) {
    this.#states = [begin, begin];
    this.#clients = [
      ...clients,
      ...Array.from({ length: 50 }, (_, i) => 100 + i),
    ];
  }

  #newClient(state: TextState): number {
    const client = this.#clients.shift()!;
    return state.endOf(client) === 0 ? client : this.#newClient(state);
  }

  /** @param checks hears of each text after a write, and of what it should be */
  take(one: Step, checks: (shown: string, meant: string) => void): void {
    const { what, who } = one;
    const state = this.#states[who]!;
    const text = state.show(engine)!;
    if (what === "reopen") {
      this.#states[who] = reopened(state);
    } else if (what === "hear") {
      this.#states[who] = joinTexts(state, this.#states[1 - who]!);
    } else {
      const splice = spliceOf(text, one);
      const meant = applySplices(text, [splice]);
      if (meant === text) return;
      const given = what === "whole" ? meant : [splice];
      const change = engine.edit(state, given, () => this.#newClient(state));
      for (const [client, { runs }] of change.clients) {
        let next = state.endOf(client);
        for (const { clock, length } of runs) {
          equal(clock, next, "the next units of their client");
          next += length;
        }
      }
      const after = joinTexts(state, change);
      checks(after.show(engine)!, meant);
      if (what !== "refuse") this.#states[who] = after;
    }
    const now = this.#states[who]!;
    equal(now.show(engine), shownByYjs(now));
  }
}

const run = { seed: 31, numRuns: sized(150, 1_500) } as const;

Deno.test("edit() again and again shows what was meant, and what others show, whatever comes between", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const pair = new Pair(emptyText);
      for (const one of steps) pair.take(one, equal);
    }),
    run,
  );
});

Deno.test("edit() again and again shows what others show, also of lies", () => {
  const lies = fc.array(textChange, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(lies, fc.array(step, { maxLength: 12 }), (lies, steps) => {
      const begin = lies.reduce(joinTexts, emptyText);
      const pair = new Pair(begin, [1, 2, 3]); // Liars have units stand beside those to come.
      try {
        rootOf(docOf(begin));
      } catch {
        return; // Shown without Yjs, and cannot be edited.
      }
      for (const one of steps) pair.take(one, () => {});
    }),
    { ...run, numRuns: sized(400, 4_000) },
  );
});

Deno.test("isLinear() knows texts that only one order can have", () => {
  const one = engine.edit(emptyText, "one", () => 5);
  const two = joinTexts(one, engine.edit(one, "one two", () => 9));
  const there = joinTexts(two, engine.edit(two, "one and two", () => 7));
  for (const state of [emptyText, one, two, there]) ok(orderOf(state).isLinear);
  const apart = engine.edit(one, "one 2", () => 8);
  ok(!orderOf(joinTexts(two, apart)).isLinear);
  const left = { client: 5, clock: 2 };
  const right = { client: 5, clock: 1 };
  const lie = { clock: 0, length: 1, left, right, text: "!" };
  const told = normalText(new Map([[3, { runs: [lie], gone: [] }]]));
  ok(!orderOf(joinTexts(one, told)).isLinear);
  const late = { clock: 0, length: 1, left: { client: 77, clock: 0 } };
  const waits = { ...late, right: undefined, text: "?" };
  const waiting = normalText(new Map([[3, { runs: [waits], gone: [] }]]));
  ok(!orderOf(joinTexts(one, waiting)).isLinear);
});

Deno.test("edit() goes by what is shown where a unit had waited for the one that was typed", () => {
  const here = engine.edit(emptyText, "one", () => 5);
  const typed = { clock: 0, length: 3, left: undefined, right: undefined };
  const elsewhere = normalText(
    new Map([[6, { runs: [{ ...typed, text: "one" }], gone: [] }]]),
  );
  const begun = [[here, { client: 5, clock: 3 }], [elsewhere, {
    client: 9,
    clock: 0,
  }]] as const;
  for (const [one, left] of begun) {
    const waits = { clock: 0, length: 1, left, right: undefined, text: "?" };
    const told = normalText(new Map([[3, { runs: [waits], gone: [] }]]));
    let state = joinTexts(one, told);
    const shown: (string | undefined)[] = [];
    for (const text of ["one!", "one!"]) {
      const change = engine.edit(
        state,
        text,
        () => state.endOf(9) === 0 ? 9 : 7,
      );
      state = joinTexts(state, change);
      shown.push(state.show(engine));
      equal(state.show(engine), shownByYjs(state));
    }
    // Only one of them waited for a unit of the next client.
    deepEqual(shown, [left.client === 9 ? "one!?" : "one!", "one!"]);
  }
});

Deno.test("edit() of a text that was opened again reads none of its units, and goes on with what others write", () => {
  const random = seededRandom(8);
  let [mine, theirs] = [emptyText, emptyText];
  let [reads, client] = [0, 5];
  const write = (state: TextState) => {
    const text = state.show(engine)!;
    const at = Math.floor(random() * text.length);
    const gone = Math.min(text.length - at, Math.floor(random() * 3));
    const splice = { at, delete: gone, insert: "word" };
    const change = engine.edit(state, [splice], () => client++);
    mine = joinTexts(mine, change);
    theirs = joinTexts(theirs, change);
    equal(mine.show(engine), applySplices(text, [splice]));
    equal(theirs.show(engine), mine.show(engine));
  };
  for (let round = 1; round <= 5; round++) {
    for (let i = 0; i < 100; i++) write(mine);
    mine = reopened(mine, () => reads++);
    for (let i = 0; i < 100; i++) write(i % 3 > 0 ? mine : theirs);
    equal(reads, round - 1, "nothing was read");
    ok(mine.lengthMax >= theirs.length);
    equal(mine.show(engine), shownByYjs(theirs));
    deepEqual(mine.clients, theirs.clients);
    equal(mine.length, theirs.length);
    equal(reads, round);
  }
  ok(client <= 5 + 10, "one name for each time it was opened is enough");
});

Deno.test("edit() goes on with its document, under its name, after what others write", () => {
  const other = new WorkingText(emptyText);
  other.doc.clientID = 99;
  const [random, clients] = [seededRandom(6), [5, 6, 7]];
  let state = emptyText;
  for (let i = 0; i < 500; i++) {
    const pieces = piecesPutIn(() => {
      const text = state.show(engine)!;
      const at = Math.floor(random() * text.length);
      const splice = { at, delete: Math.floor(random() * 2), insert: "mine" };
      const change = engine.edit(state, [splice], () => clients.shift()!);
      state = joinTexts(state, change);
      equal(state.show(engine), applySplices(text, [splice]));
    });
    ok(other.take(state, engine.show));
    const at = Math.floor(random() * other.text.length);
    other.splice([{ at, insert: "o" }, { at: at + 1, delete: i % 2 }]);
    state = joinTexts(state, other.give(state));
    // The first two begin a document.
    if (i >= 2) ok(pieces <= 3, `${pieces} pieces in write ${i}`);
  }
  deepEqual(clients, [6, 7], "one name is enough");
  equal(state.show(engine), shownByYjs(state));
});

Deno.test("a text that is not among the last ones written goes on like them", () => {
  const count = Math.ceil(limits.textPiecesMax / 64);
  const texts = Array.from({ length: count }, () => emptyText);
  for (let round = 0; round < 2; round++) {
    for (const [i, state] of texts.entries()) {
      const text = `${state.show(engine)}${i}`;
      const change = engine.edit(state, text, () => 1 + round);
      texts[i] = joinTexts(state, change);
    }
  }
  deepEqual(
    texts.map((state) => state.show(engine)),
    texts.map((_, i) => `${i}${i}`),
  );
});

const Note = defineSchema("note", { body: field.text() });

const random = seededRandom(5);
const ways: Record<string, (body: string) => string | TextChange> = {
  "whole strings": (body) => {
    const at = body.length >> 1;
    return `${body.slice(0, at)}${"ab"[body.length % 2]}${body.slice(at)}`;
  },
  "tokens at its end": (body) => ({
    splice: [{ at: body.length, insert: "token " }],
  }),
  "splices at random places": (body) => {
    const at = Math.floor(random() * body.length);
    return { splice: [{ at, delete: 1, insert: "word" }] };
  },
};
for (const [way, next] of Object.entries(ways)) {
  Deno.test(`update() of a text with ${way} takes as much the 1,000th time as the 10th`, async () => {
    const storage = memoryStorage();
    const db = await openDatabase({ storage, schemas: [Note] });
    const notes = (await db.repository("r")).collection(Note);
    notes.create({ id: "n", body: "hello" });
    for (let i = 0; i < 1_000; i++) {
      const { body } = notes.get("n")!;
      const work = () => {
        notes.update("n", { body: next(body) });
        ok(notes.get("n")!.body.length >= body.length);
      };
      const pieces = piecesPutIn(work);
      // The first two begin a document.
      if (i >= 2) ok(pieces <= 1, `${pieces} pieces in write ${i}`);
    }
    const { clients } = notes.textOf("n", "body")!;
    equal(clients.size, 2, "the create's, and all others'");
    equal(notes.get("n")!.body, shownByYjs(notes.textOf("n", "body")!));
    await db.close();
  });
}
