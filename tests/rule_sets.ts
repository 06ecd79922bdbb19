/**
 * Twenty sets of rules, over the same collections with constraints.
 *
 * @module
 */

import { entrySchema } from "../src/kv/entry.ts";
import { field } from "../src/schema/field.ts";
import type { Item, Value } from "../src/schema/patch.ts";
import { defineSchema, type Schema } from "../src/schema/schema.ts";
import { text } from "../src/text/mod.ts";
import type { Asked, PlainRules, PlainRuleSet } from "./naive_judge.ts";

/** Something to do: a field of every kind. */
export const Task = defineSchema("task", {
  title: field.string(),
  owner: field.string().default("nobody"),
  locked: field.boolean().default(false),
  rank: field.number().default(0),
  mail: field.string().optional(),
  board: field.ref("board").exists().optional(),
  points: field.counter().min(0).max(6),
  tags: field.set(field.string()),
  notes: field.map(field.string()),
  steps: field.list(field.string()),
  body: text(),
}, { unique: [["mail"], ["owner", "rank"]] });

/** Where tasks are. */
export const Board = defineSchema("board", {
  name: field.string(),
  members: field.set(field.ref("member").exists()),
  left: field.counter().min(0),
}, { unique: [["name"]] });

/** Who belongs to the team, by user. */
export const Member = defineSchema("member", { role: field.string() });

/** Entries of the key-value store. */
export const Entry: Schema = entrySchema(undefined);

/** What constraints are of. */
export const constrained: readonly Schema[] = [Task, Board];

/** Everything that is wrong in a state, found by looking at everything. */
export function wrongIn(items: (schema: Schema) => readonly Item[]): string[] {
  const wrong: string[] = [];
  for (
    const [schema, fields] of [
      [Task, ["mail"]],
      [Task, ["owner", "rank"]],
      [Board, ["name"]],
    ] as const
  ) {
    const known = new Set<string>();
    for (const item of items(schema)) {
      const values = fields.map((name) => item[name]);
      if (values.includes(undefined)) continue;
      const key = JSON.stringify(values);
      if (known.has(key)) wrong.push(`${schema.name} ${key} twice`);
      known.add(key);
    }
  }
  const ids = (schema: Schema) => new Set(items(schema).map(({ id }) => id));
  const [boards, members] = [ids(Board), ids(Member)];
  for (const { id, board, points } of items(Task)) {
    const isMissing = board !== undefined && !boards.has(board as string);
    if (isMissing) wrong.push(`task ${id} board ${board}`);
    const sum = points as number;
    if (!(sum >= 0 && sum <= 6)) wrong.push(`task ${id} points ${sum}`);
  }
  for (const { id, members: named, left } of items(Board)) {
    for (const member of named as readonly string[]) {
      if (!members.has(member)) wrong.push(`board ${id} member ${member}`);
    }
    if (!(left as number >= 0)) wrong.push(`board ${id} left ${left}`);
  }
  return wrong;
}

const anything = () => true;
const isOwner = ({ session, before }: Asked) => before.owner === session.user;
const isOwn = ({ session, after }: Asked) =>
  after.owner === session.user || "Only for yourself";
const isAdmin = ({ session }: Asked) => session.claims.role === "admin";
const roleOf = ({ get, session }: Asked) => get(Member, session.user)?.role;
const isEditor = (asked: Asked) => ["admin", "editor"].includes(roleOf(asked));
const isOpen = ({ at }: Asked) =>
  Math.floor(at.getTime() / 10_000) % 2 === 0 || "It is closed";
const hasChanged = (name: string, { before, after }: Asked) =>
  JSON.stringify(before[name]) !== JSON.stringify(after[name]);

type Actions = Omit<PlainRules, "schema">;
const free: Actions = { create: anything, update: anything, delete: anything };

/** Rules of some collections; the others that the app knows are free. */
function set(
  { others = false, ...rules }: {
    readonly task?: Actions;
    readonly board?: Actions;
    readonly member?: Actions;
    readonly kv?: Actions;
    readonly others?: boolean;
  },
): PlainRuleSet {
  const { task = free, board = free, member = free, kv = free } = rules;
  return {
    others,
    collections: [
      { schema: Task, ...task },
      { schema: Board, ...board },
      { schema: Member, ...member },
      { schema: Entry, ...kv },
    ],
  };
}

const membership: Actions = {
  // The first admin begins the team; admins let others in.
  create: (asked) =>
    asked.after.id === "user-0" && asked.session.user === "user-0" ||
    roleOf(asked) === "admin",
  update: (asked) => roleOf(asked) === "admin" && asked.after.id !== "user-0",
  delete: (asked) =>
    asked.before.id === asked.session.user || roleOf(asked) === "admin",
};

