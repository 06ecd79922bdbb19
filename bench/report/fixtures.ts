/**
 * Made-up runs for the tests of the reports. Nothing here was measured.
 *
 * @module
 */

import { type Dice, dice as diceOf } from "../harness/scramble.ts";
import {
  distributionPoints,
  type Durability,
  type Figure,
  type Run,
  type SuiteName,
  type SuiteRun,
} from "../harness/figure.ts";

/** A figure with some parts replaced. */
export function someFigure(parts: Partial<Figure> = {}): Figure {
  const median = parts.median === undefined ? 0.001 : parts.median;
  return {
    suite: "kv",
    table: "One at a time",
    operation: "get",
    engine: "sheaf-default",
    durability: "none",
    size: 10_000,
    unit: "ms",
    isMoreBetter: false,
    median,
    p75: median === null ? null : median * 1.1,
    p99: median === null ? null : median * 2,
    p995: median === null ? null : median * 3,
    max: median === null ? null : median * 9,
    samples: 3_000,
    repetitions: 3,
    spread: 0.04,
    distribution: [],
    beside: {},
    ...parts,
  };
}

/** A suite's run around some figures. */
export function someSuiteRun(
  suite: SuiteName,
  figures: readonly Figure[],
  parts: Partial<SuiteRun> = {},
): SuiteRun {
  return {
    suite,
    command: `deno task bench ${suite}`,
    startedAt: "2026-01-02T03:04:05.000Z",
    seconds: 215,
    machine: {
      os: "linux 6.1 x86_64",
      cpu: "Some CPU",
      cores: 2,
      memoryGiB: 8,
      fileSystem: "ext4",
      fdatasyncMicros: 101,
    },
    versions: {
      deno: "2.9.6",
      v8: "15.0",
      sqlite: "3.50.0",
      sheaf: "0.1.0",
      commit: "abc1234",
      date: "2026-01-02",
    },
    peers: ["LMDB 3.4.2", "LevelDB 2.0.0"],
    noise: { loadBefore: 0.1, cpuDrift: 1.01, syncDrift: 0.97, spread: 0.05 },
    figures,
    ...parts,
  };
}

/** A run of every suite, with every kind of figure; the same seed gives the same run. */
export function someRun(seed = 1): Run {
  const dice = diceOf(seed);
  return {
    format: 1,
    suites: [
      someSuiteRun("sqlite", sqliteFigures(dice)),
      someSuiteRun("sync", syncFigures(dice)),
      someSuiteRun("kv", kvFigures(dice)),
      someSuiteRun("ycsb", ycsbFigures(dice)),
      someSuiteRun("stress", stressFigures(dice), {
        noise: {
          loadBefore: 3.2,
          cpuDrift: 1.24,
          syncDrift: 1.8,
          spread: 0.31,
          warning:
            "The machine was busy: figures of this suite are less sure than others.",
        },
      }),
    ],
  };
}

interface Entrant {
  readonly engine: string;
  readonly durability: Durability;
  /** How much slower than the fastest. */
  readonly factor: number;
}

const writers: readonly Entrant[] = [
  { engine: "sheaf-default", durability: "fsync", factor: 1.1 },
  { engine: "sheaf-trusted", durability: "fsync", factor: 1 },
  { engine: "sqlite-full", durability: "fsync", factor: 1.2 },
  { engine: "lmdb", durability: "fsync", factor: 1.9 },
  { engine: "sheaf-fast", durability: "queued", factor: 0.05 },
  { engine: "sqlite-off", durability: "written", factor: 0.11 },
  { engine: "level", durability: "written", factor: 0.08 },
];
const readers: readonly Entrant[] = [
  { engine: "sheaf-default", durability: "none", factor: 1 },
  { engine: "sheaf-trusted", durability: "none", factor: 0.98 },
  { engine: "sheaf-fast", durability: "none", factor: 1.01 },
  { engine: "sqlite-full", durability: "none", factor: 7.5 },
  { engine: "sqlite-off", durability: "none", factor: 7.4 },
  { engine: "lmdb", durability: "none", factor: 4.1 },
  { engine: "level", durability: "none", factor: 19 },
];

