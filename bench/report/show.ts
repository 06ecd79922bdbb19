/**
 * Figures, engines and durability as people read them.
 *
 * Times are stored in milliseconds and sizes in bytes; here each gets the unit
 * in which it has one to three digits before the point.
 *
 * @module
 */

import type { Durability, SuiteName, Unit } from "../harness/figure.ts";

/** Steps of a unit, greatest first: from this value on, divided by it, under that name. */
type Steps = readonly (readonly [from: number, name: string])[];

const stepsOf: Readonly<Record<Unit, Steps>> = {
  "ms": [[1_000, "s"], [1, "ms"], [0.001, "µs"]],
  "B": [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]],
  "per s": [[1e6, "M/s"], [1e3, "k/s"], [1, "/s"]],
  "trips": [[1, "trips"]],
  "items": [[1e6, "M items"], [1e3, "k items"], [1, "items"]],
};

/** A figure with the unit that suits it: `0.65 µs`, `1.5 MB`; a dash where there is none. */
export function showValue(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit === "per s" ? "/s" : unit}`;
  const steps = stepsOf[unit];
  const size = Math.abs(value);
  // What rounds up to the next step is shown in it: 1.00 ms, not 1000 µs.
  const step = steps.find(([from]) => size >= from * 0.9995) ?? steps.at(-1);
  const [from, name] = step ?? [1, unit];
  return `${showDigits(value / from)} ${name}`;
}

/** Three digits that count: 0.0123, 1.23, 12.3, 123, 1,234. */
export function showDigits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 999.5) return Math.round(value).toLocaleString("en");
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  return value.toFixed(Math.min(6, 2 - Math.floor(Math.log10(size))));
}

/** A share as a percentage: `12 %`. */
export function showShare(value: number | null): string {
  return value === null ? "–" : `${(value * 100).toFixed(0)} %`;
}

/** A size as people say it: 1k, 100k, 1M. */
export function showSize(size: number): string {
  if (size >= 1e6 && size % 100_000 === 0) return `${size / 1e6}M`;
  return size >= 1_000 && size % 1_000 === 0
    ? `${size / 1_000}k`
    : size.toLocaleString("en");
}

/** Names of engines; a variant is its engine's name and what follows it. */
const labels: Readonly<Record<string, string>> = {
  "sheaf-default": "Sheaf Default",
  "sheaf-trusted": "Sheaf Trusted",
  "sheaf-fast": "Sheaf Fast",
  "sheaf": "Sheaf",
  "sqlite-full": "SQLite FULL",
  "sqlite-normal": "SQLite NORMAL",
  "sqlite-off": "SQLite OFF",
  "sqlite-memory": "SQLite in memory",
  "sqlite": "SQLite",
  "lmdb-nosync": "LMDB without sync",
  "lmdb": "LMDB",
  "level-sync": "LevelDB, sync",
  "level": "LevelDB",
  "deno-kv": "Deno KV",
  "redis": "Redis",
  "postgres": "PostgreSQL",
  "rxdb": "RxDB",
  "tinybase": "TinyBase",
  "pouchdb": "PouchDB",
  "yjs": "Yjs",
  "automerge": "Automerge",
  "loro": "Loro",
};

/** An engine's name in words: `sqlite-full` is `SQLite FULL`, `yjs-log` is `Yjs, log`. */
export function engineLabel(engine: string): string {
  const own = Object.hasOwn(labels, engine) ? labels[engine] : undefined;
  if (own !== undefined) return own;
  const cut = engine.lastIndexOf("-");
  if (cut <= 0) return engine;
  const base = engine.slice(0, cut);
  return `${engineLabel(base)}, ${engine.slice(cut + 1)}`;
}

/** Is this one of ours? */
export function isOurs(engine: string): boolean {
  return engine === "sheaf" || engine.startsWith("sheaf-");
}

/** What each durability promises, in one breath. */
export const durabilityWords: Readonly<Record<Durability, string>> = {
  fsync: "survives a power cut",
  written: "with the operating system: survives a killed process",
  queued: "still in the process, about to be written",
  memory: "nothing is ever written",
  none: "a read or a size: nothing to write",
};

/** Suites by title, in the order in which reports show them. */
export const suiteTitles: Readonly<Record<SuiteName, string>> = {
  sqlite: "Beside SQLite",
  sync: "Sync",
  kv: "Key-value",
  ycsb: "YCSB",
  stress: "Stress",
  compare: "Beside other databases",
  text: "Text",
};

/** One sentence on what each suite asks. */
export const suiteWords: Readonly<Record<SuiteName, string>> = {
  sqlite:
    "Opening, reading, asking and writing an embedded database, beside a carefully tuned SQLite.",
  sync:
    "Clients and one server over a real connection: how soon others see a change, and what it costs.",
  kv: "Get, set, delete and scan by key, alone and sixteen at a time.",
  ycsb:
    "The six core workloads of the Yahoo! Cloud Serving Benchmark, embedded and through a server.",
  stress:
    "A table of game players: bulk work, 27 indexed queries, single records, readers and writers at once.",
  compare:
    "The same items written and read by databases of every kind, each in its own process.",
  text: "Typing into a text field, beside Yjs alone.",
};

/** `3 rows`, `1 row`. */
export function countOf(
  count: number,
  one: string,
  many: string = `${one}s`,
): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
