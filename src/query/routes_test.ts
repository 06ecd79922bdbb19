import { deepEqual, equal } from "node:assert/strict";
import type { Item } from "../schema/patch.ts";
import { count } from "./aggregates.ts";
import { type MemorySource, type Task, task, taskEngine } from "./kit_test.ts";
import type { QueryEngine } from "./engine.ts";
import { itemStore } from "./store.ts";

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
    source.write([id, task(id, { author: `a${n}`, done: false, ...fields })]);
  for (let n = 0; n < authors; n++) put(`t${n}`, n);
  const lives = Array.from({ length: authors }, (_, n) => ask(engine, n));
  return { source, engine, put, lives, looks: counting(source) };
}

const queries = {
  "one field": (engine, n) =>
    engine.query<Task>().where({ author: `a${n}` }).subscribe(() => {}),
  "several fields, a limit and an order": (engine, n) =>
    engine.query<Task>().where({ done: false, author: `a${n}` })
      .orderBy("rank").limit(3).subscribe(() => {}),
  "one of several values": (engine, n) =>
    engine.query<Task>().where({ author: { in: [`a${n}`, `b${n}`] } })
      .subscribe(() => {}),
  "groups": (engine, n) =>
    engine.query<Task>().where({ author: `a${n}` }).groupBy("done")
      .aggregate({ n: count() }).subscribe(() => {}),
  "an id": (engine, n) => {
    const end = itemStore(engine, `t${n}`).subscribe(() => {});
    return { dispose: end };
  },
} satisfies Record<
  string,
  (engine: QueryEngine, n: number) => { dispose(): void }
>;

for (const [name, ask] of Object.entries(queries)) {
  Deno.test(`a write asks only live results that it may touch: by ${name}`, () => {
    const { put, looks, engine, lives } = place(ask);
    looks();
    put("other", authors + 1);
    const few = looks();
    equal(few < 10, true, `${few} looks at a write that touches none`);
    put("t7", 8, { rank: 3 });
    const some = looks();
    equal(some < 40, true, `${some} looks at one that touches two`);
    for (const live of lives) live.dispose();
    put("t8", 8);
    equal(engine.followers <= (name === "an id" ? authors : 0), true);
  });
}

Deno.test("a live result lets go of what changed and came before anybody told of it", () => {
  const { source, engine } = taskEngine(false);
  const put = (title: string) => source.write(["t", task("t", { title })]);
  put("ann");
  const first = engine.query<Task>().where({ title: "cid" }).subscribe(
    () => {},
  );
  // What happens meanwhile is told as one: from ann to cid, though it was bob's when it was asked for.
  const { itemAt, items } = source;
  const [bob, cid] = ["bob", "cid"].map((title) => task("t", { title }));
  let now: Item = bob!;
  source.itemAt = () => now;
  source.items = () => [now];
  const live = engine.query<Task>().where({ title: "bob" }).subscribe(
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
    engine.query<Task>().where(where).subscribe(() => heard.push(name));
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
