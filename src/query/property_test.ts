/**
 * The engine against the naive evaluator, on random data, queries and writes.
 *
 * @module
 */

import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { Item, Value } from "../schema/patch.ts";
import { QueryEngine } from "./engine.ts";
import {
  MemorySource,
  runNaively,
  type Task,
  task,
  taskEngine,
  taskFields,
  taskIndexes,
} from "./kit_test.ts";
import type { Condition } from "./condition.ts";
import type { Live, LiveChange } from "./live.ts";
import { placeOf } from "./cursor.ts";
import { parseWhere } from "./parse_where.ts";
import type { Request } from "./plan.ts";
import type { ItemChange } from "../schema/source.ts";
import { Query } from "./query.ts";
import { sized } from "../../tests/kit/tier.ts";

const fields = new Map([...taskFields, ["id", "string"] as const]);
const seed = 20_260_221;

const id = fc.integer({ min: 0, max: 40 }).map((n) => `i${n * 7919 % 41}`);
const word = fc.constantFrom("", "a", "ab", "abc", "b", "ba", "\uffff", "é");
const rank = fc.constantFrom(-Infinity, -1, -0, 0, 0.5, 1, 2, 3, Infinity, NaN);
const plainRank = fc.constantFrom(-1, -0, 0, 0.5, 1, 2, 3);
const when = fc.constantFrom(0, 1, 5, 10).map((ms) => new Date(ms));
const blob = fc.constantFrom([], [0], [1, 2], [1, 200], [255]).map((bytes) =>
  new Uint8Array(bytes)
);
const maybe = <T>(value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined, freq: 3 });

function itemFields(isMixed: boolean): fc.Arbitrary<Record<string, Value>> {
  const odd: fc.Arbitrary<Value> = fc.constantFrom(
    null,
    "odd",
    4,
    true,
    new Date(3),
    new Date(NaN),
  );
  const mixed = <T extends Value>(value: fc.Arbitrary<T>) =>
    isMixed ? fc.oneof({ weight: 12, arbitrary: value }, odd) : value;
  return fc.record<Record<string, Value>>({
    title: word,
    author: mixed(maybe(fc.constantFrom("ada", "bob", "cyd"))),
    done: mixed(maybe(fc.boolean())),
    rank: mixed(maybe(isMixed ? rank : plainRank)),
    when: mixed(maybe(when)),
    blob: maybe(blob),
    tags: fc.uniqueArray(word, { maxLength: 3 }),
    labels: fc.dictionary(fc.constantFrom("x", "y"), word, { maxKeys: 2 }),
  });
}

const author = fc.constantFrom("ada", "bob", "cyd", "none");

const leaf: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({ author: maybe(author) }),
  fc.record({
    author: fc.record({ in: fc.array(maybe(author), { maxLength: 3 }) }),
  }),
  fc.record({ author: fc.record({ not: maybe(author) }) }),
  fc.record({
    author: fc.record({ gt: author, lte: author }, { requiredKeys: ["gt"] }),
  }),
  fc.record({ done: maybe(fc.boolean()) }),
  fc.record({ done: fc.record({ not: fc.boolean() }) }),
  fc.record({ rank: maybe(plainRank) }),
  fc.record({
    rank: fc.record({ gte: plainRank, lt: plainRank }, {
      requiredKeys: ["gte"],
    }),
  }),
  fc.record({
    rank: fc.record({ gt: fc.constantFrom(-Infinity, -0, 0, Infinity) }),
  }),
  fc.record({
    rank: fc.record({ lte: fc.constantFrom(-Infinity, -0, 1, Infinity) }),
  }),
  fc.record({ rank: fc.record({ in: fc.array(plainRank, { maxLength: 3 }) }) }),
  fc.record({ rank: fc.record({ not: fc.record({ lt: plainRank }) }) }),
  fc.record({ when: maybe(when) }),
  fc.record({ when: fc.record({ gt: when }) }),
  fc.record({ blob: fc.record({ gte: blob }) }),
  fc.record({ blob: maybe(blob) }),
  fc.record({ title: fc.record({ prefix: word }) }),
  fc.record({ title: fc.record({ contains: word }) }),
  fc.record({ tags: fc.record({ contains: word }) }),
  fc.record({ labels: fc.record({ contains: fc.constantFrom("x", "y") }) }),
  fc.record({ extra: fc.constant(undefined) }),
  fc.record({ id: id }),
  fc.record({ id: fc.record({ in: fc.array(id, { maxLength: 5 }) }) }),
  fc.record({
    id: fc.record({ gte: id, lt: id }, { requiredKeys: ["gte"] }),
  }),
  fc.record({ id: fc.record({ gt: id, lte: id }, { requiredKeys: ["lte"] }) }),
  fc.record({ id: fc.record({ prefix: fc.constantFrom("i", "i1", "j") }) }),
);

