import { deepEqual, equal, throws } from "node:assert/strict";
import { limits } from "../../src/base/limits.ts";
import { PatchWriter } from "../../src/schema/patch_codec.ts";
import type { Operation, Shape } from "../../src/schema/patch.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import { createView } from "../../src/schema/view.ts";
import { publish } from "../state/state.ts";
import { Table } from "../state/table.ts";
import { Transaction } from "./transaction.ts";

const shape: Shape = { collection: "note", version: 1, fields: [] };
const view = createView(undefined);

function tableOf(name = "note"): Table {
  return new Table({ name, view });
}

let walls = 1;
function begin(): Transaction {
  const origin = { wall: walls++, count: 0, chain: "c", operationsAt: -1 };
  return new Transaction(origin, new PatchWriter());
}

/** Does one thing to one item, as an editor does. */
function put(
  tx: Transaction,
  table: Table,
  id: string,
  what: "create" | "delete",
): void {
  const before = tx.cellOf(table, id);
  const ended = before !== undefined && before.item === undefined;
  const generation = (before?.generation ?? 0) + (ended ? 1 : 0);
  const operation: Operation = what === "delete"
    ? { what, shape, id, generation }
    : { what, shape, id, generation, item: { id } };
  tx.put(table, operation, before);
}

function isThere(tx: Transaction, table: Table, id: string): boolean {
  return tx.cellOf(table, id)?.item !== undefined;
}

Deno.test("a transaction reads its own writes; the table does not until apply()", () => {
  const table = tableOf();
  const tx = begin();
  put(tx, table, "a", "create");
  equal(isThere(tx, table, "a"), true);
  equal(table.ordinalOf("a"), -1);
  equal(table.count, 0);
  deepEqual(table.ids(), []);
  tx.end();
  tx.apply();
  equal(table.count, 1);
  equal(table.ordinalOf("a"), 0);
  deepEqual(table.ids(), ["a"]);
});

Deno.test("abandon() leaves nothing behind, reserved ordinals included", () => {
  const table = tableOf();
  const first = begin();
  put(first, table, "a", "create");
  first.apply();
  const tx = begin();
  for (const id of ["b", "c"]) put(tx, table, id, "create");
  put(tx, table, "a", "delete");
  tx.abandon();
  equal(table.size, 1);
  equal(table.isLive(0), true);
  equal(table.reservedOrdinalOf("b"), -1);
  const next = begin();
  put(next, table, "c", "create");
  put(next, table, "d", "create");
  next.apply();
  deepEqual(table.ids(), ["a", "c", "d"]);
  deepEqual(["a", "b", "c", "d"].map((id) => table.ordinalOf(id)), [
    0,
    -1,
    1,
    2,
  ]);
});

Deno.test("a transaction that is over keeps nothing of what it wrote, whether that was kept or not", () => {
  const table = tableOf();
  for (const isKept of [true, false]) {
    const tx = begin();
    equal(tx.isOpen, true);
    tx.notes = [];
    put(tx, table, isKept ? "a" : "b", "create");
    if (isKept) tx.apply();
    else put(tx, table, "a", "delete");
    equal(tx.notes.length, isKept ? 1 : 2);
    tx.abandon();
    equal(tx.isOpen, false);
    equal(tx.notes, undefined);
    // Its drafts are gone: it sees what the table has.
    equal(isThere(tx, table, "a"), true);
    equal(isThere(tx, table, "b"), false);
  }
});

Deno.test("an item may be created, deleted and created again in one transaction", () => {
  const table = tableOf();
  const tx = begin();
  put(tx, table, "a", "create");
  put(tx, table, "a", "delete");
  equal(isThere(tx, table, "a"), false);
  put(tx, table, "a", "create");
  put(tx, table, "b", "create");
  put(tx, table, "b", "delete");
  tx.apply();
  equal(table.size, 2);
  equal(table.count, 1);
  equal(table.cellOf("a")?.generation, 1);
  equal(table.cellOf("b")?.item, undefined);
});

Deno.test("apply() tells one change for each item, with what was there before", () => {
  const table = tableOf();
  const first = begin();
  put(first, table, "a", "create");
  put(first, table, "z", "create");
  equal(first.apply(), undefined, "nobody listens");
  const heard: ItemChange[] = [];
  table.subscribe((changes) => heard.push(...changes));
  const before = table.itemAt(0);
  const tx = begin();
  put(tx, table, "a", "delete");
  put(tx, table, "a", "create");
  put(tx, table, "z", "delete");
  put(tx, table, "b", "create");
  publish(tx.apply()!);
  deepEqual(
    heard.map(({ ordinal, before, after }) => [ordinal, before?.id, after?.id]),
    [[2, undefined, "b"], [0, "a", "a"], [1, "z", undefined]],
  );
  equal(heard[1]!.before, before);
});

Deno.test("a transaction over two tables keeps their items apart", () => {
  const [notes, tasks] = [tableOf("note"), tableOf("task")];
  const tx = begin();
  put(tx, notes, "a", "create");
  put(tx, tasks, "b", "create");
  put(tx, notes, "c", "create");
  put(tx, tasks, "a", "create");
  tx.apply();
  deepEqual([notes.ids(), tasks.ids()], [["a", "c"], ["b", "a"]]);
});

Deno.test("put() writes to the item it names, whatever was looked up in between", () => {
  const [notes, tasks] = [tableOf("note"), tableOf("task")];
  const tx = begin();
  put(tx, notes, "a", "create");
  put(tx, notes, "b", "create");
  const before = tx.cellOf(notes, "a");
  tx.cellOf(notes, "b"); // As a getter or a validator of the caller may do.
  tx.cellOf(tasks, "a");
  tx.put(notes, { what: "delete", shape, id: "a", generation: 0 }, before);
  equal(isThere(tx, notes, "a"), false);
  equal(isThere(tx, notes, "b"), true);
  equal(tx.cellOf(tasks, "a"), undefined);
});

Deno.test("put() refuses an item that was written since it was looked up", () => {
  const table = tableOf();
  const tx = begin();
  put(tx, table, "a", "create");
  const before = tx.cellOf(table, "a");
  put(tx, table, "a", "delete");
  throws(
    () =>
      tx.put(table, { what: "delete", shape, id: "a", generation: 0 }, before),
    { code: "invalid-option" },
  );
});

Deno.test("a transaction that is over takes nothing any more", () => {
  const table = tableOf();
  for (const end of ["end", "abandon"] as const) {
    const tx = begin();
    tx[end]();
    throws(() => put(tx, table, "late", "create"), { code: "closed" });
    equal(table.size, 0);
    equal(table.reservedOrdinalOf("late"), -1);
  }
});

Deno.test("put() refuses a create past the last life that a server takes, and takes that one", () => {
  const table = tableOf();
  const create = (generation: number) =>
    ({
      what: "create",
      shape,
      id: "a",
      generation,
      item: { id: "a" },
    }) as const;
  const tx = begin();
  const last = tx.put(table, create(limits.relayGenerationMax), undefined);
  deepEqual(last.item, { id: "a" });
  const over = () => tx.put(table, create(last.generation + 1), last);
  throws(over, { code: "value-too-large" });
});
