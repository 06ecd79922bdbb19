import assert from "node:assert/strict";
import fc from "fast-check";
import type { Cell } from "../../src/schema/cell.ts";
import type { Item, Shape, Value } from "../../src/schema/patch.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import { field } from "../../src/schema/field.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";
import { wordsMax } from "./column.ts";
import { Table } from "./table.ts";

const shape: Shape = {
  collection: "task",
  version: 1,
  fields: [
    { name: "title", kind: "string" },
    { name: "rank", kind: "number" },
    { name: "done", kind: "boolean" },
    { name: "when", kind: "date" },
    { name: "any", kind: "json" },
  ],
};

const origin = { wall: 1, count: 0, chain: "c", operationsAt: 0 };

function cellOf(id: string, fields: Record<string, Value> | undefined): Cell {
  const item: Item | undefined = fields === undefined
    ? undefined
    : Object.freeze({ id, ...fields });
  return {
    id,
    generation: 0,
    item,
    shape,
    origin,
    createAt: -1,
    stamps: undefined,
    rich: undefined,
    hidden: undefined,
  };
}

function newTable(): Table {
  return new Table({ name: "task", view: createView(undefined) });
}

const names = ["title", "rank", "done", "when", "any"];

const fields = fc.record({
  title: fc.constantFrom("a", "b", "ü", ""),
  rank: fc.constantFrom(0, -0, 1.5, -7, 2 ** 40),
  done: fc.boolean(),
  when: fc.constantFrom(new Date(0), new Date(86_400_000)),
  any: fc.constantFrom<Value>("x", 1, null, true),
}, { requiredKeys: [] });

const step = fc.record({
  id: fc.constantFrom(..."abcdefghijklmnop"),
  fields: fc.option(fields, { nil: undefined, freq: 4 }),
  look: fc.constantFrom("items", "ids", "column", "none"),
});

/** What a column must show, computed the slow way. */
function naive(table: Table, field: string): Value[] {
  const values: Value[] = [];
  for (let i = 0; i < table.size; i++) {
    const value = table.itemAt(i)?.[field];
    values.push(value instanceof Date ? value.getTime() : value);
  }
  return values;
}

function shown(table: Table, field: string): Value[] | undefined {
  const column = table.column(field);
  if (column === undefined) return undefined;
  const values: Value[] = [];
  for (let i = 0; i < table.size; i++) {
    if (column.kind === "word") values.push(column.words[column.codes[i]!]);
    else {values.push(
        Number.isNaN(column.values[i]) ? undefined : column.values[i],
      );}
  }
  return values;
}

function checkColumn(table: Table, field: string): void {
  const values = shown(table, field);
  const expected = naive(table, field);
  const types = new Set(
    expected.map((value) => value === null ? "null" : typeof value),
  );
  types.delete("undefined");
  if (values === undefined) {
    assert.ok(field === "any" || types.size === 0);
    return;
  }
  const plain = expected.map((value) =>
    typeof value === "boolean" ? +value : value
  );
  assert.deepEqual(values, plain);
}

Deno.test("put() keeps a table equal to a plain map, and columns equal to the items", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = newTable();
      const model = new Map<string, Item | undefined>();
      for (const { id, fields, look } of steps) {
        const cell = cellOf(id, fields);
        const known = [...model.keys()].indexOf(id);
        const ordinal = table.put(cell);
        assert.equal(ordinal, known < 0 ? model.size : known);
        model.set(id, cell.item);
        if (look === "column") {
          names.forEach((name) => checkColumn(table, name));
        }
        if (look === "items") assert.deepEqual(table.items(), live(model));
        if (look === "ids") {
          assert.deepEqual(table.ids(), live(model).map(({ id }) => id));
        }
      }
      assert.equal(table.size, model.size);
      assert.equal(table.count, live(model).length);
      assert.deepEqual(table.items(), live(model));
      [...model].forEach(([id, item], ordinal) => {
        assert.equal(table.ordinalOf(id), ordinal);
        assert.equal(table.idAt(ordinal), id);
        assert.equal(table.itemAt(ordinal), item);
        assert.equal(table.isLive(ordinal), item !== undefined);
      });
      names.forEach((name) => checkColumn(table, name));
    }),
    { seed: 2, numRuns: 400 },
  );
});

