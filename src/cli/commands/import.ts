/**
 * `sheaf import`: JSON, JSONL, CSV or MessagePack into a collection.
 *
 * Without `--schema` the input is read twice: once to infer the schema, which
 * is printed as code on standard output, and once to write.
 */

import {
  exportedTarget,
  isDatabase,
  storeTarget,
  type Target,
  targetOf,
} from "../database.ts";
import { usageFailure } from "../failure.ts";
import type { Field, RowGroups } from "../field.ts";
import { formatAmount, formatDuration } from "../figures.ts";
import { type Conflict, type ImportResult, importRows } from "../importer.ts";
import { Inference, schemaCode } from "../infer.ts";
import { type Format, formatOf, type Input, openInput } from "../input.ts";
import { type Expected, loadModule } from "../load_module.ts";
import { readKinds } from "../msgpack.ts";
import { startProgress } from "../progress.ts";
import { readRows } from "../rows.ts";
import {
  checkInterrupt,
  type CommonOptions,
  type Context,
  withDatabase,
} from "../session.ts";

export interface ImportOptions extends CommonOptions {
  readonly format?: Format;
  readonly schema?: string;
  readonly id: string;
  readonly batch: number;
  readonly onConflict: Conflict;
  readonly mode?: string;
  readonly dryRun?: boolean;
}

interface Place {
  readonly repository: string;
  readonly collection: string;
  /** Fields that the collection has already. */
  readonly stored: readonly Field[];
  /** Is the repository there? A dry run must not make it. */
  readonly isThere: boolean;
}

export async function runImport(
  context: Context,
  path: string,
  options: ImportOptions,
): Promise<void> {
  const format = options.format ?? formatOf(path);
  if (format === undefined) {
    throw usageFailure(
      `Cannot tell the format of "${path}" from its name`,
      "add --format json, jsonl, csv or msgpack",
    );
  }
  const given = await loadSchema(options);
  const place = await findPlace(options, given?.schema.name);
  await using input = await openInput(path);
  const target = given ?? storeTarget(place.collection) ??
    await inferTarget(context, input, format, place);
  const begun = performance.now();
  const result = await write(context, input, format, place, target, options);
  printSummary(context, result, place, options, performance.now() - begun);
}

const schemaModule: Expected<Target> = {
  key: "schema",
  parse: exportedTarget,
  hint: 'export default defineSchema("…", { … })',
};

async function loadSchema(
  { schema: path, collection }: ImportOptions,
): Promise<Target | undefined> {
  if (path === undefined) return undefined;
  const target = await loadModule(path, schemaModule);
  const { name } = target.schema;
  if (collection === undefined || collection === name) return target;
  throw usageFailure(
    `"${path}" defines the collection "${name}", not "${collection}"`,
  );
}

/** The repository and collection that were named, or the only ones. */
async function findPlace(
  { data, repo, collection }: ImportOptions,
  given: string | undefined,
): Promise<Place> {
  const nameOf = given ?? collection;
  if (!isDatabase(data)) return newPlace(repo, nameOf);
  return await withDatabase({ path: data }, async (database) => {
    const names = database.repositories();
    const name = repo ?? (names.length === 1 ? names[0] : undefined);
    if (name === undefined || !names.includes(name)) {
      return newPlace(name, nameOf);
    }
    const collections = (await database.repository(name)).collections();
    const only = collections.length === 1 ? collections[0]?.name : undefined;
    const chosen = nameOf ?? only;
    const stored = collections.find((one) => one.name === chosen)?.fields ?? [];
    return { ...newPlace(name, chosen), stored, isThere: true };
  });
}

function newPlace(
  repository: string | undefined,
  collection: string | undefined,
): Place {
  if (repository === undefined) {
    throw usageFailure("Name the repository to import into with --repo NAME");
  }
  if (collection === undefined) {
    throw usageFailure("Name the collection with --collection NAME");
  }
  return { repository, collection, stored: [], isThere: false };
}

async function inferTarget(
  context: Context,
  input: Input,
  format: Format,
  { collection, stored }: Place,
): Promise<Target> {
  const told = format === "msgpack"
    ? await readKinds(input.name, input.pieces(() => {}))
    : [];
  const inference = new Inference(format === "csv", [...told, ...stored]);
  for await (const rows of watched(context, input, format, "reading")) {
    for (const row of rows) inference.add(row);
    checkInterrupt(context.signal);
  }
  if (inference.rows === 0) {
    throw usageFailure(`"${input.name}" has no rows to infer a schema from`);
  }
  const fields = inference.fields();
  const target = await targetOf(collection, fields);
  context.out.print(schemaCode(collection, fields));
  context.out.flush();
  return target;
}

async function* watched(
  { err }: Context,
  input: Input,
  format: Format,
  what: string,
): RowGroups {
  const progress = startProgress(what, err);
  try {
    yield* readRows(
      input,
      format,
      (done) => progress.update(done, input.bytes),
    );
  } finally {
    progress.stop();
  }
}

function write(
  context: Context,
  input: Input,
  format: Format,
  place: Place,
  target: Target,
  options: ImportOptions,
): Promise<ImportResult> {
  const isDryRun = options.dryRun ?? false;
  const path = isDryRun && !place.isThere ? undefined : options.data;
  const request = { path, mode: options.mode, target };
  return withDatabase(request, async (database) => {
    const open = () => database.repository(place.repository);
    const rows = watched(context, input, format, "importing");
    return await importRows(open, rows, {
      input: input.name,
      target,
      idField: options.id,
      isText: format === "csv",
      batchRows: options.batch,
      onConflict: options.onConflict,
      isDryRun,
      signal: context.signal,
    });
  });
}

function printSummary(
  { err }: Context,
  { created, replaced, skipped, batches }: ImportResult,
  { repository, collection }: Place,
  { dryRun }: ImportOptions,
  ms: number,
): void {
  const rows = created + replaced + skipped;
  const speed = formatAmount(Math.round(rows / (ms / 1000)), "row");
  const parts = [
    `${formatAmount(created, "item")} created`,
    ...(replaced > 0 ? [`${formatAmount(replaced, "item")} replaced`] : []),
    ...(skipped > 0 ? [`${formatAmount(skipped, "row")} skipped`] : []),
  ];
  const how = dryRun
    ? "nothing was written (dry run)"
    : `${formatAmount(batches, "transaction")}, durable`;
  err.line(
    `${parts.join(", ")} in ${repository} ${collection}: ${how}, ` +
      `${formatDuration(ms)}, ${speed}/s`,
  );
}