const where: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 6, arbitrary: leaf },
  {
    weight: 2,
    arbitrary: fc.tuple(leaf, leaf).map(([a, b]) => ({ ...a, ...b })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ or: fc.array(leaf, { maxLength: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ and: fc.array(leaf, { maxLength: 2 }), not: leaf }),
  },
);

const term = fc.record({
  field: fc.constantFrom(
    "author",
    "done",
    "rank",
    "when",
    "blob",
    "title",
    "id",
  ),
  direction: fc.constantFrom("asc", "desc"),
});

interface Asked {
  readonly wheres: readonly Record<string, unknown>[];
  readonly order: readonly { field: string; direction: string }[];
  readonly offset: number;
  readonly limit: number;
  readonly after: number | undefined;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  wheres: fc.array(where, { maxLength: 2 }),
  order: fc.array(term, { maxLength: 2 }),
  offset: fc.constantFrom(0, 0, 0, 1, 5),
  limit: fc.constantFrom(Infinity, Infinity, 0, 1, 2, 3, 10, 1000),
  after: fc.constantFrom(undefined, undefined, undefined, 0, 3),
});

/** Queries are typed; here they come from dice. */
function loose<T>(value: unknown): T {
  return value as T;
}

function build(all: Query<Task>, { wheres, order, offset, limit }: Asked) {
  let query = all;
  for (const one of wheres) query = query.where(loose(one));
  for (const { field, direction } of order) {
    query = query.orderBy(loose(field), loose(direction));
  }
  if (offset > 0) query = query.offset(offset);
  return limit < Infinity ? query.limit(limit) : query;
}

function toRequest(question: Asked): Request {
  const seen = new Set<string>();
  // Ids never tie, so what is ordered behind them decides nothing.
  const isDecided = () => seen.has("id");
  return {
    parts: question.wheres.flatMap((one): Condition[] =>
      parseWhere(one, fields)
    ),
    order: question.order
      .map(({ field, direction }) => ({
        field,
        descending: direction === "desc",
      }))
      .filter(({ field }) =>
        !isDecided() && !seen.has(field) && seen.add(field)
      ),
    offset: question.offset,
    limit: question.limit,
    after: undefined,
  };
}

const writes = (isMixed: boolean, sizes: fc.Arbitrary<number>) =>
  fc.array(
    sizes.chain((size) =>
      fc.array(
        fc.tuple(
          id,
          fc.option(itemFields(isMixed), { nil: undefined, freq: 5 }),
        ),
        { minLength: 1, maxLength: size, size: "max" },
      )
    ),
    { minLength: 1, maxLength: 12, size: "max" },
  );

type Writes = readonly (readonly (readonly [
  string,
  Record<string, Value> | undefined,
])[])[];

function put(
  write: Writes[number],
): (readonly [string, Item | undefined])[] {
  const puts = new Map<string, Item | undefined>();
  for (const [key, values] of write) {
    puts.set(key, values === undefined ? undefined : task(key, values));
  }
  return [...puts];
}

const world = fc.record({
  columnar: fc.boolean(),
  isMixed: fc.boolean(),
}).chain(({ columnar, isMixed }) =>
  fc.record({
    columnar: fc.constant(columnar),
    steps: writes(isMixed, fc.constantFrom(1, 2, 5, 40)),
    questions: fc.array(asked, { minLength: 1, maxLength: 4 }),
  })
);

/** Cursors by the naive way: the place behind the n-th row of all. */
function withAfter(question: Asked, items: readonly Item[]): Request {
  const request = toRequest(question);
  if (question.after === undefined) return request;
  const whole = runNaively(items, { ...request, offset: 0, limit: Infinity });
  const row = whole[question.after];
  if (row === undefined) return request;
  return { ...request, after: placeOf(request.order, row) };
}

/** Rows that nobody ordered come as they are found: by id, they compare. */
function inOrder(
  rows: Task[],
  asked: Asked,
  { offset, limit, after }: Request,
) {
  const isOrdered = asked.order.length > 0 || offset > 0 ||
    limit < Infinity || after !== undefined;
  return isOrdered ? rows : rows.toSorted((a, b) => a.id < b.id ? -1 : 1);
}

