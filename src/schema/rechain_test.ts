import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { engine } from "../text/engine.ts";
import { compareHlc, type Stamp } from "../base/hlc.ts";
import { LostUnits } from "./lost_units.ts";
import { nameOf } from "./rich_list.ts";
import type { Change, FieldChange, Operation, ShapeField } from "./patch.ts";
import { inOrder } from "./patch_codec.ts";
import { rechainOperation, type Renaming } from "./rechain.ts";
import {
  emptyText,
  joinTexts,
  normalText,
  type TextId,
  type TextState,
} from "./text_state.ts";

lateRich.provide(rich);

const OLD = "o".repeat(40);
const NEW = "n".repeat(40);
const OTHER = "x".repeat(40);

/** Commits of the old chain after 10 moved. */
const renaming: Renaming = {
  stampOf: (stamp) =>
    stamp.chain === OLD && compareHlc(stamp, { wall: 10, count: 0 }) > 0
      ? { ...stamp, chain: NEW }
      : stamp,
  chains: [OLD],
};

const shape = {
  collection: "leaf",
  version: 1,
  fields: [
    { name: "title", kind: "string" },
    { name: "tags", kind: "set" },
    { name: "votes", kind: "counter" },
    { name: "steps", kind: "list" },
    { name: "notes", kind: "map" },
    { name: "extra", kind: "json" },
    { name: "body", kind: "text" },
  ],
} as const;

function fieldOf(name: string): ShapeField {
  return shape.fields.find((field) => field.name === name)!;
}

function update(...changes: (readonly [string, Change])[]): Operation {
  return {
    what: "update",
    shape,
    id: "a",
    generation: 0,
    changes: inOrder(
      shape,
      changes.map(([name, change]) => ({ field: fieldOf(name), change })),
    ),
  };
}

const at = (wall: number, chain: string): Stamp => ({ wall, count: 3, chain });
const element = (wall: number, chain: string) => `${nameOf(at(wall, chain))}.2`;

/** Changes that name commits, before and after. */
function naming(
  stamp: (wall: number) => Stamp,
  name: (wall: number) => string,
): Operation {
  return update(
    ["tags", {
      what: "remove",
      values: [
        { value: "p", tags: [stamp(11), at(9, OLD), at(12, OTHER)] },
        { value: "q", tags: [at(10, OTHER)] },
      ],
    }],
    ["steps", { what: "delete", elements: ["own", name(14), element(9, OLD)] }],
    ["steps", { what: "move", moves: [{ element: name(15), position: "a5" }] }],
    ["steps", {
      what: "replace",
      values: [[name(16), "v"], [element(17, OTHER), "w"]],
    }],
    ["title", { what: "set", value: element(18, OLD) }],
  );
}

Deno.test("rechainOperation() renames tags and elements of commits that moved, and nothing else", () => {
  const before = naming((wall) => at(wall, OLD), (wall) => element(wall, OLD));
  const after = naming((wall) => at(wall, NEW), (wall) => element(wall, NEW));
  deepEqual(rechainOperation(before, renaming), after);
});

Deno.test("rechainOperation() gives the very operation back where nothing moved", () => {
  const still = naming(
    (wall) => at(wall, OTHER),
    (wall) => element(wall, OTHER),
  );
  const others: Operation[] = [
    still,
    { what: "delete", shape, id: "b", generation: 2 },
    update(["votes", { what: "increment", amount: 5 }], [
      "notes",
      { what: "put", entries: [[OLD, OLD]] },
    ], ["extra", { what: "set", value: { [OLD]: [element(20, OLD)] } }]),
  ];
  for (const operation of others) {
    ok(rechainOperation(operation, renaming) === operation);
  }
});

function changesOf(operation: Operation): readonly FieldChange[] {
  return operation.what === "update" ? operation.changes : [];
}

/** Would a gate take this change: is all there that it names, and are its units the next ones? */
function isTaken(state: TextState, change: TextState): boolean {
  return Array.from(change.clients).every(([client, { runs, gone }]) => {
    let next = state.endOf(client);
    const isThere = (id: TextId | undefined) =>
      id === undefined || (id.client === client && id.clock < next) ||
      state.covers(id.client, { clock: id.clock, length: 1 });
    return gone.every((span) => state.covers(client, span)) &&
      runs.every(({ clock, length, left, right }) => {
        const isNext = clock === next;
        next = clock + length;
        return isNext && isThere(left) && isThere(right);
      });
  });
}

