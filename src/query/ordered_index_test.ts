import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { MemorySource, task, taskFields } from "./kit_test.ts";
import { IdTable } from "./key_table.ts";
import { OrderedIndex } from "./ordered_index.ts";
import { finish } from "../base/steps.ts";
import { compareText, compareValues } from "./value.ts";
import { sized } from "../../tests/kit/tier.ts";

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

function builtIndex(
  fields: readonly string[],
  source: MemorySource,
): OrderedIndex {
  const ids = new IdTable(source);
  const index = new OrderedIndex(fields, kinds, source, ids);
  finish(index.build());
  return index;
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
        // The plain way is the oracle of the sweep.
        const many = [builtIndex(fields, source)];
        source.write(
          ...Array.from({ length: 300 }, (_, n) => {
            const id = `id${dice(5)}-${n}`;
            return [id, make(id)] as const;
          }),
        );
        const index = builtIndex(fields, source);
        many.push(builtIndex(fields, source));
        many[0]!.updateAll(
          Array.from({ length: source.size }, (_, ordinal) => ordinal),
          Array.from({ length: source.size }, (_, n) => source.itemAt(n)),
        );
        deepStrictEqual(walked(index, source), sortedIds(source, fields));
        source.subscribe((changes) => {
          // In any order, and twice: an index looks at what is true now.
          const ordinals = [...changes, ...changes].map((one) => one.ordinal);
          for (const ordinal of ordinals) {
            index.update(ordinal, source.itemAt(ordinal));
          }
          const items = ordinals.map((ordinal) => source.itemAt(ordinal));
          for (const one of many) one.updateAll(ordinals, items);
        });
        for (let step = 0; step < 12; step++) {
          source.write(
            ...Array.from({ length: step % 3 === 0 ? 5 : 200 }, () => {
              const id = `id${dice(5)}-${dice(2_000)}`;
              return [id, dice(3) === 0 ? undefined : make(id)] as const;
            }),
          );
          const expected = sortedIds(source, fields);
          for (const one of [index, ...many]) {
            strictEqual(one.count, source.count);
            deepStrictEqual(walked(one, source), expected);
          }
        }
      }),
      { seed: 3, numRuns: sized(5, 200) },
    );
  });
}

Deno.test("OrderedIndex.update() takes ten thousand entries in order and lets them go", () => {
  const source = new MemorySource(kinds, false);
  const index = builtIndex(["rank"], source);
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
  for (let n = 0; n < 5_000; n++) index.update(n, undefined);
  strictEqual(walked(index, source).length, 5_000);
  const rest = Array.from({ length: 5_000 }, (_, n) => 5_000 + n);
  index.updateAll(rest, rest.map(() => undefined));
  strictEqual(index.count, 0);
  deepStrictEqual(walked(index, source), []);
});

Deno.test("OrderedIndex is broken by a value of another kind", () => {
  const source = new MemorySource(kinds, false);
  const index = builtIndex(["rank"], source);
  source.write(["a", task("a", { rank: "odd" })]);
  index.update(0, source.itemAt(0));
  ok(index.broken);
});

Deno.test("OrderedIndex leaves entries out in either direction, as if it had walked over them", () => {
  for (const [count, ranks] of [[900, 900], [900, 7], [900, 1], [3, 2]]) {
    const source = new MemorySource(kinds, false);
    source.write(...Array.from({ length: count! }, (_, n) => {
      const id = `i${n * 7919 % 1_000}`;
      return [id, task(id, { rank: n % ranks! })] as const;
    }));
    const fields = ranks === count ? ["rank", "id"] : ["rank"];
    const index = builtIndex(fields, source);
    for (let low = 0; low < ranks!; low += 3) {
      const from = index.seat([low], false);
      const to = index.seat([low + 4], true);
      const down: number[] = [];
      index.walkDown(from, to, (ordinal) => down.push(ordinal) > 0);
      const up: number[] = [];
      index.walk(from, to, (ordinal) => up.push(ordinal) > 0);
      for (let skip = 0; skip <= count! + 1; skip += skip < 9 ? 1 : 61) {
        const rest: number[] = [];
        index.walkDown(from, to, (ordinal) => rest.push(ordinal) > 0, skip);
        deepStrictEqual(rest, down.slice(skip));
        rest.length = 0;
        const start = index.forward(from, skip);
        index.walk(start, to, (ordinal) => rest.push(ordinal) > 0);
        deepStrictEqual(rest, up.slice(skip));
      }
    }
  }
});

Deno.test("OrderedIndex.seat() tells ids apart that no comparison has asked for", () => {
  const source = new MemorySource(kinds, false);
  source.write(...Array.from({ length: 9 }, (_, n) => {
    return [`i${n}`, task(`i${n}`, { rank: n })] as const;
  }));
  for (const [id, place] of [["i39", 4], ["i3", 4], ["i2", 3]] as const) {
    const index = builtIndex(["rank"], source);
    const start = index.seat([], false);
    strictEqual(index.countBetween(start, index.seat([3], true, id)), place);
  }
});
