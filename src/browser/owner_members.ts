/**
 * The tabs that share an owner: who they are, how they are reached, and when
 * they are gone for certain.
 *
 * Architecture invariant: a tab is gone when its lock was granted to us, or it
 * said so; silence proves nothing. Nothing of a tab that is gone is heard.
 */

import { limits } from "../base/limits.ts";
import { livingTabs, type Locks, tabLock, whenFree } from "./locks.ts";
import type { ConnectRequest, Hello, OwnerMessage } from "./messages.ts";

export type Post = (message: OwnerMessage, transfer?: ArrayBuffer[]) => void;

/** Says one thing to several tabs over the channel: each page takes every message of it apart. */
export type Broadcast = (
  tabs: readonly string[],
  message: OwnerMessage,
) => void;

/** Says one thing to tabs, once for all that are far. */
export function tellAll(
  tabs: readonly Member[],
  message: OwnerMessage,
  broadcast: Broadcast,
): void {
  const far = tabs.filter(({ isNear }) => !isNear);
  const isMany = far.length > 1;
  if (isMany) broadcast(far.map(({ id }) => id), message);
  for (const tab of tabs) {
    if (tab.isNear || !isMany) tab.post(message);
  }
}

export interface Member {
  readonly id: string;
  readonly isNear: boolean;
  readonly post: Post;
  isHidden: boolean;
  connect: ConnectRequest | undefined;
}

export class Members {
  readonly #locks: Locks;
  readonly #database: string;
  readonly #gone: (member: Member) => void;
  readonly #members = new Map<string, Member>();
  readonly #watches = new Map<string, () => void>();
  /** Tabs that lived when the owner began and that said nothing yet. */
  #expected: Set<string> | undefined;

  constructor(
    locks: Locks,
    database: string,
    gone: (member: Member) => void,
  ) {
    this.#locks = locks;
    this.#database = database;
    this.#gone = gone;
  }

  /** Notes who is alive, and may hold something of an owner before. */
  async expect(): Promise<void> {
    this.#expected = await livingTabs(this.#locks, this.#database);
    for (const id of this.#members.keys()) this.#expected.delete(id);
    for (const id of this.#expected) this.#watch(id);
  }

  /** Is it known of every living tab what it holds? */
  get isSettled(): boolean {
    return this.#expected?.size === 0;
  }

  get(id: string): Member | undefined {
    return this.#members.get(id);
  }

  /** All, the owner's own page first. */
  all(): Member[] {
    return [...this.#members.values()].sort((a, b) =>
      Number(b.isNear) - Number(a.isNear)
    );
  }

  /** A tab came, or came again; `undefined` where there are too many. */
  join(
    id: string,
    isNear: boolean,
    post: Post,
    { isHidden, connect }: Hello,
  ): Member | undefined {
    const known = this.#members.get(id);
    if (known === undefined && this.#members.size >= limits.tabsMax) {
      return undefined;
    }
    const member: Member = { id, isNear, post, isHidden, connect };
    this.#members.set(id, member);
    this.#expected?.delete(id);
    this.#watch(id);
    return member;
  }

  #watch(id: string): void {
    if (this.#watches.has(id)) return;
    const name = tabLock(this.#database, id);
    this.#watches.set(id, whenFree(this.#locks, name, () => this.leave(id)));
  }

  leave(id: string): void {
    this.#watches.get(id)?.();
    this.#watches.delete(id);
    this.#expected?.delete(id);
    const member = this.#members.get(id);
    if (member === undefined) return;
    this.#members.delete(id);
    this.#gone(member);
  }

  close(): void {
    for (const stop of this.#watches.values()) stop();
    this.#watches.clear();
    this.#members.clear();
  }
}

/**
 * Which tab writes which of the device's chains.
 *
 * Architecture invariant: a chain is lent to one tab at a time, and to another
 * only when that tab is gone for certain or gave it back, and all of the chain
 * is here: no number of a chain ever stands for two commits.
 */
export class Loans {
  /** Repository → chain → tab. */
  readonly #holders = new Map<string, Map<string, string>>();
  /** Repository → chains that nobody gets any more. */
  readonly #kept = new Map<string, Set<string>>();

  holderOf(repository: string, chain: string): string | undefined {
    return this.#holders.get(repository)?.get(chain);
  }

  /** May a chain that somebody held be lent to anybody? */
  isFree(repository: string, chain: string): boolean {
    return this.holderOf(repository, chain) === undefined &&
      this.#kept.get(repository)?.has(chain) !== true;
  }

  /** Lends a chain to a tab; false where another one has it. */
  lend(repository: string, chain: string, tab: string): boolean {
    const holder = this.holderOf(repository, chain);
    if (holder !== undefined) return holder === tab;
    this.claim(repository, chain, tab);
    return true;
  }

  /** A tab says which chain it writes: whoever else named that chain does not write it. */
  claim(repository: string, chain: string, tab: string): void {
    let chains = this.#holders.get(repository);
    if (chains === undefined) this.#holders.set(repository, chains = new Map());
    chains.set(chain, tab);
  }

  /** Tabs fill in a chain that was lost here: how far it went, nobody knows for certain. */
  keep(repository: string, chain: string): void {
    const kept = this.#kept.get(repository);
    if (kept === undefined) this.#kept.set(repository, new Set([chain]));
    else kept.add(chain);
  }

  /** A tab gives back what it holds, of one repository or of all. */
  end(tab: string, repository?: string): void {
    for (const [name, chains] of this.#holders) {
      if (repository !== undefined && name !== repository) continue;
      for (const [chain, holder] of chains) {
        if (holder === tab) chains.delete(chain);
      }
      if (chains.size === 0) this.#holders.delete(name);
    }
  }
}
