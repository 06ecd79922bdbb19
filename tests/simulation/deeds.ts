/**
 * What a villain does: each persona makes the commits of one visit, from what
 * the server has now. Villains see all of that, so none of them has to guess.
 *
 * @module
 */

import type { Replica } from "../../repo/replica.ts";
import type { Position } from "../../repo/commit/commit.ts";
import { limits } from "../../src/base/limits.ts";
import type { Stamp } from "../../src/base/hlc.ts";
import { absentDigest, entrySchema } from "../../src/kv/entry.ts";
import type { Cell } from "../../src/schema/cell.ts";
import type { Change, Operation, Shape } from "../../src/schema/patch.ts";
import { positionAt } from "../../src/schema/position.ts";
import { TextState } from "../../src/schema/text_state.ts";
import {
  changing,
  creating,
  ending,
  type HostileCommit,
} from "../kit/forge.ts";
import { Card, Mark, placeMark, Tally } from "./collections.ts";
import type { Dice } from "./dice.ts";
import { headsOf } from "../kit/digest.ts";

/** What a deed may look at. */
export interface Scene {
  readonly dice: Dice;
  readonly user: string;
  /** The server's. */
  readonly served: Replica;
  /** The villain's clock, wall milliseconds. */
  readonly nowMs: number;
  /** Are there compare-and-sets? */
  readonly hasSwaps: boolean;
  /** Start of the names of the villain's own chains. */
  readonly key: string;
}

/** Makes the commits of a visit, in the order in which they are handed in. */
type Deed = (scene: Scene) => readonly HostileCommit[];

/** Commits that one batch holds, where a deed makes many. */
const MANY = 40;
/** What nobody may write: the checks look for it. */
const FORBIDDEN = "forbidden";
const kv = entrySchema(undefined).shape;

/** A shape that no app declares. */
function shapeOf(
  collection: string,
  fields: Readonly<Record<string, Shape["fields"][number]["kind"]>>,
): Shape {
  const all = Object.entries(fields).map(([name, kind]) => ({ name, kind }));
  return { collection, version: 1, fields: all };
}

const shapes: Readonly<Record<string, Shape>> = {
  [Card.name]: shapeOf(Card.name, { title: "string", owner: "string" }),
  [Tally.name]: shapeOf(Tally.name, { owner: "string" }),
  [Mark.name]: shapeOf(Mark.name, { owner: "string", place: "string" }),
};

const set = (value: string | number): Change => ({ what: "set", value });

/** The item of somebody else. */
interface Target extends Cell {
  readonly collection: string;
}

/** Cells of a collection, in the order of their ids. */
function cellsOf({ served }: Scene, collection: string): Target[] {
  const table = served.state.find(collection);
  return (table?.ids() ?? []).sort()
    .map((id) => ({ ...table!.cellOf(id)!, collection }));
}

/** Somebody else's item that is there. */
function others(scene: Scene, ...collections: string[]): Target | undefined {
  const all = scene.dice.pick(collections);
  const cells = cellsOf(scene, all).filter(({ item }) =>
    item !== undefined && item["owner"] !== scene.user
  );
  return cells.length === 0 ? undefined : scene.dice.pick(cells);
}

const deed = ({ collection, id, generation }: Target) => ({
  shape: shapes[collection]!,
  id,
  generation,
});

/** An item as the villain would have it. */
function mine({ user, served }: Scene, collection: string) {
  return collection === Card.name
    ? { title: FORBIDDEN, owner: user }
    : { owner: user, place: placeMark(served.name) };
}

/** The present, some of it, or nothing. */
function someParents({ dice, served, key }: Scene): readonly Position[] {
  const heads = headsOf(served.graph)
    .filter(({ chain }) => !chain.startsWith(key));
  return heads.filter(() => dice.chance(0.5)).slice(0, limits.parentsMax)
    .sort((a, b) => a.chain < b.chain ? -1 : 1);
}

/** A stamp of a commit that somebody may write soon. */
function futureStamp({ dice, served, nowMs }: Scene, i: number): Stamp {
  const chains = [...served.graph.chains()].map(({ name }) => name).sort();
  return { wall: nowMs + 1 + i, count: 0, chain: dice.pick(chains) };
}

