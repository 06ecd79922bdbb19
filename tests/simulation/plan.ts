/**
 * What a seed chooses: how many take part, in which mode, for how long, and
 * which accidents there are. Each accident is left out of half of all runs, so
 * that no two of them hide each other.
 *
 * @module
 */

import type { Mode } from "../../repo/commit/genesis.ts";
import type { QuotaOptions } from "../../server/options.ts";
import type { Dice } from "./dice.ts";

/** Kinds of accidents, and how often each of them happens: once in this time, on average. */
export const accidents = {
  /** A connection breaks. */
  break: 20_000,
  /** Nothing comes through to the server. */
  stallUp: 40_000,
  /** Nothing comes through from the server. */
  stallDown: 40_000,
  /** Nothing comes through at all. */
  cut: 40_000,
  /** A link gets narrow, or late, for a while. */
  slow: 40_000,
  /** A client is closed and opened again. */
  restartClient: 30_000,
  /** A client's process or machine dies. */
  crashClient: 30_000,
  /** The server is closed and opened again. */
  restartServer: 60_000,
  /** The server's process or machine dies. */
  crashServer: 60_000,
  /** The server's disk is lost. */
  wipeServer: 120_000,
  /** An operation of a disk fails. */
  faultClient: 60_000,
  /** An operation of the server's disk fails. */
  faultServer: 90_000,
  /** A disk cannot be read when somebody comes to life. */
  readFault: 60_000,
  /** A bit of the server's disk flips while nobody uses it. */
  rotServer: 90_000,
  /** Somebody begins with a copy of another one's files. */
  copyClient: 30_000,
  /** A disk is full for a while. */
  fullClient: 90_000,
  /** The server's disk is full for a while. */
  fullServer: 120_000,
  /** A clock is set. */
  clock: 60_000,
  /** Frames are dropped, repeated, exchanged or spoilt for a while. */
  hostile: 60_000,
  /** Somebody without a session comes by. */
  intruder: 20_000,
  /** Pages are opened, closed, killed and put to sleep. */
  page: 4_000,
  /** A session is revoked. */
  revoke: 30_000,
  /** A backup of the server takes the place of its disk. */
  restoreServer: 90_000,
  /** A server on a backup takes over, until the other one comes back. */
  secondServer: 60_000,
  /** Somebody writes checkpoints. */
  checkpoint: 10_000,
} as const;

/** A kind of accident. */
export type Accident = keyof typeof accidents;

/** What villains do (`deeds.ts`, `villain.ts`). */
const all = [
  "takesOver",
  "deletes",
  "skipsGenerations",
  "changesKinds",
  "declares",
  "floodsChains",
  "floodsCommits",
  "floodsCollections",
  "floodsMaps",
  "datesAhead",
  "datesBack",
  "stealsLeases",
  "namesOldParents",
  "namesTheFuture",
  "relays",
  "comesBack",
] as const;

/** A kind of villainy. */
export type Persona = typeof all[number];

/** What the server cannot hold off yet. */
export const unguarded: readonly Persona[] = [];

/** What villains do in a simulation. */
export const personas: readonly Persona[] = all.filter((persona) =>
  !unguarded.includes(persona)
);

/**
 * What is theirs to do where there are no rules. And who comes back after a
 * revocation that a server had before it lost its disk leaves commits of others
 * without parents: it keeps none of what it refuses then.
 */
const free: readonly Persona[] = [
  "comesBack",
  "takesOver",
  "deletes",
  "declares",
  "datesBack",
  "namesOldParents",
];

/** What villains do in a run. */
export function personasOf({ hasRules }: Plan): readonly Persona[] {
  return hasRules
    ? personas
    : personas.filter((persona) => !free.includes(persona));
}

/** What a seed chose. */
export interface Plan {
  readonly seed: number;
  readonly mode: Mode;
  readonly clients: number;
  /** How many of them come later. */
  readonly late: number;
  /** How many of them know no rules. */
  readonly naughty: number;
  /** How many of them are browsers with pages. */
  readonly browsers: number;
  readonly workMs: number;
  /** Mean time between two writes of one client. */
  readonly writeEveryMs: number;
  readonly accidents: readonly Accident[];
  /** Do sessions end while the simulation goes on? */
  readonly sessionMs: number;
  readonly hasRules: boolean;
  /** Do clients begin to use another release of the app when they start? */
  readonly hasReleases: boolean;
  /**
   * Are there compare-and-sets? A server judges those that others bring, but
   * what a witness shows it had accepted, and may refuse one that it had
   * acknowledged just before the loss, with all that follows from it: then
   * they never converge.
   */
  readonly hasSwaps: boolean;
  /** How long a sync takes at most. */
  readonly syncMs: number;
  /** What the server lets somebody cost. */
  readonly quotas: QuotaOptions;
  /** How many users keep no rule of ours. */
  readonly villains: number;
}

/**
 * After these somebody hands in what he did not write: what the server had
 * accepted and lost, or what its author has taken back since.
 */
const handsIn: readonly Accident[] = [
  "wipeServer",
  "restoreServer",
  "secondServer",
  "copyClient",
];

/** Small enough to be hit, and large enough for everything to get through in the end. */
function smallQuotas(dice: Dice): QuotaOptions {
  return {
    connectionsPerAddress: 2,
    connectionsPerSession: dice.between(1, 2),
    unprovedPerAddress: 1,
    commitsPerSecond: dice.between(1, 3),
    bytesPerSecond: dice.between(500, 5_000),
    loginsPerMinute: dice.between(2, 10),
  };
}

/** Reads a seed. */
export function planOf(seed: number, dice: Dice): Plan {
  const mode: Mode = dice.chance(0.75)
    ? "default"
    : dice.pick(["trusted", "fast"]);
  const clients = dice.chance(0.8) ? dice.between(3, 6) : dice.between(7, 20);
  const workMs = dice.between(30, 180) * 1_000;
  const writes = dice.between(75, 375);
  const isSigned = mode === "default";
  const kinds = Object.keys(accidents) as Accident[];
  const signedOnly: Accident[] = ["hostile", "revoke"];
  const hasRules = isSigned && dice.chance(0.5);
  const chosen = kinds.filter((kind) =>
    dice.chance(0.5) && (isSigned || !signedOnly.includes(kind))
  );
  const plan = {
    seed,
    mode,
    clients,
    // A copy is made for somebody who is yet to come.
    late: chosen.includes("copyClient")
      ? dice.between(1, clients - 2)
      : dice.chance(0.5)
      ? dice.between(0, clients - 2)
      : 0,
    naughty: isSigned ? dice.between(0, Math.floor(clients / 3)) : 0,
    workMs,
    writeEveryMs: workMs * clients / writes,
    accidents: chosen,
    sessionMs: isSigned && dice.chance(0.3)
      ? dice.between(40, 90) * 1_000
      : Infinity,
    hasRules,
    syncMs: dice.pick([0, 5, 50, 1_000]),
    quotas: dice.chance(0.25) ? smallQuotas(dice) : {},
    hasReleases: dice.chance(0.5),
    hasSwaps: !handsIn.some((kind) => chosen.includes(kind)),
    browsers: dice.chance(0.5) ? dice.between(1, Math.ceil(clients / 3)) : 0,
  };
  // What they flood, others would have to hand in again, at a few commits a second.
  const isSlow = !hasRules && plan.quotas.commitsPerSecond !== undefined;
  const hasVillains = isSigned && !isSlow && dice.chance(0.5);
  return { ...plan, villains: hasVillains ? dice.between(1, 2) : 0 };
}
