/**
 * Indexes that a checkpoint keeps: after reopening they answer as a filter and a
 * sort over all items do, whatever happened in between, and nothing is sorted.
 */

import { lateIndexes } from "../src/query/late_indexes.ts";
import { indexes as code } from "../src/query/indexes.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { PAGE } from "../repo/checkpoint/layout.ts";
import { checkpointName } from "../repo/checkpoint/files.ts";
import {
  createOf,
  folder,
  operationOf,
  Subject,
  updateOf,
  valuesOf,
} from "../repo/checkpoint/kit_test.ts";
import type { FieldKind, Operation } from "../src/schema/patch.ts";
import { field } from "../src/schema/field.ts";
import { defineSchema } from "../src/schema/schema.ts";
import { createView } from "../src/schema/view.ts";
import { QueryEngine } from "../src/query/engine.ts";
import { runNaively } from "../src/query/kit_test.ts";
import type { Request } from "../src/query/plan.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import { sized } from "./kit/tier.ts";

lateIndexes.provide(code);

const indexes = [["author", "done"], ["rank"], ["title"]] as const;

function viewOf(isRankText = false) {
  return createView(defineSchema("task", {
    title: field.string().optional(),
    done: field.boolean().default(false),
    rank: isRankText ? field.string() : field.number().default(0),
    author: field.string().optional(),
  }, { indexes }));
}

/** A collection with an engine that hears of its commits. */
class Place {
  readonly subject: Subject;
  engine!: QueryEngine;
  /** Ids that the collection was asked for. */
  idsRead = 0;

  constructor(subject = new Subject(memoryStorage(), viewOf())) {
    this.subject = subject;
    this.listen();
  }

  listen(): void {
    const { table, view } = this.subject;
    const kinds = new Map<string, FieldKind>();
    for (const { name, kind } of view.schema!.plan) kinds.set(name, kind);
    const idAt = table.idAt.bind(table);
    table.idAt = (ordinal) => (this.idsRead++, idAt(ordinal));
    const options = { name: "task", fields: kinds, indexes };
    this.engine = new QueryEngine(table, options);
  }

  commit(operations: readonly Operation[]): void {
    const { table } = this.subject;
    const ids = new Set(operations.map(idOf));
    this.subject.commit(operations);
    table.publish([...ids].map((id) => {
      const ordinal = table.ordinalOf(id);
      return { ordinal, before: undefined, after: table.itemAt(ordinal) };
    }));
  }

  fill(count: number): void {
    for (let from = 0; from < count; from += 100) {
      const operations = Array.from({ length: 100 }, (_, n) => {
        const id = (from + n) * 7_919 % count;
        const values = { title: `title ${id}`, rank: from + n };
        return createOf(`i${id}`, { ...valuesOf(id), ...values });
      });
      this.commit(operations);
    }
  }

  async reopen(): Promise<void> {
    this.engine.dispose();
    await this.subject.write();
    this.subject.open();
    this.listen();
  }

  /** Asks each index, and compares. */
  check(isAsked: (index: number) => boolean = () => true): void {
    const items = this.subject.table.items();
    for (const [at, request] of requests.entries()) {
      if (!isAsked(at)) continue;
      const plan = this.engine.plan(request);
      deepEqual(this.engine.run(request, plan), runNaively(items, request));
    }
  }
}

function idOf(operation: Operation): string {
  return operation.what === "create" ? operation.item.id : operation.id;
}

const whole = { parts: [], after: undefined, offset: 0, limit: 1_000 };

const requests: readonly Request[] = [
  {
    ...whole,
    order: [
      { field: "author", descending: false },
      { field: "done", descending: false },
    ],
  },
  { ...whole, order: [{ field: "rank", descending: true }] },
  { ...whole, order: [{ field: "title", descending: false }] },
];

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        what: fc.constantFrom("update", "update", "delete"),
        id: fc.nat({ max: 60 }),
        pick: fc.nat({ max: 200 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ ask: fc.nat({ max: 7 }) }) },
    { weight: 1, arbitrary: fc.constant("reopen" as const) },
    { weight: 1, arbitrary: fc.constant("write behind the engine" as const) },
  ),
  { minLength: 10, maxLength: 60, size: "max" },
);

