/** Cells with long texts: what they show stands behind them. */

import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { type Cell, nowhere, type Origin } from "./cell.ts";
import { cellDigestBytes } from "./cell_digest.ts";
import { decodeCell, SHOWN } from "./cell_codec.ts";
import { encodeCell } from "./cell_writer.ts";
import type { RichState } from "./rich_state.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Shape } from "./patch.ts";
import { textOf } from "./text_kit_test.ts";
import type { TextEngine, TextState } from "./text_state.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const shape = {
  collection: "note",
  fields: [{ name: "body", kind: "text" }],
} as unknown as Shape;
const tables = {
  origin: (): Origin | undefined => undefined,
  shape: () => shape,
};
const refs = { origin: () => 0, shape: () => 0 };

/** An engine that shows units in the order of their names, and says how often it was asked. */
function countingEngine(): TextEngine & { asked: number } {
  return {
    asked: 0,
    show({ clients }) {
      this.asked++;
      return [...clients.values()].flatMap(({ runs }) =>
        runs.map(({ text }) => text ?? "")
      ).join("");
    },
    edit: (state) => state,
  };
}

function cellOf(text: TextState, view = createView(undefined)): Cell {
  const rich = OrderedMap.of<string, RichState>(compareText, [["body", text]]);
  const item = view.build("n", shape, new Map(), rich);
  const head = { id: "n", generation: 1, shape, origin: nowhere, createAt: -1 };
  return { ...head, item, stamps: undefined, rich, hidden: undefined };
}

/** A text of some runs, each beside the first unit. */
function longText(): TextState {
  const left = { client: 7, clock: 0 };
  return textOf(
    7,
    Array.from({ length: 300 }, (_, clock) => ({
      clock: 2 * clock,
      length: 2,
      left: clock === 0 ? undefined : left,
      right: undefined,
      text: clock % 5 === 4 ? undefined : "é" + clock % 10,
    })),
  );
}

function bytesOf(text: TextState, isAlone = true): Uint8Array<ArrayBuffer> {
  const w = new ByteWriter();
  w.u8(99); // A cell need not be the first of what is written.
  encodeCell(w, cellOf(text), refs, isAlone);
  return w.copy(1);
}

function textIn({ rich }: Cell): TextState {
  return rich!.get("body") as TextState;
}

Deno.test("decodeCell() gives a long text that was shown without asking for its order again", () => {
  const engine = countingEngine();
  const view = createView(undefined, engine);
  const text = longText();
  const shown = text.show(engine)!;
  const back = decodeCell(new ByteReader(bytesOf(text)), tables, view);
  engine.asked = 0;
  deepEqual({ ...back.item }, { id: "n", body: shown });
  equal(engine.asked, 0);
  equal(textIn(back).show(undefined), undefined, "nobody shows it here");
  deepEqual(textIn(back).clients, text.clients);
  deepEqual(cellDigestBytes(back), cellDigestBytes(cellOf(text)));
  deepEqual(bytesOf(textIn(back)), bytesOf(text), "written again as it was");
});

Deno.test("encodeCell() writes nothing behind a cell whose text nobody was shown, or which does not stand alone", () => {
  const unknown = longText();
  const plain = bytesOf(unknown, false);
  deepEqual(bytesOf(unknown), plain);
  unknown.show(countingEngine());
  deepEqual(bytesOf(unknown, false), plain);
  const shown = bytesOf(unknown);
  ok(shown.length > plain.length);
  // Who knows nothing of what stands behind it reads the same cell.
  shown[0] = shown[0]! & ~SHOWN;
  deepEqual(shown.subarray(0, plain.length), plain);
  const read = decodeCell(new ByteReader(shown), tables, createView(undefined));
  deepEqual(textIn(read).clients, unknown.clients);
});

Deno.test("decodeCell() meets damage of what stands behind a cell with nothing but SyntaxError", () => {
  const text = longText();
  text.show(countingEngine());
  const whole = bytesOf(text);
  const begin = bytesOf(text, false).length;
  const spots = [0, 1, 2, ...Array.from(whole.keys()).slice(begin)];
  for (const at of spots) {
    for (const mask of [1, 0x80, 0xff]) {
      const damaged = whole.slice();
      damaged[at] = damaged[at]! ^ mask;
      try {
        const back = decodeCell(
          new ByteReader(damaged),
          tables,
          createView(undefined),
        );
        if (back.rich !== undefined) textIn(back).clients;
      } catch (error) {
        ok(error instanceof SyntaxError, `${at}: ${error}`);
      }
    }
  }
  for (const length of [1, 2, 4, 8]) {
    const short = whole.slice(0, length);
    try {
      decodeCell(new ByteReader(short), tables, createView(undefined));
    } catch (error) {
      ok(error instanceof SyntaxError, `${length}: ${error}`);
    }
  }
});
