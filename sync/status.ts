/**
 * What a connection and its repositories say of themselves, and telling who
 * listens.
 *
 * Architecture invariant: a status is the same object until something of it
 * changes; who listens is told at most once a turn.
 */

import type { JsonValue } from "../src/schema/mod.ts";

/** Why something is not live. */
export interface SyncReason {
  /** A code of docs/protocol.md or of a `DatabaseError`, or "lost". */
  readonly code: string;
  /** For a person. */
  readonly message: string;
}

/** How a connection fares. */
export interface ClientStatus {
  /** `ready`: both sides have proved who they are. `refused`: retrying by itself does not help. */
  readonly state: "connecting" | "ready" | "offline" | "refused" | "closed";
  /** Why it is not ready, where that is known. */
  readonly reason: SyncReason | undefined;
  /** Attempts since it was last ready. */
  readonly attempts: number;
  /** When it is tried again by itself. */
  readonly retryAt: Date | undefined;
}

/** What the server does not have yet. */
export interface Unsent {
  /** How many commits. */
  readonly commits: number;
  /** About how many bytes they are. */
  readonly bytes: number;
  /** When the oldest of them was written. */
  readonly oldest: Date | undefined;
}

/** How far a catching up is, in commits. */
export interface SyncProgress {
  readonly done: number;
  readonly total: number;
}

/** Something that must not happen between honest replicas. */
export interface Incident {
  /** What it is; a program may switch on it. */
  readonly kind:
    | "desync"
    | "server-rolled-back"
    | "server-forked"
    | "bad-witness"
    | "bad-receipt"
    | "receipt-denied"
    | "relay-refused"
    | "bad-record"
    | "restore-incomplete"
    | "wrong-kind"
    | "counter-overflow"
    | "not-enforced"
    | "salt-mismatch"
    | "clock";
  /** When it was noticed here. */
  readonly at: Date;
  /** For a person. */
  readonly message: string;
  /** What a report needs: chains, numbers, items. */
  readonly details: JsonValue;
}

/** Where a repository stands between here and its server. */
export interface ChannelStatus {
  /**
   * `live`: everything that there was has come, and what is written goes out at
   * once. `refused`: the server declined it, or the connection.
   */
  readonly state:
    | "offline"
    | "connecting"
    | "catching-up"
    | "live"
    | "refused"
    | "closed";
  /** Why it is not live, where that is known. */
  readonly reason: SyncReason | undefined;
  readonly unsent: Unsent;
  /** While catching up. */
  readonly progress: SyncProgress | undefined;
  /** The last moment at which both sides had exactly the same commits. */
  readonly equalAt: Date | undefined;
  /** The newest last, at most `incidentsMax`. */
  readonly incidents: readonly Incident[];
  /** What the server asks of writes, by name: `"rules"`, `"user.unique(email)"`; `undefined` while that is not known. */
  readonly enforced: readonly string[] | undefined;
  /** How far the server's clock is ahead of ours. */
  readonly clockOffsetMs: number | undefined;
}

/** Listeners that are told once a turn. */
export class Notifier {
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  /** Adds a listener; the result ends it. One function may listen more than once. */
  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Tells all, when this turn is over. */
  tell(): void {
    if (this.#isDue || this.#listeners.size === 0) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      for (const listener of [...this.#listeners]) {
        if (this.#listeners.has(listener)) guarded(listener);
      }
    });
  }
}

/** A listener's failure is its own: thrown past whoever changed something. */
function guarded(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** The older of two statuses when they say the same. */
export function settled<T extends object>(older: T | undefined, newer: T): T {
  if (older === undefined) return Object.freeze(newer);
  const keys = Object.keys(newer) as (keyof T)[];
  const isSame = keys.every((key) => Object.is(older[key], newer[key]));
  return isSame ? older : Object.freeze(newer);
}
