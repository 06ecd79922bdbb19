import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { sized } from "../../tests/kit/tier.ts";
import type { Item } from "../schema/patch.ts";
import { count } from "./grouped_query.ts";
import { type MemorySource, type Task, task, taskEngine } from "./kit_test.ts";
import type { QueryEngine } from "./engine.ts";
import { itemStore } from "./store.ts";
import { Query } from "./query.ts";

const authors = 1_000;

/** Counts looks at items: a live result that is told of one looks at it. */
function counting(source: MemorySource) {
  let looks = 0;
  const itemAt = source.itemAt.bind(source);
  source.itemAt = (ordinal) => (looks++, itemAt(ordinal));
  return () => {
    const seen = looks;
    looks = 0;
    return seen;
  };
}

function place(ask: (engine: QueryEngine, n: number) => { dispose(): void }) {
  const { source, engine } = taskEngine(false);
  const put = (id: string, n: number, fields = {}) =>
    source.write([
      id,
      task(id, {
        author: `a${n}`,
        done: false,
        rank: n,
        title: `t${n}.`,
        tags: [`g${n}`, "all"],
        labels: { [`k${n}`]: "x" },
        ...fields,
      }),
    ]);
  for (let n = 0; n < authors; n++) put(`t${n}`, n);
  const lives = Array.from({ length: authors }, (_, n) => ask(engine, n));
  return { source, engine, put, lives, looks: counting(source) };
}

const queries = {
  "one field": (engine, n) =>
    new Query<Task>(engine).where({ author: `a${n}` }).subscribe(() => {}),
  "several fields, a limit and an order": (engine, n) =>
    new Query<Task>(engine).where({ done: false, author: `a${n}` })
      .orderBy("rank").limit(3).subscribe(() => {}),
  "one of several values": (engine, n) =>
    new Query<Task>(engine).where({ author: { in: [`a${n}`, `b${n}`] } })
      .subscribe(() => {}),
  "groups": (engine, n) =>
    new Query<Task>(engine).where({ author: `a${n}` }).groupBy("done")
      .aggregate({ n: count() }).subscribe(() => {}),
  "an id": (engine, n) => {
    const end = itemStore(engine, `t${n}`).subscribe(() => {});
    return { dispose: end };
  },
  "values between two": (engine, n) =>
    new Query<Task>(engine).where({ rank: { gt: n - 0.5, lt: n + 0.5 } })
      .subscribe(() => {}),
  "values below one": (engine, n) =>
    new Query<Task>(engine).where({ rank: { lt: -n } }).subscribe(() => {}),
  "one field, and values between two of another": (engine, n) =>
    new Query<Task>(engine).where({ done: false })
      .where({ rank: { gte: n } }).where({ rank: { lt: n + 1 } })
      .subscribe(() => {}),
  "how a text starts": (engine, n) =>
    new Query<Task>(engine).where({ title: { prefix: `t${n}.` } })
      .subscribe(() => {}),
  "an element, and not another": (engine, n) =>
    new Query<Task>(engine).where({ tags: { contains: `g${n}` } })
      .where({ tags: { not: { contains: "none" } } }).subscribe(() => {}),
  "a value, and a key of a map": (engine, n) =>
    new Query<Task>(engine).where({ done: false })
      .where({ labels: { contains: `k${n}` } }).subscribe(() => {}),
  "alternatives": (engine, n) =>
    new Query<Task>(engine).where({
      done: false,
      or: [
        { author: `a${n}` },
        { and: [{ rank: { gt: n, lt: n + 0.5 } }, { title: "x" }] },
        { or: [{ author: `b${n}` }, { author: { in: [`c${n}`] } }] },
      ],
    }).subscribe(() => {}),
  "groups of values between two": (engine, n) =>
    new Query<Task>(engine).where({ rank: { gte: n, lt: n + 1 } })
      .groupBy("done").aggregate({ n: count() }).subscribe(() => {}),
  "what is in the first rows from a value on": (engine, n) =>
    new Query<Task>(engine).where({ rank: { lte: n } }).orderBy("rank", "desc")
      .limit(1).subscribe(() => {}),
  "what is in the first rows behind a row": (engine, n) =>
    new Query<Task>(engine).where((row) => row.title !== `${n}`)
      .orderBy("rank", "desc").limit(1)
      .after(task("t", { rank: n }) as unknown as Task).subscribe(() => {}),
  "the first of ids": (engine, n) =>
    new Query<Task>(engine).where((row) => row.title !== `${n}`).limit(1)
      .after(task(`t${n}`) as unknown as Task).subscribe(() => {}),
} satisfies Record<
  string,
  (engine: QueryEngine, n: number) => { dispose(): void }
