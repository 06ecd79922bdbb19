/**
 * Whatever an app does, and in whatever order it says it, its payloads have the
 * one form that others take.
 */

import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import {
  type JsonValue,
  memoryStorage,
  openDatabase,
  type Repository,
} from "../mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { openKv } from "../src/kv/mod.ts";
import { Leaf, Twig } from "./corpus/corpus.ts";
import { anyCharacter } from "./kit/any_text.ts";
import { seededRandom } from "./kit/random.ts";
import { sized } from "./kit/tier.ts";
import { assertOneForm } from "./one_form.ts";
import { ticking } from "./undo_device.ts";

const ids = ["a", "b"];
const word = fc.constantFrom("", "x", "y", "é", "🌳", "\uffee", "10", "9");
const words = fc.array(word, { maxLength: 14 });
const json = fc.jsonValue({ maxDepth: 3, stringUnit: anyCharacter })
  .filter((value) => JSON.stringify(value).isWellFormed())
  .map((value) => value as JsonValue);
const keyed = fc.dictionary(word, json, { maxKeys: 6 });

/** What an app may say of some fields, in any order. */
const said = fc.record({
  name: word,
  height: fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  alive: fc.boolean(),
  seen: fc.date({ noInvalidDate: true }),
  data: fc.uint8Array({ maxLength: 5 }),
  extra: fc.oneof(json, keyed),
  votes: fc.integer({ min: -9, max: 9 }),
  tags: words,
  levels: fc.array(fc.integer({ min: -2, max: 12 })),
  notes: fc.dictionary(word, word),
  facts: keyed,
  steps: words,
  body: words.map((all) => all.join("")),
}, { requiredKeys: [] });

const step = fc.oneof(
  fc.record({ what: fc.constant("write" as const), at: fc.nat(1), said }),
  fc.record({
    what: fc.constantFrom("delete", "undo", "redo", "reopen", "entry", "both"),
    at: fc.nat(1),
    said,
  }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The same, said in an order of its own. */
function shuffled<T extends object>(said: T, seed: number): T {
  const random = seededRandom(seed);
  const entries = Object.entries(said)
    .map((entry) => [random(), entry] as const)
    .sort(([a], [b]) => a - b)
    .map(([, entry]) => entry);
  return Object.fromEntries(entries) as T;
}

function take(repository: Repository, { what, at, said }: Step, i: number) {
  const id = ids[at]!;
  const leaves = repository.collection(Leaf);
  const fields = shuffled(said, i);
  switch (what) {
    case "undo":
      return void repository.undo.undo();
    case "redo":
      return void repository.undo.redo();
    case "entry":
      return void openKv(repository).set(id, {
        ...fields.facts,
        fields: [fields],
      });
    case "delete":
      if (leaves.has(id)) leaves.delete(id);
      return;
    case "both":
      return void repository.transact((tx) => {
        tx.collection(Twig).create({ name: "twig" });
        tx.collection(Leaf).upsert({ id, ...fields });
        tx.collection(Twig).create({ name: "another" });
      });
    default:
      if (leaves.has(id)) leaves.update(id, fields);
      else leaves.create({ id, ...fields });
  }
}

Deno.test("every payload that an app makes has one form, by each way of writing", async () => {
  const whats = new Set<string>();
  const live = async (steps: readonly Step[]) => {
    const [storage, world] = [memoryStorage(), ticking()];
    const open = async () => {
      const schemas = [Leaf, Twig];
      const database = await openDatabase({
        storage,
        world,
        mode: "trusted",
        schemas,
      });
      const repository = await database.repository("board");
      await repository.undo.ready;
      return { database, repository };
    };
    let { database, repository } = await open();
    for (const [i, step] of steps.entries()) {
      if (step.what === "reopen") {
        await database.close();
        ({ database, repository } = await open());
      } else take(repository, step, i);
    }
    for (const operation of assertOneForm(replicaOf(repository))) {
      whats.add(operation.what);
      if (operation.what !== "update") continue;
      for (const { change } of operation.changes) {
        whats.add(`change: ${change.what}`);
      }
    }
    // What is shown is what every other device shows, keys in their order too.
    const shown = () => JSON.stringify(repository.collection(Leaf).all());
    const before = shown();
    await database.close();
    ({ database, repository } = await open());
    deepEqual(shown(), before);
    await database.close();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), live), {
    seed: 3,
    numRuns: sized(40, 1_500),
  });
  ok(whats.size === 3 + 11, [...whats].join());
});
