/**
 * `sheaf query`: asks a collection and prints the answer, its size or the plan.
 */

import type { Query, Where } from "../../query/mod.ts";
import { escapeControls, type Output } from "../output.ts";
import { formatAmount, formatDuration } from "../figures.ts";
import type { TextFormat } from "../input.ts";
import {
  chooseCollection,
  type Chosen,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { Field, Item, Value } from "../field.ts";
import { formatTable, type TableColumn } from "../table.ts";
import { columnNames, itemWriter, toCell } from "../writers.ts";
import { fromBase64 } from "../../base/bytes.ts";
import type { Direction } from "../../query/where.ts";
import { usageFailure } from "../failure.ts";
import { parseIsoDate } from "../iso_date.ts";

export interface QueryOptions extends CommonOptions {
  readonly where?: string;
  readonly orderBy?: string;
  readonly limit?: number;
  readonly count?: boolean;
  readonly explain?: boolean;
  readonly format: TextFormat | "table";
}

export function runQuery(
  { out, err }: Context,
  options: QueryOptions,
): Promise<void> {
  return withRepository(options, (repository) => {
    const chosen = chooseCollection(repository, options.collection);
    const query = queryOf(chosen, options);
    if (options.explain) return printPlan(out, { ...query.explain() });
    if (options.count) return out.line(String(query.count()));
    const begun = performance.now();
    // Proof: a stored collection's rows are items of stored kinds, by its view.
    const items = query.run() as readonly { readonly id: string }[] as Item[];
    const took = formatDuration(performance.now() - begun);
    const { format } = options;
    if (format !== "table") printAs(format, out, chosen.fields, items);
    else {
      printTable(out, chosen.fields, items);
      out.flush();
      err.line(`${formatAmount(items.length, "item")}, ${took}`);
    }
  });
}

/** A row of which nothing is known; names and values are judged when the query is built. */
type UntypedRow = { readonly [field: string]: string } & {
  readonly id: string;
};

function queryOf(
  { collection, fields }: Chosen,
  { where, orderBy, limit }: QueryOptions,
): Query<UntypedRow> {
  let query = collection.query() as object as Query<UntypedRow>;
  if (where !== undefined) {
    query = query.where(
      parseWhere(where, fields) as object as Where<UntypedRow>,
    );
  }
  const order = orderBy === undefined ? [] : parseOrderBy(orderBy);
  for (const [field, direction] of order) {
    query = query.orderBy(field, direction);
  }
  return limit === undefined ? query : query.limit(limit);
}

function printAs(
  format: TextFormat,
  out: Output,
  fields: readonly Field[],
  items: readonly Item[],
): void {
  const writer = itemWriter(format, columnNames(fields), out.isTerminal);
  out.print(writer.head);
  for (const item of items) out.print(writer.item(item));
  out.print(writer.tail);
}

function printTable(
  out: Output,
  fields: readonly Field[],
  items: readonly Item[],
): void {
  const columns: TableColumn[] = [
    { title: "id" },
    ...fields.map(({ name, kind }): TableColumn => ({
      title: name,
      align: kind === "number" || kind === "counter" ? "right" : "left",
    })),
  ];
  const rows = items.map((item) =>
    columns.map(({ title }) => toCell(item[title]) ?? "")
  );
  out.print(formatTable(columns, rows, out.width));
}

function printPlan(out: Output, plan: Record<string, unknown>): void {
  const entries = Object.entries(plan).filter(([, value]) =>
    value !== undefined
  );
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) {
    out.line(`${name.padEnd(width)}  ${escapeControls(planText(value))}`);
  }
}

function planText(value: unknown): string {
  if (typeof value === "string") return value;
  const isFraction = typeof value === "number" && !Number.isInteger(value);
  return isFraction ? value.toFixed(2) : JSON.stringify(value);
}

const example = `for example --where '{"rank": {"gte": 3}, "done": false}'`;

/** The conditions of `--where`, as the query language takes them. */
export function parseWhere(text: string, fields: readonly Field[]): Value {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageFailure(`--where is not JSON: ${why}`, example);
  }
  const known = new Map(fields.map((field) => [field.name, field]));
  return read(value, known, undefined, 0);
}

/** More than any query takes. */
const depthMax = 64;

/** A condition, or below a field's name its operators and their values. */
function read(
  value: unknown,
  known: ReadonlyMap<string, Field>,
  field: Field | undefined,
  depth: number,
): Value {
  if (depth > depthMax) throw usageFailure("--where is nested too deeply");
  if (value === null) return undefined;
  if (typeof value === "string") return readText(value, field);
  if (typeof value !== "object") return value as Value;
  const inner = (part: unknown, of = field) => read(part, known, of, depth + 1);
  if (Array.isArray(value)) return value.map((part) => inner(part));
  return Object.fromEntries(
    Object.entries(value).map((
      [key, part],
    ) => [key, inner(part, field ?? known.get(key))]),
  );
}

function readText(text: string, field: Field | undefined): Value {
  if (field?.kind === "date") {
    const date = parseIsoDate(text);
    if (date !== undefined) return date;
    throw usageFailure(
      `field "${field.name}" is a date, and "${text}" is not one`,
      "ISO 8601: 2026-11-20, or 2026-11-20T14:05:00Z with its zone",
    );
  }
  if (field?.kind !== "bytes") return text;
  try {
    return fromBase64(text);
  } catch {
    const { name } = field;
    throw usageFailure(
      `field "${name}" holds bytes, and "${text}" is not base64`,
    );
  }
}

/** The keys of `--order-by`: `rank`, `rank:desc`, or several with commas. */
export function parseOrderBy(text: string): (readonly [string, Direction])[] {
  return text.split(",").map((part) => {
    const [, name = "", direction = "asc"] =
      /^(.*?)(?::(asc|desc))?$/.exec(part.trim()) ?? [];
    return [name, direction === "desc" ? "desc" : "asc"];
  });
}
