import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { limits } from "../base/limits.ts";
import { type Cell, nowhere } from "./cell.ts";
import { field } from "./field.ts";
import type { Cells } from "./judge.ts";
import { fold } from "./merge.ts";
import type { Operation } from "./patch.ts";
import { ReadingRoom } from "../../repo/admission/reading_room.ts";
import type {
  LookUp,
  RuleContext,
  RuleResult,
  UpdateContext,
} from "./rule_types.ts";
import { defineRules, rulesFor } from "./rules.ts";
import { defineSchema } from "./schema.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Member = defineSchema("member", {
  role: field.string().default("reader"),
  since: field.date().optional(),
  tags: field.set(field.string()),
});

const ada = Object.freeze({ user: "ada", claims: {}, key: "00" });

/** Operations on items, as they come from anybody. */
function here(...operations: readonly Operation[]): Cells {
  const cells = new Map<string, Cell>();
  const view = createView(undefined); // As a server's.
  for (const one of operations) {
    const key = `${one.shape.collection}/${one.id}`;
    cells.set(key, fold(cells.get(key), one, nowhere, -1, view));
  }
  return { cellOf: (collection, id) => cells.get(`${collection}/${id}`) };
}

function create(id: string, item: Record<string, unknown>): Operation {
  const { shape } = Member;
  const all = { since: undefined, tags: [], ...item };
  const fields = shape.fields.filter(({ name }) => name in all);
  return {
    what: "create",
    shape: { ...shape, fields },
    id,
    generation: 0,
    item: { id, ...all } as never,
  };
}

/** What a rule that may look at these items says. */
function ask(rule: (context: RuleContext) => RuleResult, cells?: Cells) {
  const rules = defineRules({ "a": { read: rule } });
  const decision = rules.mayRead(ada, "a", 0, cells);
  if (decision === undefined) return "later";
  return decision.allowed ? "yes" : decision.reason;
}

Deno.test("get() shows items as the given schema does, whatever their writers knew", () => {
  const seen: unknown[] = [];
  const cells = here(create("ada", { tags: ["x"], since: new Date(5) }));
  const rule = ({ get }: RuleContext) => {
    const member = get(Member, "ada")!;
    seen.push(member, Object.isFrozen(member));
    member.since!.setTime(0); // Its own copy.
    return true;
  };
  equal(ask(rule, cells), "yes");
  equal(ask(rule, cells), "yes");
  const item = { id: "ada", role: "reader", since: new Date(0), tags: ["x"] };
  deepEqual(seen, [item, true, item, true]);
  const again = ({ get }: RuleContext) =>
    get(Member, "ada")!.since!.getTime() === 5;
  equal(ask(again, cells), "yes");
});

Deno.test("get() gives nothing for what is not there, was deleted, or is of an unknown collection", () => {
  const { shape } = Member;
  const gone = { what: "delete" as const, shape, id: "bob", generation: 0 };
  const cells = here(create("bob", { role: "owner" }), gone);
  const Other = defineSchema("other", { role: field.string() });
  const rule = ({ get }: RuleContext) =>
    get(Member, "ada") === undefined && get(Member, "bob") === undefined &&
    get(Member, "") === undefined && get(Member, "__proto__") === undefined &&
    get(Other, "bob") === undefined;
  equal(ask(rule, cells), "yes");
});

Deno.test("a rule that looks up too many items is denied, also where it would hide that", () => {
  const loop = (count: number, get: LookUp) => {
    for (let i = 0; i < count; i++) get(Member, `${i}`);
    return true;
  };
  const cells = here();
  const { ruleLookUpsMax: max } = limits;
  equal(ask(({ get }) => loop(max, get), cells), "yes");
  const denied = `It looks up more than ${max} items`;
  equal(ask(({ get }) => loop(max + 1, get), cells), denied);
  const hidden = ({ get }: RuleContext) => {
    try {
      return loop(100_000_000, get);
    } catch {
      return true;
    }
  };
  equal(ask(hidden, cells), denied);
});

Deno.test("a rule that looks up what is no id or no schema is denied", () => {
  const odd = [5, undefined, null, {}, ["ada"], { toString: () => "ada" }];
  for (const id of odd) {
    const told = ask(
      ({ get }) => get(Member, id as never) === undefined,
      here(),
    );
    ok(/^The rule failed: .* is no id$/.test(told), told);
  }
  for (const schema of [undefined, null]) {
    const told = ask(({ get }) => !get(schema as never, "ada"), here());
    ok(/^The rule failed/.test(told), told);
  }
});

