/**
 * What newcomers get wrong, and what they are told: each message says what
 * happened, why, and what to do. Those that types catch are at the end.
 *
 * @module
 */
// deno-lint-ignore-file no-explicit-any -- as programs in JavaScript ask

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import {
  count,
  DatabaseError,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  rulesFor,
  sum,
} from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { openDatabase as openPage } from "../src/browser/mod.ts";
import { useDatabase, useSuspenseItem } from "../src/hooks/react.ts";
import { openKv } from "../src/kv/mod.ts";
import { codemirror } from "../src/text/codemirror.ts";
import { bindTextarea, text } from "../src/text/mod.ts";
import { FakePage, FakeTextarea } from "./kit/fake_textarea.ts";
import { ruleTester } from "./kit/mod.ts";

const User = defineSchema("user", { name: field.string() });
const Task = defineSchema("task", {
  title: field.string(),
  rank: field.number().default(0),
  done: field.boolean().default(false),
  due: field.date().optional(),
  tags: field.set(field.string()),
  author: field.ref("user").optional(),
  votes: field.counter(),
  prio: field.enum(["low", "high"]).default("low"),
  extra: field.json().optional(),
  blob: field.bytes().optional(),
  note: text(),
  steps: field.list(field.string()),
  meta: field.map(field.number()),
});
const FIELDS = Object.keys(Task.fields).join(", ");
const Seats = defineSchema("seats", {
  mail: field.string(),
  left: field.counter().min(0),
  who: field.ref("user").exists().optional(),
}, { unique: [["mail"]] });
const rules = defineRules({
  "team/{team}": {
    read: () => true,
    collections: [
      rulesFor(Task, {
        create: ({ session, after }) =>
          after.title === session.user || "Only for yourself",
      }),
    ],
  },
});

/** As a program in JavaScript sees it. */
const js = (value: unknown): any => value;

const mem = memoryStorage;
const schemas = [User, Task, Seats];
const d = js(await openDatabase({ storage: mem(), schemas, user: "ada" }));
const db = d;
const r = await d.repository("test");
const tasks = r.collection(Task);
const seats = r.collection(Seats);
tasks.create({ id: "a", title: "A" });
seats.create({ id: "s", mail: "a@b", left: 1 });
const kv = js(openKv(r));
const dbRules = js(
  await openDatabase({ storage: mem(), schemas: [User, Task], rules }),
);
const rr = await dbRules.repository("team/x");
const area = new FakeTextarea(new FakePage());
const [f, ds, dr, rf] = [field, defineSchema, defineRules, rulesFor].map(js);
const [od, cs, bt] = [openDatabase, createServer, bindTextarea].map(js);
const show = (...of: unknown[]) => renderToString(js(createElement)(...of));

