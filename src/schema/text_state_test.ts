import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { sized } from "../../tests/kit/tier.ts";
import { workOf } from "../../tests/kit/work.ts";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { readTextState, writeTextState } from "./text_codec.ts";
import { textChange, textOf } from "./text_kit_test.ts";
import {
  emptyText,
  joinTexts,
  normalText,
  type TextClient,
  type TextId,
  type TextRun,
  type TextSpan,
  TextState,
} from "./text_state.ts";

interface Unit {
  readonly left: TextId | undefined;
  readonly right: TextId | undefined;
  readonly character: string;
}

/** The plain way: each unit by itself, in whatever order they came. */
class NaiveText {
  readonly #units = new Map<number, Map<number, Unit>>();
  readonly #deleted = new Map<number, Set<number>>();

  join(change: TextState): void {
    for (const [client, { runs, gone }] of change.clients) {
      for (const run of runs) this.#take(client, run);
      for (const { clock, length } of gone) this.#delete(client, clock, length);
    }
  }

  #take(client: number, { clock, length, left, right, text }: TextRun): void {
    const units = this.#units.get(client) ?? new Map<number, Unit>();
    this.#units.set(client, units);
    for (let i = 0; i < length; i++) {
      const before = i === 0 ? left : { client, clock: clock + i - 1 };
      const character = text?.[i] ?? "";
      const one = { left: before, right, character };
      const known = units.get(clock + i);
      units.set(clock + i, known === undefined ? one : greater(known, one));
    }
    if (text === undefined) this.#delete(client, clock, length);
  }

  #delete(client: number, clock: number, length: number): void {
    const deleted = this.#deleted.get(client) ?? new Set();
    this.#deleted.set(client, deleted);
    for (let i = clock; i < clock + length; i++) deleted.add(i);
  }

  get clients(): Map<number, TextClient> {
    const clients = new Map<number, TextClient>();
    for (const client of [...this.#units.keys(), ...this.#deleted.keys()]) {
      const units = this.#units.get(client) ?? new Map<number, Unit>();
      const deleted = this.#deleted.get(client) ?? new Set();
      const runs: TextRun[] = [];
      for (const clock of ascending(units.keys())) {
        const { left, right, character } = units.get(clock)!;
        const text = deleted.has(clock) ? undefined : character;
        pushUnit(client, runs, { clock, length: 1, left, right, text });
      }
      const gone: TextSpan[] = [];
      for (const clock of ascending(deleted)) {
        if (units.has(clock)) continue;
        const last = gone.at(-1);
        const goesOn = last !== undefined && last.clock + last.length === clock;
        if (goesOn) gone.pop();
        const from = goesOn ? last.clock : clock;
        gone.push({ clock: from, length: clock + 1 - from });
      }
      clients.set(client, { runs, gone });
    }
    return clients;
  }

  get length(): number {
    let length = 0;
    for (const { runs } of this.clients.values()) {
      for (const { text } of runs) length += text?.length ?? 0;
    }
    return length;
  }

  /** Units of a client that are known, arrived or deleted. */
  known(client: number): ReadonlySet<number> {
    const arrived = this.#units.get(client)?.keys() ?? [];
    return new Set([...arrived, ...this.#deleted.get(client) ?? []]);
  }
}

function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b);
}

function greater(a: Unit, b: Unit): Unit {
  return {
    left: greaterId(a.left, b.left),
    right: greaterId(a.right, b.right),
    character: a.character > b.character ? a.character : b.character,
  };
}

function greaterId(a: TextId | undefined, b: TextId | undefined) {
  const rank = (id: TextId | undefined) =>
    id === undefined ? -1 : id.client * 2 ** 10 + id.clock;
  return rank(a) > rank(b) ? a : b;
}

