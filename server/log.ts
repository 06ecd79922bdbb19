/**
 * Structured logs: one JSON object a line, and each kind of trouble once per
 * connection.
 *
 * Architecture invariant: whoever sends garbage cannot fill the log: a
 * connection is told of once for each kind of trouble, kinds are bounded
 * (law 10), and what a stranger wrote is cut.
 *
 * @module
 */

import { limits } from "../src/base/limits.ts";

/** How much an event matters, from little to much. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** The levels in order. */
export const logLevels: readonly LogLevel[] = [
  "debug",
  "info",
  "warn",
  "error",
];

/** One event. */
export interface LogRecord {
  /** ISO date. */
  readonly time: string;
  readonly level: LogLevel;
  /** What happened, in stable words. */
  readonly event: string;
  /** More of it. */
  readonly [field: string]: unknown;
}

/** Takes events. */
export type LogSink = (record: LogRecord) => void;

const TEXT_MAX = 512;

/** Where a server tells what happens. */
export class Log {
  readonly #sink: LogSink;
  readonly #level: number;
  readonly #now: () => number;

  /**
   * @param sink takes the events
   * @param level lowest level that is told
   * @param now milliseconds since 1970
   */
  constructor(sink: LogSink, level: LogLevel, now: () => number) {
    this.#sink = sink;
    this.#level = logLevels.indexOf(level);
    this.#now = now;
  }

  /** Tells of an event; a sink that throws disturbs nobody. */
  write(
    level: LogLevel,
    event: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): void {
    if (logLevels.indexOf(level) < this.#level) return;
    const time = new Date(this.#now()).toISOString();
    try {
      this.#sink({ time, level, event, ...cutAll(fields) });
    } catch {
      // Nobody is left to tell.
    }
  }

  /** Tells of each kind of trouble once. */
  once(fields: Readonly<Record<string, unknown>>): TroubleLog {
    return new TroubleLog(this, fields);
  }
}

/** The log of one connection. */
export class TroubleLog {
  readonly #log: Log;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #told = new Set<string>();

  /** Use {@linkcode Log.once}. */
  constructor(log: Log, fields: Readonly<Record<string, unknown>>) {
    this.#log = log;
    this.#fields = fields;
  }

  /** Tells of a kind of trouble, unless it did so before. */
  warn(
    event: string,
    kind: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): void {
    const name = `${event} ${kind}`;
    if (this.#told.has(name) || this.#told.size >= limits.troubleKindsMax) {
      return;
    }
    this.#told.add(name);
    this.#log.write("warn", event, { ...this.#fields, kind, ...fields });
  }
}

function cutAll(
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const cut: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    cut[name] = typeof value === "string" && value.length > TEXT_MAX
      ? `${value.slice(0, TEXT_MAX)}…`
      : value;
  }
  return cut;
}

/** Writes events to standard error, one JSON object a line. */
export function standardSink(): LogSink {
  const encoder = new TextEncoder();
  return (record) => {
    let bytes = encoder.encode(`${JSON.stringify(record)}\n`);
    while (bytes.length > 0) {
      bytes = bytes.subarray(Deno.stderr.writeSync(bytes));
    }
  };
}

/** What an error says, for a log's field. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
