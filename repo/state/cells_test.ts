import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Cells } from "./cells.ts";

Deno.test("Cells.seek() finds everything in memory and leaves out what is far from it", () => {
  const size = 10_000;
  const cells = new Cells(size);
  const there = [0, 1_023, 1_024, 5_000, 9_999];
  for (const ordinal of there) cells.setItem(ordinal, { id: `${ordinal}` });
  const met: number[] = [];
  let steps = 0;
  for (let at = cells.seek(0); at < size; at = cells.seek(at + 1), steps++) {
    if (cells.has(at)) met.push(at);
  }
  deepStrictEqual(met, there);
  strictEqual(steps < 4_096, true);
  strictEqual(new Cells(size).seek(3), size);
  strictEqual(new Cells().seek(0), 0);
});
