/**
 * What a client has of one repository in one life.
 *
 * @module
 */

import type { CommitPlace } from "../../repo/commit_place.ts";
import type { Replica } from "../../repo/replica.ts";
import type { Channel } from "../../src/db/channel.ts";
import type { Entry } from "./ledger.ts";
import type { Worker } from "./work.ts";

/** A write whose fate is not known. */
export interface Pending {
  readonly entry: Entry;
  readonly place: CommitPlace;
  /** Is this attempt durable? */
  isDurable: boolean;
}

/** One repository of a client in one life. */
export interface Desk {
  readonly name: string;
  readonly replica: Replica;
  readonly channel: Channel;
  readonly worker: Worker;
  /** Writes of this life whose fate is not known. */
  pending: Pending[];
  /** What `equalAt` was when it was looked at last. */
  equalAtMs: number;
  /** What `equalAt` was when it was heard of last. */
  equalHeardMs: number;
  /** How many of its incidents were heard. */
  incidents: number;
}
