/**
 * The few rows that the gate measures: ours and one rival, at small sizes,
 * chosen because their ratio holds from run to run and from machine to machine.
 *
 * A row comes in only if its ratio stayed within its limit in each of ten
 * measurements on a busy machine, some beside a busy loop, without a second try.
 * That leaves out what waits for the disk alone (its ratio is 1, and a loss
 * hides in it), fresh processes and first times (the compiler's time, not
 * ours), what a process does only a few times (batches of thousands, eight
 * tasks at once, history), scans in runs of milliseconds, rates where a latency
 * of the same run is steady, and what depends on when garbage is collected.
 * What needs a package from elsewhere is left out too: the gate must run
 * without.
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
  /** Without one ours is a count, the same in every run, and stands for itself. */
  readonly rival?: string;
  /** Writes that come together share a signature and a sync; how many do varies: only much worse is worse. */
  readonly isGathered?: true;
  /** The rival gives a few samples only: much worse, as when a result is made anew, is worse. */
  readonly isWide?: true;
}

/** One start of the bench, which gives some of the watched rows. */
export interface Course {
  readonly suite: SuiteName;
  readonly size: number;
  /** As `--filter` takes it; empty: all. */
  readonly filter: string;
  /** Only these cases of the suite, by name; without it all that the filter leaves. */
  readonly cases?: readonly string[];
  readonly rows: readonly Watched[];
}

/** Who is held against whom. */
type Pair = Pick<Watched, "engine" | "rival">;

/** As users have it: signed, and acknowledged when the medium has it. */
const durable: Pair = { engine: "sheaf-default", rival: "sqlite-full" };
/**
 * Nobody waits for the medium. Reads are the same in every mode, and writes are
 * the processor's work alone, so that a busy disk moves neither.
 */
const relaxed: Pair = { engine: "sheaf-fast", rival: "sqlite-off" };
const counted: Pair = { engine: "sheaf-default" };

const embedded = "Beside tuned SQLite";

/** Tables of a course with the operations that are watched in each. */
type Tables = Readonly<Record<string, readonly string[]>>;

/** Everything that the gate runs; where time is short, the last are not measured. */
export const courses: readonly Course[] = [
  // What goes over the wire where nothing is new: the same to the byte in every run.
  course("sync", "resume", counted, {
    "Sync over a real server": [
      "come back to 100k items: sent, with upgrade and proofs",
      "come back to 100k items: received, with upgrade and proofs",
      "come back to 100k items: round trips, with the upgrade's",
    ],
  }, { size: 0 }),
  // Reads and queries of a warm database: columns, indexes, sorting.
  course("sqlite", "bulk read", durable, { [embedded]: ["bulk read 100"] }),
  course("sqlite", "simple query", durable, {
    [embedded]: [
      "simple query, ~10 rows, indexed",
      "simple query, 3 %, no index",
      "simple query, 3 %, indexed",
    ],
  }),
  course("sqlite", "filter + sort", durable, {
    [embedded]: [
      "filter + sort + limit 50, no index",
      "filter + sort + limit 50, indexed",
    ],
  }),
  // A write that live results follow: by what changed, not by what is there.
  wide(course("sqlite", "with the write itself", durable, {
    [embedded]: [
      "live result of 1,000, all re-run, indexed, with the write itself",
    ],
  })),
  // Many writes under way: one signature and one sync for all. Their ratio goes
  // by how long a sync takes, so they are held in memory only.
  gathered(course("sqlite", "bulk create", durable, {
    [embedded]: ["bulk create 100, durable"],
  })),
  gathered(course("sqlite", "concurrent creates", durable, {
    [embedded]: [
      "10 concurrent creates, each",
      "100 concurrent creates, each",
    ],
  })),
  gathered(course("kv", "16 in flight", durable, {
    "16 in flight": ["set", "delete"],
  })),
  // Keys and values: reads of a microsecond, and a write without its medium.
  course("kv", "one at a time", durable, {
    "one at a time": ["get", "exists"],
  }),
  course("kv", "one at a time", relaxed, { "one at a time": ["set"] }),
  // Questions asked again in many shapes: ranges, limits, orders, one index for
  // two conditions; pages, a count, and a write to six indexes.
  course("stress", "", relaxed, {
    "players, each question again": [
      "score, a high tenth",
      "top 10 below a score",
      "lowest 10 above a score",
      "not active, half of the scores",
      "active, top 10 below a score",
      "world, top 20",
      "came within an hour",
      "world and seen in a tenth",
    ],
    "players, single operations afterwards": [
      "page of 50 behind a player, by score",
      "page of 50 from the middle, by score",
      "count the active of a world",
      "save one",
    ],
  }, { size: 1_000, cases: ["batch, 1000"] }),
  // Records of a kilobyte, some asked for more than others: reads alone and
  // between writes under way, updates and inserts.
  course("ycsb", "", relaxed, {
    "YCSB A, 1 in flight": ["update"],
    "YCSB A, 64 in flight": ["read"],
    "YCSB B, 64 in flight": ["read"],
    "YCSB C, 1 in flight": ["read"],
    "YCSB D, 1 in flight": ["insert"],
  }, {
    cases: [
      "YCSB, ABCFD, 1 in flight, 10000",
      "YCSB, ABCFD, 64 in flight, 10000",
    ],
  }),
];

/** The course with rows that only a great loss makes worse. */
function gathered(course: Course): Course {
  const rows = course.rows.map((
    row,
  ) => ({ ...row, isGathered: true } as const));
  return { ...course, rows };
}

function wide(course: Course): Course {
  const rows = course.rows.map((row) => ({ ...row, isWide: true } as const));
  return { ...course, rows };
}

/** Is a course all of gathered writes? On a disk nothing of it can be held. */
export function isOfGathered({ rows }: Pick<Course, "rows">): boolean {
  return rows.every(({ isGathered }) => isGathered);
}

/** Every engine of a course, each once. */
export function enginesOf({ rows }: Pick<Course, "rows">): string[] {
  return [
    ...new Set(
      rows.flatMap(({ engine, rival }) =>
        rival === undefined ? [engine] : [engine, rival]
      ),
    ),
  ];
}

/** All watched rows, those of one start of the bench together. */
export function watchedOf(all: readonly Course[]): Watched[] {
  return all.flatMap(({ rows }) => [...rows]);
}

/** A course over 10,000 items, unless told otherwise. */
function course(
  suite: SuiteName,
  filter: string,
  pair: Pair,
  tables: Tables,
  { size = 10_000, cases }: Partial<Pick<Course, "size" | "cases">> = {},
): Course {
  const rows = Object.entries(tables).flatMap(([table, operations]) =>
    operations.map((operation): Watched => ({
      suite,
      table,
      operation,
      size,
      ...pair,
    }))
  );
  return { suite, size, filter, rows, ...cases === undefined ? {} : { cases } };
}