Deno.test("Query.run() and count() equal the naive evaluator", () => {
  fc.assert(
    fc.property(world, ({ columnar, steps, questions }) => {
      const { source, engine } = taskEngine(columnar);
      const all = new Query<Task>(engine);
      for (const step of steps) {
        source.write(...put(step));
        for (const question of questions) {
          const items = source.items();
          const request = withAfter(question, items);
          const naive = runNaively(items, request);
          let query = build(all, question);
          if (request.after !== undefined) {
            const row = source.itemAt(source.ordinalOf(request.after.id));
            query = query.after(query.cursor(loose(row)));
          }
          deepStrictEqual(inOrder(query.run(), question, request), naive);
          strictEqual(query.count(), naive.length);
          const told = query.explain();
          strictEqual(told.rowsReturned, naive.length);
        }
      }
    }),
    { seed, numRuns: sized(200, 4_000) },
  );
});

/** Plays a change on the old rows as its description says. */
function replay<Row>(
  rows: readonly Row[],
  change: LiveChange<Row>,
): readonly Row[] {
  const { added, removed, moved, changed } = change;
  const gone = new Set([
    ...removed.map((row) => row.index),
    ...moved.map((row) => row.from),
  ]);
  for (const { row, index } of removed) strictEqual(rows[index], row);
  for (const { before, index } of changed) {
    strictEqual(rows.includes(before), true);
    strictEqual(change.rows[index] === before, false);
  }
  const list = rows.filter((_, index) => !gone.has(index));
  const come = [
    ...added,
    ...moved.map(({ row, to }) => ({ row, index: to })),
  ].sort((a, b) => a.index - b.index);
  for (const { row, index } of come) list.splice(index, 0, row);
  for (const { row, index } of changed) list[index] = row;
  return list;
}

function sameObjects<Row>(a: readonly Row[], b: readonly Row[]): void {
  strictEqual(a.length, b.length);
  for (const [at, row] of a.entries()) strictEqual(row, b[at]);
}

Deno.test("Live rows equal the naive evaluator after every transaction, and changes replay", () => {
  fc.assert(
    fc.property(world, ({ columnar, steps, questions }) => {
      const { source, engine } = taskEngine(columnar);
      const first = steps[0]!;
      source.write(...put(first));
      const all = new Query<Task>(engine);
      const followed = questions.map((question) => {
        const items = source.items();
        const request = withAfter(question, items);
        let query = build(all, question);
        if (request.after !== undefined) {
          const row = source.itemAt(source.ordinalOf(request.after.id));
          query = query.after(loose(row));
        }
        const changes: LiveChange<Task>[] = [];
        const live = query.subscribe((change) => changes.push(change));
        return { request, changes, live };
      });
      for (const step of steps.slice(1)) {
        const before = followed.map(({ live }) => live.getSnapshot());
        source.write(...put(step));
        for (const [at, { request, changes, live }] of followed.entries()) {
          const naive = runNaively(source.items(), request);
          const old = before[at]!;
          sameObjects<unknown>(live.rows, naive);
          const isSame = old.length === naive.length &&
            old.every((row, index) => loose(row) === naive[index]);
          strictEqual(changes.length, isSame ? 0 : 1);
          if (isSame) strictEqual(live.getSnapshot(), old);
          for (const change of changes.splice(0)) {
            strictEqual(change.rows, live.rows);
            sameObjects(replay(old, change), live.rows);
          }
        }
      }
      for (const { live } of followed) live.dispose();
      strictEqual(engine.followers, 0);
      engine.dispose();
      strictEqual(source.listeners, 0);
    }),
    { seed, numRuns: sized(200, 4_000) },
  );
});

Deno.test("Live windows that run dry and fill again equal the naive evaluator", () => {
  const places = 200;
  const question = fc.record({
    direction: fc.constantFrom("asc", "desc"),
    field: fc.constantFrom("rank", "title", "id"),
    limit: fc.integer({ min: 1, max: 3 }),
    offset: fc.constantFrom(0, 0, 2),
    where: fc.constantFrom<Record<string, unknown>>(
      {},
      { done: true },
      { rank: { gt: 30 } },
    ),
  });
  // Mostly what stands first goes: windows run dry, and reach farther then.
  const change = fc.record({
    goes: fc.nat({ max: 12 }),
    from: fc.constantFrom("first", "last", "any"),
    to: fc.option(fc.nat({ max: places }), { freq: 3 }),
    done: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(question, { minLength: 1, maxLength: 5 }),
      fc.array(change, { minLength: 40, maxLength: 90, size: "max" }),
      (questions, changes) => {
        const { source, engine } = taskEngine(false);
        const fieldsAt = (rank: number) => ({
          rank,
          title: String(rank).padStart(3, "0"),
        });
        const idOf = (n: number) => `i${String(n).padStart(3, "0")}`;
        for (let n = 0; n < 60; n++) {
          const fields = { ...fieldsAt(n * 3), done: true };
          source.write([idOf(n), task(idOf(n), fields)]);
        }
        const followed = questions.map(({ field, direction, ...rest }) => {
          const order = [{ field, direction }];
          const asked = {
            ...rest,
            order,
            wheres: [rest.where],
            after: undefined,
          };
          const live = build(new Query<Task>(engine), asked).subscribe(
            () => {},
          );
          return { request: toRequest(asked), live };
        });
        for (const { goes, from, to, done } of changes) {
          const items = source.items().toSorted((a, b) =>
            Number(a["rank"]) - Number(b["rank"])
          );
          const at = from === "last" ? items.length - 1 - goes : goes;
          const one = from === "any" ? undefined : items.at(at);
          const id = one?.id ?? idOf(goes * 5);
          const next = to === null
            ? undefined
            : task(id, { ...fieldsAt(to), done });
          source.write([id, next]);
          for (const { request, live } of followed) {
            const naive = runNaively(source.items(), request);
            sameObjects<unknown>(live.rows, naive);
          }
        }
      },
    ),
    { seed, numRuns: sized(200, 4_000) },
  );
});

