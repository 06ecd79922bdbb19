import { equal } from "node:assert/strict";
import type { Cell } from "../schema/cell.ts";
import { type FoldedCells, judgeCommits } from "../schema/judge.ts";
import { fold } from "../schema/merge.ts";
import type { Item, Operation, Value } from "../schema/patch.ts";
import { createView } from "../schema/view.ts";
import { absent, digestOf, entrySchema, type Registers } from "./entry.ts";
import { EntryJudge } from "./judge.ts";
import type { KvValue } from "./value.ts";

const { shape } = entrySchema(undefined);
const view = createView(undefined);

type Write = Partial<Registers>;

/** No value, which nobody deleted. */
const nothing: Registers = { ...absent, expiresAt: undefined };

function create(id: string, registers: Write, collection = "kv"): Operation {
  const item: Item = { id, ...nothing, ...registers };
  const other = { ...shape, collection };
  return { what: "create", shape: other, id, generation: 0, item };
}

function update(id: string, registers: Write): Operation {
  const all: Registers = { ...nothing, ...registers };
  const changes = shape.fields.map((field) => ({
    field,
    change: {
      what: "set" as const,
      value: all[field.name as keyof Registers],
    },
  }));
  return { what: "update", shape, id, generation: 0, changes };
}

/** What is here, as others wrote it at given times. */
class Here {
  readonly #cells = new Map<string, Cell>();

