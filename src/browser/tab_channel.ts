/**
 * How a repository stands with the server, as the owner of the files reports it
 * to a tab: what a connection's own channel says elsewhere.
 */

import type {
  AuditReport,
  Channel,
  ChannelStatus,
  PresentPeer,
  Receipt,
} from "../db/channel.ts";
import { Listeners } from "../db/listeners.ts";
import type { ChannelSource } from "../db/repository_link.ts";
import type { Standing } from "./messages.ts";
import type { TabLink } from "./tab_link.ts";

export class TabChannel implements Channel, ChannelSource {
  readonly #repository: string;
  readonly #link: Pick<TabLink, "call" | "post">;
  readonly #listeners = new Listeners();
  #status!: ChannelStatus;
  #acknowledged!: ReadonlyMap<string, number>;
  #others!: readonly PresentPeer[];
  #shown: Uint8Array | undefined;

  constructor(
    repository: string,
    link: Pick<TabLink, "call" | "post">,
    report: Standing,
  ) {
    this.#repository = repository;
    this.#link = link;
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

  async audit(): Promise<AuditReport> {
    // Both sides are one build: it is what the owner's audit gives.
    return await this.#link.call("audit", [], this.#repository) as AuditReport;
  }

  async receipt(): Promise<Receipt | undefined> {
    const answer = this.#link.call("receipt", [], this.#repository);
    return await answer as Receipt | undefined;
  }

  present(bytes: Uint8Array): void {
    this.#shown = bytes;
    const repository = this.#repository;
    this.#link.post({ kind: "present", repository, bytes });
  }

  /** There is another owner: it is shown what this tab shows. */
  again(): void {
    if (this.#shown !== undefined) this.present(this.#shown);
  }

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

  remove(): void {}
}
