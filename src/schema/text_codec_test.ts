import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { engine } from "../text/engine.ts";
import { sized } from "../../tests/kit/tier.ts";
import { readTextChange, readTextState, writeTextState } from "./text_codec.ts";
import { textChange, textOf } from "./text_kit_test.ts";
import {
  clientOf,
  emptyText,
  joinTexts,
  normalText,
  textOfCreate,
  type TextState,
} from "./text_state.ts";

const run = { seed: 17, numRuns: sized(300, 2_000) } as const;

function encode(text: TextState): Uint8Array<ArrayBuffer> {
  const w = new ByteWriter();
  writeTextState(w, text);
  return w.copy();
}

const hex = (text: TextState) => encode(text).toHex();

Deno.test("joinTexts() gives the same bytes in every order, and twice is once, even under lies", () => {
  const several = fc.array(textChange, { minLength: 1, maxLength: 6 });
  const shuffled = several.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.nat(all.length),
    )
  );
  fc.assert(
    fc.property(shuffled, ([all, other, split]) => {
      const whole = all.reduce(joinTexts, emptyText);
      assert.equal(hex(other.reduce(joinTexts, emptyText)), hex(whole));
      const left = all.slice(0, split).reduce(joinTexts, emptyText);
      const right = all.slice(split).reduce(joinTexts, emptyText);
      assert.equal(hex(joinTexts(left, right)), hex(whole));
      assert.equal(hex(joinTexts(whole, all[0]!)), hex(whole));
      assert.equal(engine.show(whole), whole.show(engine));
    }),
    run,
  );
});

Deno.test("readTextState() gives back what writeTextState() wrote", () => {
  fc.assert(
    fc.property(fc.array(textChange, { maxLength: 5 }), (all) => {
      const state = all.reduce(joinTexts, emptyText);
      const r = new ByteReader(encode(state));
      const back = readTextState(r);
      assert.ok(r.done);
      assert.deepEqual(back.clients, state.clients);
      assert.equal(back.show(engine), state.show(engine));
    }),
    run,
  );
});

Deno.test("readTextChange() takes every change that a writer makes", () => {
  fc.assert(
    fc.property(textChange, (change) => {
      const r = new ByteReader(encode(change));
      if (change.clients.size === 0) {
        assert.throws(() => readTextChange(r), SyntaxError);
        return;
      }
      assert.deepEqual(readTextChange(r).clients, change.clients);
      assert.ok(r.done);
    }),
    run,
  );
});

Deno.test("readTextChange() meets garbage with SyntaxError, and what it takes can be joined and shown", () => {
  const damages = fc.array(fc.tuple(fc.nat(60), fc.nat(255)), {
    minLength: 1,
    maxLength: 4,
  });
  let taken = 0;
  fc.assert(
    fc.property(textChange, textChange, damages, (change, other, damages) => {
      const bytes = encode(change);
      for (const [at, byte] of damages) bytes[at % bytes.length] = byte;
      let text: TextState;
      try {
        const r = new ByteReader(bytes);
        text = readTextChange(r);
        assert.equal(hex(text), bytes.slice(0, r.at).toHex());
      } catch (error) {
        assert.ok(error instanceof SyntaxError, String(error));
        return;
      }
      taken++;
      assert.equal(typeof engine.show(joinTexts(other, text)), "string");
    }),
    { ...run, numRuns: sized(1_500, 10_000) },
  );
  assert.ok(taken > 100);
});

