/**
 * What all parts of one simulation share.
 *
 * @module
 */

import type { NaiveJudge } from "./checks/judge.ts";
import type { Client } from "./client.ts";
import type { Desk } from "./desk.ts";
import type { Ledger } from "./ledger.ts";
import type { Network } from "./network.ts";
import type { Authority } from "./people.ts";
import type { Plan } from "./plan.ts";
import type { Timeline } from "./timeline.ts";
import type { Trace } from "./trace.ts";

/** See the file's header. */
export interface Stage {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly network: Network;
  readonly authority: Authority;
  readonly ledger: Ledger;
  /** Names of the repositories. */
  readonly repositories: readonly string[];
  /** "work": writes and accidents; "heal": everything is up and nobody writes. */
  phase: "work" | "heal";
  /** Accidents that somebody may have to answer for, by what they did to whom. */
  readonly blames: Set<string>;
  /** Marks of writes that somebody else than their author handed in. */
  readonly relayed: Set<string>;
  /** Is told when a client says that it is equal with the server. */
  equal?: (client: Client, desk: Desk) => void;
  /** Judges what the server accepts, where somebody may try what is not allowed. */
  judge?: NaiveJudge;
  /** Ends the simulation: a check did not hold. */
  fail(cause: unknown): void;
}
