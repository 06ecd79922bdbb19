/**
 * `sheaf export`: all items of a collection as JSON, JSONL, CSV or
 * MessagePack.
 */

import { itemsOf } from "../database.ts";
import { escapeControls, fileOutput, type Output } from "../output.ts";
import { usageFailure } from "../failure.ts";
import { formatAmount, formatDuration } from "../figures.ts";
import { type Format, formatOf } from "../input.ts";
import { msgpackWriter } from "../msgpack.ts";
import {
  breathe,
  chooseCollection,
  type Chosen,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { Field } from "../field.ts";
import {
  columnNames,
  type ItemWriter,
  itemWriter,
  textLoss,
} from "../writers.ts";

export interface ExportOptions extends CommonOptions {
  readonly format?: Format;
  readonly out?: string;
}

/** How many items are written between two looks at Ctrl-C. */
const itemsPerTurn = 5_000;

export function runExport(
  context: Context,
  options: ExportOptions,
): Promise<void> {
  const { out: path } = options;
  const format = options.format ??
    (path === undefined ? undefined : formatOf(path)) ?? "jsonl";
  return withRepository(options, async (repository) => {
    const chosen = chooseCollection(repository, options.collection);
    const loss = format === "msgpack"
      ? undefined
      : textLoss(format, chosen.fields);
    if (loss !== undefined) context.err.line(loss);
    const begun = performance.now();
    if (path === undefined) {
      await writeItems(context, chosen, format, context.out);
      return;
    }
    const count = await writeFile(context, chosen, format, path);
    const took = formatDuration(performance.now() - begun);
    context.err.line(
      `${formatAmount(count, "item")} to ${escapeControls(path)} in ${took}`,
    );
  });
}

async function writeFile(
  context: Context,
  chosen: Chosen,
  format: Format,
  path: string,
): Promise<number> {
  const [output, close] = fileOutput(path);
  try {
    return await writeItems(context, chosen, format, output);
  } finally {
    close();
  }
}

async function writeItems(
  { signal }: Context,
  { collection, fields }: Chosen,
  format: Format,
  output: Output,
): Promise<number> {
  const writer = writerOf(format, fields, output.isTerminal);
  let count = 0;
  output.print(writer.head);
  for (const item of itemsOf(collection)) {
    output.print(writer.item(item));
    if (++count % itemsPerTurn === 0) await breathe(signal);
  }
  output.print(writer.tail);
  output.flush();
  return count;
}

function writerOf(
  format: Format,
  fields: readonly Field[],
  isTerminal: boolean,
): ItemWriter<string | Uint8Array> {
  if (format !== "msgpack") {
    return itemWriter(format, columnNames(fields), isTerminal);
  }
  if (!isTerminal) return msgpackWriter(fields);
  throw usageFailure(
    "MessagePack is no text to show",
    "name a file with --out FILE",
  );
}
