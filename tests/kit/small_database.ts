/**
 * A small database that has a bit of everything, and the answers that it must
 * give after each of its commits. For tests that spoil its files.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  field,
  type Mode,
  openDatabase,
  type Repository,
  type Storage,
  type World,
} from "../../mod.ts";
import { toHex } from "../../src/base/bytes.ts";
import { seededRandom } from "./random.ts";

/** Items with every kind of field. */
export const Plant = defineSchema("plant", {
  name: field.string(),
  height: field.number().default(0),
  alive: field.boolean().default(true),
  seen: field.date().optional(),
  leaf: field.bytes().optional(),
  extra: field.json().optional(),
  bed: field.ref("bed").optional(),
  tags: field.set(field.string()),
  votes: field.counter(),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
}, { indexes: [["height"], ["alive", "name"]] });

/** What plants stand in. */
export const Bed = defineSchema("bed", { name: field.string() });

/** A world in which every run is the same; timers run at once. */
export function steadyWorld(seed: number): World {
  const random = seededRandom(seed);
  let now = 1_800_000_000_000;
  return {
    now: () => now++,
    monotonic: () => now++,
    random(target) {
      for (let i = 0; i < target.length; i++) {
        target[i] = Math.floor(random() * 256);
      }
    },
    after(_delayMs, task) {
      let isCancelled = false;
      queueMicrotask(() => isCancelled || task());
      return () => void (isCancelled = true);
    },
  };
}

/** Opens the small database. */
export function openSmall(
  storage: Storage,
  mode: Mode,
  options: { repair?: boolean; seed?: number } = {},
): Promise<Database> {
  const { repair = false, seed = 1 } = options;
  const world = steadyWorld(seed);
  return openDatabase({ storage, mode, schemas: [Plant, Bed], repair, world });
}

/** The name of its repository. */
export const GARDEN = "garden";

/** Everything that the public API says of its items, as one text. */
export function answersOf(repo: Repository): string {
  const [plants, beds] = [repo.collection(Plant), repo.collection(Bed)];
  const keys = plants.keys().sort();
  const one = keys.map((key) => plants.get(key));
  const tall = plants.where({ height: { gte: 3 } }).orderBy("height").run();
  const living = plants.where({ alive: true }).run();
  return JSON.stringify([
    keys,
    one,
    plants.count(),
    tall.map(({ id, height }) => [id, height]),
    living.map(({ id, name }) => [id, name]).sort(),
    beds.all().map(({ id, name }) => [id, name]).sort(),
  ], asText);
}

function asText(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? toHex(value) : value;
}

/** Writes its commits one by one; `after` runs when each is durable. */
export async function writeSmall(
  repo: Repository,
  after: () => void | Promise<void>,
  checkpointAfter = -1,
): Promise<void> {
  let count = 0;
  for (const commit of commits(repo)) {
    commit();
    await repo.durable();
    if (count++ === checkpointAfter) await repo.checkpoint();
    await after();
  }
}

/** Creations, changes of every kind, deletions, transactions over both collections. */
function commits(repo: Repository): (() => void)[] {
  const [plants, beds] = [repo.collection(Plant), repo.collection(Bed)];
  const first = {
    id: "ash",
    name: "Ash",
    height: 3,
    tags: ["tree"],
    votes: 2,
    steps: ["seed", "sprout"],
    notes: { soil: "dry" },
  };
  return [
    () => {
      beds.create({ id: "north", name: "North" });
    },
    () => {
      plants.create(first);
      plants.create({ id: "birch", name: "Birch", bed: "north", height: 7 });
    },
    () => {
      const rich = { leaf: new Uint8Array([1, 2, 3]), extra: { a: [1, null] } };
      plants.create({ id: "cedar", name: "Cédar", seen: new Date(5), ...rich });
      plants.update("ash", {
        tags: { add: ["old"], remove: ["tree"] },
        votes: { increment: 3 },
        steps: { insert: [{ at: 1, value: "soak" }] },
        notes: { put: { light: "much" }, drop: ["soil"] },
      });
    },
    () => {
      repo.transact((tx) => {
        tx.collection(Bed).create({ id: "south", name: "South" });
        tx.collection(Plant).update("birch", { bed: "south", height: 8 });
        tx.collection(Plant).create({ id: "elm", name: "Elm", bed: "south" });
      });
    },
    () => {
      plants.delete("cedar");
      plants.update("ash", {
        height: 4,
        steps: { move: [{ from: 0, to: 2 }] },
      });
    },
    () => {
      repo.transact((tx) => {
        tx.collection(Plant).update("elm", { alive: false, name: "Elm 🌳" });
        tx.collection(Bed).delete("north");
      });
    },
  ];
}