function rowFigures(
  dice: Dice,
  entrants: readonly Entrant[],
  base: Partial<Figure> & { readonly median: number },
): Figure[] {
  return entrants.map(({ engine, durability, factor }) => {
    const turned = base.isMoreBetter === true ? 1 / factor : factor;
    const median = base.median * turned * (0.9 + 0.2 * dice());
    const tail = 1 + 3 * dice();
    return someFigure({
      ...base,
      engine,
      durability,
      median,
      p75: median * 1.08,
      p99: median * tail,
      p995: median * tail * 1.3,
      max: median * tail * 6,
      spread: 0.02 + 0.1 * dice(),
      distribution: base.unit === "per s"
        ? []
        : distributionPoints.map((share) =>
          median * (0.8 + 0.4 * share + (tail - 1) * share ** 24)
        ),
    });
  });
}

function sqliteFigures(dice: Dice): Figure[] {
  const suite = "sqlite";
  const table = "Table 1";
  const size = 100_000;
  const row = (
    entrants: readonly Entrant[],
    operation: string,
    median: number,
  ) => rowFigures(dice, entrants, { suite, table, size, operation, median });
  const some = row(readers, "read by id", 0.00065);
  const [first, ...rest] = some;
  return [
    ...first === undefined ? [] : [{
      ...first,
      target: { of: "ratio" as const, value: 0.15 },
      against: { engine: "sqlite-full", ratio: 0.13 },
    }],
    ...rest,
    ...row(writers, "create one", 0.12),
    ...row(
      readers.map((one) =>
        one.engine.startsWith("sheaf") ? { ...one, factor: 60 } : one
      ),
      "open + first read by id, fresh process",
      0.1,
    ),
  ];
}

function syncFigures(dice: Dice): Figure[] {
  return ["visible on B", "resume with nothing new"].flatMap((operation) =>
    rowFigures(
      dice,
      writers.filter(({ engine }) => engine.startsWith("sheaf")),
      {
        suite: "sync",
        table: "Table 2",
        operation,
        median: 0.8,
        size: 10_000,
        target: { of: "p99", value: 5 },
      },
    )
  );
}

function kvFigures(dice: Dice): Figure[] {
  const base = { suite: "kv", size: 10_000 } as const;
  return [
    ...["get", "exists"].flatMap((operation) =>
      rowFigures(dice, readers, {
        ...base,
        table: "One at a time",
        operation,
        median: 0.0007,
      })
    ),
    ...["set", "delete"].flatMap((operation) =>
      rowFigures(dice, writers, {
        ...base,
        table: "One at a time",
        operation,
        median: 0.11,
      })
    ),
    ...["64 B", "1 KB", "10 KB", "100 KB"].flatMap((value, at) =>
      rowFigures(dice, writers, {
        ...base,
        table: "Value sizes",
        operation: `set, ${value}`,
        median: 0.11 * (1 + at * 0.4),
      })
    ),
    someFigure({
      operation: "set",
      engine: "redis",
      durability: "fsync",
      median: null,
      samples: 0,
      skipped: "no address was given (--redis)",
    }),
    someFigure({
      operation: "get",
      engine: "deno-kv",
      median: 0.02,
      wrong: "3 values, not 4",
    }),
    someFigure({
      operation: "get",
      engine: "pouchdb",
      median: null,
      samples: 0,
      failed: "ended with 1: out of <memory> & patience",
    }),
  ];
}

function ycsbFigures(dice: Dice): Figure[] {
  return ["A", "B", "C"].flatMap((letter) =>
    [1, 64].flatMap((flying) =>
      rowFigures(dice, writers, {
        suite: "ycsb",
        table: `YCSB ${letter}, ${flying} in flight`,
        operation: "throughput",
        size: 100_000,
        unit: "per s",
        isMoreBetter: true,
        median: 9_000 * Math.sqrt(flying),
      }).map((figure) => ({
        ...figure,
        beside: {
          cpuSeconds: 2 + dice(),
          perCpuSecond: (figure.median ?? 0) * (0.8 + dice()),
          peakBytes: 9e7 * (1 + dice()),
        },
      }))
    )
  );
}

function stressFigures(dice: Dice): Figure[] {
  return [1_000, 10_000, 100_000].flatMap((size) => [
    ...rowFigures(dice, writers, {
      suite: "stress",
      table: "Classic list",
      operation: "bulk insert",
      size,
      median: 0.004 * size,
    }),
    ...rowFigures(dice, readers, {
      suite: "stress",
      table: "Classic list",
      operation: "27 indexed queries",
      size,
      median: 0.2 * Math.log2(size),
    }),
    ...rowFigures(dice, readers, {
      suite: "stress",
      table: "Single records",
      operation: "find by id",
      size,
      median: 0.0007,
    }),
  ]);
}
