/**
 * What the types of queries allow and forbid; checked by the compiler.
 *
 * @module
 */

import { strictEqual } from "node:assert/strict";
import { defineSchema } from "../schema/schema.ts";
import { field } from "../schema/field.ts";
import type { Infer, RefsOf } from "../schema/schema.ts";
import { avg, count, max, sum } from "./grouped_query.ts";
import { taskEngine } from "./kit_test.ts";
import { Query } from "./query.ts";

const User = defineSchema("user", { name: field.string() });
const Note = defineSchema("note", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().default(0),
  tags: field.set(field.string()),
  author: field.ref("user"),
  note: field.string().optional(),
  when: field.date().optional(),
  votes: field.counter(),
  labels: field.map(field.string()),
  state: field.enum(["open", "closed"]).default("open"),
  blob: field.bytes().optional(),
});
type NoteItem = Infer<typeof Note>;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;

function proves<T extends true>(proof: T): T {
  return proof;
}

const all = new Query<NoteItem, NoteItem, RefsOf<typeof Note>>(
  taskEngine(false).engine,
);

/** Never called: only its types matter. */
function allowed(): unknown[] {
  return [
    all.where({ author: "ada", done: false }),
    all.where({ rank: { gte: 3, lt: 9 }, title: { prefix: "Sh" } }),
    all.where({ tags: { contains: "x" }, author: { in: ["a", "b"] } }),
    all.where({ note: undefined, when: { gt: new Date(0) } }),
    all.where({ state: { not: "closed" }, labels: { contains: "k" } }),
    all.where({ or: [{ rank: 1 }, { not: { done: true } }] }),
    all.where({ note: { not: undefined }, votes: { gte: 2 } }),
    all.where({ blob: new Uint8Array(), id: { in: ["a"] } }),
    all.where((row) => row.rank > 3 && row.tags.includes("x")),
    all.orderBy("rank", "desc").orderBy(["title", "when"]),
  ];
}

/** Never called: every line must be refused by the compiler. */
function refused(): unknown[] {
  return [
    // @ts-expect-error no such field
    all.where({ colour: "red" }),
    // @ts-expect-error a number has no prefix
    all.where({ rank: { prefix: "1" } }),
    // @ts-expect-error a boolean has no order
    all.where({ done: { gt: false } }),
    // @ts-expect-error not one of the words
    all.where({ state: "ajar" }),
    // @ts-expect-error a required field is never absent
    all.where({ title: undefined }),
    // @ts-expect-error a set has no equality
    all.where({ tags: ["x"] }),
    // @ts-expect-error elements are strings
    all.where({ tags: { contains: 5 } }),
    // @ts-expect-error a set has no order
    all.orderBy("tags"),
    // @ts-expect-error no such direction
    all.orderBy("rank", "down"),
    // @ts-expect-error a string has no sum
    all.aggregate({ total: sum("title") }),
    // @ts-expect-error no such field to follow
    all.include({ writer: true }),
    // @ts-expect-error a title refers to nothing
    all.include({ title: true }),
    // @ts-expect-error nor does it beside what does
    all.include({ author: User, title: true }),
    // @ts-expect-error a set is no group
    all.groupBy("tags"),
  ];
}

/** Never called: what comes out has these types. */
function inferred(): boolean[] {
  const rows = all.run();
  const withUser = all.include({ author: User }).run();
  const groups = all.groupBy("author", "state").aggregate({
    n: count(),
    total: sum("rank"),
    mean: avg("votes"),
    last: max("when"),
  }).run();
  type Group = {
    readonly author: string;
    readonly state: "open" | "closed";
    readonly n: number;
    readonly total: number;
    readonly mean: number | undefined;
    readonly last: Date | undefined;
  };
  const group: Group | undefined = groups[0];
  return [
    proves<Same<typeof rows, NoteItem[]>>(true),
    proves<
      Same<
        (typeof withUser)[number]["author"],
        Infer<typeof User> | undefined
      >
    >(true),
    proves<Same<(typeof withUser)[number]["rank"], number>>(true),
    group === undefined,
  ];
}

Deno.test("Query's types allow what runs and refuse the rest", () => {
  strictEqual([allowed, refused, inferred].length, 3);
});
