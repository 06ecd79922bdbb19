/**
 * What the tests of the checkpoint share: a small repository of one collection
 * with a log in memory, and a twin of it that never saw a checkpoint.
 */

import { lateRich } from "../../src/schema/late_rich.ts";
import { rich as code } from "../../src/schema/rich.ts";
import assert from "node:assert/strict";
import { ByteWriter } from "../../src/base/bytes.ts";
import { system } from "../../src/base/system.ts";
import type { Cell, Origin } from "../../src/schema/cell.ts";
import { field } from "../../src/schema/field.ts";
import { fold } from "../../src/schema/merge.ts";
import type { Operation, Value } from "../../src/schema/patch.ts";
import { PatchWriter } from "../../src/schema/patch_codec.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { createView, type View } from "../../src/schema/view.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { Table } from "../state/table.ts";
import { type Checkpoint, openCheckpoint } from "./checkpoint.ts";
import { checkpointName } from "./files.ts";
import { writeCheckpoint } from "./write.ts";
import { digestOfTable } from "../../tests/kit/digest.ts";

lateRich.provide(code);

export const Task = defineSchema("task", {
  title: field.string().optional(),
  done: field.boolean().default(false),
  rank: field.number().optional(),
  when: field.date().optional(),
  author: field.string().optional(),
  blob: field.bytes().optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  labels: field.map(field.string()),
  steps: field.list(field.string()),
}, { version: 1 });

export const folder = "repository";

const chains = ["a".repeat(40), "ü".repeat(40)];

/** A create with defaults where `values` says nothing. */
export function createOf(
  id: string,
  values: Record<string, Value> = {},
  generation = 0,
): Operation {
  const item = {
    id,
    title: undefined,
    done: false,
    rank: undefined,
    when: undefined,
    author: undefined,
    blob: undefined,
    votes: 0,
    tags: [],
    labels: Object.create(null),
    steps: [],
    ...values,
  };
  return { what: "create", shape: Task.shape, id, generation, item };
}

/** A repository of one collection. */
export class Subject {
  readonly storage: Storage;
  readonly view: View;
  /** Never stood on a checkpoint. */
  readonly twin: Table;
  table: Table;
  checkpoint: Checkpoint | undefined;
  readonly log = new ByteWriter(1024);
  number = 0;
  readonly #patch = new PatchWriter();
  #wall = 0;

  constructor(storage: Storage = memoryStorage(), view = createView(Task)) {
    this.storage = storage;
    this.view = view;
    this.twin = new Table({ name: "task", view });
    this.table = new Table({ name: "task", view });
  }

  readonly readLog = (target: Uint8Array, address: number): number => {
    const end = Math.min(this.log.length, address + target.length);
    if (end <= address) return 0;
    target.set(this.log.view(address, end));
    return end - address;
  };

