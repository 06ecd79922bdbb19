import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { workOf } from "../../tests/kit/work.ts";
import type { Stamp } from "../base/hlc.ts";
import type { Cell, Origin } from "./cell.ts";
import { field } from "./field.ts";
import { fold } from "./merge.ts";
import type { FieldChange, Operation, Shape } from "./patch.ts";
import { compareText } from "./ordered_map.ts";
import { OrderedMap } from "./ordered_map.ts";
import { showCell } from "./rule_item.ts";
import { defineRules, rulesFor } from "./rules.ts";
import { defineSchema } from "./schema.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Task = defineSchema("task", {
  title: field.string(),
  owner: field.string().default("nobody"),
  votes: field.counter(),
  tags: field.set(field.string()),
});
/** The same collection as another version of the app writes it. */
const Later = defineSchema("task", {
  color: field.string().default("white"),
  title: field.string(),
  owner: field.string().default("somebody"),
  due: field.date().optional(),
}, { version: 2 });

const session = { user: "ada", claims: {}, key: "00" };

function originOf(wall: number, chain = "a"): Origin {
  return { wall, count: 0, chain, operationsAt: -1 };
}

function create(shape: Shape, fields: object, generation = 0): Operation {
  const item = Object.freeze({ id: "x", ...fields }) as never;
  return { what: "create", shape, id: "x", generation, item };
}

function update(shape: Shape, fields: Record<string, string>): Operation {
  const changes = Object.entries(fields).map(([name, value]) => ({
    field: shape.fields.find((field) => field.name === name)!,
    change: { what: "set" as const, value },
  }));
  return { what: "update", shape, id: "x", generation: 0, changes };
}

const gone = {
  what: "delete",
  shape: Task.shape,
  id: "x",
  generation: 0,
} as const;
const born = create(Task.shape, {
  title: "t",
  owner: "o",
  votes: 1,
  tags: ["a"],
});

/** What is told of an operation after others, and what the rule saw. */
function judge(history: Operation[], operation: Operation): string {
  const view = createView(undefined);
  let seen = "";
  const rules = defineRules({
    "**": {
      collections: [rulesFor(Task, {
        create: ({ changed }) => (seen = `create ${changed}`, true),
        update: (
          { changed, before, after },
        ) => (seen = `update ${changed} ${before.owner}>${after.owner}`, true),
        delete: ({ before }) => (seen = `delete ${before.title}`, true),
      })],
    },
  }).of("r");
  let before: Cell | undefined;
  for (const [i, past] of history.entries()) {
    before = fold(before, past, originOf(i + 1), -1, view);
  }
  const after = () => fold(before, operation, originOf(9), -1, view);
  const written = { session, wall: 9, operation, before, after };
  const decision = rules.judge(written, {})!;
  return decision.allowed ? seen : decision.reason;
}

Deno.test("a rule is asked of what an operation does to the item as it is", () => {
  equal(judge([], born), "create title,owner,votes,tags");
  equal(judge([born], update(Task.shape, { owner: "p" })), "update owner o>p");
  equal(judge([born], gone), "delete t");
  equal(
    judge([born, gone], create(Task.shape, { title: "u" }, 1)),
    "create title",
  );
});

Deno.test("a field that is written with the value that was there counts as changed", () => {
  equal(judge([born], update(Task.shape, { owner: "o" })), "update owner o>o");
});

Deno.test("fields that only other schemas have are seen as changed", () => {
  equal(
    judge([born], update(Later.shape, { color: "red" })),
    "update color o>o",
  );
  equal(
    judge([], create(Later.shape, { title: "u", color: "red" })),
    "create color,title",
  );
});

Deno.test("operations that no honest writer makes are denied unasked", () => {
  equal(judge([], gone), "It is not there");
  equal(judge([], update(Task.shape, { owner: "p" })), "It is not there");
  equal(
    judge([], create(Task.shape, {}, 1)),
    "It is of another generation",
  );
  equal(
    judge([born, gone], create(Task.shape, {}, 7)),
    "It is of another generation",
  );
  for (const next of [{ ...gone, generation: 1 }, create(Task.shape, {}, 1)]) {
    equal(
      judge([born], next),
      "It is of another generation",
    );
  }
  const asList = { ...Task.shape.fields[0]!, kind: "list" } as const;
  const shape = { ...Task.shape, fields: [asList] };
  equal(judge([], create(shape, {})), "title is no list");
  const change = { field: asList, change: { what: "delete", elements: [] } };
  const changes = [change as unknown as FieldChange];
  equal(
    judge([born], { ...update(Task.shape, {}), what: "update", changes }),
    "title is no list",
  );
});