function pushUnit(client: number, out: TextRun[], unit: TextRun): void {
  const last = out.at(-1);
  const goesOn = last !== undefined &&
    last.clock + last.length === unit.clock &&
    unit.left?.client === client && unit.left.clock === unit.clock - 1 &&
    last.right?.client === unit.right?.client &&
    last.right?.clock === unit.right?.clock &&
    (last.text === undefined) === (unit.text === undefined);
  if (!goesOn) return void out.push(unit);
  const text = unit.text === undefined ? undefined : last.text + unit.text;
  out[out.length - 1] = { ...last, length: last.length + 1, text };
}

const CLIENTS = [1, 2];

/** One run or one deletion anywhere in a few hundred units: trees of several levels, overlaps, gaps. */
const piece = fc.record({
  client: fc.constantFrom(...CLIENTS),
  clock: fc.nat(300),
  length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 })),
  what: fc.constantFrom("type", "type", "type", "bury", "delete", "delete"),
  left: fc.option(fc.nat(300), { nil: undefined, freq: 2 }),
  right: fc.option(fc.nat(3), { nil: undefined, freq: 1 }),
}).map(({ client, clock, length, what, left, right }) => {
  if (what === "delete") {
    return new TextState(
      new Map([[client, { runs: [], gone: [{ clock, length }] }]]),
    );
  }
  const goesOn = left === undefined && clock > 0;
  const text = what === "bury" ? undefined : "abcdefghij".repeat(7);
  return textOf(client, [{
    clock,
    length,
    left: goesOn
      ? { client, clock: clock - 1 }
      : left === undefined || left >= clock
      ? undefined
      : { client, clock: left },
    right: right === undefined ? undefined : { client: 3, clock: right },
    text: text?.slice(clock % 10, clock % 10 + length),
  }]);
});

Deno.test("joinTexts() knows what a unit by unit reading of all changes knows, and leaves old states as they were", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 5, arbitrary: piece }, textChange), {
        maxLength: 120,
      }),
      fc.nat(320),
      fc.integer({ min: 1, max: 30 }),
      (changes, clock, length) => {
        const naive = new NaiveText();
        let state = emptyText;
        for (const [i, change] of changes.entries()) {
          const seen = i % 20 === 0 ? [state, naive.clients] as const : [];
          state = joinTexts(state, change);
          naive.join(change);
          deepEqual(seen[0]?.clients, seen[1]);
        }
        deepEqual(state.clients, naive.clients);
        equal(state.length, naive.length);
        for (const client of CLIENTS) {
          const known = naive.known(client);
          equal(state.endOf(client), Math.max(-1, ...known) + 1);
          const span = Array.from({ length }, (_, i) => clock + i);
          equal(
            state.covers(client, { clock, length }),
            span.every((unit) => known.has(unit)),
          );
        }
      },
    ),
    { seed: 31, numRuns: sized(120, 1_500) },
  );
});

const SIZE = 50_000;

/** A text of so many pieces of one unit each. */
function inPieces(): TextState {
  const runs = Array.from({ length: SIZE }, (_, clock) => ({
    clock,
    length: 1,
    left: clock < 2 ? undefined : { client: 7, clock: 0 },
    right: undefined,
    text: "x",
  }));
  return textOf(7, runs);
}

const typed = (client: number, clock: number, left: number): TextState =>
  textOf(client, [{
    clock,
    length: 1,
    left: { client: 7, clock: left },
    right: undefined,
    text: "y",
  }]);

const deletes = (clock: number, length: number): TextState =>
  new TextState(new Map([[7, { runs: [], gone: [{ clock, length }] }]]));

/** Each kind of edit, by number. */
const edits: Record<string, (i: number) => TextState> = {
  "go on": (i) => typed(7, SIZE + i, SIZE + i - 1),
  "type elsewhere": (i) => typed(7, SIZE + i, i),
  "begin a client": (i) => typed(100 + i, 0, i),
  "delete a unit": (i) => deletes(i * 3, 1),
  "delete every unit": () => deletes(0, SIZE),
  "delete all from one on": (i) => deletes(SIZE - 40 * i, 40 * i),
};

