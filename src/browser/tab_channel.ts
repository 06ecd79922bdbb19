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
import type { Standing } from "./messages.ts";

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
  #status!: ChannelStatus;
  #acknowledged!: ReadonlyMap<string, number>;
  #others!: readonly PresentPeer[];
  #shown: Uint8Array | undefined;

  constructor(report: Standing, parts: TabChannelParts) {
    this.#parts = parts;
    this.#take(report);
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
  report(report: Standing): void {
    this.#take(report);
    this.#listeners.tell();
  }

  /** What is open stands somewhere. */
  #take({ status, acknowledged, others }: Standing): void {
    this.#status = Object.freeze(status!);
    this.#acknowledged = new Map(acknowledged);
    this.#others = Object.freeze(others);
  }

  add(): Channel {
    return this;
  }

  remove(): undefined {
    return undefined;
  }
}
