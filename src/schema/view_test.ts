import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { workOf } from "../../tests/kit/work.ts";
import { field } from "./field.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Shape, Value } from "./patch.ts";
import { rich } from "./rich.ts";
import type { RichState } from "./rich_state.ts";
import { defineSchema } from "./schema.ts";
import { createView } from "./view.ts";

const Note = defineSchema("note", {
  title: field.string(),
  rank: field.number().default(3),
});

const fields = [
  { name: "title", kind: "string" },
  { name: "rank", kind: "number" },
] as const;

Deno.test("View.show() hands out an item itself where its writer had the reader's fields, and a copy where not", () => {
  const shape: Shape = { collection: "note", version: 1, fields };
  const item = Object.freeze({ id: "n", title: "a", rank: 1 });
  equal(createView(Note).show(shape, item), item, "copies cost memory");

  const before: Shape = { ...shape, fields: fields.slice(0, 1) };
  const old = Object.freeze({ id: "n", title: "a" });
  const shown = createView(Note).show(before, old);
  notEqual(shown, old);
  deepEqual({ ...shown }, { id: "n", title: "a", rank: 3 });
});

Deno.test("View.build() looks through the elements of a field once, however many items show them", () => {
  const Team = defineSchema("team", {
    name: field.string(),
    members: field.set(field.string()),
  });
  const shape: Shape = {
    collection: "team",
    version: 1,
    fields: [{ name: "name", kind: "string" }, {
      name: "members",
      kind: "set",
    }],
  };
  const all = Array.from({ length: 1_000 }, (_, i) => i < 999 ? `u${i}` : 5);
  const stamp = { wall: 1, count: 0, chain: "c" };
  const members = OrderedMap.of<string, RichState>(compareText, [
    ["members", rich.kinds.set.begin(all, stamp)],
  ]);
  const told: string[] = [];
  const view = createView(
    Team,
    undefined,
    ({ name }, kind) => told.push(`${name} ${kind}`),
  );
  const shownAs = (name: string) =>
    view.build("t", shape, new Map([["name", name]]), members)["members"];
  deepEqual((shownAs("first") as Value[]).length, 1_000);
  deepEqual(told, ["members string"]);

  const again = createView(Team, undefined, () => told.push("again"));
  const sound = rich.kinds.set.begin(all.slice(0, 999), stamp);
  const whole = members.with("members", sound);
  const work = workOf(() => {
    for (let i = 0; i < 100; i++) {
      const values = new Map([["name", `${i}`]]);
      again.build("t", shape, values, whole)["members"];
    }
  });
  ok(work < 10_000, `${work} elements for 100 items`);
  equal(told.length, 1);
});
