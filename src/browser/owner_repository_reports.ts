/**
 * What tabs are told of a repository beside its records: where it stands with
 * the server, and who else is there. At most once a frame.
 *
 * The device is one peer of the server and may have many tabs: the tab that
 * showed something last speaks for it, and each tab hears of the others.
 */

import { assert } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { PresentPeer } from "../db/channel.ts";
import { replicaOf } from "../db/internals.ts";
import { RepositoryPresence } from "../db/presence.ts";
import type { BareRepository } from "../db/bare_repository.ts";
import { RepositorySyncing } from "../db/repository_sync.ts";
import type { SyncReport } from "./messages.ts";
import type { Member } from "./owner_members.ts";

export interface RepositoryReportsParts {
  readonly repository: BareRepository;
  readonly world: World;
  readonly tabs: () => readonly Member[];
}

interface Shown {
  /** Negative: no peer of the server has such a number. */
  readonly peer: number;
  readonly bytes: Uint8Array;
}

const nothing = new Uint8Array(0);

export class RepositoryReports {
  readonly #parts: RepositoryReportsParts;
  readonly #sync: RepositorySyncing;
  readonly #presence: RepositoryPresence;
  /** In the order in which they showed something last. */
  readonly #shown = new Map<string, Shown>();
  readonly #ends: (() => void)[];
  #peers = 0;
  #cancel: (() => void) | undefined;

  constructor(parts: RepositoryReportsParts) {
    this.#parts = parts;
    const { sync, presence } = parts.repository;
    assert(sync instanceof RepositorySyncing, "a local repository has it");
    assert(presence instanceof RepositoryPresence, "a local one has it");
    this.#sync = sync;
    this.#presence = presence;
    this.#ends = [
      sync.subscribe(() => this.sync()),
      presence.subscribe(() => this.sync()),
    ];
  }

  /** Something changed: every tab is told soon. */
  sync(): void {
    const { world, tabs } = this.#parts;
    this.#cancel ??= world.after(limits.tabReportMs, () => {
      this.#cancel = undefined;
      for (const tab of tabs()) tab.post(this.reportFor(tab));
    });
  }

  reportFor({ id }: Member): SyncReport {
    const { refusals: _, ...status } = this.#sync.status;
    return {
      kind: "sync",
      repository: this.#parts.repository.name,
      status,
      acknowledged: this.#acknowledged(),
      to: replicaOf(this.#parts.repository).device.mirror().shown,
      others: this.#othersOf(id),
    };
  }

  /** What the server has of the chains that this device wrote. */
  #acknowledged(): [string, number][] {
    const replica = replicaOf(this.#parts.repository);
    const { keys } = replica.device;
    const counts: [string, number][] = [];
    for (const { name } of replica.graph.chains()) {
      if (!keys.has(name.slice(0, 32))) continue;
      const count = this.#sync.acknowledged(name);
      if (count > 0) counts.push([name, count]);
    }
    return counts;
  }

  #othersOf(tab: string): PresentPeer[] {
    const { user } = replicaOf(this.#parts.repository).session;
    const own = [...this.#shown].filter(([id]) => id !== tab)
      .map(([, { peer, bytes }]) => ({ peer, user, bytes }));
    return [...own, ...this.#presence.peers];
  }

  /** A tab shows something to the others; none: nothing any more. */
  present({ id }: Member, bytes: Uint8Array): void {
    const peer = this.#shown.get(id)?.peer ?? -++this.#peers;
    this.#shown.delete(id); // Who shows something new comes last.
    if (bytes.length > 0) this.#shown.set(id, { peer, bytes });
    this.#presence.show([...this.#shown.values()].at(-1)?.bytes ?? nothing);
    this.sync();
  }

  left(tab: Member): void {
    if (this.#shown.has(tab.id)) this.present(tab, nothing);
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#cancel?.();
  }
}
