import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { MemorySource, task, taskFields } from "./kit_test.ts";
import { OrderedIndex } from "./ordered_index.ts";
import { compareText, compareValues } from "./value.ts";

const kinds = new Map(taskFields);

function sortedIds(source: MemorySource, fields: readonly string[]): string[] {
  return [...source.items()].sort((a, b) => {
    for (const field of fields) {
      const found = compareValues(a[field], b[field]);
      if (found !== 0) return found;
    }
    return compareText(a.id, b.id);
  }).map((item) => item.id);
}

function walked(index: OrderedIndex, source: MemorySource): string[] {
  const ids: string[] = [];
  index.walk(index.seat([], false), index.seat([], true), (ordinal) => {
    ids.push(source.idAt(ordinal));
    return true;
  });
  return ids;
}

for (
  const fields of [["rank"], ["title"], ["author", "rank"], ["when", "title"]]
) {
  Deno.test(`OrderedIndex on ${fields} stays sorted over many chunks`, () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(0xffff)), (stream) => {
        const dice = (sides: number) => stream.next().value! % sides;
        const make = (id: string) =>
          task(id, {
            author: dice(4) === 0 ? undefined : `author-of-${dice(9)}`,
            rank: dice(6) === 0 ? undefined : dice(500) - 250,
            title: [
              "",
              "\0",
              "a",
              "a\0",
              "abcdefg",
              "abcdefgh",
              "é",
              "éa",
            ][dice(8)]!,
            when: new Date(dice(50)),
          });
        const source = new MemorySource(kinds, false);
        source.write(
          ...Array.from({ length: 300 }, (_, n) => {
            const id = `id${dice(5)}-${n}`;
            return [id, make(id)] as const;
          }),
        );
        const index = new OrderedIndex(fields, kinds, source);
        deepStrictEqual(walked(index, source), sortedIds(source, fields));
        source.subscribe((changes) => {
          // In any order, and twice: an index looks at what is true now.
          for (const { ordinal } of [...changes, ...changes]) {
            index.update(ordinal, source.itemAt(ordinal));
          }
        });
        for (let step = 0; step < 12; step++) {
          source.write(
            ...Array.from({ length: 200 }, () => {
              const id = `id${dice(5)}-${dice(2_000)}`;
              return [id, dice(3) === 0 ? undefined : make(id)] as const;
            }),
          );
          strictEqual(index.count, source.count);
          deepStrictEqual(walked(index, source), sortedIds(source, fields));
        }
      }),
      { seed: 3, numRuns: 8 },
    );
  });
}

Deno.test("OrderedIndex.update() takes ten thousand entries in order and lets them go", () => {
  const source = new MemorySource(kinds, false);
  const index = new OrderedIndex(["rank"], kinds, source);
  for (let n = 0; n < 10_000; n++) {
    source.write([`i${n}`, task(`i${n}`, { rank: n })]);
    index.update(n, source.itemAt(n));
  }
  strictEqual(
    index.countIn({
      low: [100],
      lowAfter: false,
      high: [200],
      highAfter: true,
    }),
    101,
  );
  for (let n = 0; n < 10_000; n++) index.update(n, undefined);
  strictEqual(index.count, 0);
  deepStrictEqual(walked(index, source), []);
});

Deno.test("OrderedIndex is broken by a value of another kind", () => {
  const source = new MemorySource(kinds, false);
  const index = new OrderedIndex(["rank"], kinds, source);
  source.write(["a", task("a", { rank: "odd" })]);
  index.update(0, source.itemAt(0));
  ok(index.broken);
});
