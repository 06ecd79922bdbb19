/**
 * What a bench found, as plain data: every suite ends here, and every report
 * begins here.
 *
 * @module
 */

import type { Machine, Versions } from "./machine.ts";

/** A part of the bench that can run alone. */
export type SuiteName =
  | "sqlite"
  | "sync"
  | "kv"
  | "ycsb"
  | "stress"
  | "compare"
  | "text";

/**
 * What has been done when a write counts as done:
 *
 * - `fsync`: the medium was told to keep it, and said so; survives a power cut
 * - `written`: the operating system has it; survives a killed process
 * - `queued`: the process has it and will write it by itself
 * - `memory`: nothing is ever written
 * - `none`: nothing was written at all (a read, a size)
 */
export type Durability = "fsync" | "written" | "queued" | "memory" | "none";

/** What figures are counted in; times are always milliseconds, sizes always bytes. */
export type Unit = "ms" | "B" | "per s" | "trips" | "items";

/** Numbers beside a figure that explain it. */
export interface Beside {
  /** Mean of the samples. */
  readonly mean?: number;
  /** Operations a second, where the figure is a latency. */
  readonly perSecond?: number;
  /** CPU seconds, user and system, of all processes of the engine. */
  readonly cpuSeconds?: number;
  /** Operations per CPU second. */
  readonly perCpuSecond?: number;
  /** Greatest resident memory of all processes of the engine, in bytes. */
  readonly peakBytes?: number;
}

/** An upper bound (a lower one where more is better): of the ratio or of the figure. */
export interface Target {
  readonly of: "ratio" | "median" | "p99" | "max";
  readonly value: number;
}

/** One figure of one engine. */
export interface Figure {
  readonly suite: SuiteName;
  /** The table that it stands in: "YCSB A, durable, 64 in flight". */
  readonly table: string;
  /** The row of the table: "read", "set, 1 KB". */
  readonly operation: string;
  /** Who: "sheaf-default", "sqlite-full", "lmdb". */
  readonly engine: string;
  readonly durability: Durability;
  /** Items in the database. */
  readonly size: number;
  readonly unit: Unit;
  /** Is more better? */
  readonly isMoreBetter: boolean;
  readonly median: number | null;
  readonly p75: number | null;
  readonly p99: number | null;
  readonly p995: number | null;
  readonly max: number | null;
  /** Single measurements of all repetitions. */
  readonly samples: number;
  /** Fresh processes that gave them; turns, where one process is kept warm for several. */
  readonly repetitions: number;
  /**
   * Greatest less least median of the repetitions, divided by the median; of
   * three stretches of time where one process gave all; `null` where there is
   * one sample.
   */
  readonly spread: number | null;
  /** Values at `distributionPoints`; empty where there are fewer samples than points. */
  readonly distribution: readonly number[];
  readonly beside: Beside;
  /** The bound that was set. */
  readonly target?: Target;
  /** Further bounds: the target is met when all are kept. */
  readonly alsoTargets?: readonly Target[];
  /** The least that it could be in the same run, in `unit`: the bare wire and disk, a process that does nothing. */
  readonly floor?: number;
  /** Ours divided by that engine's in the same run, where the suite itself names a rival. */
  readonly against?: { readonly engine: string; readonly ratio: number };
  /** What was wrong with an answer: then the figure counts for nothing. */
  readonly wrong?: string;
  /** Why there is no figure. */
  readonly failed?: string;
  /** Why nobody tried. */
  readonly skipped?: string;
}

/** Shares of the samples whose values {@linkcode Figure.distribution} holds. */
export const distributionPoints: readonly number[] = [
  0,
  0.05,
  0.1,
  0.15,
  0.2,
  0.25,
  0.3,
  0.35,
  0.4,
  0.45,
  0.5,
  0.55,
  0.6,
  0.65,
  0.7,
  0.75,
  0.8,
  0.85,
  0.9,
  0.95,
  0.97,
  0.98,
  0.99,
  0.995,
  0.999,
  1,
];

/** How still the machine was. */
export interface Noise {
  /** One-minute load when the suite began, before anything of ours ran. */
  readonly loadBefore: number;
  /** A fixed piece of CPU work, after ÷ before: 1 is a steady machine. */
  readonly cpuDrift: number;
  /** Appends with fdatasync, after ÷ before. */
  readonly syncDrift: number;
  /** Median spread of the figures. */
  readonly spread: number;
  /** In words, when figures are less sure for it. */
  readonly warning?: string;
}

/** One suite, as it ran. */
export interface SuiteRun {
  readonly suite: SuiteName;
  /** The command that repeats it. */
  readonly command: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly versions: Versions;
  /** Versions of the other engines: "LMDB 3.4.2". */
  readonly peers: readonly string[];
  readonly noise: Noise;
  readonly figures: readonly Figure[];
}

/** What `--json` writes, and what all reports read. */
export interface Run {
  readonly format: 1;
  readonly suites: readonly SuiteRun[];
}
