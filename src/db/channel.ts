/**
 * What the public API asks of a connection: the side of `sync/client.ts` that
 * it uses, so that nothing of `sync/` is loaded before somebody connects.
 *
 * Types only.
 *
 * @module
 */

import type { AuditReport } from "../../sync/audit.ts";
import type { JsonValue } from "../schema/mod.ts";
import type { Operation } from "../schema/patch.ts";
import type { Replica, Session } from "../../repo/mod.ts";
import type { RepositoryPort } from "../../repo/port.ts";
import type { Done } from "../../repo/replica.ts";

export type { AuditReport };

/** Why a connection or a repository is not live. */
export interface SyncReason {
  /** Stable code: of docs/protocol.md, or of a `DatabaseError`. */
  readonly code: string;
  /** For a person. */
  readonly message: string;
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

/** How far a first, or a long, catching up is. */
export interface SyncProgress {
  /** Commits that came. */
  readonly done: number;
  /** Commits that there were when it began. */
  readonly total: number;
}

/** Something that must not happen, found by comparing with the server. */
export interface Incident {
  /** What it is; a program may switch on it. */
  readonly kind:
    | "desync"
    | "server-rolled-back"
    | "server-forked"
    | "bad-witness"
    | "foreign-refused"
    | "restore-incomplete"
    | "clock";
  /** When it was noticed here. */
  readonly at: Date;
  /** For a person. */
  readonly message: string;
  /** What a report needs: chains, numbers, digests, items. */
  readonly details: JsonValue;
}

/** Where a repository stands between here and the server. */
export type SyncPhase =
  | "offline"
  | "connecting"
  | "catching-up"
  | "live"
  | "refused"
  | "closed";

/** What a channel says of itself. */
export interface ChannelStatus {
  /** `live`: everything that there was has come, and what is written goes out at once. */
  readonly state: SyncPhase;
  /** Why it is `offline` or `refused`, where that is known. */
  readonly reason?: SyncReason | undefined;
  /** What the server does not have yet. */
  readonly unsent: Unsent;
  /** While catching up. */
  readonly progress: SyncProgress | undefined;
  /** The last moment at which both sides had exactly the same commits. */
  readonly equalAt: Date | undefined;
  /** What must not happen and did; the newest last. */
  readonly incidents: readonly Incident[];
  /** How far the server's clock is ahead of ours. */
  readonly clockOffsetMs: number | undefined;
}

/** What another client shows, as bytes. */
export interface PresentPeer {
  readonly peer: number;
  readonly user: string;
  readonly bytes: Uint8Array;
}

/** One repository on a connection. */
export interface Channel {
  /** The same object until something changes. */
  readonly status: ChannelStatus;
  /** Calls when the status, what is acknowledged, or who is present changed. */
  subscribe(listener: () => void): () => void;
  /** How many commits of a chain the server has durably. */
  acknowledged(chain: string): number;
  /** Log address up to which the server has everything. */
  readonly known: number;
  /** What lets the next connection go on from here. */
  resume(): Uint8Array | undefined;
  /** Compares with the server now. */
  audit(): Promise<AuditReport>;
  /** Shows bytes to the others; none: gone. */
  present(bytes: Uint8Array): void;
  /** The same array until it changes. */
  readonly others: readonly PresentPeer[];
}

export interface RefusedEntry {
  readonly chain: string;
  readonly number: number;
  readonly wall: number;
  readonly reason: string;
  readonly rule: string;
  readonly detail: string;
  readonly kept: boolean;
  readonly patch: { readonly operations: readonly Operation[] };
}

export type SyncReplica = Replica & {
  port(): RepositoryPort;
  refusals(): readonly RefusedEntry[];
  onRefusals(listener: () => void): () => void;
  retry(entry: RefusedEntry): Done<void>;
  discard(entry: RefusedEntry): Promise<void>;
  useSession(session: Session): void;
};