/** Tells of writes later, one or several of them at a time. */
class LateSource extends MemorySource {
  readonly #waiting: (readonly ItemChange[])[] = [];
  #listener: (changes: readonly ItemChange[]) => void = () => {};

  override subscribe(listener: (changes: readonly ItemChange[]) => void) {
    this.#listener = listener;
    return super.subscribe((changes) => this.#waiting.push(changes));
  }

  /** True when nothing more waits. */
  tell(writes: number): boolean {
    const told = new Map<number, ItemChange>();
    for (const change of this.#waiting.splice(0, writes).flat()) {
      const before = told.get(change.ordinal) ?? change;
      told.set(change.ordinal, { ...change, before: before.before });
    }
    if (told.size > 0) this.#listener([...told.values()]);
    return this.#waiting.length === 0;
  }
}

Deno.test("Live rows are right again when late news have come, and for equal subscriptions alike", () => {
  const late = fc.array(
    fc.record({
      step: writes(true, fc.constantFrom(1, 3, 20)).map(([first]) => first!),
      question: asked,
      tells: fc.nat({ max: 3 }),
    }),
    { minLength: 1, maxLength: 14, size: "max" },
  );
  fc.assert(
    fc.property(late, (events) => {
      const source = new LateSource(taskFields, false);
      const engine = new QueryEngine(source, {
        name: "task",
        fields: taskFields,
        indexes: taskIndexes,
      });
      const followed: { request: Request; lives: Live<Task>[] }[] = [];
      const check = () => {
        for (const { request, lives } of followed) {
          const naive = runNaively(source.items(), request);
          for (const live of lives) sameObjects<unknown>(live.rows, naive);
        }
      };
      for (const { step, question, tells } of events) {
        const ask = () =>
          build(new Query<Task>(engine), question).subscribe(() => {});
        const early = ask();
        source.write(...put(step));
        const lives = [early, ask()];
        followed.push({ request: toRequest(question), lives });
        if (source.tell(tells)) check();
      }
      source.tell(Infinity);
      check();
    }),
    { seed, numRuns: sized(200, 4_000) },
  );
});

Deno.test("Live rows are right where an index had not heard of a write when they were asked for", () => {
  const source = new LateSource(taskFields, false);
  const engine = new QueryEngine(source, {
    name: "task",
    fields: taskFields,
    indexes: taskIndexes,
  });
  source.write(["a", task("a", { rank: 1 })]);
  const query = () => new Query<Task>(engine).where({ rank: { gte: 1 } });
  for (let i = 0; i < 3; i++) query().run(); // Builds the index.
  source.tell(Infinity);
  source.write(["a", task("a", { rank: 0 })]);
  const live = query().subscribe(() => {});
  source.tell(Infinity);
  deepStrictEqual(live.rows, []);
});

Deno.test("Query.after() walks every row exactly once, ties included", () => {
  fc.assert(
    fc.property(
      world,
      fc.integer({ min: 1, max: 4 }),
      ({ columnar, steps, questions }, page) => {
        const { source, engine } = taskEngine(columnar);
        for (const step of steps) source.write(...put(step));
        const question = { ...questions[0]!, offset: 0, limit: Infinity };
        const query = build(new Query<Task>(engine), question);
        const walked: Task[] = [];
        let rows = query.limit(page).run();
        while (rows.length > 0) {
          walked.push(...rows);
          rows = query.after(query.cursor(rows.at(-1)!)).limit(page).run();
        }
        deepStrictEqual(
          walked,
          runNaively(source.items(), toRequest(question)),
        );
      },
    ),
    { seed, numRuns: sized(100, 400) },
  );
});
