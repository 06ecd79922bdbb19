/**
 * The test kit of this folder: a small collection in memory, with or without
 * columns, that counts its listeners.
 *
 * @module
 */

import { lateIndexes } from "./late_indexes.ts";
import { indexes } from "./indexes.ts";
import type { FieldKind, Item, Value } from "../schema/patch.ts";
import { QueryEngine } from "./engine.ts";
import type { EngineOptions } from "./engine.ts";
import { compileItemTest } from "./item_check.ts";
import { isBehind } from "./order.ts";
import type { Request } from "./plan.ts";
import type { Column, ItemChange, Source } from "../schema/source.ts";
import { compareText, compareValues, isNumeric, isText } from "./value.ts";

lateIndexes.provide(indexes);

/** A collection that is nothing but an array. */
export class MemorySource implements Source {
  readonly #items: (Item | undefined)[] = [];
  readonly #ids: string[] = [];
  readonly #ordinals = new Map<string, number>();
  readonly #listeners = new Set<(changes: readonly ItemChange[]) => void>();
  readonly #kinds: ReadonlyMap<string, FieldKind>;
  readonly #columnar: boolean;
  readonly #columns = new Map<string, Column | undefined>();
  count = 0;

  constructor(kinds: ReadonlyMap<string, FieldKind>, columnar: boolean) {
    this.#kinds = kinds;
    this.#columnar = columnar;
  }

  get size(): number {
    return this.#ids.length;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  ordinalOf(id: string): number {
    return this.#ordinals.get(id) ?? -1;
  }

  idAt(ordinal: number): string {
    return this.#ids[ordinal]!;
  }

  itemAt(ordinal: number): Item | undefined {
    return this.#items[ordinal];
  }

  isLive(ordinal: number): boolean {
    return this.#items[ordinal] !== undefined;
  }

  items(): readonly Item[] {
    return this.#items.filter((item) => item !== undefined);
  }

  hasColumn(field: string): boolean {
    return this.#columnar && this.#kinds.has(field);
  }

  /** Built anew after every write: plain and right. */
  column(field: string): Column | undefined {
    if (!this.#columnar) return undefined;
    if (!this.#columns.has(field)) {
      this.#columns.set(field, this.#build(field));
    }
    return this.#columns.get(field);
  }

  *columnSteps(field: string): Generator<void, Column | undefined> {
    yield;
    return this.column(field);
  }

  #build(field: string): Column | undefined {
    const kind = this.#kinds.get(field);
    if (kind === undefined) return undefined;
    const values = this.#items.map((item) => item?.[field]);
    if (isNumeric(kind)) return numberColumn(kind, values);
    return isText(kind) ? wordColumn(values) : undefined;
  }

  /** One transaction: `undefined` deletes. */
  write(...puts: readonly (readonly [string, Item | undefined])[]): void {
    const changes = new Map<number, ItemChange>();
    for (const [id, after] of puts) {
      const ordinal = this.#ordinalFor(id);
      const before = this.#items[ordinal];
      this.#items[ordinal] = after;
      this.count += Number(after !== undefined) - Number(before !== undefined);
      const first = changes.get(ordinal);
      changes.set(ordinal, {
        ordinal,
        before: first === undefined ? before : first.before,
        after,
      });
    }
    this.#columns.clear();
    const told = [...changes.values()];
    for (const listener of this.#listeners) listener(told);
  }

  #ordinalFor(id: string): number {
    const known = this.#ordinals.get(id);
    if (known !== undefined) return known;
    const ordinal = this.#ids.length;
    this.#ids.push(id);
    this.#ordinals.set(id, ordinal);
    return ordinal;
  }

  subscribe(listener: (changes: readonly ItemChange[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function numberColumn(
  kind: FieldKind,
  values: readonly Value[],
): Column | undefined {
  const column = new Float64Array(values.length).fill(NaN);
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue;
    if (kind === "boolean" && typeof value === "boolean") {
      column[at] = value ? 1 : 0;
    } else if (kind === "date" && value instanceof Date) {
      column[at] = value.getTime();
    } else if (
      (kind === "number" || kind === "counter") && typeof value === "number"
    ) column[at] = value;
    else return undefined;
  }
  const type = kind === "boolean" || kind === "date" ? kind : "number";
  return { kind: "number", type, values: column };
}

function wordColumn(values: readonly Value[]): Column | undefined {
  const words: (string | undefined)[] = [undefined];
  const codes = new Map<string, number>();
  const column = new Uint32Array(values.length);
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue;
    if (typeof value !== "string") return undefined;
    let code = codes.get(value);
    if (code === undefined) {
      code = words.push(value) - 1;
      codes.set(value, code);
    }
    column[at] = code;
  }
  return {
    kind: "word",
    codes: column,
    words,
    codeOf: (word) => codes.get(word),
  };
}

/** A task, as most tests use it. */
export type Task = {
  readonly id: string;
  readonly title: string;
  readonly author: string | undefined;
  readonly done: boolean | undefined;
  readonly rank: number | undefined;
  readonly when: Date | undefined;
  readonly blob: Uint8Array | undefined;
  readonly tags: readonly string[];
  readonly labels: { readonly [key: string]: string };
  readonly extra: Value;
};

/** The fields of a task. */
export const taskFields: ReadonlyMap<string, FieldKind> = new Map(
  Object.entries(
    {
      title: "string",
      author: "ref",
      done: "boolean",
      rank: "number",
      when: "date",
      blob: "bytes",
      tags: "set",
      labels: "map",
      extra: "json",
    } as const,
  ),
);

/** The indexes of a task. */
export const taskIndexes: readonly (readonly string[])[] = [
  ["author", "done"],
  ["author", "rank"],
  ["rank"],
  ["when", "title"],
  ["blob"],
];

/** A frozen task with some fields. */
export function task(id: string, fields: Record<string, Value> = {}): Item {
  return Object.freeze({
    title: "",
    author: undefined,
    done: undefined,
    rank: undefined,
    when: undefined,
    blob: undefined,
    tags: [],
    labels: {},
    extra: undefined,
    ...fields,
    id,
  });
}

/** An engine over tasks. */
export function taskEngine(
  columnar: boolean,
  options: Partial<EngineOptions> = {},
): { source: MemorySource; engine: QueryEngine } {
  const source = new MemorySource(taskFields, columnar);
  const engine = new QueryEngine(source, {
    name: "task",
    fields: taskFields,
    indexes: taskIndexes,
    ...options,
  });
  return { source, engine };
}

/** What a request asks for, found by looking at everything: plainly right, and slow. */
export function runNaively(items: readonly Item[], request: Request): Item[] {
  const { parts, order, after, offset, limit } = request;
  return items
    .filter((item) => parts.every((part) => compileItemTest(part)(item)))
    .filter((item) => after === undefined || isBehind(order, item, after))
    .sort((a, b) => {
      for (const { field, descending } of order) {
        const found = compareValues(a[field], b[field]);
        if (found !== 0) return descending ? -found : found;
      }
      return compareText(a.id, b.id);
    })
    .slice(offset, offset + limit);
}