/** Clients, entries, then per entry: client index, runs, gone. */
const refused: [name: string, bytes: number[]][] = [
  ["no bytes", []],
  ["a client too many", [2, 1, 2, 1, 0, 1, 0, 0, 2, 0x61, 0]],
  ["clients out of order", [2, 2, 1, 2, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1]],
  ["a client over 35 bits", [1, 128, 128, 128, 128, 128, 1, 1, 0, 0, 1, 0, 1]],
  ["an entry that says nothing of its client's", [1, 1, 1, 1, 0, 0]],
  ["an empty run", [1, 1, 1, 0, 1, 0, 0, 0, 0]],
  ["an empty deleted run", [1, 1, 1, 0, 1, 0, 8, 0, 0]],
  ["a unit left of the first one", [1, 1, 1, 0, 1, 0, 1, 2, 0x61, 0]],
  ["a unit left of itself", [1, 1, 1, 0, 1, 3, 2, 0, 3, 2, 0x61, 0]],
  ["a unit right of itself", [1, 1, 1, 0, 1, 3, 4, 0, 5, 2, 0x61, 0]],
  ["a left that is named though it is the one before", [
    ...[1, 1, 1, 0, 1, 3, 2, 0, 2, 2, 0x61, 0],
  ]],
  ["a run in two", [1, 1, 1, 0, 2, 0, 0, 2, 0x61, 0, 1, 2, 0x62, 0]],
  ["a span in two", [1, 1, 1, 0, 0, 2, 0, 1, 0, 1]],
  ["a span of what it types itself", [1, 1, 1, 0, 1, 0, 0, 2, 0x61, 1, 0, 1]],
  ["an empty span", [1, 1, 1, 0, 0, 1, 3, 0]],
  ["an unknown form", [1, 1, 1, 0, 1, 0, 32, 2, 0x61, 0]],
  ["whole characters as raw units", [1, 1, 1, 0, 1, 0, 16, 1, 0x61, 0, 0]],
  ["two writers", [2, 1, 2, 2, 0, 1, 0, 0, 2, 0x61, 0, 1, 1, 0, 0, 2, 0x61, 0]],
  ["a clock over 32 bits", [1, 1, 1, 0, 0, 1, 255, 255, 255, 255, 15, 2]],
];

for (const [name, bytes] of refused) {
  Deno.test(`readTextChange() refuses ${name}`, () => {
    assert.throws(
      () => readTextChange(new ByteReader(Uint8Array.from(bytes))),
      SyntaxError,
    );
  });
}

Deno.test("writeTextState() writes the bytes that the format describes", () => {
  const golden: [TextState, string][] = [
    [emptyText, "0000"],
    // One client, one entry: client 0, one run at 0, no neighbours, "hi".
    [textOf(300, [alone(0, "hi")]), "01ac02010001000004686900"],
    // Left 300.1, right 300.0, after a deleted unit.
    [
      textOf(7, [
        { ...alone(0, undefined), left: { client: 300, clock: 1 } },
        {
          ...alone(1, "é"),
          left: { client: 7, clock: 0 },
          right: { client: 300, clock: 0 },
        },
      ]),
      "0207ac02010002000a0101010005010005c3a900",
    ],
    // Two units of client 300 are deleted, from 4 on.
    [
      normalText(
        new Map([[300, { runs: [], gone: [{ clock: 4, length: 2 }] }]]),
      ),
      "01ac0201000001" + "0402",
    ],
    // Half a character is left.
    [textOf(1, [alone(0, "\ud83d")]), "0101010001001001" + "3dd8" + "00"],
  ];
  for (const [text, bytes] of golden) assert.equal(hex(text), bytes);
  // FNV-1a of the units, and three bits of the last one.
  assert.equal(clientOf("a"), 0xe40c292c + (0x61 % 8) * 2 ** 32);
  assert.deepEqual([...textOfCreate("a").clients.keys()], [clientOf("a")]);
});

function alone(clock: number, text: string | undefined) {
  const length = text?.length ?? 1;
  return { clock, length, left: undefined, right: undefined, text };
}

Deno.test("readTextChange() refuses more runs than the limit", () => {
  const runs = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      clock: i,
      length: 1,
      left: { client: 9, clock: i },
      right: undefined,
      text: "a",
    }));
  const most = encode(textOf(7, runs(limits.textRunsMax)));
  assert.ok(readTextChange(new ByteReader(most)));
  const more = encode(textOf(7, runs(limits.textRunsMax + 1)));
  assert.throws(() => readTextChange(new ByteReader(more)), SyntaxError);
});
