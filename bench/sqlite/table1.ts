/**
 * The rows of the comparison as data: table 1 of the targets.
 *
 * Targets are ratios (ours divided by SQLite's median, same run) and were set
 * for 100k items. Default and Trusted stand against synchronous=FULL, Fast
 * against OFF. A row without a target is shown for information.
 *
 * @module
 */

import type { Mode } from "./engine.ts";
import type { StoreName } from "./workload.ts";
import type { TaskName, ValueName } from "./workloads.ts";

/** How a row is measured; rows with equal measures share one measurement. */
export type Measure =
  | {
    readonly process: "whole";
    readonly workload: WholeName;
    readonly store: StoreName;
  }
  | {
    readonly process: "warm" | "fresh";
    readonly workload: TaskName;
    readonly store: StoreName;
  }
  | {
    readonly process: "value";
    readonly workload: ValueName;
    readonly store: StoreName;
  };

/** What is read by a whole process, of which code, and how warm Deno is. */
export type WholeName =
  | "start-cold"
  | "start-warm"
  | "package-cold"
  | "package-warm"
  | "package-import";

/** The units that figures are shown in. */
export type Unit = "µs" | "ms" | "MB";

/** One row, before anything was measured. */
export interface RowPlan {
  /** What is done; `durable` and `relaxed` rows are one measure under two names. */
  readonly operation: string;
  readonly unit: Unit;
  readonly measure: Measure;
  readonly modes: readonly Mode[];
  /** The ratio to reach, by mode; 0 where there is none. */
  readonly target: Readonly<Record<Mode, number>>;
}

const everyMode: readonly Mode[] = ["default", "trusted", "fast"];
const durableModes: readonly Mode[] = ["default", "trusted"];
const relaxedModes: readonly Mode[] = ["fast"];

const warm = (workload: TaskName, store: StoreName = "plain"): Measure => ({
  process: "warm",
  workload,
  store,
});
const fresh = (workload: TaskName, store: StoreName = "plain"): Measure => ({
  process: "fresh",
  workload,
  store,
});
const whole = (workload: WholeName): Measure => ({
  process: "whole",
  workload,
  store: "plain",
});
const value = (workload: ValueName): Measure => ({
  process: "value",
  workload,
  store: "plain",
});

/** One ratio for every mode. */
const same = (ratio: number): Record<Mode, number> => ({
  default: ratio,
  trusted: ratio,
  fast: ratio,
});
const durable = (
  byDefault: number,
  trusted = byDefault,
): Record<Mode, number> => ({
  default: byDefault,
  trusted,
  fast: 0,
});
const relaxed = (ratio: number): Record<Mode, number> => ({
  default: 0,
  trusted: 0,
  fast: ratio,
});

function row(
  operation: string,
  unit: Unit,
  measure: Measure,
  target: Record<Mode, number>,
  modes: readonly Mode[] = everyMode,
): RowPlan {
  return { operation, unit, measure, modes, target };
}

/** An opening row is two: in a fresh process whose modules are loaded, and again and again in a warm one. */
function opening(
  operation: string,
  unit: Unit,
  workload: TaskName,
  freshTarget: number,
  warmTarget: number,
): RowPlan[] {
  return [
    row(
      `${operation}, fresh process, code loaded`,
      unit,
      fresh(workload),
      same(freshTarget),
    ),
    row(`${operation}, warm process`, unit, warm(workload), same(warmTarget)),
  ];
}

/** A write row is two: durable for Default and Trusted, relaxed for Fast. */
function writing(
  operation: string,
  unit: Unit,
  measure: Measure,
  durableTarget: Record<Mode, number>,
  relaxedTarget: number,
): RowPlan[] {
  return [
    row(`${operation}, durable`, unit, measure, durableTarget, durableModes),
    row(
      `${operation}, relaxed`,
      unit,
      measure,
      relaxed(relaxedTarget),
      relaxedModes,
    ),
  ];
}