/** Every kind of villainy, by name. */
export const deeds = {
  takesOver(scene) {
    const target = others(scene, Card.name, Tally.name, Mark.name);
    if (target === undefined) return [];
    const again = creating(deed(target), mine(scene, target.collection));
    const all = scene.dice.pick<Operation[]>([[again], [
      again,
      ending(deed(target)),
    ]]);
    const isOne = scene.dice.chance(0.5);
    const wall = scene.nowMs;
    const parents = someParents(scene);
    return isOne
      ? [{ wall, parents, operations: all }]
      : all.map((operation, count) => ({
        wall,
        count,
        operations: [operation],
      }));
  },

  deletes(scene) {
    const target = others(scene, Card.name, Tally.name, Mark.name);
    if (target === undefined) return [];
    const { dice, nowMs: wall } = scene;
    const end = ending(deed(target));
    const next = { ...deed(target), generation: target.generation + 1 };
    const back = creating(next, mine(scene, target.collection));
    const operations = dice.chance(0.5) ? [end] : [end, back];
    return [{ wall, parents: someParents(scene), operations }];
  },

  skipsGenerations(scene) {
    const { dice, nowMs: wall } = scene;
    const cells = [Card.name, "kv"].flatMap((name) => cellsOf(scene, name));
    const known = cells.length === 0 ? undefined : dice.pick(cells);
    const collection = known?.collection ?? Card.name;
    const due = known === undefined
      ? 0
      : known.generation + Number(known.item === undefined);
    const generation = dice.pick([due + 1, due + 2, limits.generationMax]);
    const id = known?.id ?? "card-skipped";
    const shape = shapes[collection] ?? kv;
    const it = { shape, id, generation };
    const fields = collection === Card.name ? mine(scene, collection) : {};
    const touch = { [shape.fields[0]!.name]: set(FORBIDDEN) };
    const lies = [creating(it, fields), changing(it, touch), ending(it)];
    return [{ wall, operations: [dice.pick(lies)] }];
  },

  changesKinds(scene) {
    const target = others(scene, Card.name);
    if (target === undefined) return [];
    const { dice, nowMs: wall } = scene;
    const { id, generation, collection } = target;
    const element = { element: "e", position: positionAt(0), value: "x" };
    const insert: Change = { what: "insert", elements: [element] };
    const put: Change = { what: "put", entries: [["a", "b"]] };
    const [name, kind, change] = dice.pick(
      [
        ["title", "list", insert],
        ["title", "map", put],
        ["votes", "string", set("many")],
        ["tags", "list", insert],
        ["steps", "string", set("none")],
        ["body", "list", insert],
        ["owner", "list", insert],
      ] as const,
    );
    const shape = shapeOf(collection, { [name]: kind });
    const it = { shape, id, generation };
    return [{ wall, operations: [changing(it, { [name]: change })] }];
  },

  /** A field that a later release of the app has, as what it will not be. */
  declares(scene) {
    const target = others(scene, Card.name);
    if (target === undefined) return [];
    const { id, generation, collection } = target;
    const element = { element: "e", position: positionAt(0), value: "x" };
    const due: Change = { what: "insert", elements: [element] };
    const it = { shape: shapeOf(collection, { due: "list" }), id, generation };
    return [{ wall: scene.nowMs, operations: [changing(it, { due })] }];
  },

  /** Empty commits, which no rule is asked about. */
  floodsCommits({ nowMs }) {
    const length = 2 * MANY;
    return Array.from({ length }, (_, count) => ({ wall: nowMs, count }));
  },

  /** More than there may be, or some of a hundred: others need room, too. */
  floodsCollections({ dice, served, nowMs: wall }) {
    const isAll = served.state.size > 0 && dice.chance(0.5);
    const first = isAll ? 0 : dice.between(0, 100 - MANY);
    const length = isAll ? limits.collectionsMax : MANY;
    const operations = Array.from({ length }, (_, i) => {
      const shape = shapeOf(`${isAll ? "all" : "some"}-${first + i}`, {});
      return creating({ shape, id: "x" }, {});
    });
    return [{ wall, operations }];
  },

  floodsMaps(scene) {
    const target = others(scene, Card.name);
    if (target === undefined) return [];
    const { id, generation, collection } = target;
    const it = { shape: shapeOf(collection, { notes: "map" }), id, generation };
    return Array.from({ length: MANY }, (_, i) => {
      const entries = Array.from(
        { length: MANY },
        (_, j) => [`${i}.${j}`, "x"] as const,
      ).sort();
      const notes: Change = { what: "put", entries };
      const operations = [changing(it, { notes })];
      return { wall: scene.nowMs, count: i, operations };
    });
  },

  datesAhead(scene) {
    const target = others(scene, Card.name);
    if (target === undefined) return [];
    const { dice, nowMs } = scene;
    const aheadMs = dice.pick([20_000, 59_000, 61_000, 3_600_000]);
    const operations = [changing(deed(target), { title: set("ahead") })];
    return [{ wall: nowMs + aheadMs, operations }];
  },

  datesBack(scene) {
    const target = others(scene, Card.name, Tally.name);
    if (target === undefined) return [];
    const { dice, nowMs, user } = scene;
    const wall = dice.pick([1, nowMs - 86_400_000]);
    const change = { owner: set(user) };
    return [{ wall, operations: [changing(deed(target), change)] }];
  },

  /** A lease of somebody else, by a clock for which it has run out. */
  stealsLeases(scene) {
    const { dice, nowMs, hasSwaps } = scene;
    const leases = cellsOf(scene, "kv").filter(({ item }) =>
      item !== undefined && Number(item["expiresAt"]) > nowMs
    );
    if (leases.length === 0 || !hasSwaps) return [];
    const { id, generation } = dice.pick(leases);
    const it = { shape: kv, id, generation };
    const taken = changing(it, {
      value: set("stolen"),
      expected: set(absentDigest),
    });
    const touched = changing(it, { data: { what: "set", value: undefined } });
    const wall = nowMs + dice.pick([0, 59_000]);
    const isTouched = dice.chance(0.5);
    const takes = { wall, count: 1, operations: [taken] };
    return isTouched ? [{ wall, operations: [touched] }, takes] : [takes];
  },

  /** Rights of a past that it names, and of one that nobody knows. */
  namesOldParents(scene) {
    const { dice, served, nowMs: wall, user, key } = scene;
    const ended = cellsOf(scene, Card.name)
      .filter(({ item, generation }) => item === undefined || generation > 0);
    const old = [...served.graph.chains()]
      .map(({ name: chain }) => ({ chain, number: 0 }))
      .filter(({ chain }) => !chain.startsWith(key))
      .sort((a, b) => a.chain < b.chain ? -1 : 1).slice(0, 2);
    const never = [{ chain: "\xff".repeat(40), number: 3 }];
    const parents = dice.chance(0.8) ? old : never;
    const target = ended.length > 0 && dice.chance(0.5)
      ? dice.pick(ended)
      : others(scene, Card.name);
    if (target === undefined) return [];
    const item = { title: FORBIDDEN, owner: user };
    const it = deed(target);
    const lies = [
      creating({ ...it, generation: 0 }, item),
      changing({ ...it, generation: 0 }, { title: set(FORBIDDEN) }),
      changing(it, { owner: set(user) }),
    ];
    return [{ wall, parents, operations: [dice.pick(lies)] }];
  },

  namesTheFuture(scene) {
    const target = others(scene, Card.name);
    if (target === undefined) return [];
    const { dice, nowMs: wall } = scene;
    const { id, generation, collection, item } = target;
    const tags = Array.from({ length: 5 * MANY }, (_, i) => i)
      .map((i) => futureStamp(scene, i))
      .sort((a, b) => a.wall - b.wall);
    const values = ["ash", "birch", "elm 🌳"];
    const removes: Change = {
      what: "remove",
      values: values.map((value) => ({ value, tags })),
    };
    const deletes: Change = { what: "delete", elements: ["never.0.there"] };
    const clients = [
      ...textClientsOf(target),
      dice.between(0, 2 ** 31),
    ];
    const gone = [{ clock: 0, length: 2 ** 31 }];
    const kills: Change = {
      what: "edit",
      text: new TextState(
        new Map([[dice.pick(clients), { runs: [], gone }]]),
      ),
    };
    const lies: [string, Shape["fields"][number]["kind"], Change][] = [
      ["tags", "set", removes],
      ["steps", "list", deletes],
      ["body", "text", kills],
    ];
    if (item === undefined) return [];
    const [name, kind, change] = dice.pick(lies);
    const shape = shapeOf(collection, { [name]: kind });
    const it = { shape, id, generation };
    return [{ wall, operations: [changing(it, { [name]: change })] }];
  },
} satisfies Record<string, Deed>;

/** Who types in a text. */
function textClientsOf({ rich }: Cell): number[] {
  const state = rich?.get("body");
  return state?.merge === "text" ? [...state.clients.keys()] : [];
}
