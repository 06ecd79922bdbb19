import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { type Cell, type Origin, WideCell } from "./cell.ts";
import { valueIn } from "./constraint.ts";
import { cellDigestBytes } from "./cell_digest.ts";
import { decodeCell, decodeItem } from "./cell_codec.ts";
import { encodeCell } from "./cell_writer.ts";
import { isOfKind, mergeClassOf } from "./kinds.ts";
import { fold } from "./merge.ts";
import { defineSchema, field } from "./mod.ts";
import type {
  Change,
  FieldKind,
  Item,
  Operation,
  Shape,
  ShapeField,
  Value,
} from "./patch.ts";
import { OrderedMap } from "./ordered_map.ts";
import { positionAt } from "./position.ts";
import { copyForReader } from "./reader.ts";
import { ruleItem, showCell } from "./rule_item.ts";
import { engine } from "../text/engine.ts";
import { sized } from "../../tests/kit/tier.ts";
import { textField } from "./field.ts";
import { textChange } from "./text_kit_test.ts";
import { recordOf, sortedSet } from "./validate.ts";
import { createView, type View } from "./view.ts";

lateRich.provide(rich);

const run = { seed: 20260101, numRuns: sized(400, 2_000) } as const;
const ID = "item-1";

function shape(version: number, fields: Record<string, FieldKind>): Shape {
  const list = Object.entries(fields).map(([name, kind]) => ({ name, kind }));
  return { collection: "thing", version, fields: list };
}

/** Three writers: an old one, a new one, and one that means other things by the same names. */
const shapes = [
  shape(1, { title: "string", votes: "counter", tags: "set", body: "text" }),
  shape(2, {
    extra: "json",
    title: "string",
    votes: "counter",
    tags: "set",
    labels: "map",
    steps: "list",
    when: "date",
    body: "text",
  }),
  shape(3, {
    title: "number",
    votes: "string",
    tags: "list",
    labels: "json",
    body: "string",
  }),
];

const Local = defineSchema("thing", {
  title: field.string(),
  note: field.string().default("none"),
  votes: field.counter(),
  tags: field.set(field.string()),
  steps: field.list(field.string()),
  body: textField(engine),
});

const views: readonly View[] = [createView(undefined), createView(Local)];

const origins: readonly Origin[] = Array.from({ length: 8 }, (_, i) => ({
  // Few walls and counts, so that the chain's name breaks ties.
  wall: 1_000 + (i % 3),
  count: i % 2,
  chain: String.fromCharCode(97 + i).repeat(40),
  operationsAt: i * 1_000,
}));

const word = fc.constantFrom("a", "b", "c");
const elementId = fc.constantFrom("e1", "e2", "e3", "e4");
const position = fc.nat(5).map(positionAt);
const stamp = fc.constantFrom(...origins).map(({ wall, count, chain }) => ({
  wall,
  count,
  chain,
}));

function valueOf(kind: FieldKind): fc.Arbitrary<Value> {
  switch (kind) {
    case "number":
      return fc.integer({ min: -3, max: 3 });
    case "counter":
      return fc.constantFrom(-2, 0, 1, Number.MAX_SAFE_INTEGER);
    case "date":
      return fc.option(fc.nat(3).map((ms) => new Date(ms)), { nil: undefined });
    case "json":
      return fc.constantFrom<Value>(null, "a", 1, Object.freeze({ a: [1] }));
    case "set":
      return fc.array(word).map(sortedSet);
    case "map":
      return fc.dictionary(word, word).map((map) =>
        recordOf(Object.entries(map))
      );
    case "list":
      return fc.array(word, { maxLength: 3 });
    case "text":
      return fc.constantFrom("", "ab", "xyz");
    default:
      return fc.option(word, { nil: undefined });
  }
}