for (const by of ["changes", "its bytes"] as const) {
  Deno.test(`joinTexts() touches few of 50,000 pieces for one edit of a text made of ${by}`, () => {
    const whole = by === "changes"
      ? joinTexts(inPieces(), typed(8, 0, 5))
      : readBack(inPieces());
    equal(whole.length, by === "changes" ? SIZE + 1 : SIZE);
    for (const [name, edit] of Object.entries(edits)) {
      let state = whole;
      const work = workOf(() => {
        for (let i = 0; i < 200; i++) {
          const change = edit(i);
          const [[client, { gone }]] = [...change.clients] as [
            [number, TextClient],
          ];
          ok(gone.every((span) => state.covers(client, span)));
          state.endOf(client);
          state = joinTexts(state, change);
          ok(state.length > -1);
          equal(state.show(undefined), state.length > 0 ? undefined : "");
        }
      });
      ok(work < 200 * 900, `${work} elements in 200 edits that ${name}`);
    }
  });
}

function readBack(state: TextState): TextState {
  const w = new ByteWriter();
  writeTextState(w, state);
  const back = readTextState(new ByteReader(w.copy()));
  back.endOf(7); // Who asks first pays for all.
  return back;
}

Deno.test("joinTexts() deletes 50,000 pieces as if it had one, also where nothing of it is kept", () => {
  let state = inPieces();
  for (let i = 1; i < SIZE; i += 2) state = joinTexts(state, deletes(i, 1));
  const work = workOf(() => {
    for (let i = 0; i < 100; i++) joinTexts(state, deletes(0, SIZE));
  });
  ok(work < 100 * 900, `${work} elements in 100 attempts`);
  equal(joinTexts(state, deletes(0, SIZE)).length, 0);
  equal(state.length, SIZE / 2);
});

Deno.test("joinTexts() deletes 20,000 spans of one change as it deletes them in small changes, and for less", () => {
  const count = 20_000;
  const run = { clock: 0, length: 2 * count, left: undefined };
  const typed = [{ ...run, right: undefined, text: "x".repeat(2 * count) }];
  const state = textOf(7, typed);
  const spans = Array.from(
    { length: count },
    (_, i) => ({ clock: 2 * i + 1, length: 1 }),
  );
  const deletes = (gone: readonly TextSpan[]) =>
    new TextState(new Map([[7, { runs: [], gone }]]));
  const change = deletes(spans);
  ok(state.covers(7, { clock: 0, length: 1 })); // Its units are known by then.
  let joined = state;
  const work = workOf(() => joined = joinTexts(state, change));
  ok(work < 20 * count, `${work} elements`);
  let oneByOne = state;
  for (let at = 0; at < count; at += 50) {
    oneByOne = joinTexts(oneByOne, deletes(spans.slice(at, at + 50)));
  }
  deepEqual([...joined.clients], [...oneByOne.clients]);
  equal(joined.length, count);
});

Deno.test("a text shows its characters without an engine where they are one run, and none where all are deleted", () => {
  const run = { clock: 0, length: 2, left: undefined, right: undefined };
  const one = textOf(7, [{ ...run, text: "ab" }]);
  equal(one.show(undefined), "ab");
  const more = textOf(7, [
    { ...run, clock: 2, left: { client: 7, clock: 1 }, text: "cd" },
  ]);
  equal(joinTexts(one, more).show(undefined), "abcd");
  equal(joinTexts(one, deletes(0, 1)).show(undefined), undefined);
  const none = joinTexts(joinTexts(one, deletes(0, 1)), deletes(1, 1));
  equal(none.show(undefined), "");
  equal(normalText(none.clients).show(undefined), "");
  equal(joinTexts(one, typed(8, 0, 1)).show(undefined), undefined);
});
