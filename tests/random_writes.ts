/**
 * Random writes to the collections of `rule_sets.ts`: such as honest programs
 * make, and such as nobody should: any operation on any item, in any generation,
 * as any kind, under any names.
 *
 * @module
 */

import type { State } from "../repo/state/state.ts";
import type { Cell } from "../src/schema/cell.ts";
import { absentDigest, digestOfItem } from "../src/kv/entry.ts";
import { EntryWriter } from "../src/kv/scope.ts";
import { stateIn } from "../src/schema/merge.ts";
import type {
  Change,
  FieldKind,
  Item,
  Operation,
  Shape,
  ShapeField,
  Value,
} from "../src/schema/patch.ts";
import type { Schema } from "../src/schema/schema.ts";
import { TextState } from "../src/schema/text_state.ts";
import type { RuledDevice } from "./kit/ruled_device.ts";
import { Board, Entry, Member, Task } from "./rule_sets.ts";

type Random = () => number;

/** One of some. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

const range = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`);

/** So few that writers meet on them. */
export const ids = {
  task: range(5, "task"),
  board: range(2, "board"),
  member: range(5, "user"),
  kv: [...range(2, "key"), ...range(2, "user")],
  scrap: range(2, "scrap"),
};
export const words = ["ash", "birch", "cedar", "dogwood"];

const kinds: readonly FieldKind[] = [
  "string",
  "number",
  "boolean",
  "json",
  "ref",
  "counter",
  "set",
  "map",
  "list",
];
const scrap: Shape = {
  collection: "scrap",
  version: 1,
  fields: [{ name: "a", kind: "string" }, { name: "b", kind: "set" }],
};
const shapes = [Task, Task, Task, Board, Member, Entry].map(({ shape }) =>
  shape
).concat(scrap);

/** One random transaction of an honest program. */
export function act(device: RuledDevice, random: Random): void {
  const { replica } = device;
  const [tasks, boards, members] = [Task, Board, Member].map((schema) =>
    device.edit<Schema>(schema)
  );
  const n = () => Math.floor(random() * 5);
  replica.transact((tx) => {
    for (let i = 1 + Math.floor(random() * 2); i > 0; i--) {
      const what = random();
      const word = pick(random, words);
      if (what < 0.05) actOnEntry(device, tx, random);
      else if (what < 0.1) {
        // A seat and what it is for, together.
        const id = pick(random, ids.task);
        const board = boards!.get(tx, "board-0");
        if (board === undefined || tasks!.get(tx, id) !== undefined) continue;
        const left = { increment: -1 };
        boards!.update(tx, "board-0", { left } as never);
        const owner = device.user;
        tasks!.create(tx, { id, title: word, owner, rank: n() } as never);
      } else if (what < 0.2) {
        const id = pick(random, ids.member);
        const role = pick(random, ["admin", "editor"]);
        if (members!.get(tx, id) === undefined) {
          members!.create(tx, { id, role } as never);
        } else if (what < 0.12) members!.delete(tx, id);
        else members!.update(tx, id, { role } as never);
      } else if (what < 0.35) {
        const id = pick(random, ids.board);
        const [one, other] = [
          pick(random, ids.member),
          pick(random, ids.member),
        ];
        if (boards!.get(tx, id) === undefined) {
          const named = random() < 0.5 ? [one] : [];
          boards!.create(
            tx,
            { id, name: word, left: 2, members: named } as never,
          );
        } else if (what < 0.22) boards!.delete(tx, id);
        else if (what < 0.28) {
          boards!.update(tx, id, { left: { increment: n() - 2 } } as never);
        } else {
          const changes = { members: { add: [one], remove: [other] } };
          boards!.update(tx, id, changes as never);
        }
      } else {
        const id = pick(random, ids.task);
        const owner = random() < 0.7 ? device.user : pick(random, ids.member);
        const board = random() < 0.3 ? pick(random, ids.board) : undefined;
        const item = tasks!.get(tx, id);
        if (item === undefined) {
          const mail = pick(random, [...words, undefined]);
          const fields = { title: word, owner, rank: n(), mail, board };
          const more = { points: 3, tags: [word], steps: [word], body: word };
          tasks!.create(tx, { id, ...fields, ...more } as never);
        } else if (what < 0.42) tasks!.delete(tx, id);
        else tasks!.update(tx, id, changesTo(item, random, owner) as never);
      }
    }
  });
}

