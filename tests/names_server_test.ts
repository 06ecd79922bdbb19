/**
 * Honest writers before a server that holds them to names: whatever they do
 * offline, take back and do again, nothing of it is refused.
 */

import { deepEqual, equal } from "node:assert/strict";
import {
  type Collection,
  type Database,
  defineRules,
  defineSchema,
  memoryStorage,
  openDatabase,
  type Repository,
  rulesFor,
} from "../mod.ts";
import { field } from "../src/text/mod.ts";
import { until } from "./kit/patience.ts";
import { seededRandom } from "./kit/random.ts";
import { ANN, BOB, type Place, withServer } from "./server_place.ts";

const Card = defineSchema("card", {
  title: field.string().default(""),
  rank: field.number().default(0),
  tags: field.set(field.string()),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
  body: field.text(),
});

interface Client {
  readonly db: Database;
  readonly repository: Repository;
  readonly cards: Collection<typeof Card>;
}

async function client({ server }: Place): Promise<Client> {
  const db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Card],
    rootKey: server.rootKey,
  });
  const repository = await db.repository("team");
  await repository.undo.ready;
  return { db, repository, cards: repository.collection(Card) };
}

const words = ["a", "bc", "def", "ghij"];

/** Does something to the card, as people do. */
function doSomething({ cards, repository }: Client, next: () => number): void {
  const below = (count: number) => Math.floor(next() * count);
  const word = words[below(words.length)]!;
  const card = cards.get("x");
  const what = below(12);
  if (card === undefined) {
    cards.create({ id: "x", tags: [word], steps: [word, "z"], body: word });
  } else if (what === 0) cards.delete("x");
  else if (what < 3) repository.undo.undo();
  else if (what === 3) repository.undo.redo();
  else if (what < 6) {
    cards.update("x", {
      tags: next() < 0.5 ? { add: [word] } : { remove: [word] },
      notes: { put: { [word]: "n" }, drop: [words[below(4)]!] },
    });
  } else if (what < 9) {
    const { steps } = card;
    const at = below(steps.length + 1);
    if (at === steps.length || steps.length < 2) {
      cards.update("x", { steps: { insert: [{ at, value: word }] } });
    } else if (what === 6) cards.update("x", { steps: { delete: [at] } });
    else if (what === 7) {
      cards.update("x", { steps: { replace: [{ at, value: word }] } });
    } else cards.update("x", { steps: { move: [{ from: at, to: 0 }] } });
  } else {
    const at = below(card.body.length + 1);
    const length = Math.min(below(3), card.body.length - at);
    cards.update("x", {
      body: { splice: [{ at, delete: length, insert: word }] },
    });
  }
}

/** Lets a client hear and say everything. */
async function meet(place: Place, one: Client, token: string): Promise<void> {
  const { sync } = one.repository;
  const connection = one.db.connect(place.server.url, { session: { token } });
  const isDone = () => {
    const { state, unsent } = sync.status;
    return state === "live" && unsent.commits === 0;
  };
  await until(isDone, "all is synced");
  await connection.close();
}

for (const seed of [1, 2, 3]) {
  Deno.test(`nothing that honest writers do apart is refused for its names (seed ${seed})`, () =>
    withServer({}, async (place) => {
      const next = seededRandom(seed);
      const [ann, bob] = [await client(place), await client(place)];
      for (let round = 0; round < 6; round++) {
        for (const [one, token] of [[ann, ANN], [bob, BOB]] as const) {
          const count = Math.floor(next() * 12);
          for (let i = 0; i < count; i++) doSomething(one, next);
          if (next() < 0.8) await meet(place, one, token);
        }
      }
      for (
        const [one, token] of [[ann, ANN], [bob, BOB], [ann, ANN]] as const
      ) {
        await meet(place, one, token);
        deepEqual(one.repository.sync.status.refusals, []);
      }
      deepEqual(ann.cards.get("x"), bob.cards.get("x"));
      for (const { db } of [ann, bob]) await db.close();
    }));
}

const rules = defineRules({
  team: {
    read: () => true,
    collections: [rulesFor(Card, {
      create: () => true,
      update: ({ after }) => after.rank < 5 || "too high",
      delete: () => true,
    })],
  },
});

Deno.test("what changes only what a refused write had brought is refused with it, and the rest goes on", () =>
  withServer({ rules }, async (place) => {
    const ann = await client(place);
    const { cards, repository } = ann;
    cards.create({ id: "x", steps: ["one"] });
    const refused = cards.update("x", {
      rank: 9,
      tags: { add: ["t"] },
      steps: { insert: [{ at: 1, value: "two" }] },
    });
    const behind = [
      cards.update("x", { tags: { remove: ["t"] } }),
      cards.update("x", { steps: { replace: [{ at: 1, value: "2" }] } }),
    ];
    const kept = cards.update("x", {
      steps: { replace: [{ at: 0, value: "1" }] },
    });
    const failed = [refused, ...behind].map((write) =>
      write.synced.then(() => "accepted", () => "refused")
    );
    await meet(place, ann, ANN);
    deepEqual(await Promise.all(failed), ["refused", "refused", "refused"]);
    await kept.synced;
    const { refusals } = repository.sync.status;
    deepEqual(
      refusals.map(({ reason }) => reason),
      ["denied", "unknown-name", "unknown-name"],
    );
    equal(refusals[1]!.detail, "card x has no such add in tags");
    const { rank, tags, steps } = cards.get("x")!;
    deepEqual([rank, tags, steps], [0, [], ["1"]]);
    await ann.db.close();
  }));