/** The sets by what they are about. */
export const ruleSets: Readonly<Record<string, PlainRuleSet>> = {
  "nothing denied": set({ others: true }),
  ownership: set({
    task: {
      create: isOwn,
      update: (asked) => isOwner(asked) && !asked.changed.includes("owner"),
      delete: isOwner,
    },
  }),
  "handing over": set({
    task: { create: isOwn, update: isOwner, delete: isOwner },
  }),
  "roles by get": set({
    member: membership,
    task: { create: isEditor, update: isEditor, delete: isEditor },
    board: { create: isEditor, update: isEditor, delete: isAdmin },
  }),
  "a seat for each task": set({
    task: {
      ...free,
      create: ({ get, getAfter }) => {
        const left = get(Board, "board-0")?.left;
        return left === undefined || getAfter(Board, "board-0")?.left < left;
      },
    },
    member: {
      create: anything,
      update: ({ after, getAfter }) =>
        getAfter(Task, "task-0")?.owner !== after.id,
      delete: ({ before, getAfter }) =>
        getAfter(Task, "task-0")?.owner !== before.id,
    },
  }),
  "locked items": set({
    task: {
      create: anything,
      update: (asked) =>
        !asked.before.locked && !asked.after.locked || isAdmin(asked) ||
        "It is locked",
      delete: ({ before }) => !before.locked,
    },
  }),
  "rights by field": set({
    task: {
      create: isOwn,
      update: (asked) =>
        asked.changed.every((name: string) =>
          name === "rank" || name === "points" ||
          (name === "locked" ? isAdmin(asked) : isOwner(asked))
        ),
      delete: isOwner,
    },
  }),
  "opening hours": set({
    task: { create: isOpen, update: isOpen, delete: isOpen },
  }),
  "create only": set({ task: { create: isOwn } }),
  "deleted by admins": set({
    task: { ...free, delete: isAdmin },
    board: { delete: isAdmin },
  }),
  "entries of one's own": set({
    kv: {
      create: ({ session, after }) => after.id === session.user,
      update: ({ session, before }) => before.id === session.user,
    },
  }),
  "entries that only begin": set({ kv: { create: anything } }),
  "others are free": {
    others: true,
    collections: [{ schema: Member, ...membership }],
  },
  "tags and who is named": set({
    task: {
      ...free,
      update: (asked) =>
        isOwner(asked) ||
        asked.before.tags.every((tag: string) =>
            asked.after.tags.includes(tag)
          ) && asked.after.tags.length < 4,
    },
    board: {
      ...free,
      update: ({ session, after, before }) =>
        after.members.includes(session.user) ||
        !before.members.includes(session.user),
    },
  }),
  "own notes": set({
    task: {
      ...free,
      update: ({ session, before, after, changed }) =>
        !changed.includes("notes") ||
        [before, after].every(({ notes }) =>
          Object.entries(notes).every(([key, value]) =>
            key === session.user ||
            before.notes[key] === value && after.notes[key] === value
          )
        ),
    },
  }),
  "points go up": set({
    task: {
      ...free,
      create: ({ after }) => after.points === 3,
      update: ({ before, after }) => after.points >= before.points,
    },
    board: { ...free, update: ({ after }) => after.left !== 2 },
  }),
  "short texts and lists": set({
    task: {
      create: ({ after }) => after.body.length <= 8,
      update: ({ before, after }) =>
        after.body.length <= Math.max(14, before.body.length) &&
        after.steps.length <= 4 && after.steps[0] !== "ash",
      delete: ({ before }) => before.body.length > 3,
    },
  }),
  "many look-ups": set({
    task: {
      ...free,
      update({ get, before, after }) {
        const count = 13 + after.rank + after.tags.length;
        for (let i = 0; i < count; i++) get(Board, before.board ?? "none");
        return true;
      },
    },
    member: {
      ...free,
      update: ({ get, after }) => get(Member, after.role) === undefined,
    },
  }),
  "rules that fail": set({
    task: {
      ...free,
      update({ after, before }): Value & string {
        if (after.rank === 3) throw new Error("three");
        if (after.rank === 2) return undefined as unknown as string;
        return (after.rank >= before.rank) as unknown as string;
      },
      delete: ({ before }) => before.mail.length > 1, // It may have none.
    },
  }),
  "what is changed": set({
    task: {
      create: ({ changed }) => changed.length % 2 === 1,
      update: (asked) =>
        asked.changed.length % 2 === 1 || !hasChanged("title", asked),
      delete: ({ before }) => before.points < 5,
    },
  }),
};
