/**
 * Writes the rows of an input into a repository, one transaction a batch.
 *
 * Architecture invariant: a batch is written whole or not at all; the row that
 * stops it is named by its line.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Repository } from "../db/repository.ts";
import { fromBase64 } from "../base/bytes.ts";
import { type ImportTransaction, type Target, write } from "./database.ts";
import { explain, Failure, rowFailure } from "./failure.ts";
import { formatAmount } from "./figures.ts";
import { checkInterrupt } from "./session.ts";
import type {
  Draft,
  Field,
  FieldKind,
  RawRow,
  RowGroups,
  Value,
} from "./field.ts";
import { InexactJson, isExactNumber, parseExactJson } from "./exact_json.ts";
import { fieldName, parseBoolean } from "./infer.ts";
import { parseIsoDate } from "./iso_date.ts";

/** What happens to a row whose id is there already. */
export type Conflict = "error" | "skip" | "replace";

export interface ImportPlan {
  /** The input's name in messages. */
  readonly input: string;
  readonly target: Target;
  readonly idField: string;
  /** Are all values text, as in CSV? */
  readonly isText: boolean;
  readonly batchRows: number;
  readonly onConflict: Conflict;
  /** Try everything and write nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

export interface ImportResult {
  created: number;
  replaced: number;
  skipped: number;
  batches: number;
}

/** What is held in memory of so many rows is let go before more come. */
const rowsHeldMax = 200_000;

/**
 * V8 would let what a closed repository leaves behind grow to several times
 * what is in use before it looks for it.
 */
function collectGarbage(): void {
  let collect: unknown;
  try {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("globalThis.gc");
  } catch {
    // Another engine than V8, which decides for itself.
  }
  if (typeof collect === "function") collect();
}

/** Imports all rows, with a repository that is opened again now and then: what was written stays on the medium. */
export async function importRows(
  open: () => Promise<Repository>,
  groups: RowGroups,
  plan: ImportPlan,
  heldMax = rowsHeldMax,
): Promise<ImportResult> {
  const importer = new Importer(await open(), plan);
  try {
    for await (const rows of groups) {
      if (importer.held >= heldMax) await importer.reopen(open);
      for (const row of rows) {
        importer.add(row.line, importer.read(row));
        if (importer.isFull) await importer.write();
      }
      checkInterrupt(plan.signal);
    }
    await importer.write();
  } catch (error) {
    throw importer.withFate(error);
  }
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
  /** Rows that the repository was given since it was opened. */
  held = 0;
  #repository: Repository;
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

  async reopen(open: () => Promise<Repository>): Promise<void> {
    await this.#repository.close();
    this.#repository = await open();
    collectGarbage();
    this.held = 0;
  }

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
    this.held += did.created + did.replaced;
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

  #atLine(line: number, error: unknown): Failure {
    const { input } = this.#plan;
    if (error instanceof SyntaxError) {
      return rowFailure(input, line, error.message);
    }
    const { code, message, hint } = explain(error);
    return new Failure(code, `${input}:${line}: ${message}`, hint);
  }

  /** What failed, and what became of the rows before it where it has no other hint. */
  withFate(error: unknown): unknown {
    const { code, message, hint, exitCode } = explain(error);
    if (this.#plan.isDryRun || hint !== undefined) return error;
    return new Failure(code, message, this.#fate(), exitCode);
  }

  #fate(): string {
    const { created, replaced, skipped } = this.result;
    const rows = created + replaced + skipped;
    if (rows === 0) return "nothing was written";
    return `${
      formatAmount(rows, "row")
    } up to ${this.#plan.input}:${this.#lastLine} ` +
      `${rows === 1 ? "was" : "were"} imported; nothing after that was written`;
  }
}

/**
 * Turns a raw row into a draft: text into numbers, dates, bytes and nested
 * values, as the field's kind says.
 *
 * Whether a value is allowed is the schema's business; here it only has to
 * have a reading. `SyntaxError` says that it has none.
 */
export class RowReader {
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #idField: string;
  readonly #isText: boolean;

  constructor(fields: readonly Field[], idField: string, isText: boolean) {
    this.#fields = new Map(fields.map((field) => [field.name, field]));
    this.#idField = idField;
    this.#isText = isText;
  }

