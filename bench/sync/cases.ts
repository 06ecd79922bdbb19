/**
 * The cases of the sync suites, by name: each runs in a process of its own.
 *
 * @module
 */

import type { Mode } from "../sqlite/engine.ts";
import {
  busyApp,
  idleConnections,
  memory,
  sustained,
  wipedServer,
} from "./busy.ts";
import { catchUp, resume } from "./catch_up.ts";
import { gate } from "./gate.ts";
import {
  concurrentWrites,
  deletes,
  offlineEdits,
  partition,
} from "./offline.ts";
import type { Stage } from "./place.ts";
import { propagation, propagationBySize } from "./propagation.ts";
import type { SyncRow } from "./row.ts";

/** One case. */
export interface Case {
  readonly modes: readonly Mode[];
  readonly run: (stage: Stage) => Promise<SyncRow[]>;
}

const every: readonly Mode[] = ["default", "trusted", "fast"];
const signed: readonly Mode[] = ["default"];

/** All of them, in the order of the report. */
export const cases: Readonly<Record<string, Case>> = {
  "propagation": { modes: every, run: propagation },
  "catch-up-10k": {
    modes: every,
    run: catchUp(10_000, "in transactions of 100", "table 2"),
  },
  "catch-up-100k": {
    modes: every,
    run: catchUp(100_000, "in transactions of 100", "table 2"),
  },
  "catch-up-100k-singles": {
    modes: signed,
    run: catchUp(100_000, "one by one", "table 2"),
  },
  "catch-up-100k-authors": {
    modes: signed,
    run: catchUp(100_000, "one by one, by 10 authors", "table 2"),
  },
  "resume": { modes: signed, run: resume },
  "offline-edits": { modes: signed, run: offlineEdits },
  "memory": { modes: signed, run: memory },
  "gate": { modes: signed, run: gate },
  "sustained": { modes: every, run: sustained },
  "idle-connections": { modes: signed, run: idleConnections },
  "wiped-server": { modes: signed, run: wipedServer },
  "by-size": { modes: every, run: propagationBySize },
  "bulk-sync-1k": {
    modes: signed,
    run: catchUp(1_000, "one by one", "distributed"),
  },
  "bulk-sync-10k": {
    modes: signed,
    run: catchUp(10_000, "one by one", "distributed"),
  },
  "bulk-sync-100k": {
    modes: signed,
    run: catchUp(100_000, "one by one", "distributed"),
  },
  "concurrent-writes": { modes: every, run: concurrentWrites },
  "deletes": { modes: signed, run: deletes },
  "partition": { modes: signed, run: partition },
  "busy-app": { modes: every, run: busyApp },
};
