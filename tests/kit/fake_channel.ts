/**
 * A channel that says what a test tells it to.
 *
 * @module
 */

import type {
  AuditReport,
  Channel,
  ChannelStatus,
  Known,
  PresentPeer,
} from "../../src/db/channel.ts";

/** One repository on no connection. */
export class FakeChannel implements Channel {
  status: ChannelStatus = {
    state: "connecting",
    reason: undefined,
    unsent: { commits: 0, bytes: 0, oldest: undefined },
    progress: undefined,
    equalAt: undefined,
    enforced: undefined,
    incidents: [],
    clockOffsetMs: undefined,
  };
  others: readonly PresentPeer[] = [];
  server?: Known;
  readonly presented: Uint8Array[] = [];
  readonly counts = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes the status and tells of it. */
  become(changes: Partial<ChannelStatus>): void {
    this.status = { ...this.status, ...changes };
    this.tell();
  }

  /** Tells that something changed. */
  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  acknowledged(chain: string): number {
    return this.counts.get(chain) ?? 0;
  }

  audit(): Promise<AuditReport> {
    return Promise.resolve({
      equal: true,
      message: "The same",
      details: null,
    });
  }

  present(bytes: Uint8Array): void {
    this.presented.push(bytes);
  }
}