function changeOf(kind: FieldKind): fc.Arbitrary<Change> {
  switch (kind) {
    case "counter":
      return valueOf(kind).map((v) => ({
        what: "increment",
        amount: Number(v),
      }));
    case "set":
      return fc.oneof(
        fc.record({
          what: fc.constant("add" as const),
          values: fc.array(word),
        }),
        fc.record({
          what: fc.constant("remove" as const),
          values: fc.array(
            fc.record({ value: word, tags: fc.array(stamp, { maxLength: 3 }) }),
          ),
        }),
      );
    case "map":
      return fc.oneof(
        fc.record({
          what: fc.constant("put" as const),
          entries: fc.array(fc.tuple(word, word)),
        }),
        fc.record({ what: fc.constant("drop" as const), keys: fc.array(word) }),
      );
    case "list":
      return listChange();
    case "text":
      return textChange.map((text) => ({ what: "edit", text }));
    default:
      return valueOf(kind).map((value) => ({ what: "set", value }));
  }
}

function listChange(): fc.Arbitrary<Change> {
  return fc.oneof(
    fc.record({
      what: fc.constant("insert" as const),
      elements: fc.array(
        fc.record({ element: elementId, position, value: word }),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      what: fc.constant("move" as const),
      moves: fc.array(fc.record({ element: elementId, position })),
    }),
    fc.record({
      what: fc.constant("delete" as const),
      elements: fc.array(elementId, { maxLength: 1 }),
    }),
    fc.record({
      what: fc.constant("replace" as const),
      values: fc.array(fc.tuple(elementId, word)),
    }),
  );
}

function itemOf(shape: Shape): fc.Arbitrary<Item> {
  const fields = shape.fields.map(({ name, kind }) =>
    valueOf(kind).map((value) => [name, value] as const)
  );
  return fc.tuple(...fields).map((entries) =>
    Object.freeze({ id: ID, ...Object.fromEntries(entries) })
  );
}

function fieldChange(shape: Shape) {
  return fc.constantFrom<ShapeField>(...shape.fields).chain((field) =>
    changeOf(field.kind).map((change) => ({ field, change }))
  );
}

const operation: fc.Arbitrary<Operation> = fc.record({
  shape: fc.constantFrom(...shapes),
  generation: fc.constantFrom(0, 0, 0, 0, 1),
  what: fc.constantFrom("create", "update", "update", "update", "delete"),
  isRare: fc.nat(9),
}).chain(({ shape, generation, what, isRare }) => {
  if (what === "create") {
    return itemOf(shape).map((item): Operation => ({
      what: "create",
      shape,
      id: ID,
      generation,
      item,
    }));
  }
  if (what === "delete" && isRare === 0) {
    return fc.constant<Operation>({
      what: "delete",
      shape,
      id: ID,
      generation,
    });
  }
  return fc.array(fieldChange(shape), { minLength: 1, maxLength: 4 }).map((
    changes,
  ): Operation => ({ what: "update", shape, id: ID, generation, changes }));
});

interface Commit {
  readonly origin: Origin;
  readonly operations: readonly Operation[];
}

const commits: fc.Arbitrary<Commit[]> = fc.tuple(
  ...origins.map((origin) =>
    fc.array(operation, { maxLength: 3 }).map((operations) => ({
      origin,
      operations,
    }))
  ),
);

/** Commits, and the same commits in another order. */
const shuffled = commits.chain((all) =>
  fc.tuple(
    fc.constant(all),
    fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
  )
);

function foldAll(
  commits: readonly Commit[],
  view: View,
  start?: Cell,
): Cell | undefined {
  let cell = start;
  for (const { origin, operations } of commits) {
    for (const op of operations) cell = fold(cell, op, origin, 0, view);
  }
  return cell;
}

function digest(cell: Cell | undefined): string {
  return cell === undefined ? "" : cellDigestBytes(cell).toHex();
}

Deno.test("fold() gives the same cell for every order of commits", () => {
  fc.assert(
    fc.property(shuffled, ([all, other]) => {
      for (const view of views) {
        const a = foldAll(all, view);
        const b = foldAll(other, view);
        assert.equal(digest(a), digest(b));
        assert.deepEqual(a?.item, b?.item);
        assert.deepEqual(
          Object.keys(a?.item ?? {}),
          Object.keys(b?.item ?? {}),
        );
      }
    }),
    run,
  );
});

Deno.test("fold() shows of an item of many fields what it shows of one of few, whenever it is read", () => {
  const changes = Array.from({ length: 200 }, (_, i) => ({
    field: { name: `pad${i}`, kind: "string" } as const,
    change: { what: "set", value: "" } as const,
  }));
  const pad = { what: "update", shape: shapes[0]!, id: ID, changes } as const;
  let shown = 0;
  fc.assert(
    fc.property(shuffled, fc.nat(8), fc.boolean(), ([, all], at, isRead) => {
      for (const view of allViews) {
        const few = foldAll(all, view);
        if (few?.item === undefined) continue;
        const operations = [{ ...pad, generation: few.generation }];
        const padding = { origin: origins[0]!, operations };
        const before = foldAll([...all.slice(0, at), padding], view);
        if (isRead) assert.ok(before?.item);
        const many = foldAll(all.slice(at), view, before);
        assert.ok(many instanceof WideCell);
        const schema = view.schema ?? Odd;
        for (const { name } of schema.plan) {
          assert.deepEqual(
            valueIn(schema, many, name),
            valueIn(schema, few, name),
          );
        }
        assert.deepEqual(
          Object.entries(many.item).filter(([name]) => !name.startsWith("pad")),
          Object.entries(few.item),
        );
        shown++;
      }
    }),
    run,
  );
  assert.ok(shown > 0);
});

Deno.test("fold() makes the parts of a field anew once for a change of many, not for each of them", () => {
  const ids = Array.from({ length: 1_000 }, (_, i) => `e${1_000 + i}`);
  const stamp = origins[0]!;
  const { wall, count, chain } = stamp;
  const tags = [{ wall, count, chain }];
  const changes: readonly [FieldKind, Change][] = [
    ["set", { what: "add", values: ids }],
    [
      "set",
      { what: "remove", values: ids.map((value) => ({ value, tags })) },
    ],
    ["map", { what: "put", entries: ids.map((id) => [id, 1]) }],
    ["map", { what: "drop", keys: ids }],
    [
      "list",
      {
        what: "insert",
        elements: ids.map((element) => ({ element, position: "a0", value: 1 })),
      },
    ],
    [
      "list",
      {
        what: "move",
        moves: ids.map((element) => ({ element, position: "a1" })),
      },
    ],
    ["list", { what: "replace", values: ids.map((id) => [id, 2]) }],
    ["list", { what: "delete", elements: ids }],
  ];
  const { prototype } = OrderedMap;
  const names = ["with", "without", "withAll"] as const;
  let made = 0;
  using counting = new DisposableStack();
  for (const name of names) {
    const method = Reflect.get(prototype, name);
    Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
      made++;
      return Reflect.apply(method, this, args);
    });
    counting.defer(() => Reflect.set(prototype, name, method));
  }
  for (const [kind, change] of changes) {
    const shapeOf = shape(1, { f: kind });
    const changesOf = [{ field: shapeOf.fields[0]!, change }];
    const op = { shape: shapeOf, id: ID, generation: 0, changes: changesOf };
    made = 0;
    fold(undefined, { what: "update", ...op }, stamp, -1, views[0]!);
    assert.ok(made > 0 && made < 10, `${change.what}: ${made}`);
  }
});