Deno.test("to create what is there is to change every field of the shape, also those without a value", () => {
  equal(
    judge([born], create(Task.shape, { title: "u", owner: "p" })),
    `update ${Task.shape.fields.map(({ name }) => name)} o>p`,
  );
});

Deno.test("what is meant for a generation that has ended is history: no rule is asked", () => {
  for (const late of [born, gone, update(Task.shape, { owner: "p" })]) {
    equal(judge([born, gone], late), "");
    const next = create(Task.shape, { title: "u", owner: "q" }, 1);
    equal(judge([born, gone, next], late), "");
  }
});

/** A cell of 1,000 fields, and how many of them were read or copied. */
function wide(): [Cell, () => number] {
  let touched = 0;
  const bytes = new Uint8Array(1 << 20);
  bytes.slice = () => (touched++, bytes);
  const item = { id: "x", bytes };
  let stamps = OrderedMap.of<string, Stamp>(compareText, [
    ["bytes", originOf(1)],
  ]);
  for (let i = 1; i < 1_000; i++) {
    const name = i === 1 ? "owner" : `f${i}`;
    const get = () => (touched++, "ada");
    Object.defineProperty(item, name, { enumerable: true, get });
    stamps = stamps.with(name, originOf(1));
  }
  const cell = fold(undefined, born, originOf(1), -1, createView(undefined));
  return [
    { ...cell, item: item as unknown as Cell["item"], stamps },
    () => touched,
  ];
}

Deno.test("to ask a rule takes what it reads, whatever else the item holds", () => {
  const [before, touched] = wide();
  const rules = defineRules({
    "**": {
      collections: [rulesFor(Task, {
        update: ({ before, session, changed, get, getAfter }) =>
          before.owner === session.user && changed.join() === "title" &&
          get(Task, "x")?.owner === getAfter(Task, "x")?.owner,
        delete: ({ before, session }) => before.owner === session.user,
      })],
    },
  }).of("r");
  const cells = { cellOf: () => before };
  const around = { before: cells, after: cells };
  const work = workOf(() => {
    for (const operation of [update(Task.shape, { title: "t" }), gone]) {
      const after = () => {
        throw new Error("no rule looks at it");
      };
      const write = { session, wall: 9, operation, before, after };
      ok(rules.judge(write, around)!.allowed);
    }
  });
  equal(touched(), 4);
  ok(work < 300, `${work} elements in 2 operations and 2 look-ups`);
});

/** Random operations of several writers on one item. */
const operations = fc.array(
  fc.oneof(
    fc.record({ title: fc.string(), owner: fc.string() }).map((fields) =>
      create(Task.shape, { ...fields, votes: 2, tags: ["b"] })
    ),
    fc.record({ title: fc.string(), color: fc.string() }).map((fields) =>
      create(Later.shape, { ...fields, owner: "q", due: undefined })
    ),
    fc.string().map((title) => update(Task.shape, { title })),
    fc.string().map((color) => update(Later.shape, { color })),
    fc.constant<Operation>({
      what: "update",
      shape: Task.shape,
      id: "x",
      generation: 0,
      changes: [{
        field: Task.shape.fields[2]!,
        change: { what: "increment", amount: 3 },
      }],
    }),
  ),
  { minLength: 1, maxLength: 8 },
);

Deno.test("rules see the same item whatever schema a replica reads with", () => {
  const to = createView(Task);
  fc.assert(
    fc.property(operations, (list) => {
      const shown = [Task, Later, undefined].map((schema) => {
        const view = createView(schema);
        let cell: Cell | undefined;
        list.forEach((operation, i) =>
          cell = fold(cell, operation, originOf(i + 1, "ab"[i % 2]), -1, view)
        );
        return showCell(cell!, to);
      });
      deepEqual(shown[1], shown[0]);
      deepEqual(shown[2], shown[0]);
      for (const other of shown) {
        deepEqual(Object.keys(other!), Object.keys(shown[0]!));
        ok(Object.isFrozen(other));
      }
    }),
    { seed: 3, numRuns: 300 },
  );
});
