/**
 * One part of the suite, from opening to closing, in Deno and in pages alike.
 *
 * @module
 */

import type { Outcome } from "../harness/suite.ts";
import {
  measureQuestions,
  measureRecords,
  measureVersions,
  type Pace,
} from "./afterwards.ts";
import { passing, runList } from "./list.ts";
import { Roster } from "./roster.ts";
import { Findings, type Part, rows } from "./rows.ts";
import type { PlayerStore } from "./store.ts";

/** What is to be done; plain JSON, so that a page can be told. */
export interface PartOrder {
  readonly part: Part;
  /** Players. */
  readonly size: number;
  /** In the part `single`: players inserted one at a time, the last ones. */
  readonly singles: number;
  readonly isQuick: boolean;
}

/** A fresh store of one engine, and what its world knows. */
export interface Place {
  /** Opens an empty store; each call another one. */
  open(): PlayerStore | Promise<PlayerStore>;
  /** After loading: what the engine's manual advises. */
  readonly learn: (store: PlayerStore) => void;
  /** Resident bytes of this process after a full collection; `undefined` where nobody knows. */
  readonly residentBytes: () => number | undefined;
}

/**
 * Enough that what sorts and builds indexes of thousands is compiled as well,
 * in engines of JavaScript; others lose nothing by it.
 */
const warmUpPlayers: Readonly<Record<Part, number>> = {
  single: 1_000,
  batch: 5_000,
  versions: 1_000,
};

const warmUpPace: Pace = {
  record: { ms: 10, samplesMin: 3, samplesMax: 100 },
  question: { ms: 1, samplesMin: 4, samplesMax: 20 },
  tasksMs: 20,
};

function paceOf(isQuick: boolean): Pace {
  return isQuick
    ? {
      record: { ms: 30, samplesMin: 3, samplesMax: 200 },
      question: { ms: 3, samplesMin: 4, samplesMax: 50 },
      tasksMs: 60,
    }
    : {
      record: { ms: 45, samplesMin: 5, samplesMax: 2_000 },
      question: { ms: 5, samplesMin: 4, samplesMax: 200 },
      tasksMs: 120,
    };
}

/** Compiles what will be measured: the same part, small, in a store of its own. */
async function warmUp(place: Place, { part, size }: PartOrder): Promise<void> {
  const players = Math.min(size, warmUpPlayers[part]);
  const order = { part, size: players, singles: players, isQuick: true };
  await runIn(await place.open(), place, order, warmUpPace);
}

/** Runs a part in a fresh store of `place`. */
export async function runPart(
  place: Place,
  order: PartOrder,
): Promise<Outcome[]> {
  const before = place.residentBytes();
  await warmUp(place, order);
  const store = await place.open();
  return await runIn(store, place, order, paceOf(order.isQuick), before);
}

async function runIn(
  store: PlayerStore,
  place: Place,
  { part, size, singles }: PartOrder,
  pace: Pace,
  residentBefore?: number,
): Promise<Outcome[]> {
  const findings = new Findings(part);
  try {
    if (part === "versions") {
      await measureVersions(store, size, pace, findings);
      return findings.outcomes;
    }
    const roster = new Roster(size + passing);
    const order = {
      size,
      singles: part === "single" ? singles : 0,
      learn: () => place.learn(store),
    };
    await runList(store, roster, order, findings);
    if (part === "single") return findings.outcomes;
    const resident = place.residentBytes();
    if (resident !== undefined && residentBefore !== undefined) {
      findings.in("memory").bytes(rows.resident, resident - residentBefore);
    }
    const in_ = findings.in("records");
    await measureQuestions(store, roster, size, pace, findings.in("queries"));
    await measureRecords(store, roster, size, pace, in_);
    return findings.outcomes;
  } finally {
    const closed = store.close();
    if (closed !== undefined) await closed;
  }
}
