import { equal, match } from "node:assert/strict";
import { lateRich } from "../../../src/schema/late_rich.ts";
import { rich } from "../../../src/schema/rich.ts";
import { nameOf } from "../../../src/schema/rich_list.ts";
import type { Change } from "../../../src/schema/patch.ts";
import { clientOf, TextState } from "../../../src/schema/text_state.ts";
import { changing, creating } from "../../kit/forge.ts";
import { Card } from "../collections.ts";
import { Names } from "./names.ts";

lateRich.provide(rich);

Deno.test("Names tells kinds, tags, elements and characters that nothing has brought", () => {
  const names = new Names(true);
  const origin = { wall: 5, count: 0, chain: "a" };
  names.begin(origin);
  const { shape } = Card;
  const item = { steps: ["x"], body: "abc", due: 1 };
  const tell = (change: Change, field: string) =>
    names.fault(changing({ shape, id: "c" }, { [field]: change }), origin);
  equal(names.fault(creating({ shape, id: "c" }, item), origin), undefined);
  const tags = (wall: number): Change => ({
    what: "remove",
    values: [{ value: "x", tags: [{ ...origin, wall }] }],
  });
  const gone = (length: number): Change => {
    const gone = [{ clock: 0, length }];
    const client = clientOf("abc");
    const text = new TextState(new Map([[client, { runs: [], gone }]]));
    return { what: "edit", text };
  };
  const element = `${nameOf(origin)}.0`;
  const drop = (element: string): Change => ({
    what: "delete",
    elements: [element],
  });
  equal(tell(tags(5), "tags"), undefined);
  equal(tell(gone(3), "body"), undefined);
  equal(tell(drop(element), "steps"), undefined);
  match(tell(tags(6), "tags")!, /^naming 6 /);
  match(tell(gone(4), "body")!, /^naming 4 of /);
  equal(tell(drop("never"), "steps"), "naming never");
  // The state has it from then on, and so has the gate.
  equal(tell(drop("never"), "steps"), undefined);
  equal(tell(tags(6), "tags"), undefined);
  const due = { ...shape, fields: [{ name: "due", kind: "list" }] } as const;
  const list = creating({ shape: due, id: "d" }, { due: [] });
  equal(names.fault(list, origin), "due is no list");
  const unruled = new Names(false);
  unruled.begin(origin);
  equal(unruled.fault(list, origin), undefined);
  const number = {
    ...shape,
    fields: [{ name: "due", kind: "number" }],
  } as const;
  const first = creating({ shape: number, id: "e" }, { due: 1 });
  equal(unruled.fault(first, origin), "due is no number");
});