Deno.test("fold() gives the same digest whatever schema the readers have", () => {
  fc.assert(
    fc.property(commits, (all) => {
      const [server, local] = views.map((view) => digest(foldAll(all, view)));
      assert.equal(server, local);
    }),
    run,
  );
});

/** Other readers than those who wrote: they call a list a string, a string a date, a text a map. */
const Odd = defineSchema("thing", {
  title: field.date().optional(),
  votes: field.string().default("no votes"),
  tags: field.map(field.string()),
  labels: field.set(field.string()),
  steps: field.bytes().optional(),
  body: field.list(field.string()),
  extra: field.counter(),
  when: field.boolean().default(true),
});
const allViews = [undefined, Local, Odd].map((schema) =>
  createView(schema, engine)
);

/** Is a value one of the kind that the schema has? */
function isShownAs(kind: FieldKind, value: Value): boolean {
  switch (mergeClassOf(kind)) {
    case "register":
      return isOfKind(kind, value);
    case "counter":
      return typeof value === "number";
    case "text":
      return typeof value === "string";
    case "map":
      return typeof value === "object" && !Array.isArray(value);
    default:
      return Array.isArray(value);
  }
}

Deno.test("what a view shows is of its schema's kinds, whatever anybody wrote, and defaults stand for the rest", () => {
  let hidden = 0;
  fc.assert(
    fc.property(shuffled, ([, all]) => {
      for (const view of allViews) {
        const cell = foldAll(all, view);
        if (cell?.item === undefined) continue;
        hidden += cell.hidden?.size ?? 0;
        for (const { name, kind } of view.schema?.plan ?? []) {
          const value = cell.item[name];
          assert.ok(isShownAs(kind, value), `${name} is no ${kind}`);
        }
      }
    }),
    run,
  );
  assert.ok(hidden > 0);
});