/** Changes of one or two fields of a task. */
function changesTo(item: Item, random: Random, owner: string): object {
  const word = pick(random, words);
  const body = typeof item["body"] === "string" ? item["body"] : "";
  const steps = item["steps"] as readonly Value[];
  const at = Math.floor(random() * (steps.length + 1));
  const all: Readonly<Record<string, unknown>> = {
    title: word,
    owner,
    locked: random() < 0.4,
    rank: Math.floor(random() * 5),
    mail: word,
    points: { increment: Math.floor(random() * 9) - 3 },
    tags: random() < 0.6 ? { add: [word] } : { remove: [word] },
    notes: { put: { [random() < 0.7 ? owner : "user-0"]: word } },
    steps: at < steps.length && random() < 0.5
      ? pick(random, [{ delete: [at] }, { replace: [{ at, value: word }] }])
      : { insert: [{ at, value: word }] },
    body: {
      splice: [{
        at: Math.floor(random() * (body.length + 1)),
        insert: word.slice(0, 2),
      }],
    },
  };
  const names = Object.keys(all);
  const chosen = [pick(random, names), pick(random, names)];
  return Object.fromEntries(
    chosen.slice(Math.floor(random() * 2)).map((name) => [name, all[name]]),
  );
}

/** Puts an entry, deletes it, or compares and sets it. */
function actOnEntry(
  device: RuledDevice,
  tx: Parameters<EntryWriter["put"]>[0],
  random: Random,
): void {
  const writer = new EntryWriter(device.replica.state.table("kv"), Entry);
  const key = pick(random, ids.kv);
  const nowMs = device.options.now!();
  const digest = digestOfItem(writer.itemOf(tx, key), nowMs);
  const isReadable = digest !== "unreadable";
  writer.put(tx, key, {
    value: random() < 0.8 ? pick(random, words) : undefined,
    data: undefined,
    expiresAt: random() < 0.4
      ? nowMs + Math.floor(random() * 9_000)
      : undefined,
    expected: isReadable && random() < 0.6 ? digest : undefined,
  });
}

/** An operation that nobody checked; mostly one that fits what is there. */
export function rawOperation(
  random: Random,
  state: State,
  nowMs: number,
): Operation {
  const { collection, version, fields } = pick(random, shapes);
  const id = pick(random, ids[collection as keyof typeof ids]);
  const cell = state.cellOf(collection, id);
  const due = cell === undefined
    ? 0
    : cell.generation + Number(cell.item === undefined);
  const generation = random() < 0.85 ? due : Math.floor(random() * 4);
  const some = fields.filter(() => random() < (fields.length > 5 ? 0.3 : 0.7))
    .map(({ name, kind }): ShapeField => ({
      name,
      kind: random() < 0.97 ? kind : pick(random, kinds),
    }));
  const what = cell?.item === undefined && random() < 0.8
    ? "create"
    : pick(random, ["create", "update", "update", "update", "delete"] as const);
  if (what === "create") {
    const all = random() < 0.5 ? fields : some;
    const shape = { collection, version, fields: all };
    const item: Record<string, Value> = { id };
    for (const field of all) {
      item[field.name] = valueOf(random, field, cell, nowMs);
    }
    return { what, shape, id, generation, item: item as { id: string } };
  }
  const shape = { collection, version, fields: some };
  if (what === "delete" || some.length === 0) {
    return { what: "delete", shape, id, generation };
  }
  const changes = some.map((field) => ({
    field,
    change: changeOf(random, field, cell, nowMs),
  }));
  return { what, shape, id, generation, changes };
}

function isText(kind: FieldKind): boolean {
  return ["string", "ref"].includes(kind);
}

