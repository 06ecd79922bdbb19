/**
 * How a repository stands with the server, as the owner of the files reports it
 * to a tab: what a connection's own channel says elsewhere.
 *
 * @module
 */

import type {
  AuditReport,
  Channel,
  ChannelStatus,
  PresentPeer,
} from "../db/channel.ts";
import { Listeners } from "../db/listeners.ts";
import type { ChannelSource } from "../db/repository_link.ts";
import type { SyncReport } from "./messages.ts";

/** What it asks of the owner. */
export interface TabChannelParts {
  readonly audit: () => Promise<AuditReport>;
  readonly present: (bytes: Uint8Array) => void;
}

/** The channel that a tab sees. */
export class TabChannel implements Channel, ChannelSource {
  /** The server's knowledge is not an address of this log. */
  readonly known = undefined;
  readonly #parts: TabChannelParts;
  readonly #listeners = new Listeners();
  #status: ChannelStatus;
  #acknowledged: ReadonlyMap<string, number>;
  #others: readonly PresentPeer[];
  #shown: Uint8Array | undefined;

  constructor(report: SyncReport, parts: TabChannelParts) {
    this.#parts = parts;
    this.#status = statusOf(report);
    this.#acknowledged = new Map(report.acknowledged);
    this.#others = othersOf(report);
  }

  get status(): ChannelStatus {
    return this.#status;
  }

  get others(): readonly PresentPeer[] {
    return this.#others;
  }

  acknowledged(chain: string): number {
    return this.#acknowledged.get(chain) ?? 0;
  }

  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  resume(): undefined {
    return undefined; // The owner keeps it.
  }

  audit(): Promise<AuditReport> {
    return this.#parts.audit();
  }

  present(bytes: Uint8Array): void {
    this.#shown = bytes;
    this.#parts.present(bytes);
  }

  /** There is another owner: it is shown what this tab shows. */
  again(): void {
    if (this.#shown !== undefined) this.#parts.present(this.#shown);
  }

  /** The owner says how it stands now. */
  report(report: SyncReport): void {
    this.#status = statusOf(report);
    this.#acknowledged = new Map(report.acknowledged);
    this.#others = othersOf(report);
    this.#listeners.tell();
  }

  add(): Channel {
    return this;
  }

  remove(): undefined {
    return undefined;
  }
}

// Both sides are one build: what the owner's channel says is such a status.
function statusOf({ status }: SyncReport): ChannelStatus {
  return Object.freeze(status as ChannelStatus);
}

function othersOf({ others }: SyncReport): readonly PresentPeer[] {
  return Object.freeze(others as readonly PresentPeer[]);
}