Deno.test("showCell() shows what another view would have made of the same commits, and hides nothing from digests", () => {
  fc.assert(
    fc.property(shuffled, ([all, other]) => {
      const cells = allViews.map((view) => foldAll(all, view));
      for (const cell of cells) {
        if (cell === undefined) continue;
        assert.equal(digest(cell), digest(foldAll(other, allViews[0]!)));
        for (const [j, to] of allViews.entries()) {
          const shown: Item | undefined = cell.item && showCell(cell, to);
          assert.deepEqual(shown, cells[j]?.item);
          assert.deepEqual(
            Object.keys(shown ?? {}).sort(),
            Object.keys(cells[j]?.item ?? {}).sort(),
          );
        }
      }
    }),
    run,
  );
});

/** Everything that one may see of an item, in strict mode. */
const observations: readonly ((item: Item) => unknown)[] = [
  ...["id", "title", "votes", "tags", "steps", "when", "body", "extra", "none"]
    .map((name) => (item: Item) => [item[name], name in item, item[name]]),
  (item) => Object.entries(item),
  (item) => Reflect.ownKeys(item),
  (item) => ({ ...item }),
  (item) => JSON.stringify(item),
  (item) => [Object.isFrozen(item), Object.isExtensible(item)],
  (item) => [Object.getPrototypeOf(item), String(item), "toString" in item],
  (item) => [Object.hasOwn(item, "title"), Object.hasOwn(item, "toString")],
  (item) => ["constructor", "toJSON"].map((name) => item[name]),
  (item) => Reflect.get(item, Symbol.iterator),
  (item) =>
    Object.values(Object.getOwnPropertyDescriptors(item)).map((one) => [
      [one.enumerable, one.configurable],
    ]),
  (item) => {
    const when = item["when"];
    if (when instanceof Date) when.setTime(7); // The reader's own.
  },
  ...[
    (item: Item) => Object.assign(item, { title: "x" }),
    (item: Item) => Object.assign(item, { fresh: 1 }),
    (item: Item) => Object.setPrototypeOf(item, null),
    (item: Item) => Object.defineProperty(item, "fresh", { value: 1 }),
    (item: Item) => delete (item as Record<string, unknown>)["title"],
    (item: Item) => void Object.preventExtensions(item),
  ].map((write) => (item: Item) => {
    try {
      write(item);
      return "done";
    } catch (error) {
      return error instanceof TypeError;
    }
  }),
];

Deno.test("ruleItem() is what showCell() shows, in whatever order one looks at it", () => {
  fc.assert(
    fc.property(
      shuffled,
      fc.shuffledSubarray(observations.map((_, i) => i)),
      ([all], order) => {
        for (const from of allViews) {
          const cell = foldAll(all, from);
          if (cell?.item === undefined) continue;
          for (const to of allViews) {
            const item = ruleItem(() => cell, to);
            const plain: Item = Object.freeze(
              copyForReader(showCell(cell, to), to),
            );
            for (const i of order) {
              const observe = observations[i]!;
              assert.deepEqual(observe(item), observe(plain));
            }
          }
        }
      },
    ),
    run,
  );
});