function valueOf(
  random: Random,
  { name, kind }: ShapeField,
  cell: Cell | undefined,
  nowMs: number,
): Value {
  if (name === "expected" && kind === "string") {
    const digest = random() < 0.2
      ? absentDigest
      : digestOfItem(cell?.item, nowMs);
    return random() < 0.3 ? undefined : digest;
  }
  if (name === "expiresAt" && kind === "number") {
    return random() < 0.5 ? undefined : nowMs + Math.floor(random() * 20_000);
  }
  const known: Record<string, readonly Value[]> = {
    owner: ids.member,
    mail: [...words, undefined],
    board: [...ids.board, undefined, undefined],
    members: [[], ["user-0"], ["user-1"]],
    role: ["admin", "editor"],
  };
  const named = known[name];
  const isSet = ["set", "list"].includes(kind);
  if (
    isSet && name === "members" || name !== "members" && named && isText(kind)
  ) {
    return pick(random, named!);
  }
  const word = pick(random, words);
  switch (kind) {
    case "number":
      return Math.floor(random() * 5);
    case "boolean":
      return random() < 0.3;
    case "counter":
      return Math.floor(random() * 5);
    case "bytes":
      return undefined;
    case "set":
    case "list":
      return random() < 0.3 ? [] : [word];
    case "map":
      return { [pick(random, ids.member)]: word };
    default:
      return word;
  }
}

/** Names what is there, what was there, or what never was. */
function changeOf(
  random: Random,
  field: ShapeField,
  cell: Cell | undefined,
  nowMs: number,
): Change {
  const { name, kind } = field;
  const value = pick(random, words);
  const isThere = random() < 0.8;
  switch (kind) {
    case "counter":
      return { what: "increment", amount: Math.floor(random() * 7) - 3 || 4 };
    case "set": {
      const state = cell && stateIn(cell, name, "set");
      const tags = state?.merge === "set" ? [...state.tags.keys()] : [];
      if (random() < 0.6) {
        const all = name === "members" ? ids.member : words;
        return { what: "add", values: [pick(random, all)] };
      }
      const made = { wall: nowMs, count: 0, chain: "x".repeat(40) };
      const tag = isThere && tags.length > 0
        ? pick(random, tags)
        : { value, stamp: made };
      const { wall, count, chain } = tag.stamp;
      return {
        what: "remove",
        values: [{ value: tag.value, tags: [{ wall, count, chain }] }],
      };
    }
    case "map":
      return random() < 0.6
        ? { what: "put", entries: [[pick(random, ids.member), value]] }
        : { what: "drop", keys: [pick(random, ids.member)] };
    case "list": {
      const state = cell && stateIn(cell, name, "list");
      const known = state?.merge === "list" ? state.visible : [];
      const element = isThere && known.length > 0
        ? pick(random, known).element
        : `made-${Math.floor(random() * 3)}`;
      const position = `a${Math.floor(random() * 9)}`;
      return pick<Change>(random, [
        { what: "insert", elements: [{ element, position, value }] },
        { what: "move", moves: [{ element, position }] },
        { what: "delete", elements: [element] },
        { what: "replace", values: [[element, value]] },
      ]);
    }
    case "text":
      return editOf(random, cell, name, isThere);
    default:
      return { what: "set", value: valueOf(random, field, cell, nowMs) };
  }
}

function editOf(
  random: Random,
  cell: Cell | undefined,
  name: string,
  isThere: boolean,
): Change {
  const state = cell && stateIn(cell, name, "text");
  const known = state?.merge === "text" ? [...state.clients] : [];
  const [client, { runs }] = isThere && known.length > 0
    ? pick(random, known)
    : [7 + Math.floor(random() * 3), { runs: [] }];
  const last = runs.at(-1);
  const clock = last === undefined ? 0 : last.clock + last.length;
  const near = clock > 0 ? { client, clock: clock - 1 } : undefined;
  const at = random() < 0.85 ? clock : clock + 2;
  const text = pick(random, words);
  const run = { clock: at, length: text.length, left: near, right: undefined };
  const gone = random() < 0.5 && near ? [{ clock: near.clock, length: 1 }] : [];
  const brought = gone.length === 0 ? [{ ...run, text }] : [];
  const clients = new Map([[client, { runs: brought, gone }]]);
  return { what: "edit", text: new TextState(clients) };
}