/** What is done, and what is said: the code, and the message. */
const mistakes: Record<string, [() => unknown, string][]> = {
  schema: [
    [
      () => ds(),
      "invalid-name: Cannot use collection name undefined: use a letter, then up to 63 letters, digits, _ or -.",
    ],
    [
      () => ds("task"),
      'invalid-schema: Cannot define schema "task": its fields are an object, such as { title: field.string() }.',
    ],
    [
      () => ds("my task", { a: f.string() }),
      'invalid-name: Cannot use collection name "my task": use a letter, then up to 63 letters, digits, _ or -.',
    ],
    [
      () => ds("t", { a: "string" }),
      'invalid-schema: Cannot define schema "t": a is not a field: call one, such as field.string().',
    ],
    [
      () => ds("t", { a: f.string }),
      'invalid-schema: Cannot define schema "t": a is not a field: call one, such as field.string().',
    ],
    [
      () => ds("t", { id: f.string() }),
      'invalid-name: Cannot use field name "id" in t: use a letter, then up to 63 letters, digits or _, and no reserved word such as id.',
    ],
    [
      () => ds("t", { a: f.enum() }),
      'invalid-schema: Cannot define schema "t": a has no options: give field.enum() a list.',
    ],
    [
      () => ds("t", { a: f.ref() }),
      'invalid-schema: Cannot define schema "t": a refers to undefined, and not to a collection by its name, such as field.ref("user").',
    ],
    [
      () => ds("t", { a: f.ref(User) }),
      'invalid-schema: Cannot define schema "t": a refers to an object, and not to a collection by its name, such as field.ref("user").',
    ],
    [
      () => ds("t", { a: f.list() }),
      "invalid-schema: field.list() needs the kind of its elements, such as field.string()",
    ],
    [
      () => ds("t", { a: f.list(f.list(f.string())) }),
      'invalid-schema: Cannot define schema "t": a is a list of list, and elements are single values, such as field.string().',
    ],
    [
      () => ds("t", { a: f.number().default("7") }),
      'invalid-value: Cannot write t.a: expected a finite number, got "7".',
    ],
    [
      () => ds("t", { a: f.date().default(() => new Date()) }),
      "invalid-value: Cannot write t.a: expected a valid Date, got a function.",
    ],
    [
      () => ds("t", { a: f.string({ optional: true }) }),
      "invalid-schema: field.string() takes no options: what a field may add are methods, as in field.string().optional()",
    ],
    [
      () => ds("t", { a: f.string() }, { indexes: [["b"]] }),
      'invalid-schema: Cannot define schema "t": an index names the unknown field "b".',
    ],
    [
      () => ds("t", { a: f.string() }, { indexes: ["a"] }),
      'invalid-schema: Cannot define schema "t": an index is no list of fields, such as [["title"]].',
    ],
    [
      () => ds("t", { a: f.set(f.string()) }, { indexes: [["a"]] }),
      'invalid-schema: Cannot define schema "t": an index cannot be over a, a set field.',
    ],
    [
      () => ds("t", { a: f.string() }, { index: [["a"]] }),
      "invalid-option: There is no option `index`: did you mean `indexes`?",
    ],
    [
      () => ds("t", { a: { type: "string" } }),
      'invalid-schema: Cannot define schema "t": a is not a field: call one, such as field.string().',
    ],
  ],
  open: [
    [
      () => od(),
      "invalid-option: Give openDatabase() either a folder, { path: … }, or a medium, { storage: … }",
    ],
    [
      () => od("./data"),
      "invalid-option: `options` must be an object, such as { path: … }",
    ],
    [
      () => od({}),
      "invalid-option: Give openDatabase() either a folder, { path: … }, or a medium, { storage: … }",
    ],
    [
      () => od({ storage: mem(), schemas: Task }),
      "invalid-schema: `schemas` must be a list of what defineSchema() gave",
    ],
    [
      () => od({ storage: mem(), schema: [Task] }),
      "invalid-option: There is no option `schema`: did you mean `schemas`?",
    ],
    [
      () =>
        od({ storage: mem(), schemas: [Task, ds("task", { a: f.string() })] }),
      'invalid-schema: Two schemas are named "task"',
    ],
    [
      () => od({ path: "x", storage: mem() }),
      "invalid-option: Give openDatabase() either a folder, { path: … }, or a medium, { storage: … }",
    ],
    [
      () => od({ storage: mem(), mode: "safe" }),
      'invalid-option: `mode` must be "default", "trusted" or "fast", not "safe"',
    ],
    [
      () => od({ storage: mem(), user: 7 }),
      "invalid-option: `user` must be a string of 1 to 85 characters",
    ],
    [
      () => od({ storage: mem(), rootKey: "abc" }),
      "invalid-option: `rootKey` must be 32 bytes or 64 hexadecimal digits. A server prints it at its start",
    ],
    [
      () => od({ storage: mem(), rules: [] }),
      "invalid-option: `rules` must be what defineRules() gives",
    ],
    [
      () => d.repository("my team"),
      'invalid-name: Cannot use "my team" as a repository name: it takes 1 to 8 segments of 1 to 64 letters, digits, "_" or "-", joined by "/"',
    ],
    [
      () => d.repository(),
      'invalid-name: Cannot use a value of type undefined as a repository name: it takes 1 to 8 segments of 1 to 64 letters, digits, "_" or "-", joined by "/"',
    ],
    [
      () => r.collection("task"),
      "unknown-collection: A collection is asked for by its schema: what defineSchema() gave",
    ],
    [
      () => r.collection(ds("other", { a: f.string() })),
      'unknown-collection: The schema "other" was not given to openDatabase(): add it to `schemas`',
    ],
    [
      () => js(openPage)({ schemas: [User, Task] }),
      'invalid-option: `name` must name the database: 1 to 64 of A-Z, a-z, 0-9, "_" and "-"',
    ],
  ],
  query: [
    [
      () => tasks.where({ titel: "x" }).run(),
      `invalid-query: Cannot query: "titel" is not a field. The fields are ${FIELDS}, id`,
    ],
    [
      () => tasks.where({ rank: { $gt: 3 } }).run(),
      "invalid-query: Cannot query: '$gt' of 'rank' (number) is not an operator, or its value does not fit. Its operators are in, gt, gte, lt, lte, not",
    ],
    [
      () => tasks.where().run(),
      "invalid-query: Cannot query: 'where' takes an object, such as { done: false }, or a function",
    ],
    [
      () => tasks.where({ rank: "3" }).run(),
      "invalid-query: Cannot query: 'rank' (number) is compared with values of its kind, or with undefined where it is absent, not with \"3\"",
    ],
    [
      () => tasks.where({ done: { gt: 1 } }).run(),
      "invalid-query: Cannot query: 'done' (boolean) is compared with values of its kind, or with undefined where it is absent, not with 1",
    ],
    [
      () => tasks.where({ rank: { in: 3 } }).run(),
      "invalid-query: Cannot query: 'in' of 'rank' takes a list",
    ],
    [
      () => tasks.where({ due: null }).run(),
      "invalid-query: Cannot query: 'due' (date) is compared with values of its kind, or with undefined where it is absent, not with null",
    ],
    [
      () => tasks.where({ due: { lt: "2026-01-01" } }).run(),
      "invalid-query: Cannot query: 'due' (date) is compared with values of its kind, or with undefined where it is absent, not with \"2026-01-01\"",
    ],
    [
      () => tasks.query().orderBy("-rank").run(),
      `invalid-query: Cannot order: "-rank" is not a field. The fields are ${FIELDS}, id`,
    ],
    [
      () => tasks.query().orderBy("rank", "descending").run(),
      "invalid-query: Cannot order: the direction is 'asc' or 'desc'",
    ],
    [
      () => tasks.query().orderBy({ rank: "desc" }).run(),
      `invalid-query: Cannot order: an object is not a field. The fields are ${FIELDS}, id`,
    ],
    [
      () => tasks.query().orderBy("tags").run(),
      "invalid-query: Cannot order: 'tags' (set) has no order",
    ],
    [
      () => tasks.query().limit("10").run(),
      "invalid-query: Cannot query: 'limit' takes a whole number from 0",
    ],
    [
      () => tasks.query().groupBy(["done"]),
      "invalid-option: groupBy() takes neither options nor a list there",
    ],
    [
      () => tasks.query().aggregate(),
      "invalid-query: Cannot aggregate: no aggregate is given, such as { n: count() }",
    ],
    [
      () => tasks.query().aggregate({ n: js(sum)("rnk") }).run(),
      `invalid-query: Cannot aggregate: "rnk" is not a field. The fields are ${FIELDS}, id`,
    ],
    [
      () => tasks.query().aggregate({ n: count }).run(),
      "invalid-query: Cannot aggregate: 'n' is not one of count(), sum(), avg(), min(), max()",
    ],
    [
      () => tasks.query().aggregate({ n: js(sum)("title") }).run(),
      "invalid-query: Cannot aggregate: 'sum' does not fit field 'title' (string)",
    ],
    [
      () => tasks.query().include({ title: true }).run(),
      "invalid-query: Cannot include 'title': it is not a reference, as in { author: true }. The references are author",
    ],
    [
      () => tasks.query().include("author").run(),
      "invalid-query: Cannot include '0': it is not a reference, as in { author: true }. The references are author",
    ],
    [
      () => tasks.query().subscribe(),
      "invalid-option: Cannot subscribe: the callback is not a function",
    ],
  ],
  write: [
    [
      () => tasks.create({}),
      "invalid-value: Cannot write task.title: expected a string, got undefined.",
    ],
    [
      () => tasks.create({ titel: "x" }),
      `unknown-field: Cannot write task.titel: the schema has no such field. It has ${FIELDS}.`,
    ],
    [
      () => tasks.create({ title: "x", due: null }),
      "invalid-value: Cannot write task.due: expected a valid Date or undefined, got null.",
    ],
    [
      () => tasks.create({ title: "x", due: "2026-01-01" }),
      'invalid-value: Cannot write task.due: expected a valid Date or undefined, got "2026-01-01".',
    ],
    [
      () => tasks.create({ title: "x", prio: "medium" }),
      'invalid-value: Cannot write task.prio: expected one of "low", "high", got "medium".',
    ],
    [
      () => tasks.create({ title: "x".repeat(5 << 20) }),
      "value-too-large: Cannot write task.title: expected at most 4194304 bytes, got 5242880 bytes.",
    ],
    [
      () => tasks.create({ id: 7, title: "x" }),
      "invalid-id: Cannot use 7 as an id or a key: it is not a string, such as an item's `id`. Use 1 to 256 bytes of printable text.",
    ],
    [
      () => tasks.create({ id: "a", title: "x" }),
      'item-exists: Cannot create "task" item "a": it is there already. Use update() or upsert()',
    ],
    [
      () => tasks.update("nope", { title: "x" }),
      'item-missing: Cannot update "task" item "nope": it is not there. Use create() or upsert()',
    ],
    [
      () => tasks.update({ id: "a", title: "x" }),
      "invalid-id: Cannot use an object as an id or a key: it is not a string, such as an item's `id`. Use 1 to 256 bytes of printable text.",
    ],
    [
      () => tasks.update("a", { id: "b" }),
      "invalid-id: Cannot change the id of task a: create another item instead.",
    ],
    [
      () => tasks.update("a"),
      "invalid-value: Cannot write task: expected an object of fields, got undefined.",
    ],
    [
      () => tasks.delete("nope"),
      'item-missing: Cannot delete "task" item "nope": it is not there',
    ],
    [
      () => tasks.delete(tasks.get("a")),
      "invalid-id: Cannot use an object as an id or a key: it is not a string, such as an item's `id`. Use 1 to 256 bytes of printable text.",
    ],
    [
      () => tasks.upsert({ title: "x" }),
      "invalid-id: Cannot use undefined as an id or a key: it is not a string, such as an item's `id`. Use 1 to 256 bytes of printable text.",
    ],
    [
      () => tasks.createMany({ title: "x" }),
      "invalid-value: createMany() takes a list of items; create() takes one",
    ],
    [
      () => tasks.update("a", { votes: { add: "1" } }),
      "invalid-value: Cannot write task.votes: expected a whole number or { increment }, got an object.",
    ],
    [
      () => tasks.update("a", { tags: { push: "x" } }),
      "invalid-value: Cannot write task.tags: expected an iterable of values or { add, remove }, got an object.",
    ],
    [
      () => tasks.update("a", { steps: { insert: [{ at: 99, value: "x" }] } }),
      "invalid-value: Cannot write task.steps: expected an index from 0 to 0, got 99.",
    ],
    [
      () => tasks.update("a", { note: { splice: [{ at: 99, insert: "x" }] } }),
      "invalid-value: Cannot write task.note: expected splices in ascending order, within its 0 units and between whole characters, got 99.",
    ],
    [
      () => tasks.update("a", { note: { insert: "x" } }),
      "invalid-value: Cannot write task.note: expected text or { splice }, got an object.",
    ],
    [
      () => tasks.create({ title: "x", extra: { a: undefined } }),
      "invalid-value: Cannot write task.extra: expected a JSON value, got an object: undefined is not JSON.",
    ],
    [
      () => tasks.create({ title: "x", extra: { a: new Date() } }),
      "invalid-value: Cannot write task.extra: expected a JSON value, got an object: it holds an object with a class.",
    ],
    [
      () => r.transact(async () => await 0),
      "invalid-option: A transaction's callback must be synchronous: await first, then transact",
    ],
    [
      () => r.transact(),
      "invalid-option: transact() takes a function, which is given the transaction",
    ],
    [
      () => r.transact(() => tasks.create({ title: "x" })),
      "invalid-option: A transaction is running: write through the `tx` that its callback was given",
    ],
    [() => {
      let t: any;
      r.transact((tx: any) => void (t = tx));
      t.collection(Task).create({ title: "x" });
    }, "closed: The transaction is over: start another one"],
    [
      () => seats.create({ id: "t", mail: "a@b", left: 1 }),
      'constraint: Cannot create "seats" item "t": "s" has the same mail (seats.unique(mail))',
    ],
    [
      () => seats.update("s", { left: { add: -5 } }),
      "invalid-value: Cannot write seats.left: expected a whole number or { increment }, got an object.",
    ],
    [
      () => seats.create({ id: "t", mail: "c", left: 1, who: "nobody" }),
      'constraint: Cannot create "seats" item "t": there is no "user" item "nobody" (seats.who.exists())',
    ],
    [
      () => rr.collection(Task).create({ id: "x", title: "x" }),
      'denied: Cannot create "task" item "x": Only for yourself (rule team/{team} task.create)',
    ],
    [
      () => rr.collection(User).create({ id: "x", name: "x" }),
      'denied: Cannot create "user" item "x": No rule lets anybody write "user" items here (rule team/{team} user)',
    ],
    [
      () => r.at("yesterday"),
      "commit-missing: Cannot find commit \"yesterday\": it is no name of a commit, such as a write's or history's; a moment is a Date",
    ],
  ],
  sync: [
    [
      () => d.connect("localhost:8000"),
      'invalid-option: Cannot use "localhost:8000" as a server\'s address: it must begin with ws:, wss:, http: or https:',
    ],
    [
      () => d.connect("http://127.0.0.1:1", { token: "x" }),
      "invalid-option: There is no option `token`: use `session`, `login`, `renew`",
    ],
    [
      () => d.connect("http://127.0.0.1:1", { login: "secret" }),
      'invalid-option: Cannot use "secret" as a server\'s address: it must begin with ws:, wss:, http: or https:',
    ],
    [
      () => r.presence.set({ a: () => 1 }),
      "invalid-value: Presence must be plain JSON: function is not JSON",
    ],
  ],
  server: [
    [() => cs(), "invalid-option: Give either `data` or `storage`"],
    [
      () =>
        cs({
          storage: mem(),
          port: "8000",
          log: () => {},
          login: { anonymous: true },
        }),
      'invalid-option: `port` must be a whole number from 0 to 65535, not "8000"',
    ],
    [
      () =>
        cs({
          storage: mem(),
          port: 0,
          log: () => {},
          login: { tokens: { x: "bob" } },
        }),
      'invalid-option: `login.tokens` has an entry for user undefined that is not allowed: an entry is a token of 8 characters or more, and whose it is, as in { "secret-of-bob": { user: "bob" } }',
    ],
    [
      () => cs({ storage: mem(), port: 0, log: () => {}, login: { jwt: {} } }),
      "invalid-option: `login.jwt` takes one of `secret`, `publicKey` and `jwksUrl`",
    ],
    [
      () => cs({ storage: mem(), port: 0, log: () => {}, login: true }),
      "invalid-option: `login` must be an object, such as { anonymous: … }",
    ],
    [
      () =>
        cs({
          storage: mem(),
          port: 0,
          log: () => {},
          login: { anonymous: true },
          schemas: Task,
        }),
      "invalid-schema: `schemas` must be a list of what defineSchema() gave",
    ],
    [
      () => cs({ storage: mem(), port: 0, log: () => {}, rules: () => true }),
      "invalid-option: `rules` must be what defineRules() gives",
    ],
  ],
  rules: [
    [
      () => dr(),
      'invalid-option: Cannot define rules: they are an object of patterns, such as { "team/{team}": … }.',
    ],
    [
      () => dr({ "team/:team": { read: () => true } }),
      'invalid-option: Cannot use "team/:team" as a pattern of repository names: ":team" is no segment. Write segments such as "team/{team}/notes", or "**" at the end for all the rest',
    ],
    [
      () => dr({ "team/{team}": { read: true } }),
      'invalid-option: Cannot define rules: read in the rules for "team/{team}" is not a function.',
    ],
    [
      () =>
        dr({ "team/{team}": { read: () => true, collections: { task: {} } } }),
      'invalid-option: Cannot define rules: collections in the rules for "team/{team}" is no array.',
    ],
    [
      () => rf(Task, { write: () => true }),
      'invalid-option: Cannot define rules: the rules for "task" have the unknown key "write": use create, update, delete.',
    ],
    [
      () => rf("task", { create: () => true }),
      'invalid-option: Cannot define rules: "task" was not made with defineSchema().',
    ],
    [
      () => rf(Task, { create: true }),
      'invalid-option: Cannot define rules: create in the rules for "task" is not a function.',
    ],
    [
      async () =>
        (await dbRules.repository("other") as any).collection(Task).create({
          id: "x",
          title: "x",
        }),
      'denied: Cannot create "task" item "x": No pattern of the rules fits "other" (rule no pattern)',
    ],
  ],
  kv: [
    [
      () => js(openKv)(db),
      "invalid-option: A key-value store is opened on what database.repository() gave; kv.at(point) is its past",
    ],
    [
      () => kv.set(7, 1),
      "invalid-id: Cannot use 7 as an id or a key: it is not a string, such as an item's `id`. Use 1 to 256 bytes of printable text.",
    ],
    [
      () => kv.set("", 1),
      'invalid-id: Cannot use "" as an id or a key: it is empty. Use 1 to 256 bytes of printable text.',
    ],
    [
      () => kv.set("a"),
      "invalid-value: Cannot keep this value: undefined is no value: use delete() to take an entry away.",
    ],
    [
      () => kv.set("a", () => 1),
      "invalid-value: Cannot keep this value: it holds a function.",
    ],
    [
      () => kv.set("a", 1, { ttl: 5 }),
      "invalid-option: There is no option `ttl`: did you mean `ttlMs`?",
    ],
    [
      () => kv.set("a", 1, { ttlMs: -1 }),
      "invalid-option: `ttlMs` must be milliseconds over 0 that a Date can hold, not -1",
    ],
    [
      () => kv.keys("user/"),
      "invalid-option: `options` must be an object, such as { prefix: … }",
    ],
    [
      () => kv.update("a", () => Promise.resolve(1)),
      "invalid-value: Cannot keep this value: it holds an object with a class, such as a promise. Plain objects, arrays, Date, Map, Set and Uint8Array can be kept.",
    ],
  ],
  text: [
    [
      () => bt(),
      "invalid-option: Cannot bind: the element must be in a page, such as a textarea",
    ],
    [
      () => bt(null, { collection: tasks, id: "a", field: "note" }),
      "invalid-option: Cannot bind: the element must be in a page, such as a textarea",
    ],
    [
      () => bt(area, { collection: tasks, id: "a", field: "title" }),
      "invalid-option: Cannot bind task.title: it is not a field made with text()",
    ],
    [
      () => bt(area),
      "invalid-option: Cannot bind a text: name its place by `collection`, `id` and `field`",
    ],
    [
      () => js(codemirror)(),
      "invalid-option: Cannot bind a text: name its place by `collection`, `id` and `field`",
    ],
    [
      () => ds("t", { a: js(text)({ optional: true }) }),
      "invalid-schema: field.text() takes no options: what a field may add are methods, as in field.string().optional()",
    ],
  ],
  hooks: [
    [
      () => show(() => useDatabase() && null),
      "TypeError: useDatabase() stands below no DatabaseProvider",
    ],
    [
      () => show(() => js(useSuspenseItem)(undefined, "a")),
      "TypeError: A Suspense hook was given nothing",
    ],
  ],
};