  /** Commits operations; the log has something else around them. */
  commit(operations: readonly Operation[]): void {
    this.#wall++;
    const origin: Origin = {
      wall: this.#wall,
      count: this.#wall % 3,
      chain: chains[this.#wall % 2]!,
      operationsAt: -1,
    };
    this.#patch.begin();
    for (const operation of operations) {
      const at = this.#patch.add(operation);
      const createAt = operation.what === "create" ? at : -1;
      for (const table of [this.table, this.twin]) {
        const before = table.cellOf(operation.id);
        table.put(fold(before, operation, origin, createAt, this.view));
      }
    }
    const { payload, operationsOffset } = this.#patch.finish();
    this.log.bytes(new Uint8Array(this.#wall % 50).fill(0xee));
    origin.operationsAt = this.log.length + operationsOffset;
    this.log.bytes(payload);
  }

  /** Writes a checkpoint of the table as it is, or of others. */
  async write(
    storage: Storage = this.storage,
    tables: readonly Table[] = [this.table],
  ): Promise<void> {
    await writeCheckpoint({
      storage,
      folder,
      name: checkpointName(++this.number),
      covers: this.log.length,
      isWhole: false,
      meta: new Uint8Array([1, 2, 3]),
      tables,
      readLog: this.readLog,
      previous: this.checkpoint,
      checked: this.checkpoint,
      world: system,
      pause: () => undefined,
    });
  }

  /** Forgets everything in memory and opens the newest checkpoint. */
  open(): void {
    const opened = openCheckpoint(
      this.storage,
      folder,
      this.readLog,
      () => this.view,
    );
    assert.deepEqual(opened.skipped, []);
    this.checkpoint = opened.checkpoint;
    assert.ok(this.checkpoint !== undefined);
    const base = this.checkpoint.base("task");
    assert.ok(base !== undefined);
    this.table = new Table({ name: "task", view: this.view, base });
  }

  /** Every answer of the table is that of its twin. */
  check(): void {
    const { table, twin } = this;
    assert.equal(table.size, twin.size);
    assert.equal(table.count, twin.count);
    assert.deepEqual(table.ids(), twin.ids());
    for (const field of Task.plan) this.#checkColumn(field.name);
    for (let i = 0; i < twin.size; i++) {
      assert.equal(table.ordinalOf(twin.idAt(i)), i);
      assert.equal(table.isLive(i), twin.isLive(i));
    }
    assert.equal(table.ordinalOf("no such id"), -1);
    assert.deepEqual(table.items(), twin.items());
    for (let i = 0; i < twin.size; i++) {
      checkCell(table.cellAt(i), twin.cellAt(i));
    }
    assert.deepEqual(digestOfTable(table), digestOfTable(twin));
  }

  #checkColumn(field: string): void {
    const column = this.table.column(field);
    const twin = this.twin.column(field);
    if (column === undefined || twin === undefined) {
      return assert.equal(column, twin);
    }
    for (let i = 0; i < this.twin.size; i++) {
      assert.ok(
        Object.is(valueAt(column, i), valueAt(twin, i)),
        `${field} ${i}`,
      );
    }
  }
}

function valueAt(
  column: NonNullable<ReturnType<Table["column"]>>,
  ordinal: number,
): Value {
  return column.kind === "number"
    ? column.values[ordinal]
    : column.words[column.codes[ordinal]!];
}

function checkCell(cell: Cell, twin: Cell): void {
  assert.equal(cell.generation, twin.generation);
  // Only first generations stay in the log: a later one is a copy of its own.
  const isCopied = cell.generation > 0 && cell.createAt < 0;
  if (!isCopied) assert.equal(cell.createAt, twin.createAt);
  const { wall, count, chain, operationsAt } = cell.origin;
  assert.deepEqual({ wall, count, chain, operationsAt }, twin.origin);
  assert.deepEqual(cell.shape, twin.shape);
}

const fieldOf = (name: string) =>
  Task.shape.fields.find((field) => field.name === name)!;

/** An update of one field; `pick` chooses which and how. */
export function updateOf(
  id: string,
  generation: number,
  pick: number,
): Operation {
  const value = `v${pick}`;
  const changes = [
    { field: fieldOf("title"), change: { what: "set", value } },
    { field: fieldOf("rank"), change: { what: "set", value: pick / 2 } },
    { field: fieldOf("done"), change: { what: "set", value: pick % 2 === 0 } },
    {
      field: fieldOf("votes"),
      change: { what: "increment", amount: pick + 1 },
    },
    { field: fieldOf("tags"), change: { what: "add", values: [value] } },
    {
      field: fieldOf("labels"),
      change: { what: "put", entries: [["k", value]] },
    },
    {
      field: fieldOf("steps"),
      change: {
        what: "insert",
        elements: [{ element: `e${pick}`, position: "V", value }],
      },
    },
  ] as const;
  const change = changes[pick % changes.length]!;
  return {
    what: "update",
    shape: Task.shape,
    id,
    generation,
    changes: [change],
  };
}

export function valuesOf(pick: number): Record<string, Value> {
  return {
    ...pick % 2 === 0 && { title: `title ${pick}` },
    ...pick % 3 === 0 && { rank: pick % 5 === 0 ? pick * 1e6 : pick / 8 },
    ...pick % 5 === 0 && { when: new Date(pick) },
    ...pick % 7 === 0 && { blob: new Uint8Array(pick % 6000) },
    author: ["ada", "grace", "ünes"][pick % 3],
    done: pick % 4 === 0,
    tags: pick % 2 === 0 ? ["x", "y"] : [],
  };
}

export function operationOf(
  subject: Subject,
  id: string,
  what: string,
  pick: number,
): Operation {
  const cell = subject.twin.cellOf(id);
  const generation = cell?.generation ?? 0;
  if (cell?.item === undefined) {
    const next = cell === undefined ? 0 : generation + 1;
    return createOf(id, valuesOf(pick), next);
  }
  if (what === "delete") {
    return { what: "delete", shape: Task.shape, id, generation };
  }
  return updateOf(id, generation, pick);
}

/** A subject with rows in the log and in the heap, tombstones and all kinds of fields. */
export function rich(size: number): Subject {
  const subject = new Subject();
  for (let from = 0; from < size; from += 50) {
    const operations: Operation[] = [];
    for (let i = from; i < Math.min(size, from + 50); i++) {
      operations.push(createOf(`item-${i}`, valuesOf(i)));
    }
    subject.commit(operations);
  }
  for (let i = 0; i < size; i += 7) {
    const id = `item-${i}`;
    const what = i % 3 === 0 ? "delete" : "update";
    subject.commit([operationOf(subject, id, what, i)]);
  }
  return subject;
}
