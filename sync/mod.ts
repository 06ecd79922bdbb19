/**
 * Replicas that converge: a pure conversation between two logs, its drivers,
 * and thin transports under them.
 *
 * A conversation knows commits as sealed bytes, chains and positions; it never
 * meets an item. A client keeps one connection and any number of repositories on
 * it; a host serves many. The wire is docs/protocol.md.
 *
 * @module
 */

export { auditOf, type ChannelAudit } from "./client_report.ts";
export { SyncChannel } from "./client_channel.ts";
export { SyncClient, type SyncClientOptions } from "./client.ts";
export {
  type EpochLife,
  type PeerSession,
  type Prover,
  rights,
} from "./conversation.ts";
export type {
  Access,
  Declined,
  HostedRepository,
  HostEvent,
  HostHooks,
  HostOptions,
  HostPeer,
} from "./host_hooks.ts";
export { SyncHost } from "./host.ts";
export type { PresentPeer } from "./presence.ts";
export type {
  ChannelStatus,
  ClientStatus,
  Incident,
  SyncProgress,
  SyncReason,
  Unsent,
} from "./status.ts";