function live(model: Map<string, Item | undefined>): Item[] {
  return [...model.values()].filter((item) => item !== undefined);
}

Deno.test("items() gives an array that the caller may spoil", () => {
  const table = newTable();
  for (let i = 0; i < 5; i++) table.put(cellOf(`${i}`, { rank: i }));
  table.items().length = 0;
  table.ids().push("nonsense");
  assert.equal(table.items().length, 5);
  assert.deepEqual(table.ids(), ["0", "1", "2", "3", "4"]);
});

Deno.test("column() ends when a value of another type comes", () => {
  const table = newTable();
  table.put(cellOf("a", { any: 1 }));
  assert.equal(table.column("any")?.kind, "number");
  table.put(cellOf("b", { any: "word" }));
  assert.equal(table.column("any"), undefined);
  assert.equal(table.hasColumn("any"), false);
});

Deno.test("column() does not take NaN or null for absent", () => {
  for (const value of [NaN, null, new Date(NaN)]) {
    const table = newTable();
    table.put(cellOf("a", { any: value }));
    assert.equal(table.column("any"), undefined);
  }
});

Deno.test("column() ends when there are too many words", () => {
  const table = newTable();
  for (let i = 0; i < wordsMax; i++) {
    table.put(cellOf(`${i}`, { title: `${i}` }));
  }
  const column = table.column("title");
  assert.equal(column?.kind, "word");
  assert.equal(column?.kind === "word" && column.codeOf("7"), 8);
  table.put(cellOf("last", { title: "one more" }));
  assert.equal(table.column("title"), undefined);
});

Deno.test("subscribe() hears changes until it is ended, twice for one listener", () => {
  const table = newTable();
  const heard: (readonly ItemChange[])[] = [];
  const listener = (changes: readonly ItemChange[]) => void heard.push(changes);
  const endFirst = table.subscribe(listener);
  const endSecond = table.subscribe(listener);
  const change: ItemChange = {
    ordinal: 0,
    before: undefined,
    after: undefined,
  };
  table.publish([change]);
  table.publish([]);
  assert.equal(heard.length, 2);
  endFirst();
  table.publish([change]);
  endSecond();
  table.publish([change]);
  assert.equal(heard.length, 3);
});

Deno.test("column() knows the type of a schema's field before any item has it", () => {
  const Task = defineSchema("task", {
    rank: field.number().optional(),
    title: field.string().optional(),
    tags: field.set(field.string()),
  });
  const table = new Table({ name: "task", view: createView(Task) });
  assert.equal(table.column("tags"), undefined);
  const rank = table.column("rank");
  const title = table.column("title");
  table.put(cellOf("a", { rank: 7, title: "x" }));
  assert.equal(rank?.kind === "number" && rank.values[0], 7);
  assert.equal(title?.kind === "word" && title.words[title.codes[0]!], "x");
});

Deno.test("picture() is not moved by later puts, however many pictures there are", () => {
  const table = newTable();
  for (let i = 0; i < 3000; i++) table.put(cellOf(`${i}`, { rank: i }));
  const first = table.picture();
  table.put(cellOf("5", { rank: -5 }));
  const second = table.picture();
  table.put(cellOf("5", undefined));
  table.put(cellOf("2999", { rank: -1 }));
  table.put(cellOf("new", { rank: 1 }));
  assert.deepEqual([first.size, second.size, table.size], [3000, 3000, 3001]);
  assert.equal(first.itemAt(5)?.["rank"], 5);
  assert.equal(second.itemAt(5)?.["rank"], -5);
  assert.equal(table.itemAt(5), undefined);
  assert.equal(second.get(2999)?.item?.["rank"], 2999);
});