  read(row: RawRow): Draft {
    const values: { [field: string]: Value } = {};
    for (const name of Object.keys(row.values)) {
      if (name === "id") continue;
      const field = this.#fields.get(name) ??
        this.#fields.get(fieldName(name));
      if (field === undefined) throw this.#unknown(name);
      if (Object.hasOwn(values, field.name)) {
        throw new SyntaxError(`field "${field.name}" stands twice`);
      }
      const value = readValue(field, row.values[name], this.#isText);
      if (value !== undefined) values[field.name] = value;
    }
    return { id: this.#id(row), values };
  }

  #id(row: RawRow): string | undefined {
    const value = row.values[this.#idField];
    if (typeof value === "string" && value !== "") return value;
    if (isShort(value)) return String(value);
    if (value === undefined && this.#idField === "id") return undefined;
    throw new SyntaxError(`field "${this.#idField}" holds no id`);
  }

  #unknown(name: string): SyntaxError {
    const known = [...this.#fields.keys()].join(", ");
    return new SyntaxError(
      `the schema has no field "${name}" (it has ${known})`,
    );
  }
}

/** The value of a field; `undefined` when it is missing. */
function readValue(field: Field, raw: unknown, isText: boolean): Value {
  if (raw === undefined) return undefined;
  if (isText && raw === "" && !wordy.has(field.kind)) return undefined;
  if (field.kind === "json") return readJsonValue(raw, isText);
  if (raw === null) return undefined;
  const value = readKind(field.kind, field.element, raw);
  if (value !== undefined) return value;
  throw new SyntaxError(
    `field "${field.name}" is ${named[field.kind]}, found ${shown(raw)}`,
  );
}

/** Kinds for which an empty text is a value. */
const wordy: ReadonlySet<FieldKind> = new Set(["string", "enum", "text"]);

function readKind(
  kind: FieldKind,
  element: FieldKind | undefined,
  raw: unknown,
): Value {
  switch (kind) {
    case "string":
    case "enum":
    case "ref":
    case "text":
      return readString(raw);
    case "number":
    case "counter":
      return readNumber(raw);
    case "boolean":
      return typeof raw === "string" ? parseBoolean(raw) : asBoolean(raw);
    case "date":
      return raw instanceof Date ? raw : readText(raw, parseIsoDate);
    case "bytes":
      return raw instanceof Uint8Array ? raw : readText(raw, readBytes);
    case "json":
      return asValue(raw);
    case "set":
    case "list":
      return readList(element, raw);
    case "map":
      return readMap(element, raw);
  }
}

function readString(raw: unknown): string | undefined {
  if (typeof raw === "string") return raw;
  return isShort(raw) || typeof raw === "boolean" ? String(raw) : undefined;
}

/** Is it a number whose text has all its digits? Larger ones are rounded to tens. */
function isShort(raw: unknown): raw is number {
  return typeof raw === "number" && Math.abs(raw) <= Number.MAX_SAFE_INTEGER;
}

function readNumber(raw: unknown): number | undefined {
  if (typeof raw === "number") return raw;
  return typeof raw === "string" && isExactNumber(raw)
    ? Number(raw)
    : undefined;
}

function asBoolean(raw: unknown): boolean | undefined {
  return typeof raw === "boolean" ? raw : undefined;
}

function readText<T>(raw: unknown, read: (text: string) => T): T | undefined {
  return typeof raw === "string" ? read(raw) : undefined;
}

function readBytes(raw: string): Uint8Array | undefined {
  try {
    return fromBase64(raw);
  } catch {
    return undefined;
  }
}

/** A CSV cell holds JSON text; in JSON and JSONL the value stands as it is. */
function readJsonValue(raw: unknown, isText: boolean): Value {
  return asValue(isText && typeof raw === "string" ? parsedOr(raw, raw) : raw);
}

function readList(element: FieldKind | undefined, raw: unknown): Value {
  const list = typeof raw === "string" ? parsedOr(raw, undefined) : raw;
  if (!Array.isArray(list)) return undefined;
  return readElements(element, list);
}

function readElements(
  element: FieldKind | undefined,
  list: readonly unknown[],
): readonly Value[] | undefined {
  const values: Value[] = [];
  for (const raw of list) {
    const value = readKind(element ?? "json", undefined, raw);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function readMap(element: FieldKind | undefined, raw: unknown): Value {
  const map = typeof raw === "string" ? parsedOr(raw, undefined) : raw;
  if (typeof map !== "object" || map === null || Array.isArray(map)) {
    return undefined;
  }
  const values = readElements(element, Object.values(map));
  if (values === undefined) return undefined;
  return Object.fromEntries(Object.keys(map).map((key, i) => [key, values[i]]));
}

function parsedOr(text: string, otherwise: unknown): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw error;
    return otherwise;
  }
}

/** Proof that a parsed JSON value is a {@linkcode Value}: it has no other kinds. */
function asValue(json: unknown): Value {
  return json as Value;
}

function shown(raw: unknown): string {
  const text = JSON.stringify(raw) ?? typeof raw;
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

const named: Readonly<Record<FieldKind, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  date: "a date (ISO 8601: a day, or a time with its zone)",
  bytes: "bytes (base64)",
  enum: "one of its words",
  json: "a JSON value",
  ref: "the id of an item",
  counter: "a counter (a number)",
  set: "a set (a JSON array)",
  map: "a map (a JSON object)",
  list: "a list (a JSON array)",
  text: "text",
};