for (const [of, table] of Object.entries(mistakes)) {
  Deno.test(`mistakes with ${of} are named, with why and what to do`, async () => {
    const said: string[] = [];
    for (const [mistake] of table) {
      const error = await Promise.resolve().then(mistake).then(
        () => new Error(`nothing is said of ${mistake}`),
        (error) => error,
      );
      const code = error instanceof DatabaseError ? error.code : error.name;
      said.push(`${code}: ${error.message}`);
    }
    deepEqual(said, table.map(([, expected]) => expected));
  });
}

Deno.test("a rule that answers what is no answer says so to its tester", () => {
  const asked = (create: unknown) => {
    const tester = ruleTester(
      dr({ a: { read: () => true, collections: [rf(Task, { create })] } }),
    );
    const mine = tester.as({ user: "x" }).in("a");
    return js(mine.create(Task, { title: "x" })).reason;
  };
  equal(
    asked(() => Promise.resolve(true)),
    "The rule gave a promise: rules are synchronous",
  );
  equal(
    asked(() => undefined),
    "The rule gave undefined: true, false or a reason is expected",
  );
  match(asked(({ before }: any) => before.title), /^The rule failed: Cannot/);
});

Deno.test("who waits for a server without a connection, or at another root's, reads why", async () => {
  const db = await openDatabase({ storage: mem(), schemas: [User, Task] });
  const repo = await db.repository("a");
  const write = repo.collection(Task).create({ title: "x" });
  const arrives = rejects(write.synced, { code: "closed" });
  await write;
  equal(
    repo.sync.status.reason?.message,
    "Something waits for a server: call `database.connect(url)`",
  );
  const login = { anonymous: true };
  const options = { storage: mem(), port: 0, log: () => {}, login };
  await using server = await createServer(options);
  db.connect(server.url);
  while (repo.sync.status.reason?.code !== "root-key-mismatch") {
    await new Promise<void>((resolve) => {
      const stop = repo.sync.subscribe(() => (stop(), resolve()));
    });
  }
  match(
    repo.sync.status.reason.message,
    /open one with the server's `rootKey`/,
  );
  await db.close();
  await arrives;
});