/** Every row that can be asked for. */
export const rowPlans: readonly RowPlan[] = [
  ...writing(
    "create instance",
    "ms",
    warm("create-instance", "empty"),
    durable(0.4),
    0,
  ),
  row(
    "start of the process → first read by id, cold",
    "ms",
    whole("start-cold"),
    same(0),
  ),
  row(
    "start of the process → first read by id, warm",
    "ms",
    whole("start-warm"),
    same(0),
  ),
  row(
    "start of the process → first read by id, of the package, cold",
    "ms",
    whole("package-cold"),
    same(0),
  ),
  row(
    "start of the process → first read by id, of the package, warm",
    "ms",
    whole("package-warm"),
    same(0),
  ),
  row(
    "start of the process → imported, of the package, warm",
    "ms",
    whole("package-import"),
    same(0),
  ),
  row("open empty", "ms", warm("open", "empty"), same(1)),
  row("open all items' database", "ms", warm("open"), same(0)),
  ...opening("open + first read by id", "ms", "open-first", 1.1, 0.5),
  row(
    "open + 1,000 random reads by id, warm process",
    "ms",
    warm("open-thousand"),
    same(0),
  ),
  ...opening("open + count", "ms", "open-count", 0.15, 0.15),
  ...opening("open + all keys", "ms", "open-keys", 0.2, 0.2),
  ...opening("open + every item materialised", "ms", "open-all", 0.4, 0.4),
  ...opening("open + filter, 3 % hit", "ms", "open-some", 0.6, 0.6),
  row("read by id, first touch", "µs", warm("get-first"), same(0)),
  row("read by id, later touch", "µs", warm("get"), same(0.15)),
  row(
    "read by id, later touch, SQLite locked exclusively",
    "µs",
    warm("get-exclusive"),
    same(0),
  ),
  row("bulk read 100", "µs", warm("get-many"), same(0.2)),
  row(
    "simple query, ~10 rows, indexed",
    "µs",
    warm("few", "indexed"),
    same(0.6),
  ),
  row("simple query, 3 %, no index", "ms", warm("some"), same(0.08)),
  row("simple query, 3 %, indexed", "ms", warm("some", "indexed"), same(0.15)),
  row("filter + sort + limit 50, no index", "ms", warm("top"), same(0.15)),
  row(
    "filter + sort + limit 50, indexed",
    "µs",
    warm("top", "indexed"),
    same(0.5),
  ),
  row("count, open", "µs", warm("count"), same(0.01)),
  row("all keys, open", "ms", warm("keys"), same(0.05)),
  row("all items, open", "ms", warm("all"), same(0.3)),
  row(
    "live result of 1,000, first 50 re-run, indexed",
    "µs",
    warm("live-50", "indexed"),
    same(0.1),
  ),
  row(
    "live result of 1,000, first 50 re-run, no index",
    "µs",
    warm("live-50"),
    same(0.1),
  ),
  row(
    "live result of 1,000, all re-run, indexed",
    "µs",
    warm("live-all", "indexed"),
    same(0.1),
  ),
  row(
    "live result of 1,000, all re-run, indexed, with the write itself",
    "µs",
    warm("live-whole", "indexed"),
    same(0),
  ),
  ...writing("create one", "µs", warm("create"), durable(1.1, 1), 0.4),
  ...writing("update one", "µs", warm("update"), durable(1.2, 1.05), 0.4),
  row("10 concurrent creates, each", "µs", warm("create-10"), durable(0.15)),
  row("100 concurrent creates, each", "µs", warm("create-100"), durable(0.04)),
  ...writing("bulk create 100", "ms", warm("batch-100"), durable(0.3), 0.2),
  ...writing(
    "bulk load of all in one transaction",
    "ms",
    warm("bulk-load"),
    durable(0.6),
    0,
  ),
  row("resident memory after reading all", "MB", value("memory"), same(0.8)),
  row(
    "resident memory after reading all, SQLite with its default cache",
    "MB",
    value("memory-frugal"),
    same(0),
  ),
  row("bytes on disk, Sheaf with history", "MB", value("disk"), same(1.2)),
  row(
    "bytes on disk after 10 updates each, both with history",
    "MB",
    value("disk-rewritten"),
    same(1),
  ),
];

/** Names a measure, so that rows can share it. */
export function measureKey(measure: Measure): string {
  return `${measure.process} ${measure.workload} ${measure.store}`;
}

/** Is what is timed a write that is waited for? Live results are timed until they are seen, not until they are safe. */
export function isWrite({ workload }: Measure): boolean {
  return /^(create|update|batch|bulk)/.test(workload);
}

/** Opening before reading before writing: later measures may change what is stored or held. */
const order: readonly string[] = [
  "whole",
  "fresh",
  "warm create-instance",
  "warm open",
  "value memory",
  "warm",
  "warm live",
  "warm create",
  "warm update",
  "warm batch",
  "warm bulk",
  "value disk",
];

/** The measures behind some rows, each once, in the order in which they must run. */
export function measuresOf(plans: readonly RowPlan[]): Measure[] {
  const byKey = new Map(
    plans.map((plan) => [measureKey(plan.measure), plan.measure]),
  );
  return [...byKey.values()].sort((a, b) => stage(a) - stage(b));
}

/** The most specific entry of the order that the measure's name begins with. */
function stage(measure: Measure): number {
  const key = measureKey(measure);
  let best = -1;
  for (let at = 0; at < order.length; at++) {
    const prefix = order[at] ?? "";
    if (
      key.startsWith(prefix) &&
      (best < 0 || prefix.length > (order[best] ?? "").length)
    ) best = at;
  }
  return best;
}
