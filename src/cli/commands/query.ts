/**
 * `sheaf query`: asks a collection and prints the answer, its size or the plan.
 *
 * @module
 */

import { escapeControls } from "../escape.ts";
import { formatAmount, formatDuration } from "../figures.ts";
import type { TextFormat } from "../input.ts";
import type { Output } from "../output.ts";
import {
  chooseCollection,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type {
  Field,
  Item,
  Plan,
  QueryRequest,
  ReadableCollection,
} from "../store.ts";
import { formatTable, type TableColumn } from "../table.ts";
import { parseOrderBy, parseWhere } from "../where.ts";
import { columnNames, itemWriter, toCell } from "../writers.ts";

/** Options of `sheaf query`. */
export interface QueryOptions extends CommonOptions {
  readonly where?: string;
  readonly orderBy?: string;
  readonly limit?: number;
  readonly count?: boolean;
  readonly explain?: boolean;
  readonly format: TextFormat | "table";
}

/** Runs `sheaf query`. */
export function runQuery(
  context: Context,
  options: QueryOptions,
): Promise<void> {
  return withRepository(context, options, (repository) => {
    const collection = chooseCollection(repository, options.collection);
    const request = readRequest(options, collection.fields);
    if (options.explain) printPlan(context.out, collection.explain(request));
    else if (options.count) printCount(context.out, collection, request);
    else printItems(context, collection, request, options.format);
    return Promise.resolve();
  });
}

function readRequest(
  { where, orderBy, limit }: QueryOptions,
  fields: readonly Field[],
): QueryRequest {
  return {
    where: where === undefined ? undefined : parseWhere(where, fields),
    orderBy: orderBy === undefined ? [] : parseOrderBy(orderBy, fields),
    limit,
  };
}

function printCount(
  out: Output,
  collection: ReadableCollection,
  request: QueryRequest,
): void {
  out.line(String(collection.queryCount(request)));
}

function printItems(
  { out, err }: Context,
  collection: ReadableCollection,
  request: QueryRequest,
  format: TextFormat | "table",
): void {
  const begun = performance.now();
  const items = collection.query(request);
  const took = formatDuration(performance.now() - begun);
  if (format === "table") printTable(out, collection.fields, items);
  else printAs(format, out, collection.fields, items);
  out.flush();
  if (format === "table") {
    err.line(`${formatAmount(items.length, "item")}, ${took}`);
  }
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

function printPlan(out: Output, plan: Plan): void {
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