Deno.test("indexes that a checkpoint kept answer as a sort does, whatever happened since", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const place = new Place();
      place.fill(100);
      for (const step of all) {
        if (step === "reopen") await place.reopen();
        else if (step === "write behind the engine") {
          place.engine.dispose();
          const one = operationOf(place.subject, "i5", "update", 3);
          place.subject.commit([one]);
          await place.reopen();
        } else if ("ask" in step) {
          place.check((at) => (step.ask >> at & 1) === 1);
        } else {
          const { id, what, pick } = step;
          const one = operationOf(place.subject, `i${id}`, what, pick);
          place.commit([one]);
        }
      }
      await place.reopen();
      place.check();
    }),
    { seed: 20_261_123, numRuns: sized(60, 1_000) },
  );
});

const count = 3_000;

/** Ids that the first answer reads, sorted by author and done: nearly all tie. */
function readsOf(place: Place): number {
  place.idsRead = 0;
  const [request] = requests;
  const plan = place.engine.plan(request!);
  equal(plan.what, "index");
  return place.idsRead;
}

Deno.test("an index is kept with the checkpoint, and carried on by those who do not ask for it", async () => {
  const place = new Place();
  place.fill(count);
  ok(readsOf(place) >= count, "the first one sorts");
  await place.reopen();
  equal(readsOf(place), 0);
  await place.reopen();
  for (let n = 0; n < 20; n++) {
    place.commit([operationOf(place.subject, `i${n * 50}`, "update", n)]);
  }
  await place.reopen();
  const few = readsOf(place);
  ok(few < count / 4, `${few} ids were read`);
  place.check();
});

for (const isHeard of [true, false]) {
  Deno.test(`an index knows who moved beside its old place, ${isHeard ? "" : "un"}heard by the engine that had it`, async () => {
    const place = new Place();
    place.fill(count);
    place.check();
    if (isHeard) await place.reopen();
    else place.engine.dispose();
    const items = runNaively(place.subject.table.items(), {
      ...requests[0]!,
      limit: Infinity,
    });
    // From the end of those that are open to the beginning of those that are done, but for its id.
    const at = items.findIndex(({ done }, n) =>
      done && !items[n - 1]?.["done"]
    );
    const change = updateOf(items[at - 1]!.id, 0, 2);
    if (isHeard) place.commit([change]);
    else place.subject.commit([change]);
    await place.reopen();
    place.check();
  });
}

Deno.test("an index is not used where a field is of another kind now", async () => {
  const place = new Place();
  place.fill(count);
  place.check();
  await place.reopen();
  const other = new Subject(place.subject.storage, viewOf(true));
  Object.assign(other, { log: place.subject.log });
  other.open();
  const later = new Place(other);
  later.check();
  later.check();
});

Deno.test("an index whose pages are damaged, or that lies, is found anew", async () => {
  const place = new Place();
  place.fill(count);
  place.check();
  place.engine.dispose();
  await place.subject.write();
  const name = `${folder}/${checkpointName(1)}`;
  const { storage } = place.subject;
  place.subject.open();
  const { columns } = place.subject.checkpoint!.directory.collections[0]!;
  const orders = columns.filter(({ key }) => key === "order");
  equal(orders.length, indexes.length - 1); // Titles are in no column.
  const file = storage.open(name)!;
  for (const { records } of orders) {
    file.writeAt(new Uint8Array([1, 2, 3]), records.first * PAGE + 40);
  }
  place.listen();
  ok(readsOf(place) >= count);
  place.check();
  // Sound pages, wrong order: each place is said to be that of the one before it.
  const liar = new Place();
  liar.fill(count);
  liar.check();
  const { table } = liar.subject;
  for (const index of indexes) {
    table.keepOrder(
      index,
      () => Uint32Array.from({ length: count }, (_, n) => n),
    );
  }
  await liar.reopen();
  liar.check();
});
