import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Stamp } from "../base/hlc.ts";
import { sized } from "../../tests/kit/tier.ts";
import { workOf } from "../../tests/kit/work.ts";
import { type Cell, type Origin, WideCell } from "./cell.ts";
import { fold } from "./merge.ts";
import type { ListState } from "./rich_list.ts";
import type { Change, Item, Shape, UpdateOperation, Value } from "./patch.ts";
import { field } from "./field.ts";
import { positionAt } from "./position.ts";
import { prepareUpdate } from "./prepare.ts";
import { defineSchema } from "./schema.ts";
import { recordOf } from "./validate.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const SIZE = 60_000;
const names = Array.from(
  { length: SIZE },
  (_, i) => `k${String(i).padStart(6, "0")}`,
);
const shape: Shape = {
  collection: "thing",
  version: 1,
  fields: [
    { name: "map", kind: "map" },
    { name: "set", kind: "set" },
    { name: "list", kind: "list" },
    { name: "title", kind: "string" },
  ],
};
const [map, set, list, title] = shape.fields;

function originAt(wall: number): Origin {
  return { wall, count: 0, chain: "a".repeat(40), operationsAt: -1 };
}

function update(change: Change, field = map!): UpdateOperation {
  const changes = [{ field, change }];
  return { what: "update", shape, id: "x", generation: 0, changes };
}

/** Each kind of change, made anew by number. */
const changesOf: readonly ((i: number) => UpdateOperation)[] = [
  (i) => update({ what: "put", entries: [[names[i * 7]!, i]] }),
  (i) => update({ what: "drop", keys: [names[i * 11]!] }),
  (i) => update({ what: "add", values: [`new${i}`] }, set),
  (i) =>
    update({
      what: "remove",
      values: [{ value: names[i]!, tags: [originAt(1)] }],
    }, set),
  (i) =>
    update({
      what: "insert",
      elements: [{ element: `e${i}`, position: positionAt(i), value: i }],
    }, list),
  (i) => update({ what: "delete", elements: [names[i]!] }, list),
  (i) => update({ what: "set", value: `title ${i}` }, title),
];

function huge(view = createView(undefined)): Cell {
  const item = {
    id: "x",
    map: recordOf(names.map((name) => [name, 1])),
    set: names,
    list: [] as Value[],
    title: "t",
  } as Item;
  const create = {
    what: "create",
    shape,
    id: "x",
    generation: 0,
    item,
  } as const;
  const elements = names.map((element, i) => ({
    element,
    position: positionAt(i),
    value: i,
  }));
  const cell = fold(undefined, create, originAt(1), 0, view);
  const fill = update({ what: "insert", elements }, list);
  return fold(cell, fill, originAt(1), -1, view);
}

Deno.test("fold() touches few elements for one change of 60,000, and none of what has ended", () => {
  const view = createView(undefined);
  let cell = huge();
  // The first change of a field begins its state.
  for (const [i, change] of changesOf.entries()) {
    cell = fold(cell, change(i + 1), originAt(2), -1, view);
  }
  for (const change of changesOf) {
    const work = workOf(() => {
      for (let i = 100; i < 300; i++) {
        cell = fold(cell, change(i), originAt(i), -1, view);
      }
    });
    ok(work < 200 * 500, `${work} elements in 200 changes`);
  }
  const shown = cell.item!["map"] as Record<string, Value>;
  equal(shown[names[700]!], 100);
  equal(cell.item!["title"], "title 299");
});

Deno.test("fold() touches few fields for one change of an item of 1,000", () => {
  const view = createView(undefined);
  const fields = Array.from({ length: 1_000 }, (_, i) => ({
    name: `field${i}`,
    kind: i % 2 === 0 ? "string" as const : "counter" as const,
  }));
  const write = (i: number) => {
    const field = fields[i % 1_000]!;
    return field.kind === "string"
      ? update({ what: "set", value: `${i}` }, field)
      : update({ what: "increment", amount: i }, field);
  };
  const changes = fields.flatMap((_, i) => write(i).changes);
  let cell = fold(undefined, { ...write(0), changes }, originAt(1), -1, view);
  const work = workOf(() => {
    for (let i = 1_000; i < 1_200; i++) {
      cell = fold(cell, write(i), originAt(i), -1, view);
    }
  });
  ok(work < 200 * 200, `${work} fields in 200 changes`);
  ok(cell instanceof WideCell && cell.since?.size === 500, "nobody read it");
  equal(Object.keys(cell.item!).length, 1_001);
  deepEqual(
    [1_000, 1_199, 200].map((i) => cell.item![`field${i % 1_000}`]),
    ["1000", 1_199 + 199, "200"],
  );
});

