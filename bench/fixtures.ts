/**
 * Rows for the tests of the reports.
 *
 * @module
 */

import type { Machine, Versions } from "./machine.ts";
import type { Row } from "./results.ts";

/** A machine that nobody has. */
export const someMachine: Machine = {
  os: "linux 6.1 x86_64",
  cpu: "Some CPU",
  cores: 2,
  memoryGiB: 8,
  fileSystem: "ext4",
  fdatasyncMicros: 101,
};

/** Versions of nothing. */
export const someVersions: Versions = {
  deno: "2.9.6",
  v8: "15.0",
  sqlite: "3.50.0",
  sheaf: "0.1.0",
  commit: "abc1234",
  date: "2026-01-02",
};

/** A row of Sheaf with some parts replaced. */
export function someRow(parts: Partial<Row> = {}): Row {
  return {
    suite: "table 1",
    operation: "read by id",
    mode: "default",
    size: 1_000,
    unit: "µs",
    median: 1,
    p75: 1.05,
    p99: 2,
    p995: 3,
    samples: 100,
    against: 10,
    ratio: 0.1,
    target: 0.15,
    met: true,
    ...parts,
  };
}

/** A row of SQLite. */
export function someRivalRow(parts: Partial<Row> = {}): Row {
  return someRow({
    mode: "sqlite-full",
    median: 10,
    p75: 10.5,
    against: null,
    ratio: null,
    target: null,
    met: null,
    ...parts,
  });
}