  take(wall: number, operation: Operation, chain = "other"): this {
    const { id, shape: { collection } } = operation;
    const origin = { wall, count: 0, chain, operationsAt: -1 };
    const key = `${collection} ${id}`;
    const cell = fold(this.#cells.get(key), operation, origin, -1, view);
    this.#cells.set(key, cell);
    return this;
  }

  /** Judges commits of one author; each has its time and its operations. */
  judge(
    commits: readonly (readonly [wall: number, ...Operation[]])[],
    from = 0,
    accepted = 0,
    nowMs = commits.at(-1)![0],
  ): string | undefined {
    const batch = {
      chain: "mine",
      first: 10,
      commits: commits.map(([wall]) => ({ wall, count: 0 })),
    };
    const patches = commits.slice(from).map(([, ...operations]) => ({
      operations,
      createOffsets: [],
      operationsOffset: 0,
    }));
    const cells: FoldedCells = {
      cellOf: (collection, id) => this.#cells.get(`${collection} ${id}`),
      viewOf: () => view,
    };
    const judges = [new EntryJudge(nowMs)];
    const refusal = judgeCommits(batch, from, patches, cells, judges, accepted);
    return refusal && `${refusal.number} ${refusal.refused}`;
  }
}

const none = "absent";

Deno.test("EntryJudge takes a compare-and-set that finds what it expects, and refuses one that does not", () => {
  const here = () => new Here().take(1, create("k", { value: "a" }));
  const swap = (expected: string) => update("k", { value: "b", expected });
  equal(here().judge([[2, swap(digestOf("a"))]]), undefined);
  equal(here().judge([[2, swap(digestOf("x"))]]), "10 kv-conflict");
  equal(here().judge([[2, swap(none)]]), "10 kv-conflict");
  equal(here().judge([[2, update("k", { value: "b" })]]), undefined, "a set");
  const made = create("new", { value: 1, expected: none });
  equal(here().judge([[2, made]]), undefined);
  const wrong = create("new", { value: 1, expected: digestOf("a") });
  equal(here().judge([[2, wrong]]), "10 kv-conflict");
});

Deno.test("EntryJudge lets the commits of a batch see each other, and names the first that is too late", () => {
  const here = new Here();
  const first = create("k", { value: 1, expected: none });
  const second = update("k", { value: 2, expected: digestOf(1) });
  const third = update("k", { value: 3, expected: digestOf(1) });
  equal(here.judge([[1, first], [2, second]]), undefined);
  equal(here.judge([[1, first], [2, second], [3, third]]), "12 kv-conflict");
  equal(here.judge([[1, first, second]]), undefined, "in one commit");
  equal(here.judge([[1, first, third, third]]), "10 kv-conflict");
  // What is known already is part of what is here, and not judged again.
  here.take(1, first, "mine");
  equal(here.judge([[1, first], [2, second]], 1), undefined);
  equal(here.judge([[1, first], [2, second]]), "10 kv-conflict");
});

Deno.test("EntryJudge asks nothing again of what a server had accepted, and goes on from it", () => {
  const here = () => new Here().take(1, create("k", { value: "other" }));
  const first = update("k", { value: 1, expected: digestOf("a") });
  const second = update("k", { value: 2, expected: digestOf(1) });
  equal(here().judge([[2, first], [3, second]]), "10 kv-conflict");
  equal(here().judge([[2, first], [3, second]], 0, 11), undefined);
  equal(here().judge([[2, first], [3, first]], 0, 11), "11 kv-conflict");
});

Deno.test("EntryJudge asks whether an entry has expired when it is accepted, whatever its author's clock says", () => {
  const here = () =>
    new Here().take(1, create("k", { value: "a", expiresAt: 100 }));
  const take = update("k", { value: "b", expected: none });
  const swap = update("k", { value: "b", expected: digestOf("a") });
  for (const wall of [50, 150]) {
    equal(here().judge([[wall, take]], 0, 0, 99), "10 kv-conflict");
    equal(here().judge([[wall, take]], 0, 0, 100), undefined);
    equal(here().judge([[wall, swap]], 0, 0, 99), undefined);
    equal(here().judge([[wall, swap]], 0, 0, 100), "10 kv-conflict");
  }
});

Deno.test("EntryJudge lets a batch go on with a lease of its own that has run out since", () => {
  const lease = create("k", { value: "a", expiresAt: 100, expected: none });
  const longer = update("k", { value: "b", expected: digestOf("a") });
  const anew = update("k", { value: "c", expected: none });
  const judge = (...commits: [number, Operation][]) =>
    new Here().judge(commits, 0, 0, 900);
  equal(judge([50, lease], [99, longer]), undefined);
  equal(judge([50, lease], [100, longer]), "11 kv-conflict");
  equal(judge([50, lease], [100, anew]), undefined);
});

Deno.test("EntryJudge gives nobody a time of his own for another's lease that he touched first", () => {
  const lease = create("k", { value: "a", expiresAt: 1_000 });
  const data = shape.fields.find(({ name }) => name === "data")!;
  const change = { what: "set", value: undefined } as const;
  const changes = [{ field: data, change }];
  const touch = { ...update("k", {}), changes } as Operation;
  const taken = update("k", { value: "b", expected: none });
  const here = new Here().take(5, lease);
  equal(
    here.judge([[1_000, touch], [1_001, taken]], 0, 0, 900),
    "11 kv-conflict",
  );
});

Deno.test("EntryJudge refuses what would lose against a later write that it did not know of", () => {
  const swap = update("k", { value: "b", expected: digestOf("a") });
  const here = () => new Here().take(5, create("k", { value: "a" }));
  equal(here().judge([[4, swap]]), "10 kv-conflict");
  equal(here().judge([[6, swap]]), undefined);
  // At the same moment the greater chain wins: "other" over "mine".
  equal(here().judge([[5, swap]]), "10 kv-conflict");
});

Deno.test("EntryJudge judges entries of stores, and no other items", () => {
  const wrong = (collection: string) =>
    create("k", { value: 1, expected: digestOf(0) }, collection);
  equal(new Here().judge([[1, wrong("kv")]]), "10 kv-conflict");
  equal(new Here().judge([[1, wrong("kv-locks")]]), "10 kv-conflict");
  equal(new Here().judge([[1, wrong("kvass")]]), undefined);
  equal(new Here().judge([[1, wrong("task")]]), undefined);
});

Deno.test("EntryJudge refuses what is no digest", () => {
  for (const expected of ["", "ABSENT", "f".repeat(31), "g".repeat(32)]) {
    const odd = create("k", { value: 1, expected });
    equal(new Here().judge([[1, odd]]), "10 kv-conflict", expected);
  }
  // What nobody can read has no digest, whatever a liar calls it.
  const here = new Here().take(1, create("k", { data: Uint8Array.of(9, 9) }));
  const liar = update("k", { value: 1, expected: "unreadable" });
  equal(here.judge([[2, liar]]), "10 kv-conflict");
});

Deno.test("EntryJudge makes the digest of a large value once, however many compare-and-sets leave it", () => {
  let read = 0;
  const list = new Proxy([1, 2, 3], {
    get(target, key, receiver) {
      if (key === "2") read++;
      return Reflect.get(target, key, receiver);
    },
  });
  const text = "x".repeat(10_000);
  const { encodeInto } = TextEncoder.prototype;
  let encoded = 0;
  TextEncoder.prototype.encodeInto = function (source, target) {
    encoded += Number(source === text);
    return encodeInto.call(this, source, target);
  };
  try {
    for (const value of [list, text] as Value[]) {
      const digest = digestOf(value as KvValue);
      const here = new Here().take(1, create("k", { value }));
      const touch = (expected: string): Operation => {
        const field = shape.fields.find(({ name }) => name === "expected")!;
        const change = { what: "set" as const, value: expected };
        const changes = [{ field, change }];
        return { ...update("k", {}), changes } as Operation;
      };
      [read, encoded] = [0, 0];
      for (let wall = 2; wall < 20; wall += 2) {
        const commits = [wall, wall + 1].map((at) =>
          [at, touch(digest)] as const
        );
        equal(here.judge(commits), undefined);
        here.take(wall, touch(digest), "mine");
      }
      equal(read + encoded, 1);
      // Another value in its place has another digest.
      here.take(30, update("k", { value: "y".repeat(10_000) }));
      equal(here.judge([[40, touch(digest)]]), "10 kv-conflict");
    }
  } finally {
    TextEncoder.prototype.encodeInto = encodeInto;
  }
});
