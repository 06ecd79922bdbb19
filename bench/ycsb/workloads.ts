/**
 * The core workloads A to F, as `workloads/workloada` … `workloadf` of YCSB
 * define them (Cooper et al., "Benchmarking Cloud Serving Systems with YCSB",
 * SoCC 2010), and their operations as plain arrays: made before the clock
 * starts, the same for every engine.
 *
 * Inserts count as there for other operations only when `lag` further ones were
 * asked for: so many are in flight at most. (YCSB waits for the
 * acknowledgement itself; then no two engines would get the same operations.)
 *
 * @module
 */

import { type Dice, dice } from "../harness/scramble.ts";
import { ScrambledZipfian, SkewedLatest } from "./generators.ts";

/** What is done to a record. */
export type Action = "read" | "update" | "insert" | "scan" | "modify";

/** All of them: {@linkcode Operations.actions} holds places in this list. */
export const actions: readonly Action[] = [
  "read",
  "update",
  "insert",
  "scan",
  "modify",
];

/** Their names in reports. */
export const actionNames: Readonly<Record<Action, string>> = {
  read: "read",
  update: "update",
  insert: "insert",
  scan: "scan of 1 to 100",
  modify: "read, modify, write",
};

/** One of the core workloads. */
export type WorkloadName = "A" | "B" | "C" | "D" | "E" | "F";

/** What a workload is made of. */
export interface Workload {
  readonly name: WorkloadName;
  /** Shares of all operations; their sum is 1. */
  readonly shares: Readonly<Partial<Record<Action, number>>>;
  /** Which records are asked for. */
  readonly choice: "zipfian" | "latest";
}

/** In the order in which YCSB wants them run. */
export const workloads: readonly Workload[] = [
  { name: "A", shares: { read: 0.5, update: 0.5 }, choice: "zipfian" },
  { name: "B", shares: { read: 0.95, update: 0.05 }, choice: "zipfian" },
  { name: "C", shares: { read: 1 }, choice: "zipfian" },
  { name: "F", shares: { read: 0.5, modify: 0.5 }, choice: "zipfian" },
  { name: "D", shares: { read: 0.95, insert: 0.05 }, choice: "latest" },
  { name: "E", shares: { scan: 0.95, insert: 0.05 }, choice: "zipfian" },
];

/** Fields of a record. */
export const fieldCount = 10;
/** A scan asks for 1 to so many records, each length as likely. */
export const scanMax = 100;

/** Operations in order. */
export interface Operations {
  readonly count: number;
  /** Which of {@linkcode actions}. */
  readonly actions: Uint8Array;
  /** Numbers of records: the one asked for, or the one that is new. */
  readonly records: Uint32Array;
  /** The field that an update writes, or how many records a scan asks for. */
  readonly details: Uint8Array;
  /** Records when all of them have been run. */
  readonly recordsAfter: number;
}

/** What a stream of operations is made from. */
export interface StreamOptions {
  readonly workload: Workload;
  /** Records that are there. */
  readonly records: number;
  /** Operations. */
  readonly count: number;
  /** Greatest number of inserts that may be in flight. */
  readonly lag: number;
  readonly seed: number;
}

/** Makes the operations of one run. */
export function operationsOf(options: StreamOptions): Operations {
  const { workload, records, count, lag, seed } = options;
  const roll = dice(seed);
  const actionAt = chooser(workload, roll);
  const recordAt = recordChooser(options, dice(seed + 1));
  const found: Operations & { recordsAfter: number } = {
    count,
    actions: new Uint8Array(count),
    records: new Uint32Array(count),
    details: new Uint8Array(count),
    recordsAfter: records,
  };
  for (let at = 0; at < count; at++) {
    const action = actionAt();
    found.actions[at] = actions.indexOf(action);
    if (action === "insert") {
      found.records[at] = found.recordsAfter++;
      continue;
    }
    found.records[at] = recordAt(
      Math.max(records, found.recordsAfter - lag),
    );
    found.details[at] = action === "scan"
      ? 1 + Math.floor(roll() * scanMax)
      : Math.floor(roll() * fieldCount);
  }
  return found;
}

/** YCSB's DiscreteGenerator. */
function chooser({ shares }: Workload, roll: Dice): () => Action {
  const parts = actions.flatMap((action) => {
    const share = shares[action];
    return share === undefined ? [] : [{ action, share }];
  });
  return () => {
    let rest = roll();
    for (const { action, share } of parts) {
      if (rest < share) return action;
      rest -= share;
    }
    return parts[0]?.action ?? "read";
  };
}

function recordChooser(
  { workload, records, count }: StreamOptions,
  roll: Dice,
): (known: number) => number {
  if (workload.choice === "latest") {
    const latest = new SkewedLatest(records, roll);
    return (known) => latest.next(known);
  }
  // As in YCSB the space has room for twice the inserts that are expected, so
  // that popular records stay popular; what is not there yet is drawn again.
  const expected = Math.floor(count * (workload.shares.insert ?? 0) * 2);
  const zipfian = new ScrambledZipfian(records + expected, roll);
  return (known) => {
    let record = zipfian.next();
    while (record >= known) record = zipfian.next();
    return record;
  };
}
