/**
 * The few rows that the gate measures: ours and one rival, at small sizes,
 * chosen because their ratio holds from machine to machine.
 *
 * What waits for the disk with many writes under way is held only against the
 * loss of what makes it quick, one sync for all. Left out on purpose: what
 * waits for the disk alone (its ratio is 1, and a loss hides in it), fresh processes (the compiler's time, not ours), and
 * whatever needs a package from elsewhere (the gate must run without).
 *
 * @module
 */

import type { SuiteName } from "../harness/figure.ts";

/** One row to watch. */
export interface Watched {
  readonly suite: SuiteName;
  readonly table: string;
  readonly operation: string;
  readonly size: number;
  readonly engine: string;
  readonly rival: string;
  /** Both wait for the disk, and others may be using it: only much worse is worse. */
  readonly isOfDisk?: true;
}

/** One start of the bench, which gives some of the watched rows. */
export interface Course {
  readonly suite: SuiteName;
  readonly size: number;
  /** As `--filter` takes it; empty: all. */
  readonly filter: string;
  readonly rows: readonly Watched[];
}

const ours = "sheaf-default";
const rival = "sqlite-full";

const embedded = "Beside tuned SQLite";

/** Everything that the gate runs. */
export const courses: readonly Course[] = [
  course("sqlite", 10_000, embedded, "bulk read", ["bulk read 100"]),
  ofDisk(
    course("sqlite", 10_000, embedded, "bulk create", [
      "bulk create 100, durable",
    ]),
  ),
  course("sqlite", 10_000, embedded, "simple query", [
    "simple query, ~10 rows, indexed",
    "simple query, 3 %, no index",
    "simple query, 3 %, indexed",
  ]),
  course("sqlite", 10_000, embedded, "filter + sort", [
    "filter + sort + limit 50, no index",
    "filter + sort + limit 50, indexed",
  ]),
  ofDisk(course("sqlite", 10_000, embedded, "concurrent creates", [
    "10 concurrent creates, each",
    "100 concurrent creates, each",
  ])),
  course("sqlite", 10_000, embedded, "with the write itself", [
    "live result of 1,000, all re-run, indexed, with the write itself",
  ]),
  course("kv", 10_000, "one at a time", "one at a time", ["get", "exists"]),
  ofDisk(
    course("kv", 10_000, "16 in flight", "16 in flight", ["set", "delete"]),
  ),
];

function ofDisk(course: Course): Course {
  const rows = course.rows.map((row) => ({ ...row, isOfDisk: true } as const));
  return { ...course, rows };
}

/** All watched rows, those of one start of the bench together. */
export function watchedOf(all: readonly Course[]): Watched[] {
  return all.flatMap(({ rows }) => [...rows]);
}

function course(
  suite: SuiteName,
  size: number,
  table: string,
  filter: string,
  operations: readonly string[],
): Course {
  return {
    suite,
    size,
    filter,
    rows: operations.map((operation) => ({
      suite,
      table,
      operation,
      size,
      engine: ours,
      rival,
    })),
  };
}
