import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { field } from "./field.ts";
import { nowhere } from "./cell.ts";
import { fold } from "./merge.ts";
import type { Item, Operation } from "./patch.ts";
import { allowed, type RuleSession } from "./rule_types.ts";
import { defineRules, type RepositoryRules, rulesFor } from "./rules.ts";
import { defineSchema } from "./schema.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Task = defineSchema("task", {
  title: field.string(),
  owner: field.string(),
  done: field.boolean().default(false),
  due: field.date().optional(),
});
const Note = defineSchema("note", { text: field.string() });
const view = createView(undefined);

const ada: RuleSession = Object.freeze({
  user: "ada",
  claims: Object.freeze({ role: "member", team: "acme" }),
  key: "00",
});

function item(fields: Record<string, unknown> = {}): Item {
  const values = { title: "Wash", owner: "ada", done: false, due: undefined };
  return Object.freeze({ id: "t1", ...values, ...fields }) as Item;
}

/** Asks what a create of a task would be told. */
function create(rules: RepositoryRules, made = item()) {
  const operation: Operation = {
    what: "create",
    shape: Task.shape,
    id: made.id,
    generation: 0,
    item: made,
  };
  const after = () => fold(undefined, operation, nowhere, -1, view);
  const write = { session: ada, wall: 1_000, operation, before: undefined };
  return rules.judge({ ...write, after }, {})!;
}

function fails(code: string, pattern: RegExp, run: () => unknown): void {
  throws(run, (error) => {
    ok(error instanceof DatabaseError, String(error));
    equal(error.code, code);
    ok(pattern.test(error.message), error.message);
    return true;
  });
}

/** Never called: only its types matter. */
function typed(): unknown {
  return defineRules({
    "team/{team}/{project}": {
      read: ({ session, params, at }) =>
        session.claims.team === params.team && at.getTime() > 0 &&
        // @ts-expect-error the pattern has no such parameter
        params.owner === "",
      collections: [
        rulesFor(Task, {
          create: ({ session, after, before, params }) =>
            before === undefined && after.owner === session.user &&
            params.project !== "" &&
            // @ts-expect-error the schema has no such field
            after.colour === "red",
          update: ({ before, after, changed }) =>
            before.owner === after.owner && !changed.includes("owner") &&
            // @ts-expect-error the schema has no such field
            !changed.includes("colour"),
          // @ts-expect-error nothing is left of the item after a delete
          delete: ({ after }) => after.owner === "ada",
        }),
        rulesFor(Note, {
          // @ts-expect-error a date is no answer
          create: () => new Date(),
          update: ({ before, after }) =>
            before.text === after.text || "The text stays",
        }),
      ],
    },
    "**": { others: true },
  });
}
ok(typed);

Deno.test("defineRules() lets a rule allow, deny, and deny with a reason", () => {
  const answers: (boolean | string)[] = [true, false, "Only on Mondays"];
  const told = answers.map((answer) =>
    create(
      defineRules({
        "team/{team}": {
          collections: [rulesFor(Task, { create: () => answer })],
        },
      }).of("team/acme"),
    )
  );
  const rule = "team/{team} task.create";
  deepEqual(told, [
    allowed,
    { allowed: false, reason: "The rule does not allow it", rule },
    { allowed: false, reason: "Only on Mondays", rule },
  ]);
});

Deno.test("what no rule is for is denied, and the reason says what is missing", () => {
  const rules = defineRules({
    "team/{team}": { collections: [rulesFor(Note, {}), rulesFor(Task, {})] },
    "bare/{name}": {},
    "open/{name}": { others: true },
  });
  const told = ["team/a", "bare/a", "open/a", "else", "team/a/b"].map(
    (name) => {
      const decision = create(rules.of(name));
      return decision.allowed
        ? "allowed"
        : `${decision.rule}: ${decision.reason}`;
    },
  );
  deepEqual(told, [
    'team/{team} task.create: No rule lets anybody create "task" items',
    'bare/{name} task: No rule lets anybody write "task" items here',
    "allowed",
    'no pattern: No pattern of the rules fits "else"',
    'no pattern: No pattern of the rules fits "team/a/b"',
  ]);
  const read = rules.mayRead(ada, "team/a", 0)!;
  equal(read.allowed ? "" : read.reason, "No rule lets anybody read it");
});