Deno.test("values of another kind than the schema's are shown as its defaults, and break nothing", () => {
  const shape = {
    collection: "member",
    version: 1,
    fields: [
      { name: "role", kind: "number" as const },
      { name: "tags", kind: "string" as const },
    ],
  };
  const item = { id: "eve", role: 7, tags: "all" };
  const cells = here(
    { what: "create", shape, id: "eve", generation: 0, item } as Operation,
  );
  const seen: unknown[] = [];
  const rule = ({ get }: RuleContext) => {
    const { role, tags } = get(Member, "eve")!;
    seen.push(role, tags);
    return tags.some((tag) => tag === "all");
  };
  equal(ask(rule, cells), "The rule does not allow it");
  deepEqual(seen, ["reader", []]);
});

Deno.test("what is not known yet is asked for later, also where a rule hides that it looked", () => {
  equal(ask(({ get }) => get(Member, "ada") !== undefined), "later");
  const hidden = ({ get }: RuleContext) => {
    try {
      return get(Member, "ada") === undefined;
    } catch {
      return true;
    }
  };
  equal(ask(hidden), "later");
  equal(ask(() => "closed"), "closed");
});

Deno.test("look-ups end with the question that they were given for", () => {
  let kept: LookUp | undefined;
  equal(ask(({ get }) => (kept = get, true), here()), "yes");
  throws(() => kept!(Member, "ada"), /nobody asks it now/);
});

Deno.test("a rule that asks another question goes on with its own look-ups", () => {
  const inner = defineRules({
    "b": { read: ({ get }) => !get(Member, "ada") },
  });
  const rule = ({ get }: RuleContext) => {
    const there = get(Member, "ada") !== undefined;
    const nothing = inner.mayRead(ada, "b", 0, here())!.allowed;
    return there && nothing && get(Member, "ada") !== undefined;
  };
  equal(ask(rule, here(create("ada", {}))), "yes");
});

Deno.test("what is put together of large fields for rules takes room, once of each; without room they deny, also where they would hide that", () => {
  const { shape } = Member;
  const tags = shape.fields.find(({ name }) => name === "tags")!;
  const adding = (...values: string[]): Operation => {
    const changes = [{ field: tags, change: { what: "add", values } as const }];
    return { what: "update", shape, id: "ada", generation: 0, changes };
  };
  const many = Array.from({ length: 100 }, (_, i) => `t${i + 100}`);
  const before = here(create("ada", {}), adding(...many));
  const operation = adding("u");
  const view = createView(undefined);
  const after = () =>
    fold(before.cellOf("member", "ada"), operation, nowhere, -1, view);
  const asked = (
    rule: (context: UpdateContext<typeof Member>) => RuleResult,
    room: ReadingRoom,
  ) => {
    const rules = defineRules({
      "a": { collections: [rulesFor(Member, { update: rule })] },
    });
    const write = { session: ada, wall: 0, operation, after };
    const cell = before.cellOf("member", "ada");
    const around = { before, room };
    return rules.of("a").judge({ ...write, before: cell }, around)!;
  };
  const room = new ReadingRoom(250);
  const small = ({ before, changed }: UpdateContext<typeof Member>) =>
    before.role === "reader" && changed.length === 1;
  equal(asked(small, room).allowed, true);
  equal(room.parts, 0);
  const large = ({ before, after, get }: UpdateContext<typeof Member>) =>
    before.tags.length === 100 && after.tags.length === 101 &&
    get(Member, "ada")!.tags === before.tags;
  equal(asked(large, room).allowed, true);
  equal(room.parts, 201);
  equal(asked(({ before }) => before.tags.length > 0, room).allowed, true);
  equal(room.parts, 201, "it was put together before");
  const hidden = ({ after }: UpdateContext<typeof Member>) => {
    try {
      return after.tags.length > 0;
    } catch {
      return { ...after }.role === "";
    }
  };
  const decision = asked(hidden, room);
  ok(!decision.allowed);
  equal(decision.reason, "Its batch has rules read too much of large fields");
  equal(decision.rule, "a member.update");
});