Deno.test("decodeCell() and decodeItem() show what fold() shows to any readers, and keep what they do not see", () => {
  fc.assert(
    fc.property(shuffled, fc.nat(8), ([, all], cut) => {
      for (const [i, view] of allViews.entries()) {
        const cell = foldAll(all.slice(0, cut), view);
        if (cell === undefined) continue;
        const { refs, tables } = refsFor();
        const w = new ByteWriter();
        encodeCell(w, cell, refs);
        // The app comes back with another schema.
        for (const later of [view, allViews[(i + 1) % allViews.length]!]) {
          const back = decodeCell(new ByteReader(w.copy()), tables, later);
          assert.equal(digest(back), digest(cell));
          const expected = foldAll(all.slice(0, cut), later)?.item;
          assert.deepEqual(back.item, expected);
          const alone = decodeItem(new ByteReader(w.copy()), tables, later);
          if (alone !== undefined) assert.deepEqual(alone, expected);
          assert.deepEqual(
            foldAll(all.slice(cut), later, back)?.item,
            foldAll(all, later)?.item,
          );
        }
      }
    }),
    run,
  );
});

function refsFor() {
  const shapesSeen: Shape[] = [];
  const originsSeen: Origin[] = [];
  const number = <T>(seen: T[], one: T) => {
    const at = seen.indexOf(one);
    return at < 0 ? seen.push(one) - 1 : at;
  };
  return {
    refs: {
      origin: (origin: Origin) => number(originsSeen, origin),
      shape: (shape: Shape) => number(shapesSeen, shape),
    },
    tables: {
      origin: (i: number) => originsSeen[i],
      shape: (i: number) => shapesSeen[i],
    },
  };
}

Deno.test("decodeCell() gives back what encodeCell() wrote, and folding goes on from it; decodeItem() its item, if any", () => {
  let plain = 0;
  fc.assert(
    fc.property(shuffled, fc.nat(8), ([, all], cut) => {
      for (const view of views) {
        const cell = foldAll(all.slice(0, cut), view);
        if (cell === undefined) continue;
        const { refs, tables } = refsFor();
        const w = new ByteWriter();
        encodeCell(w, cell, refs);
        const r = new ByteReader(w.copy());
        const back = decodeCell(r, tables, view);
        assert.ok(r.done);
        const alone = decodeItem(new ByteReader(w.copy()), tables, view);
        if (alone !== undefined) {
          plain++;
          assert.deepEqual(alone, cell.item);
          assert.deepEqual(Object.keys(alone), Object.keys(cell.item ?? {}));
        }
        assert.deepEqual(back.item, cell.item);
        assert.equal(digest(back), digest(cell));
        const rest = all.slice(cut);
        assert.equal(
          digest(foldAll(rest, view, back)),
          digest(foldAll(rest, view, cell)),
        );
      }
    }),
    run,
  );
  assert.ok(plain > 0);
});

Deno.test("decodeCell() meets garbage with nothing but SyntaxError", () => {
  const bytes = fc.tuple(commits, fc.array(fc.tuple(fc.nat(400), fc.nat(255))));
  fc.assert(
    fc.property(bytes, ([all, damages]) => {
      const cell = foldAll(all, views[0]!);
      if (cell === undefined) return;
      const { refs, tables } = refsFor();
      const w = new ByteWriter();
      encodeCell(w, cell, refs);
      const damaged = w.copy();
      for (const [at, byte] of damages) damaged[at % damaged.length] = byte;
      for (const decode of [decodeCell, decodeItem]) {
        try {
          decode(new ByteReader(damaged), tables, views[0]!);
        } catch (error) {
          assert.ok(error instanceof SyntaxError, String(error));
        }
      }
    }),
    run,
  );
});

const [older, newer, odd] = shapes;
const early = origins[0]!;
const late = { ...origins[1]!, wall: 9_999 };