function editOf(text: TextState): Operation {
  return update(["body", { what: "edit", text }]);
}

function textIn(operation: Operation): TextState {
  ok(operation.what === "update");
  const { change } = operation.changes[0]!;
  ok(change.what === "edit");
  return change.text;
}

Deno.test("rechainOperation() keeps what was typed elsewhere after a refusal, and all that was refused can come again", () => {
  const write = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    delete: fc.nat(4),
    insert: fc.constantFrom("a", "bc", "def"),
    isRefused: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 12 }), (writes) => {
      let whole = emptyText;
      const edits = writes.map(({ at, delete: length, insert }) => {
        const text = whole.show(engine)!;
        const from = Math.floor(at * text.length);
        const count = Math.min(length, text.length - from);
        const splice = [{ at: from, delete: count, insert }];
        const change = engine.edit(whole, splice, () => 5);
        whole = joinTexts(whole, change);
        return editOf(change);
      });
      let kept = emptyText;
      const refused: TextState[] = [];
      for (const [i, { isRefused }] of writes.entries()) {
        const change = textIn(edits[i]!);
        if (!isRefused && isTaken(kept, change)) {
          kept = joinTexts(kept, change);
          continue;
        }
        refused.push(change);
        const lost = new LostUnits();
        lost.add(changesOf(edits[i]!));
        for (let later = i + 1; later < edits.length; later++) {
          const edit = edits[later]!;
          const again = rechainOperation(edit, { ...renaming, lost });
          equal(lost.arePassed(changesOf(edit)), again !== edit);
          equal(lost.arePassed(changesOf(again)), false);
          edits[later] = again;
        }
      }
      for (const change of refused) {
        ok(isTaken(kept, change));
        kept = joinTexts(kept, change);
      }
      equal(kept.show(engine), whole.show(engine));
    }),
    { seed: 12, numRuns: 500 },
  );
});

Deno.test("rechainOperation() gives units a client of their own behind refused ones", () => {
  const apart = engine.edit(emptyText, "0123456789", () => 5);
  let state = joinTexts(emptyText, apart);
  const [secret, rest] = [2, 7].map((at) => {
    const change = engine.edit(state, [{ at, insert: "x" }], () => 6);
    state = joinTexts(state, change);
    return editOf(change);
  }) as [Operation, Operation];
  const kept = joinTexts(emptyText, apart);
  ok(!isTaken(kept, textIn(rest)));
  const lost = new LostUnits();
  lost.add(changesOf(secret));
  const again = textIn(rechainOperation(rest, { ...renaming, lost }));
  ok(isTaken(kept, again));
  equal(joinTexts(kept, again).show(engine), "012345x6789");
});

Deno.test("LostUnits.arePassed() is not true again and again of what is renamed, whatever a change says", () => {
  const span = fc.record({
    clock: fc.nat(12),
    length: fc.integer({ min: 1, max: 6 }),
  });
  const id = fc.option(
    fc.record({ client: fc.constantFrom(5, 6), clock: fc.nat(14) }),
    { nil: undefined },
  );
  const run = fc.tuple(span, id, id).map((
    [{ clock, length }, left, right],
  ) => ({
    ...{ clock, length, left, right },
    text: "x".repeat(length),
  }));
  const parts = fc.record({
    runs: fc.array(run, { maxLength: 2 }),
    gone: fc.array(span, { maxLength: 2 }),
  });
  const change = fc.tuple(parts, parts).map(([five, six]) =>
    editOf(normalText(new Map([[5, five], [6, six]])))
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), change, (refused, edit) => {
      const lost = new LostUnits();
      for (const one of refused) lost.add(changesOf(one));
      let now = edit;
      // Spans of a liar may lie across lost ones: what is cut off goes on alone.
      for (let i = 0; i < 2; i++) {
        now = rechainOperation(now, { ...renaming, lost });
      }
      equal(lost.arePassed(changesOf(now)), false);
    }),
    { seed: 13, numRuns: 2_000 },
  );
});