/** Never called: each line is one that the compiler refuses. */
async function refusedByTypes(repo: Repository): Promise<void> {
  const tasks = repo.collection(Task);
  const kv = openKv(repo);
  // @ts-expect-error -- a mistake
  tasks.query().include({ title: true });
  // @ts-expect-error -- a mistake
  repo.transact(async () => await 0);
  // @ts-expect-error -- a mistake
  tasks.create({ titel: "x" });
  // @ts-expect-error -- a mistake
  tasks.create({});
  // @ts-expect-error -- a mistake
  tasks.create({ title: "x", due: null });
  // @ts-expect-error -- a mistake
  tasks.create({ title: "x", due: "2026-01-01" });
  // @ts-expect-error -- a mistake
  tasks.create({ title: "x", prio: "medium" });
  // @ts-expect-error -- a mistake
  tasks.update("a", { votes: { add: 1 } });
  // @ts-expect-error -- a mistake
  tasks.update({ id: "a", title: "x" });
  // @ts-expect-error -- a mistake
  tasks.delete({ id: "a" });
  // @ts-expect-error -- a mistake
  tasks.createMany({ title: "x" });
  // @ts-expect-error -- a mistake
  tasks.get("a").title;
  // @ts-expect-error -- a mistake
  tasks.get("a")!.title = "x";
  // @ts-expect-error -- a mistake
  tasks.where({ titel: "x" });
  // @ts-expect-error -- a mistake
  tasks.where({ rank: "3" });
  // @ts-expect-error -- a mistake
  tasks.where({ rank: { $gt: 3 } });
  // @ts-expect-error -- a mistake
  tasks.where({ prio: "hgh" });
  // @ts-expect-error -- a mistake
  tasks.where({ due: null });
  // @ts-expect-error -- a mistake
  tasks.query().orderBy("-rank");
  // @ts-expect-error -- a mistake
  tasks.query().orderBy("rank", "down");
  // @ts-expect-error -- a mistake
  tasks.query().groupBy("usr");
  // @ts-expect-error -- a mistake
  tasks.query().aggregate({ n: count });
  // @ts-expect-error -- a mistake
  tasks.query().aggregate({ n: sum("title") });
  // @ts-expect-error -- a mistake
  repo.collection("task");
  // @ts-expect-error -- a mistake
  repo.can("insert", Task, { title: "x" });
  // @ts-expect-error -- a mistake
  kv.set("a", () => 1);
  // @ts-expect-error -- a mistake
  kv.set("a", 1, { ttl: 5 });
  // @ts-expect-error -- a mistake
  kv.keys("user/");
  // @ts-expect-error -- a mistake
  await openDatabase({ storage: memoryStorage(), schema: [Task] });
  // @ts-expect-error -- a mistake
  await openDatabase({ storage: memoryStorage(), schemas: Task });
  // @ts-expect-error -- a mistake
  await openDatabase("./data");
  // @ts-expect-error -- a mistake
  await openDatabase();
  // @ts-expect-error -- a mistake
  (openDatabase({ storage: memoryStorage() })).repository("a");
  // @ts-expect-error -- a mistake
  await createServer({ storage: memoryStorage(), port: "8000" });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: "string" });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.string });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.string({ optional: true }) });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.string() }, { indexes: ["a"] });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.string() }, { indexes: [["b"]] });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.number().default("7") });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.ref(User) });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.ref() });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.enum() });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.list(field.list(field.string())) });
  // @ts-expect-error -- a mistake
  defineSchema("t", { a: field.counter().optional() });
  // @ts-expect-error -- a mistake
  defineRules({ "team/{team}": { read: true } });
  // @ts-expect-error -- a mistake
  defineRules({ "team/{team}": { read: ({ params }) => params.tem === "a" } });
  // @ts-expect-error -- a mistake
  rulesFor(Task, { write: () => true });
  // @ts-expect-error -- a mistake
  rulesFor(Task, { create: async () => await true });
  // @ts-expect-error -- a mistake
  rulesFor(Task, { create: ({ after }) => after.titel === "x" });
}
void refusedByTypes;
