/**
 * The model test: random operations, closes and reopens against a plain `Map`.
 */

import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import {
  type Collection,
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  type Storage,
} from "../mod.ts";
import { sized } from "./kit/tier.ts";

const Thing = defineSchema("thing", {
  name: field.string(),
  size: field.number().default(0),
  big: field.boolean().default(false),
  tags: field.set(field.string()),
  votes: field.counter(),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
}, { indexes: [["size"], ["big", "name"]] });

type Thing = typeof Thing;

interface Model {
  name: string;
  size: number;
  big: boolean;
  tags: string[];
  votes: number;
  steps: string[];
  notes: Record<string, string>;
}

const id = fc.integer({ min: 0, max: 11 }).map((n) => `thing-${n}`);
const word = fc.constantFrom("ash", "birch", "cedar", "döner", "elm 🌳", "");

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant("create" as const),
      id,
      word,
      n: fc.integer({ min: -9, max: 9 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant("update" as const),
      id,
      word,
      n: fc.integer({ min: -9, max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant("rich" as const),
      id,
      word,
      n: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant("delete" as const), id }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("transact" as const),
      ids: fc.array(id, { maxLength: 5 }),
      fail: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ what: "reopen" as const }) },
  { weight: 1, arbitrary: fc.constant({ what: "checkpoint" as const }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Pair {
  db: Database | undefined;
  repo: Repository | undefined;
  things: Collection<Thing> | undefined;
  readonly model = new Map<string, Model>();
  readonly storage: Storage = memoryStorage();
  readonly mode: "default" | "trusted" | "fast";

  constructor(mode: "default" | "trusted" | "fast") {
    this.mode = mode;
  }

  async open(): Promise<void> {
    this.db = await openDatabase({
      storage: this.storage,
      mode: this.mode,
      schemas: [Thing],
    });
    this.repo = await this.db.repository("model");
    this.things = this.repo.collection(Thing);
  }

  async run(step: Step): Promise<void> {
    if (step.what === "reopen") {
      await this.db!.close();
      await this.open();
    } else if (step.what === "checkpoint") await this.repo!.checkpoint();
    else if (step.what === "transact") this.#transact(step.ids, step.fail);
    else if (step.what === "delete") this.#delete(step.id);
    else if (step.what === "create") this.#create(step.id, step.word, step.n);
    else if (step.what === "update") this.#update(step.id, step.word, step.n);
    else this.#rich(step.id, step.word, step.n);
  }

  #create(id: string, word: string, n: number): void {
    const input = {
      id,
      name: word,
      size: n,
      tags: [word, "x"],
      votes: n,
      steps: [word],
    };
    if (this.model.has(id)) {
      return rejects(() => this.things!.create(input), "item-exists");
    }
    this.things!.create(input);
    this.model.set(id, {
      name: word,
      size: n,
      big: false,
      tags: [...new Set([word, "x"])],
      votes: n,
      steps: [word],
      notes: {},
    });
  }

  #update(id: string, word: string, n: number): void {
    const known = this.model.get(id);
    if (known === undefined) {
      return rejects(
        () => this.things!.update(id, { name: word }),
        "item-missing",
      );
    }
    this.things!.update(id, { name: word, big: n > 0, size: n });
    this.model.set(id, { ...known, name: word, big: n > 0, size: n });
  }

  #rich(id: string, word: string, n: number): void {
    const known = this.model.get(id);
    if (known === undefined) return;
    const at = Math.min(n, known.steps.length);
    this.things!.update(id, {
      tags: { add: [word], remove: n > 3 ? ["x"] : [] },
      votes: { increment: n },
      steps: { insert: [{ at, value: word }] },
      notes: { put: { [word]: `${n}` } },
    });
    const tags = new Set([...known.tags, word]);
    if (n > 3) tags.delete("x");
    const steps = [...known.steps.slice(0, at), word, ...known.steps.slice(at)];
    const notes = { ...known.notes, [word]: `${n}` };
    this.model.set(id, {
      ...known,
      tags: [...tags],
      votes: known.votes + n,
      steps,
      notes,
    });
  }

  #delete(id: string): void {
    if (!this.model.delete(id)) {
      return rejects(() => this.things!.delete(id), "item-missing");
    }
    this.things!.delete(id);
  }

  #transact(ids: string[], fail: boolean): void {
    const existing = [...new Set(ids)].filter((id) => this.model.has(id));
    const run = () =>
      this.repo!.transact((tx) => {
        const things = tx.collection(Thing);
        for (const id of existing) {
          things.update(id, { size: 100 });
          equal(things.get(id)?.size, 100, "a transaction sees its own writes");
        }
        if (fail) throw new RangeError("changed my mind");
      });
    if (fail) return rejects(run, "RangeError");
    run();
    for (const id of existing) {
      this.model.set(id, { ...this.model.get(id)!, size: 100 });
    }
  }

  check(): void {
    const things = this.things!;
    equal(things.count(), this.model.size);
    deepEqual(things.keys().sort(), [...this.model.keys()].sort());
    for (const [id, expected] of this.model) same(things.get(id), id, expected);
    equal(things.all().length, this.model.size);
    const small = things.where({ size: { lt: 0 } }).run().map(({ id }) => id)
      .sort();
    const expected = [...this.model].filter(([, { size }]) => size < 0).map((
      [id],
    ) => id).sort();
    deepEqual(small, expected);
  }
}

function same(
  item: ReturnType<Collection<Thing>["get"]>,
  id: string,
  expected: Model,
): void {
  equal(item?.id, id);
  deepEqual(
    {
      ...item,
      id: undefined,
      tags: [...item!.tags].sort(),
      steps: [...item!.steps],
      notes: { ...item!.notes },
    },
    { ...expected, id: undefined, tags: [...expected.tags].sort() },
  );
}

function rejects(action: () => unknown, expected: string): void {
  try {
    action();
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    equal(code ?? name, expected);
    return;
  }
  throw new Error(`Expected ${expected}`);
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`a database in ${mode} mode behaves like a Map over writes, closes and reopens`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        async (steps) => {
          const pair = new Pair(mode);
          await pair.open();
          for (const step of steps) {
            await pair.run(step);
            pair.check();
          }
          await pair.run({ what: "reopen" });
          pair.check();
          await pair.db!.close();
        },
      ),
      { seed: 20_261_120, numRuns: sized(40, 600) },
    );
  });
}