Deno.test("fold() begins the state of a field once, for all who try the same change", () => {
  const view = createView(undefined);
  const cell = huge();
  const put = changesOf[0]!(1);
  fold(cell, put, originAt(2), -1, view);
  const work = workOf(() => {
    for (let i = 0; i < 100; i++) fold(cell, put, originAt(2), -1, view);
  });
  ok(work < 100 * 500, `${work} elements in 100 attempts`);
});

Deno.test("fold() touches few elements after 4,000 pairs of adds and removes, inserts and deletes", () => {
  const view = createView(undefined);
  const item = { id: "x", map: {}, set: [], list: [], title: "" } as Item;
  const create = {
    what: "create",
    shape,
    id: "x",
    generation: 0,
    item,
  } as const;
  let cell = fold(undefined, create, originAt(1), 0, view);
  const pair = (i: number): UpdateOperation[] => [
    update({ what: "add", values: ["v"] }, set),
    update(
      {
        what: "insert",
        elements: [{ element: `e${i}`, position: "a0", value: 1 }],
      },
      list,
    ),
  ];
  const end = (i: number): UpdateOperation[] => [
    update(
      { what: "remove", values: [{ value: "v", tags: [originAt(i)] }] },
      set,
    ),
    update({ what: "delete", elements: [`e${i}`] }, list),
  ];
  const write = (i: number) => {
    for (const op of pair(i)) cell = fold(cell, op, originAt(i), -1, view);
    for (const op of end(i)) cell = fold(cell, op, originAt(i + 1), -1, view);
  };
  for (let i = 2; i < 8_002; i += 2) write(i);
  const work = workOf(() => write(9_000));
  ok(work < 2_000, `${work} elements in one pair of each`);
  deepEqual(cell.item!["set"], []);
  deepEqual(cell.item!["list"], []);
});

Deno.test("prepareUpdate() touches few elements where it is told which of 60,000 change", () => {
  const schema = defineSchema("thing", {
    map: field.map(field.number()),
    set: field.set(field.string()),
    list: field.list(field.number()),
    title: field.string(),
  });
  const view = createView(schema);
  let cell = huge(view);
  let wall = 2;
  const write = (input: object) => {
    const origin = originAt(wall++);
    const operation = prepareUpdate(schema, cell, input, {
      newId: () => "x",
      elementId: () => "e",
      origin,
      generation: 0,
    });
    cell = fold(cell, operation!, origin, -1, view);
  };
  const inputs = (i: number) => [
    { map: { put: { [names[i]!]: -1 }, drop: [names[i + 1]!] } },
    { set: { add: [`new ${i}`], remove: [names[i]!] } },
    { title: `title ${i}` },
  ];
  for (const input of inputs(0)) write(input); // The first change of a field begins its state.
  const work = workOf(() => {
    for (let i = 2; i < 102; i += 2) for (const one of inputs(i)) write(one);
  });
  ok(work < 150 * 500, `${work} elements in 150 writes`);
  const shown = cell.item!["map"] as Record<string, Value>;
  equal(shown[names[100]!], -1);
  equal(shown[names[101]!], undefined);
});

/** The plain way: all that was ever said, read through from its beginning. */
class NaiveState {
  readonly #changes: (readonly [Change, Stamp])[] = [];

  add(change: Change, stamp: Stamp): void {
    this.#changes.push([change, stamp]);
  }

  map(): Value {
    const last = new Map<string, { value: Value; stamp: Stamp }>();
    for (const [change, stamp] of this.#changes) {
      const puts = change.what === "put"
        ? change.entries
        : change.what === "drop"
        ? change.keys.map((key) => [key, undefined] as const)
        : [];
      for (const [key, value] of puts) {
        if ((last.get(key)?.stamp.wall ?? 0) > stamp.wall) continue;
        last.set(key, { value, stamp });
      }
    }
    return recordOf(
      [...last].flatMap(([key, { value }]) =>
        value === undefined ? [] : [[key, value] as [string, Value]]
      ),
    );
  }

