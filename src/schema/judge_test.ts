import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal } from "node:assert/strict";
import { type Refusal, refuseAt } from "../base/errors.ts";
import type { Cell } from "./cell.ts";
import {
  type Cells,
  type CommitJudge,
  type FoldedCells,
  judgeCommits,
  type JudgedCommit,
} from "./judge.ts";
import { fold } from "./merge.ts";
import type { Operation } from "./patch.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const view = createView(undefined);

function shapeOf(collection: string) {
  return {
    collection,
    version: 1,
    fields: [{ name: "n", kind: "number" as const }],
  };
}

function create(collection: string, id: string, n: number): Operation {
  const shape = shapeOf(collection);
  return { what: "create", shape, id, generation: 0, item: { id, n } };
}

function set(collection: string, id: string, n: number): Operation {
  const shape = shapeOf(collection);
  const change = { what: "set" as const, value: n };
  const changes = [{ field: shape.fields[0]!, change }];
  return { what: "update", shape, id, generation: 0, changes };
}

function remove(collection: string, id: string): Operation {
  return { what: "delete", shape: shapeOf(collection), id, generation: 0 };
}

/** Here is what others have written: `task/t` with 1, `member/m` with 1. */
function here(): FoldedCells {
  const cells = new Map<string, Cell>();
  const origin = { wall: 1, count: 0, chain: "other", operationsAt: -1 };
  for (const one of [create("task", "t", 1), create("member", "m", 1)]) {
    const cell = fold(undefined, one, origin, -1, view);
    cells.set(`${one.shape.collection}/${one.id}`, cell);
  }
  return {
    cellOf: (collection, id) => cells.get(`${collection}/${id}`),
    viewOf: () => view,
  };
}

function judge(
  commits: readonly (readonly Operation[])[],
  judges: readonly CommitJudge[],
  accepted = 0,
): Refusal | undefined {
  const batch = {
    chain: "mine",
    first: 0,
    commits: commits.map((_, i) => ({ wall: 10 + i, count: 0 })),
  };
  const patches = commits.map((operations) => ({
    operations,
    createOffsets: [],
    operationsOffset: 0,
  }));
  return judgeCommits(batch, 0, patches, here(), judges, accepted);
}

/** Asks of tasks, and looks items up. */
function looking(...items: readonly [collection: string, id: string][]) {
  const seen: string[] = [];
  const shown = (cells: Cells, collection: string, id: string) => {
    const cell = cells.cellOf(collection, id);
    return cell === undefined ? "none" : `${cell.item?.["n"] ?? "deleted"}`;
  };
  const judge: CommitJudge = {
    asksOf: (collection) => collection === "task",
    judge({ number, before, after }: JudgedCommit) {
      for (const item of items) {
        seen.push(
          `${number}: ${shown(before, ...item)} ${shown(after, ...item)}`,
        );
      }
      return undefined;
    },
  };
  return { judge, seen };
}

Deno.test("judgeCommits() shows what is here before a commit, and with all that it does", () => {
  const { judge: one, seen } = looking(["task", "t"], ["member", "m"]);
  const first = [set("task", "t", 2), set("task", "t", 3)];
  const second = [remove("member", "m"), set("task", "t", 4)];
  equal(judge([first, second, []], [one]), undefined);
  deepEqual(seen, [
    "0: 1 3",
    "0: 1 1",
    "1: 3 4",
    "1: 1 deleted",
    "2: 4 4",
    "2: deleted deleted",
  ]);
});

Deno.test("judgeCommits() shows what a batch did where nobody asks, from the first look on", () => {
  const { judge: late, seen } = looking(["note", "n"]);
  const batch = [
    [create("note", "n", 1), set("note", "n", 2)],
    [set("note", "n", 3)],
    [set("note", "n", 4), set("note", "n", 5)],
  ];
  equal(judge(batch, [late], 1), undefined);
  deepEqual(seen, ["1: 2 3", "2: 3 5"]);
});

Deno.test("judgeCommits() shows no commit what a later one brings", () => {
  const { judge: one, seen } = looking(["member", "new"]);
  const bring = [create("member", "new", 1)];
  equal(judge([[set("task", "t", 2)], bring], [one]), undefined);
  deepEqual(seen, ["0: none none", "1: none 1"]);
});

Deno.test("judgeCommits() gives each judge the writes that anybody asks of, and stops at the first refusal", () => {
  const given: string[] = [];
  const record = (name: string, isStrict: boolean): CommitJudge => ({
    asksOf: (collection) => collection === name,
    judge({ number, writes }) {
      const ids = writes.map(({ operation }) => operation.id);
      given.push(`${name} ${number} ${ids}`);
      return isStrict && number === 1
        ? refuseAt(number, "denied", "Enough")
        : undefined;
    },
  });
  const one = [set("task", "t", 2), set("member", "m", 2), create("x", "x", 1)];
  const batch = [one, [set("task", "t", 3)], [set("task", "t", 4)]];
  const refusal = judge(batch, [record("task", true), record("member", true)]);
  equal(refusal?.number, 1);
  deepEqual(given, ["task 0 t,m", "member 0 t,m", "task 1 t"]);
});