function create(shape: Shape, values: Record<string, Value>): Operation {
  const empty = { title: "t", votes: 0, tags: [], labels: {}, steps: [] };
  const item = { id: ID };
  for (const { name } of shape.fields) {
    Object.assign(item, { [name]: { ...empty, ...values }[name] });
  }
  return { what: "create", shape, id: ID, generation: 0, item };
}

Deno.test("fold() keeps a create as it is, so that the log can hold it", () => {
  const cell = fold(undefined, create(older!, {}), early, 17, views[0]!);
  assert.equal(cell.createAt, 17);
  assert.equal(cell.stamps, undefined);
  assert.equal(cell.rich, undefined);
});

Deno.test("fold() adds up counters of concurrent creates exactly", () => {
  const huge = Number.MAX_SAFE_INTEGER;
  const one = create(older!, { votes: huge });
  const two = create(older!, { votes: huge });
  const first = fold(undefined, one, early, 0, views[0]!);
  const cell = fold(first, two, late, 0, views[0]!);
  assert.equal(cell.item?.votes, huge * 2);
  assert.equal(cell.createAt, -1);
});

Deno.test("fold() lets a delete win over a concurrent update, and only a create revive", () => {
  const view = views[0]!;
  const alive = fold(undefined, create(older!, {}), early, 0, view);
  const gone: Operation = {
    what: "delete",
    shape: older!,
    id: ID,
    generation: 0,
  };
  const dead = fold(alive, gone, early, -1, view);
  assert.equal(dead.item, undefined);
  const { field, change } = {
    field: older!.fields[0]!,
    change: { what: "set", value: "later" } as const,
  };
  const update: Operation = {
    what: "update",
    shape: older!,
    id: ID,
    generation: 0,
    changes: [{ field, change }],
  };
  assert.equal(fold(dead, update, late, -1, view), dead);
  const again = { ...create(older!, { title: "new" }), generation: 1 };
  assert.equal(fold(dead, again, late, 0, view).item?.title, "new");
});

Deno.test("fold() shows defaults to readers of older items and keeps newer fields", () => {
  const view = createView(Local);
  const old = fold(undefined, create(older!, {}), early, 0, view);
  assert.equal(old.item?.note, "none");
  assert.deepEqual(old.item?.steps, []);
  const now = fold(
    undefined,
    create(newer!, { extra: { a: 1 }, labels: { x: "y" } }),
    early,
    0,
    view,
  );
  assert.deepEqual(Object.keys(now.item ?? {}), [
    "id",
    "title",
    "note",
    "votes",
    "tags",
    "steps",
    "body",
    "extra",
    "labels",
    "when",
  ]);
  assert.deepEqual(now.item?.extra, { a: 1 });
});

Deno.test("fold() gives a field that writers disagree on to the greatest merge class", () => {
  const view = views[0]!;
  const first = fold(undefined, create(odd!, { tags: ["x"] }), late, 0, view);
  const cell = fold(first, create(older!, { tags: ["y"] }), early, 0, view);
  assert.deepEqual(cell.item?.tags, ["x"]);
});

Deno.test("fold() lets the last change of one commit win", () => {
  const view = views[0]!;
  const [labels, title] = ["labels", "title"].map((name) =>
    newer!.fields.find((field) => field.name === name)!
  );
  const update = (field: ShapeField, change: Change): Operation => ({
    what: "update",
    shape: newer!,
    id: ID,
    generation: 0,
    changes: [{ field, change }],
  });
  let cell = fold(undefined, create(newer!, {}), early, 0, view);
  for (const value of ["first", "last"]) {
    const put = update(labels!, { what: "put", entries: [["k", value]] });
    cell = fold(cell, put, late, -1, view);
    cell = fold(cell, update(title!, { what: "set", value }), late, -1, view);
  }
  assert.deepEqual({ ...Object(cell.item?.labels) }, { k: "last" });
  assert.equal(cell.item?.title, "last");
});

Deno.test("fold() never leaves an item that can be changed", () => {
  fc.assert(
    fc.property(commits, (all) => {
      const item = foldAll(all, views[1]!)?.item;
      if (item !== undefined) assert.ok(Object.isFrozen(item));
    }),
    { ...run, numRuns: sized(50, 100) },
  );
});
