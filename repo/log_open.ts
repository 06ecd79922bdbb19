/**
 * Opening a log, or creating one.
 *
 * @module
 */

import type { World } from "../src/base/world.ts";
import type { Storage } from "../src/storage/storage.ts";
import { type CreateLogOptions, Log, type LogSizes } from "./log.ts";
import { LogReader } from "./log_reader.ts";
import {
  recoverLog,
  type RecoverOptions,
  type Recovery,
} from "./log_recovery.ts";
import { createSegment } from "./log_tail.ts";

/** How to open a log. */
export interface OpenLogOptions extends RecoverOptions, LogSizes {
  /** Dice for the salts of new segments. */
  readonly world: World;
}

/** A record to append. */
export interface NewRecord {
  /** One of `recordKind`. */
  readonly kind: number;
  /** Its body, in pieces. */
  readonly parts: readonly Uint8Array[];
}

/** A log that was there, and what opening it found. */
export interface OpenedLog {
  /** Ready to append. */
  readonly log: Log;
  /** What was found and done. */
  readonly recovery: Recovery;
}

/**
 * Opens the log in `folder`, calling `onRecord` for every record from `from`
 * on. `undefined` when there is none, or when its creation never became
 * durable. What was read is durable.
 */
export async function openLog(
  storage: Storage,
  folder: string,
  options: OpenLogOptions,
): Promise<OpenedLog | undefined> {
  const found = await recoverLog(storage, folder, options);
  if (found === undefined) return undefined;
  const { reader, last, end, recovery } = found;
  const log = new Log(storage, folder, options, reader, last, end, false);
  return { log, recovery };
}

/**
 * Creates a log with its first records in a folder that has none. They are
 * durable after its first {@linkcode Log.sync}.
 */
export function createLog(
  storage: Storage,
  folder: string,
  options: CreateLogOptions,
  first: readonly NewRecord[],
): Log {
  const segment = createSegment(storage, folder, options.world, 0, 0);
  const { start } = segment;
  const reader = new LogReader(storage, folder, [segment]);
  const log = new Log(storage, folder, options, reader, segment, start, true);
  for (const { kind, parts } of first) log.append(kind, parts);
  return log;
}
