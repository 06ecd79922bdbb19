import { deepEqual, equal } from "node:assert/strict";
import * as fc from "fast-check";
import type { Cell, Shown } from "../../src/schema/cell.ts";
import type { Item, Value } from "../../src/schema/patch.ts";
import { createView } from "../../src/schema/view.ts";
import { KeyIndex, shorten } from "./key_index.ts";
import { Table } from "./table.ts";

const LONG = "long".repeat(40);

function cellOf(id: string, words: readonly string[] | undefined): Cell {
  const item = words && Object.freeze({ id, words }) as Item;
  return {
    ...{ id, item, generation: 0, createAt: -1 },
    ...{ stamps: undefined, rich: undefined, hidden: undefined },
    shape: { collection: "a", version: 1, fields: [] },
    origin: { wall: 1, count: 0, chain: "", operationsAt: -1 },
  };
}

/** Counts how often keys are made. */
let made = 0;
const words = {
  valuesOf: ({ item }: Shown) => [item!["words"]],
  keysOf: ([words]: readonly Value[]) => {
    made++;
    return (words as readonly string[]).map(shorten);
  },
};

const puts = fc.array(fc.tuple(
  fc.constantFrom("x", "y", "z", "w"),
  fc.option(fc.uniqueArray(fc.constantFrom("a", "b", "c", LONG)), {
    nil: undefined,
  }),
));

Deno.test("KeyIndex knows what a scan finds, from whenever on it follows a table", () => {
  fc.assert(
    fc.property(puts, puts, (earlier, later) => {
      const table = new Table({ name: "a", view: createView(undefined) });
      const items = new Map<string, readonly string[]>();
      const put = ([id, words]: (typeof earlier)[number]) => {
        table.put(cellOf(id, words));
        items.set(id, words ?? []);
      };
      earlier.forEach(put);
      const index = new KeyIndex(words);
      index.follow(table);
      later.forEach(put);
      for (const word of ["a", "b", "c", LONG, "never"]) {
        const [key] = index.keysOf(cellOf("k", [word]));
        const found = [...items].filter(([, words]) => words.includes(word))
          .map(([id]) => id).sort();
        const holders = Array.from(
          index.holders(key!),
          (ordinal) => table.idAt(ordinal),
        );
        deepEqual(holders.sort(), found);
        equal(index.count(key!), found.length);
      }
    }),
    { seed: 7, numRuns: 300 },
  );
});

Deno.test("KeyIndex keeps long keys by their hash", () => {
  const index = new KeyIndex(words);
  const [key] = index.keysOf(cellOf("k", [LONG]));
  equal(key!.length, 65);
});

Deno.test("KeyIndex makes no keys where a write leaves what they are made of", () => {
  const table = new Table({ name: "a", view: createView(undefined) });
  const index = new KeyIndex(words);
  index.follow(table);
  const long = [LONG];
  table.put(cellOf("x", long));
  made = 0;
  for (let i = 0; i < 10; i++) table.put(cellOf("x", long));
  deepEqual(index.changes(cellOf("x", long), cellOf("x", long)), []);
  equal(made, 0);
  table.put(cellOf("x", ["other"]));
  deepEqual([index.count(shorten(LONG)), index.count("other")], [0, 1]);
  table.put(cellOf("x", undefined));
  table.put(cellOf("x", long));
  deepEqual([index.count(shorten(LONG)), index.count("other")], [1, 0]);
});