>;

for (const [name, ask] of Object.entries(queries)) {
  Deno.test(`a write asks only live results that it may touch: by ${name}`, () => {
    const { source, put, looks, engine, lives } = place(ask);
    looks();
    put("other", authors + 1);
    put("other", authors + 2);
    put("other", authors + 3);
    source.write(["other", undefined]);
    const few = looks();
    equal(few < 30, true, `${few} looks at writes that touch none`);
    put("t7", 8, { rank: 3 });
    const some = looks();
    equal(some < 200, true, `${some} looks at one that touches few`);
    for (const live of lives) live.dispose();
    put("t8", 8);
    equal(engine.followers <= (name === "an id" ? authors : 0), true);
  });
}

Deno.test("a live result lets go of what changed and came before anybody told of it", () => {
  const { source, engine } = taskEngine(false);
  const put = (title: string) => source.write(["t", task("t", { title })]);
  put("ann");
  const first = new Query<Task>(engine).where({ title: "cid" }).subscribe(
    () => {},
  );
  // What happens meanwhile is told as one: from ann to cid, though it was bob's when it was asked for.
  const { itemAt, items } = source;
  const [bob, cid] = ["bob", "cid"].map((title) => task("t", { title }));
  let now: Item = bob!;
  source.itemAt = () => now;
  source.items = () => [now];
  const live = new Query<Task>(engine).where({ title: "bob" }).subscribe(
    () => {},
  );
  deepEqual(live.rows, [bob]);
  now = cid!;
  Object.assign(source, { itemAt, items });
  source.write(["t", cid]);
  deepEqual(live.rows, []);
  deepEqual(first.rows, [cid]);
});

Deno.test("live results hear of a transaction in the order in which they came, and not after their end", () => {
  const { source, engine } = taskEngine(false);
  const heard: string[] = [];
  const follow = (name: string, where: { author?: string }) =>
    new Query<Task>(engine).where(where).subscribe(() => heard.push(name));
  follow("all", {});
  const end = follow("ann", { author: "ann" });
  follow("all too", {});
  follow("ann too", { author: "ann" });
  source.write(["t", task("t", { author: "ann" })]);
  deepEqual(heard.splice(0), ["all", "ann", "all too", "ann too"]);
  end.dispose();
  source.write(["t", undefined]);
  deepEqual(heard, ["all", "all too", "ann too"]);
});

const between = fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 8 }));
const ranks = fc.array(
  fc.tuple(fc.nat({ max: 9 }), fc.option(fc.nat({ max: 38 }))),
  { minLength: 1, maxLength: 4 },
);

Deno.test("a live result is told of what is in its range, or was, and of nothing else", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(between, { maxLength: 20, selector: String }),
      fc.array(ranks, { maxLength: 20, size: "max" }),
      (ranges, steps) => {
        const world = { monotonic: () => 0 };
        const { source, engine } = taskEngine(false, { world });
        engine.measure(true);
        const lives = ranges.map(([low, size]) =>
          new Query<Task>(engine).where({ rank: { gte: low, lte: low + size } })
            .subscribe(() => {})
        );
        const expected = lives.map(() => 0);
        for (const step of steps) {
          const puts = new Map(step.map(([n, rank]) => [
            `t${n}`,
            rank === null ? undefined : task(`t${n}`, { rank }),
          ]));
          for (const [at, [low, size]] of ranges.entries()) {
            const isIn = (rank: unknown) =>
              typeof rank === "number" && rank >= low && rank <= low + size;
            const isTold = [...puts].some(([id, item]) =>
              isIn(item?.["rank"]) ||
              lives[at]!.rows.some((row) => row.id === id)
            );
            expected[at]! += Number(isTold);
          }
          source.write(...puts);
        }
        deepEqual(engine.costs().map(({ changes }) => changes), expected);
      },
    ),
    { seed: 20_261_123, numRuns: sized(200, 4_000) },
  );
});
