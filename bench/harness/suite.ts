/**
 * What a suite is: cases as data, each of which one fresh process runs for one
 * engine, as often as there are repetitions.
 *
 * @module
 */

import type { Beside, Durability, SuiteName, Unit } from "./figure.ts";

/** What was asked for on the command line, as far as suites care. */
export interface Order {
  /** Items; empty: the suite's own sizes. */
  readonly sizes: readonly number[];
  /** Operations a case, where a suite counts them; without it the suite's own number. */
  readonly operations?: number;
  /** Only engines whose name contains one of these; empty: all. */
  readonly engines: readonly string[];
  /** Only cases whose table and operation contain this. */
  readonly filter: string;
  /** Few and small: minutes instead of tens of minutes. */
  readonly isQuick: boolean;
  /** Addresses of servers to compare with, by engine: "postgres", "redis". */
  readonly addresses: Readonly<Record<string, string>>;
}

/** Was this asked for? Suites ask it of every case, and of every row where a case gives several. */
export function isAsked(
  order: Pick<Order, "engines" | "filter">,
  row: Pick<CaseSpec, "suite" | "table" | "operation" | "engine">,
): boolean {
  const { engines, filter } = order;
  const isWanted = engines.length === 0 ||
    engines.some((part) => row.engine.includes(part));
  const text = `${row.suite} ${row.table} ${row.operation}`.toLowerCase();
  return isWanted && text.includes(filter.toLowerCase());
}

/** One engine's turn at one case. */
export interface CaseSpec {
  readonly suite: SuiteName;
  /** Cases with one name are one race: their engines take turns. Unique in the suite with the engine. */
  readonly name: string;
  readonly table: string;
  readonly operation: string;
  readonly engine: string;
  readonly durability: Durability;
  readonly size: number;
  /** Fresh processes; the schedule goes to and fro over the engines. */
  readonly repetitions: number;
  /** After so long the process is killed and the case has failed. */
  readonly msMax: number;
  /** All that the suite itself needs to know; plain JSON. */
  readonly params: Readonly<Record<string, string | number | boolean>>;
}

/** Where a case runs. */
export interface Stage {
  /** An empty folder of this process's own, on the project's disk; removed by the parent. */
  readonly folder: string;
  readonly isQuick: boolean;
  readonly addresses: Readonly<Record<string, string>>;
  /** The folder in whose `node_modules` the peers are. */
  readonly peers: string;
}

/** One row's worth of what a process found. */
export interface Outcome {
  /** In place of the case's, where one case gives several rows. */
  readonly table?: string;
  readonly operation?: string;
  readonly durability?: Durability;
  readonly unit: Unit;
  readonly isMoreBetter?: boolean;
  /** In `unit`; for `per s` one number: the rate of this repetition. */
  readonly samples: readonly number[];
  readonly beside?: Beside;
  readonly wrong?: string;
}

/** Thrown by a suite's `run` when an engine is not to be had here: its message is the line that says why. */
export class NotHere extends Error {
  override name = "NotHere";
}

/** A suite: `bench/<name>/mod.ts` exports it as `suite`. */
export interface Suite {
  readonly name: SuiteName;
  /** Packages of `bench/peers/package.json` that its engines need; missing ones are skipped by `NotHere`. */
  readonly peers: readonly string[];
  /** What would run. Pure: reads nothing but the order. */
  cases(order: Order): CaseSpec[];
  /** Runs one case in this process, which is fresh: sets up, warms up, measures, checks the answers. */
  run(spec: CaseSpec, stage: Stage): Promise<Outcome[]>;
}
