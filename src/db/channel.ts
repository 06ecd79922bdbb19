/**
 * What the public API asks of a connection: the side of `sync/client.ts` that
 * it uses, so that nothing of `sync/` is loaded before somebody connects.
 *
 * Types only.
 */

import type { ChannelAudit as AuditReport } from "../../sync/client_report.ts";
import type { Receipt } from "../../sync/shown_receipt.ts";
import type { PresentPeer } from "../../sync/presence.ts";
import type {
  ChannelStatus,
  Incident,
  SyncProgress,
  SyncReason,
  Unsent,
} from "../../sync/status.ts";

export type {
  AuditReport,
  ChannelStatus,
  Incident,
  PresentPeer,
  Receipt,
  SyncProgress,
  SyncReason,
  Unsent,
};

/** Where a repository stands between here and the server. */
export type SyncPhase = ChannelStatus["state"];

/** What is known of a repository's server, over connections: `sync/server_knowledge.ts`. */
export interface Known {
  /** Log address up to which it has everything. */
  readonly uploadedTo: number;
  /** What to keep of it. */
  bytes(): Uint8Array;
}

/** One repository on a connection. */
export interface Channel {
  /** The same object until something changes. */
  readonly status: ChannelStatus;
  /** Calls when the status, what is acknowledged, or who is present changed. */
  subscribe(listener: () => void): () => void;
  /** How many commits of a chain the server has durably. */
  acknowledged(chain: string): number;
  /** What is known of the server, over connections; none in a tab, whose log is not the one that is sent. */
  readonly server?: Known;
  /** Compares with the server now. */
  audit(): Promise<AuditReport>;
  /** The newest receipt, where somebody else keeps what is known of the server. */
  receipt?(): Promise<Receipt | undefined>;
  /** Shows bytes to the others; none: gone. */
  present(bytes: Uint8Array): void;
  /** The same array until it changes. */
  readonly others: readonly PresentPeer[];
}