  set(): Value {
    const there = new Map<string, Value>();
    const gone = new Set<string>();
    const nameOf = (value: Value, wall: number) => `${value} ${wall}`;
    for (const [change, { wall }] of this.#changes) {
      if (change.what === "add") {
        for (const value of change.values) {
          const name = nameOf(value, wall);
          if (!gone.has(name)) there.set(name, value);
        }
      } else if (change.what === "remove") {
        for (const { value, tags } of change.values) {
          for (const tag of tags) {
            there.delete(nameOf(value, tag.wall));
            if (tag.wall !== wall) gone.add(nameOf(value, tag.wall));
          }
        }
      }
    }
    return [...new Set(there.values())].sort();
  }

  list(): Value {
    const last = new Map<
      string,
      { value: Value; at: string; valued: number; placed: number }
    >();
    const inserted = new Set<string>();
    const deleted = new Set<string>();
    const of = (id: string) => {
      const one = last.get(id) ??
        { value: undefined, at: "", valued: 0, placed: 0 };
      last.set(id, one);
      return one;
    };
    for (const [change, { wall }] of this.#changes) {
      const moves = change.what === "insert"
        ? change.elements
        : change.what === "move"
        ? change.moves
        : [];
      for (const { element, position } of moves) {
        const one = of(element);
        if (wall >= one.placed) [one.at, one.placed] = [position, wall];
        if (change.what === "insert") inserted.add(element);
      }
      const values = change.what === "insert"
        ? change.elements.map(({ element, value }) => [element, value] as const)
        : change.what === "replace"
        ? change.values
        : [];
      for (const [element, value] of values) {
        const one = of(element);
        if (wall >= one.valued) [one.value, one.valued] = [value, wall];
      }
      if (change.what === "delete") {
        for (const element of change.elements) deleted.add(element);
      }
    }
    return [...last].filter(([id]) => inserted.has(id) && !deleted.has(id))
      .sort(([a, { at: p }], [b, { at: q }]) =>
        p === q ? a < b ? -1 : 1 : p < q ? -1 : 1
      ).map(([, { value }]) => value);
  }
}

const key = fc.nat(60).map((i) => `k${i}`);
const keys = fc.array(key, { maxLength: 8 });
const tags = fc.array(fc.integer({ min: 1, max: 60 }).map(originAt), {
  maxLength: 4,
});
const elements = fc.array(
  fc.record({ element: key, position: fc.nat(9).map(positionAt), value: key }),
  { maxLength: 8 },
);
const changes: Record<"map" | "set" | "list", fc.Arbitrary<Change>> = {
  map: fc.oneof(
    fc.array(fc.tuple(key, key), { maxLength: 8 }).map((entries) =>
      ({ what: "put", entries }) as const
    ),
    keys.map((keys) => ({ what: "drop", keys }) as const),
  ),
  set: fc.oneof(
    keys.map((values) => ({ what: "add", values }) as const),
    fc.array(fc.record({ value: key, tags }), { maxLength: 8 }).map((values) =>
      ({ what: "remove", values }) as const
    ),
  ),
  list: fc.oneof(
    elements.map((elements) => ({ what: "insert", elements }) as const),
    elements.map((moves) => ({ what: "move", moves }) as const),
    fc.array(fc.tuple(key, key)).map((values) =>
      ({ what: "replace", values }) as const
    ),
    keys.map((elements) => ({ what: "delete", elements }) as const),
  ),
};

for (const merge of ["map", "set", "list"] as const) {
  Deno.test(`a ${merge} shows what a reading of all its changes shows`, () => {
    const step = fc.tuple(changes[merge], fc.integer({ min: 1, max: 60 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let state = rich.kinds[merge].empty;
        const naive = new NaiveState();
        for (const [change, wall] of steps) {
          const before = [state, state.show(undefined)] as const;
          state = rich.changeState(state, change, originAt(wall));
          naive.add(change, originAt(wall));
          deepEqual(before[0].show(undefined), before[1]);
        }
        deepEqual(state.show(undefined), naive[merge]());
        if (state.merge === "list") deepEqual(listed(state), naive.list());
      }),
      { seed: 17, numRuns: sized(150, 1_500) },
    );
  });
}

/** The values again, by way of the elements. */
function listed({ visible }: ListState): Value {
  return visible.map(({ value }) => value);
}
