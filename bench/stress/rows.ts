/**
 * The tables and rows of the stress suite by name, and how rows are gathered
 * while a process measures.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import type { Outcome } from "../harness/suite.ts";
import { asksOf } from "./asks.ts";

/** What one process does to the end. */
export type Part = "single" | "batch" | "versions";

/** Tables of this suite. */
export const tables = {
  single: "players, one operation at a time",
  batch: "players, in batches",
  records: "players, single operations afterwards",
  queries: "players, each question again",
  memory: "players, memory",
  versions: "players, versions",
} as const;

/** Rows that more than one file names. */
export const rows = {
  list: "the whole list",
  asks: "27 questions, first time",
  resident: "resident after the list, more than before opening",
  peak: "greatest resident memory",
} as const;

/** The rows of the list; the second ones are of each single operation. */
export const steps = {
  insert: ["bulk insert of all", "insert, each"],
  crud: ["CRUD of 100: create, read, update, read, delete, read", "CRUD, each"],
  update: ["update of 1,001", "update, each"],
  remove: ["101 deletes", "delete, each"],
} as const;

/** Rows of the table of single operations. */
export const records = {
  save: "save one",
  saveAll: "saveAll: every player written whole, three fields changed",
  find: "find one by id",
  findMany: "find 100 by ids",
  page: "page of 50 behind a player, by score",
  pageAt: "page of 50 from the middle, by score",
  count: "count all",
  countOf: "count the active of a world",
  tasks: "8 tasks at once: save, find, top 10 of a world",
} as const;

/** Rows of the table of versions. */
export const versions = {
  save: "save one, its old scores kept",
  read: "read 10 versions of one",
} as const;

const totals = [
  ...Object.values(steps).map(([total]) => total),
  rows.asks,
  rows.list,
];

/** One row of a table. */
export interface RowName {
  readonly table: string;
  readonly operation: string;
}

/** All rows that a part gives. */
export function rowNames(part: Part): RowName[] {
  const in_ = (table: keyof typeof tables, names: readonly string[]) =>
    names.map((operation) => ({ table: tables[table], operation }));
  if (part === "versions") return in_("versions", Object.values(versions));
  if (part === "single") {
    const each = Object.values(steps).map(([, one]) => one);
    return in_("single", [...totals, ...each]);
  }
  return [
    ...in_("batch", totals),
    ...in_("records", Object.values(records)),
    ...in_("queries", asksOf(1_000).map(({ name }) => name)),
    ...in_("memory", [rows.resident, rows.peak]),
  ];
}

/** What a process has found so far. */
export class Findings {
  readonly outcomes: Outcome[] = [];
  readonly #table: string;

  constructor(
    table: keyof typeof tables,
    outcomes: Outcome[] = [],
  ) {
    this.#table = tables[table];
    this.outcomes = outcomes;
  }

  /** The same findings, for rows of another table. */
  in(table: keyof typeof tables): Findings {
    return new Findings(table, this.outcomes);
  }

  /** Milliseconds an operation; `durability` only where it is not the case's. */
  times(
    operation: string,
    samples: readonly number[],
    about: { durability?: Durability; wrong?: string | undefined } = {},
  ): void {
    const { durability, wrong } = about;
    this.outcomes.push({
      table: this.#table,
      operation,
      unit: "ms",
      samples,
      ...durability !== undefined && { durability },
      ...wrong !== undefined && { wrong },
    });
  }

  /** Operations a second, more is better. */
  rate(operation: string, perSecond: number, wrong?: string): void {
    this.outcomes.push({
      table: this.#table,
      operation,
      unit: "per s",
      isMoreBetter: true,
      samples: [perSecond],
      ...wrong !== undefined && { wrong },
    });
  }

  bytes(operation: string, bytes: number): void {
    this.outcomes.push({
      table: this.#table,
      operation,
      unit: "B",
      durability: "none",
      samples: [bytes],
    });
  }
}
