/**
 * Structured logs: one JSON object a line, and each kind of trouble once per
 * connection.
 *
 * Architecture invariant: whoever sends garbage cannot fill the log: a
 * connection is told of once for each kind of trouble, kinds are bounded
 * (law 10), an address has so many lines a minute, and what a stranger wrote is
 * cut and has no control characters.
 */

import { limits } from "../src/base/limits.ts";
import { writeDescriptor } from "../src/storage/descriptor.ts";
import { Buckets } from "./quotas.ts";

/** How much an event matters, from little to much. */
export type LogLevel = "debug" | "info" | "warn" | "error";

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

type Fields = Readonly<Record<string, unknown>>;

/** Whom a connection is with, and what else is told of it each time. */
type Stranger = Fields & { readonly address: string };

const TEXT_MAX = 512;
const MINUTE_SECONDS = 60;
/** What a terminal or a reader of lines would take for more than text. */
const CONTROLS =
  // deno-lint-ignore no-control-regex -- control characters are what it looks for
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export class Log {
  readonly #sink: LogSink;
  readonly #level: number;
  readonly #now: () => number;
  readonly #lines = new Buckets({
    perSecond: limits.strangerLinesMax / MINUTE_SECONDS,
    burst: limits.strangerLinesMax,
  });
  /** Lines that were left out since the last one that was not. */
  #leftOut = 0;

  constructor(sink: LogSink, level: LogLevel, now: () => number) {
    this.#sink = sink;
    this.#level = logLevels.indexOf(level);
    this.#now = now;
  }

  /** Tells of an event; a sink that throws disturbs nobody. */
  write(
    level: LogLevel,
    event: string,
    fields: Fields = {},
  ): void {
    if (logLevels.indexOf(level) < this.#level) return;
    const time = new Date(this.#now()).toISOString();
    try {
      this.#sink({ time, level, event, ...cutAll(fields) });
    } catch {
      // Nobody is left to tell.
    }
  }

  /** Tells of what a stranger did, who has so many lines a minute; the next line says how many were left out. */
  tellOf(
    address: string,
    level: LogLevel,
    event: string,
    fields: Fields,
  ): void {
    if (!this.#lines.tryTake(address, 1, this.#now())) {
      this.#leftOut++;
      return;
    }
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut;
    this.#leftOut = 0;
    this.write(level, event, { address, ...fields, leftOut });
  }

  /** Tells of each kind of trouble once. */
  once(fields: Stranger): TroubleLog {
    return new TroubleLog(this, fields);
  }
}

export class TroubleLog {
  readonly #log: Log;
  readonly #fields: Stranger;
  readonly #told = new Set<string>();

  constructor(log: Log, fields: Stranger) {
    this.#log = log;
    this.#fields = fields;
  }

  /** Tells of a kind of trouble, unless it did so before. */
  warn(
    event: string,
    kind: string,
    fields: Fields = {},
  ): void {
    const name = `${event} ${kind}`;
    if (this.#told.has(name) || this.#told.size >= limits.troubleKindsMax) {
      return;
    }
    this.#told.add(name);
    const { address } = this.#fields;
    const all = { ...this.#fields, kind, ...fields };
    this.#log.tellOf(address, "warn", event, all);
  }
}

function cutAll(
  fields: Fields,
): Record<string, unknown> {
  const cut: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    cut[name] = typeof value === "string" ? cutText(value) : value;
  }
  return cut;
}

function cutText(text: string): string {
  const plain = text.slice(0, TEXT_MAX).replace(CONTROLS, "\ufffd");
  return text.length > TEXT_MAX ? `${plain}…` : plain;
}

const STANDARD_ERROR = 2;

/** Writes events to standard error, one JSON object a line. */
export function standardSink(): LogSink {
  const encoder = new TextEncoder();
  return (record) => {
    let bytes = encoder.encode(`${JSON.stringify(record)}\n`);
    while (bytes.length > 0) {
      bytes = bytes.subarray(writeDescriptor(STANDARD_ERROR, bytes));
    }
  };
}

/** What an error says, for a log's field. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