Deno.test("a rule that throws, promises or answers nothing denies and says why", () => {
  const wrong: [unknown, RegExp][] = [
    [() => {
      throw new Error("no title");
    }, /^The rule failed: no title$/],
    [() => {
      throw { toString: () => "x" };
    }, /^The rule failed: an object$/],
    [() => undefined, /^The rule gave undefined: true, false or a reason/],
    [() => 1, /^The rule gave 1:/],
    [
      () => Promise.reject(new Error("never heard")),
      /a promise: rules are synchronous/,
    ],
    [() => ({
      get then() {
        throw new Error("trap");
      },
    }), /^The rule gave an object:/],
    [() => "", /^The rule does not allow it$/],
    [() => "x".repeat(10_000), /^x{499}…$/],
    [() => "\ud800", /^\ufffd$/],
  ];
  for (const [rule, reason] of wrong) {
    const rules = defineRules({
      "**": {
        collections: [rulesFor(Task, { create: rule as () => boolean })],
      },
    });
    const decision = create(rules.of("a"));
    ok(!decision.allowed && reason.test(decision.reason), String(reason));
  }
});

Deno.test("the first pattern that fits counts, in the order of declaration", () => {
  const rules = defineRules({
    "team/acme": { read: () => "first" },
    "team/{team}": { read: ({ params }) => `team ${params.team}` },
    "team/**": { read: ({ repository }) => `rest ${repository}` },
    "{a}/{b}/c": { read: ({ params }) => `${params.a} ${params.b}` },
    "**": { read: () => "all" },
  });
  const told = [
    "team/acme",
    "team/x",
    "team/x/y",
    "a/b/c",
    "a/b/d",
    "team",
    "x",
  ].map((name) => {
    const decision = rules.mayRead(ada, name, 0)!;
    return decision.allowed ? "" : decision.reason;
  });
  deepEqual(told, [
    "first",
    "team x",
    "rest team/x/y",
    "a b",
    "all",
    "all",
    "all",
  ]);
});

Deno.test("everything that a rule sees is frozen or its own copy", () => {
  const due = new Date(5);
  let seen = 0;
  const rules = defineRules({
    "t/{team}": {
      collections: [rulesFor(Task, {
        create: (context) => {
          seen++;
          const { session, params, after, changed } = context;
          for (
            const part of [
              context,
              session,
              session.claims,
              params,
              after,
              changed,
            ]
          ) {
            ok(Object.isFrozen(part));
          }
          after.due?.setTime(7);
          context.at.setTime(7);
          throws(() => Object.assign(after, { owner: "eve" }), TypeError);
          return true;
        },
      })],
    },
  }).of("t/a");
  deepEqual(create(rules, item({ due })), allowed);
  equal(seen, 1);
  equal(due.getTime(), 5);
});

Deno.test("a wrong definition fails where it is made", () => {
  const rule = () => true;
  const bad: [RegExp, () => unknown][] = [
    [/pattern/, () => defineRules({ "": {} })],
    [/pattern/, () => defineRules({ "a//b": {} })],
    [/at the end/, () => defineRules({ "**/a": {} })],
    [/pattern/, () => defineRules({ "a/{b": {} })],
    [/pattern/, () => defineRules({ "../a": {} })],
    [/parameter twice/, () => defineRules({ "{a}/{a}": {} })],
    [/over 8 segments/, () => defineRules({ "a/b/c/d/e/f/g/h/i": {} })],
    [/never asked/, () => defineRules({ "a/{b}": {}, "a/{c}": {} })],
    [
      /"private\/\{user\}" is never asked/,
      () => defineRules({ "**": {}, "private/{user}": {} }),
    ],
    [/two entries for "task"/, () =>
      defineRules({
        "**": { collections: [rulesFor(Task, {}), rulesFor(Task, {})] },
      })],
    [
      /unknown key "reads"/,
      () => defineRules({ "**": { reads: rule } as never }),
    ],
    [/unknown key "insert"/, () => rulesFor(Task, { insert: rule } as never)],
    [/not a function/, () => rulesFor(Task, { create: true as never })],
    [
      /synchronous/,
      () => rulesFor(Task, { create: (async () => {}) as never }),
    ],
    [
      /synchronous/,
      () => defineRules({ "**": { read: (async () => {}) as never } }),
    ],
    [/defineSchema/, () => rulesFor({} as never, {})],
    [/rulesFor/, () => defineRules({ "**": { collections: [{}] as never } })],
    [/no array/, () => defineRules({ "**": { collections: {} as never } })],
    [/no boolean/, () => defineRules({ "**": { others: 1 as never } })],
    [/not an object/, () => defineRules({ "**": null as never })],
    [/an object of patterns/, () => defineRules(null as never)],
  ];
  for (const [pattern, run] of bad) fails("invalid-option", pattern, run);
});
