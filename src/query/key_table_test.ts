import { deepEqual, equal, ok } from "node:assert/strict";
import { KeyTable } from "./key_table.ts";

const count = 3_000;

/** Texts of which many agree in all that fits into a number. */
function textAt(i: number): string | undefined {
  const turn = (i * 7_919) % count;
  if (turn % 50 === 0) return undefined;
  if (turn % 7 === 0) return `same-start ${turn % 11}`;
  if (turn % 5 === 0) return `é${turn % 13}`;
  return `w${turn % 97}`;
}

function numberAt(i: number): number | undefined {
  return i % 31 === 0 ? undefined : ((i * 7_919) % 1_000) - 500;
}

Deno.test("KeyTable.compare() and compareTo() take texts that agree in their first characters for the same only when they are", () => {
  const heads = ["same-st", "same-su", "same-sv", "", "é"];
  const texts = heads.flatMap((head) => [head, `${head}a`, `${head}b`]).sort();
  const table = new KeyTable("field", "string");
  table.reserve(texts.length);
  for (const [i, text] of texts.entries()) table.set(i, text);
  for (const [i, a] of texts.entries()) {
    for (const [j, b] of texts.entries()) {
      const expected = Math.sign(i - j);
      equal(table.compare(i, j), expected, `${a} and ${b}`);
      equal(
        table.compareTo(i, b, table.numberOf(b)),
        expected,
        `${a} and ${b}`,
      );
    }
  }
});

for (
  const [kind, keyAt] of [["string", textAt], ["number", numberAt]] as const
) {
  Deno.test(`KeyTable.sort() orders many ordinals as comparing does: ${kind}`, () => {
    const table = new KeyTable("field", kind);
    table.reserve(count);
    for (let i = 0; i < count; i++) table.set(i, keyAt(i));
    const ordinals = Array.from({ length: count }, (_, i) => count - 1 - i);
    const expected = ordinals.toSorted((a, b) => table.compare(a, b));
    const sorted = Uint32Array.from(ordinals);
    for (const _ of table.sort(sorted));
    deepEqual([...sorted], expected);
  });
}

Deno.test("KeyTable.set() copies no other text, however many there are", () => {
  const took = Array.from({ length: 5 }, (_, i) => {
    const table = new KeyTable("field", "string");
    table.reserve(1_000_000);
    const start = performance.now();
    table.set(i, "first");
    return performance.now() - start;
  });
  ok(Math.min(...took) < 2, `${took} ms`);
});
