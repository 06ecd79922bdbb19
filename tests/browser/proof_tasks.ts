/**
 * How long a page's own thread was busy at a time: its tasks, in time of the
 * processor, so that a busy machine does not count.
 *
 * @module
 */

import { moreTurns, type ProofTab } from "./proof_place.ts";

/** A page on a busy machine hears late that it is traced. */
const START_TURNS = 60;

/** What is read of a trace's event. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** When it began, and how long it took by the clock, in microseconds. */
  readonly ts: number;
  readonly dur?: number;
  /** Of the processor, in microseconds. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** What a page's thread did while it was watched. */
export interface Tasks {
  /** Time of the processor that each task took, in milliseconds. */
  readonly cpuMs: readonly number[];
  /** Time by the clock for each of the processor's: 1 where the thread never waits for a core. */
  readonly crowding: number;
}

/** The tasks of the page's thread while `work` runs. */
export async function tasksOf(
  tab: ProofTab,
  work: () => Promise<void>,
): Promise<Tasks> {
  const pid = await tab.pid();
  const session = await tab.cdp();
  const events: TraceEvent[] = [];
  // The protocol's types know nothing of what an event holds.
  const collect = ({ value }: { value: object[] }) => {
    for (const event of value as TraceEvent[]) {
      if (event.pid === pid) events.push(event);
    }
  };
  session.on("Tracing.dataCollected", collect);
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: {
      includedCategories: ["toplevel", "disabled-by-default-devtools.timeline"],
    },
  });
  await moreTurns(tab, START_TURNS);
  await work();
  const complete = new Promise((resolve) =>
    session.once("Tracing.tracingComplete", resolve)
  );
  await session.send("Tracing.end");
  await complete;
  session.off("Tracing.dataCollected", collect);
  const main = events.find(({ name, args }) =>
    name === "thread_name" && args.name === "CrRendererMain"
  );
  const tasks = outermost(
    events.filter(({ name, tid }) =>
      name.endsWith("RunTask") && tid === main?.tid
    ),
  );
  const cpuMs = tasks.map(({ tdur = 0 }) => tdur / 1_000);
  const clockMs = tasks.reduce((all, { dur = 0 }) => all + dur / 1_000, 0);
  const allMs = cpuMs.reduce((all, ms) => all + ms, 0);
  return { cpuMs, crowding: Math.max(1, clockMs / allMs) };
}

/** A task is traced by its scheduler and by its loop: one event inside of the other. */
function outermost(events: readonly TraceEvent[]): TraceEvent[] {
  const ordered = [...events].sort((a, b) =>
    a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0)
  );
  let end = -Infinity;
  return ordered.filter(({ ts, dur = 0 }) => {
    const isOuter = ts >= end;
    if (isOuter) end = ts + dur;
    return isOuter;
  });
}
