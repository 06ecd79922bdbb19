/**
 * Writes the rows of an input into a repository, one transaction a batch.
 *
 * Architecture invariant: a batch is written whole or not at all; the row that
 * stops it is named by its line.
 *
 * @module
 */

import type { Repository } from "../db/repository.ts";
import { RowReader } from "./coerce.ts";
import { type ImportTransaction, type Target, write } from "./database.ts";
import { explain, Failure, rowFailure } from "./failure.ts";
import { formatAmount } from "./figures.ts";
import { checkInterrupt } from "./session.ts";
import type { Draft, RowGroups } from "./field.ts";

/** What happens to a row whose id is there already. */
export type Conflict = "error" | "skip" | "replace";

/** How rows are written. */
export interface ImportPlan {
  /** The input's name in messages. */
  readonly input: string;
  readonly target: Target;
  /** The field that holds the item's id. */
  readonly idField: string;
  /** Are all values text, as in CSV? */
  readonly isText: boolean;
  readonly batchRows: number;
  readonly onConflict: Conflict;
  /** Try everything and write nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

/** What an import did. */
export interface ImportResult {
  created: number;
  replaced: number;
  skipped: number;
  batches: number;
}

/** Imports all rows. */
export async function importRows(
  repository: Repository,
  groups: RowGroups,
  plan: ImportPlan,
): Promise<ImportResult> {
  const importer = new Importer(repository, plan);
  for await (const rows of groups) {
    for (const row of rows) {
      importer.add(row.line, importer.read(row));
      if (importer.isFull) await importer.write();
    }
    checkInterrupt(plan.signal);
  }
  await importer.write();
  return importer.result;
}

interface PlacedDraft {
  readonly line: number;
  readonly draft: Draft;
}

/** Thrown out of a transaction to undo a dry run. */
const undone = Symbol("dry run");

class Importer {
  readonly result: ImportResult = {
    created: 0,
    replaced: 0,
    skipped: 0,
    batches: 0,
  };
  readonly #repository: Repository;
  readonly #plan: ImportPlan;
  readonly #reader: RowReader;
  /** Ids that earlier batches of a dry run would have written. */
  readonly #tried = new Set<string>();
  #batch: PlacedDraft[] = [];
  #lastLine = 0;

  constructor(repository: Repository, plan: ImportPlan) {
    this.#repository = repository;
    this.#plan = plan;
    this.#reader = new RowReader(
      plan.target.fields,
      plan.idField,
      plan.isText,
    );
  }

  get isFull(): boolean {
    return this.#batch.length >= this.#plan.batchRows;
  }

  read(row: Parameters<RowReader["read"]>[0]): Draft {
    try {
      return this.#reader.read(row);
    } catch (error) {
      throw this.#atLine(row.line, error);
    }
  }

  add(line: number, draft: Draft): void {
    this.#batch.push({ line, draft });
  }

  /** Writes the gathered batch as one transaction. */
  async write(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const did = { created: 0, replaced: 0, skipped: 0 };
    try {
      await write(this.#repository, this.#plan.target, (tx) => {
        for (const placed of batch) did[this.#apply(tx, placed)]++;
        if (this.#plan.isDryRun) throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
      for (const { draft } of batch) {
        if (draft.id !== undefined) this.#tried.add(draft.id);
      }
    }
    this.#count(did, batch.at(-1)?.line ?? 0);
  }

  #count(did: Omit<ImportResult, "batches">, lastLine: number): void {
    this.result.created += did.created;
    this.result.replaced += did.replaced;
    this.result.skipped += did.skipped;
    this.result.batches++;
    this.#lastLine = lastLine;
    this.#batch = [];
  }

  #apply(
    tx: ImportTransaction,
    { line, draft }: PlacedDraft,
  ): "created" | "replaced" | "skipped" {
    try {
      const isThere = draft.id !== undefined &&
        (tx.has(draft.id) || this.#tried.has(draft.id));
      if (!isThere) {
        tx.create(draft);
        return "created";
      }
      return this.#meet(tx, draft, draft.id);
    } catch (error) {
      throw this.#atLine(line, error);
    }
  }

  /** An item with the draft's id is there. */
  #meet(
    tx: ImportTransaction,
    draft: Draft,
    id: string,
  ): "replaced" | "skipped" {
    const { onConflict } = this.#plan;
    if (onConflict === "error") {
      throw new Failure("item-exists", `an item with id "${id}" is there`);
    }
    if (onConflict === "skip") return "skipped";
    if (tx.has(id)) tx.replace(draft);
    return "replaced";
  }

  /** The failure of one row, and what became of the rows before it. */
  #atLine(line: number, error: unknown): Failure {
    const { input, isDryRun } = this.#plan;
    if (error instanceof SyntaxError) {
      return rowFailure(input, line, error.message, this.#fate());
    }
    const { code, message, hint } = explain(error);
    const told = hint ?? (isDryRun ? undefined : this.#fate());
    return new Failure(code, `${input}:${line}: ${message}`, told);
  }

  #fate(): string | undefined {
    if (this.#plan.isDryRun) return undefined;
    const { created, replaced, skipped } = this.result;
    const rows = created + replaced + skipped;
    if (rows === 0) return "nothing was written";
    return `${
      formatAmount(rows, "row")
    } up to ${this.#plan.input}:${this.#lastLine} ` +
      `were imported; nothing after that was written`;
  }
}
