/**
 * One random write, to a database and to the model alike.
 *
 * @module
 */

import { equal, throws } from "node:assert/strict";
import type { Repository } from "../../mod.ts";
import { type Model, type PlainThing, Tally, Thing } from "./model.ts";

type Random = () => number;

const words = ["ash", "birch", "cedar", "döner", "elm 🌳", ""];
const IDS = 9;

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)]!;
}

/** Writes; the promise tells when it is durable, `undefined` when nothing was written. */
export function write(
  repo: Repository,
  model: Model,
  random: Random,
): Promise<void> | undefined {
  const id = `thing-${Math.floor(random() * IDS)}`;
  const known = model.state.things[id];
  const dice = random();
  if (known === undefined) {
    if (dice < 0.2) return refuse(repo, id);
    return create(repo, model, id, random);
  }
  if (dice < 0.2) return remove(repo, model, id);
  if (dice < 0.45) return change(repo, model, id, known, random);
  if (dice < 0.75) return changeRich(repo, model, id, known, random);
  return transact(repo, model, random);
}

function put(model: Model, id: string, thing: PlainThing): void {
  model.commit({ things: { ...model.state.things, [id]: thing } });
}

function refuse(repo: Repository, id: string): undefined {
  const things = repo.collection(Thing);
  throws(() => things.update(id, { size: 1 }), { code: "item-missing" });
  throws(() => things.delete(id), { code: "item-missing" });
}

function create(
  repo: Repository,
  model: Model,
  id: string,
  random: Random,
): Promise<void> {
  const word = pick(words, random);
  const name = random() < 0.02 ? word.padEnd(70_000, "x") : word;
  const size = Math.floor(random() * 12) - 4;
  const { durable } = repo.collection(Thing).create({
    id,
    name,
    size,
    tags: [word],
    steps: [word, "end"],
  });
  put(model, id, {
    name,
    size,
    on: false,
    tags: [word],
    votes: 0,
    steps: [word, "end"],
    notes: [],
  });
  return durable;
}

function remove(repo: Repository, model: Model, id: string): Promise<void> {
  const { durable } = repo.collection(Thing).delete(id);
  const { [id]: _, ...things } = model.state.things;
  model.commit({ things });
  return durable;
}

function change(
  repo: Repository,
  model: Model,
  id: string,
  known: PlainThing,
  random: Random,
): Promise<void> {
  const next = {
    name: pick(words, random),
    size: Math.floor(random() * 12) - 4,
    on: random() < 0.5,
  };
  const { durable } = repo.collection(Thing).update(id, next);
  put(model, id, { ...known, ...next });
  return durable;
}

function changeRich(
  repo: Repository,
  model: Model,
  id: string,
  known: PlainThing,
  random: Random,
): Promise<void> {
  const word = pick(words, random);
  const by = 1 + Math.floor(random() * 4);
  const at = Math.floor(random() * (known.steps.length + 1));
  const isLess = known.tags.includes(word);
  const { durable } = repo.collection(Thing).update(id, {
    tags: isLess ? { remove: [word] } : { add: [word] },
    votes: { increment: by },
    steps: { insert: [{ at, value: word }] },
    notes: { put: { [word]: `${by}` } },
  });
  const notes = new Map(known.notes).set(word, `${by}`);
  put(model, id, {
    ...known,
    tags: isLess
      ? known.tags.filter((tag) => tag !== word)
      : [...known.tags, word].sort(),
    votes: known.votes + by,
    steps: known.steps.toSpliced(at, 0, word),
    notes: [...notes].sort(([a], [b]) => a < b ? -1 : 1),
  });
  return durable;
}

/** A thing of which only the name was given. */
const plain: PlainThing = {
  name: "",
  size: 0,
  on: false,
  tags: [],
  votes: 0,
  steps: [],
  notes: [],
};

function freeIds(things: Readonly<Record<string, PlainThing>>): string[] {
  const ids = Array.from({ length: IDS }, (_, n) => `thing-${n}`);
  return ids.filter((id) => things[id] === undefined);
}

/** All things and a tally change at once and new ones come, or nothing does. */
function transact(
  repo: Repository,
  model: Model,
  random: Random,
): Promise<void> | undefined {
  const things = { ...model.state.things };
  const tallies = { ...model.state.tallies };
  const isRefused = random() < 0.3;
  const size = Math.floor(random() * 5);
  const created = freeIds(things).slice(0, Math.floor(random() * 3));
  const run = () =>
    repo.transact((tx) => {
      for (const id of created) {
        tx.collection(Thing).create({ id, name: id });
        equal(tx.collection(Thing).get(id)?.size, 0);
      }
      for (const id of Object.keys(things)) {
        tx.collection(Thing).update(id, { size });
        equal(tx.collection(Thing).get(id)?.size, size);
      }
      tx.collection(Tally).upsert({ id: "all", count: size });
      if (isRefused) throw new RangeError("No, thank you");
    });
  if (isRefused) {
    throws(run, RangeError);
    return undefined;
  }
  const { durable } = run();
  for (const [id, thing] of Object.entries(things)) {
    things[id] = { ...thing, size };
  }
  for (const id of created) things[id] = { ...plain, name: id };
  tallies.all = size;
  model.commit({ things, tallies });
  return durable;
}
