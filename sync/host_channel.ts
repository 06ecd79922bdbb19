/**
 * One repository on one connection of a host: from the wish to open it to its
 * end.
 *
 * Architecture invariant: the right to read is judged before anything looks
 * whether there is such a repository; who may not and what is not get the same
 * answer (law 8).
 */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import { type EventOf, rights } from "./conversation.ts";
import type { Driver } from "./driver.ts";
import type {
  Access,
  Declined,
  HostEvent,
  HostHooks,
  HostPeer,
} from "./host_hooks.ts";
import type { HostShelf, OpenRepository } from "./host_shelf.ts";
import type { Turns } from "./host_turns.ts";
import type { Receiver } from "./presence_room.ts";
import type { ServerConversation } from "./server_conversation.ts";

/** What a channel works with. */
export interface HostChannelParts extends EventOf<"opening"> {
  readonly peer: HostPeer;
  readonly driver: Driver<ServerConversation>;
  readonly hooks: HostHooks;
  readonly shelf: HostShelf;
  readonly turns: Turns;
  readonly event: (event: HostEvent) => void;
}

const forbidden: Declined = {
  code: "forbidden",
  detail: "This session may not read it, or there is none",
};

type Granted = Exclude<Access, { readonly declined: Declined }>;

/** A channel, seen from the server. */
export class HostChannel {
  readonly #parts: HostChannelParts;
  #repository: OpenRepository | undefined;
  #receiver: Receiver | undefined;
  #access: Granted | undefined;
  #isAcquired = false;
  #isClosed = false;

  constructor(parts: HostChannelParts) {
    this.#parts = parts;
  }

  /** The repository's name. */
  get name(): RepositoryName {
    return this.#parts.name;
  }

  /** Judges, opens and answers; never rejects. */
  async open(): Promise<void> {
    const { hooks, peer, session, name, shelf, event } = this.#parts;
    try {
      const access = await hooks.authorize(peer, session, name);
      if (this.#isClosed) return;
      if ("declined" in access) return this.#refuse(access.declined);
      const { genesisId } = this.#parts;
      const unfit = hooks.begins?.(peer, session, name, genesisId);
      if (unfit !== undefined) return this.decline(unfit.code, unfit.detail);
      this.#isAcquired = true;
      const repository = await shelf.acquire(name);
      if (this.#isClosed) return;
      if (repository === undefined) return this.#refuse(forbidden);
      this.#begin(repository, access);
    } catch (error) {
      event({ kind: "fault", error });
      this.decline("unavailable", "It cannot be opened now");
    }
  }

  /** Who may not hears the very words that are said of what is not. */
  #refuse(declined: Declined): void {
    const { code, detail } = declined.code === forbidden.code
      ? forbidden
      : declined;
    this.decline(code, detail);
  }

  #begin(repository: OpenRepository, access: Granted): void {
    this.#access = access;
    if (!this.#stands()) return;
    const { rights: given, gate, wants } = access;
    const { driver, channel, name, peer, hooks, event } = this.#parts;
    const { hosted, witness, receipts, broadcast, room, followers } =
      repository;
    const { port, order, enforced } = hosted;
    this.#repository = repository;
    followers.add(this.#push);
    const staging = hooks.staging?.(name);
    driver.run((core) =>
      core.opened(channel, port, {
        rights: given,
        order,
        enforced,
        witness,
        broadcast,
        receipts,
        gate: gate ?? ((...asked) => hooks.gate?.(peer, name, ...asked)),
        wants: wants ?? ((...asked) => hooks.wants?.(peer, name, ...asked)),
        ...(staging && { staging }),
        keeps: (arrival, refusal) =>
          hooks.keeps?.(peer, name, arrival, refusal) ?? false,
        isRevoked: (session) => hooks.isRevoked?.(session) ?? false,
        isEnded: () => this.#access?.ended?.() !== undefined,
      }, driver.moment)
    );
    if (this.#isClosed) return;
    event({ kind: "opened", name });
    if ((given & rights.read) !== 0) {
      room.join(this.#receiver = new ChannelReceiver(this.#parts));
    }
  }

  /** May it still do what it was given? If not, the client hears of it. */
  #stands(): boolean {
    const ended = this.#access?.ended?.();
    if (ended !== undefined) this.#refuse(ended);
    return ended === undefined;
  }

  readonly #push = (): void => {
    if (!this.#stands()) return;
    const { driver, name } = this.#parts;
    driver.run((core) => core.shareable(name, driver));
  };

  /** The peer shows something to the others. */
  present(bytes: Uint8Array): void {
    const receiver = this.#receiver;
    if (receiver !== undefined) this.#repository?.room.set(receiver, bytes);
  }

  /** Ends the channel with a reason. */
  decline(code: string, detail: string): void {
    if (this.#isClosed) return;
    const { driver, channel, event, name } = this.#parts;
    this.close();
    event({ kind: "declined", name, code });
    driver.run((core) => core.declined(channel, code, detail));
  }

  /** May the session still do what it was given? If not, the client hears and may ask anew. */
  async reauthorize(): Promise<void> {
    const { hooks, peer, session, name, event } = this.#parts;
    let access: Access;
    try {
      access = await hooks.authorize(peer, session, name);
    } catch (error) {
      event({ kind: "fault", error });
      access = {
        declined: { code: "unavailable", detail: "It cannot be judged now" },
      };
    }
    if ("declined" in access) return this.#refuse(access.declined);
    const before = this.#access;
    if (before === undefined) return;
    this.#access = access;
    // The client opens it again and hears what it may now.
    if (before.rights !== access.rights) {
      this.decline("unavailable", "What it may has changed");
    }
  }

  /** Gives back what was opened for it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { shelf, turns, name, event } = this.#parts;
    turns.delete(this.#push);
    const repository = this.#repository;
    repository?.followers.delete(this.#push);
    if (this.#receiver !== undefined) repository?.room.leave(this.#receiver);
    if (this.#isAcquired) shelf.release(name);
    if (repository !== undefined) event({ kind: "closed", name });
  }
}

/** Who hears of presence on a channel. A class: one stays for each idle connection, and a literal with a getter is large. */
class ChannelReceiver implements Receiver {
  readonly #parts: HostChannelParts;

  constructor(parts: HostChannelParts) {
    this.#parts = parts;
  }

  get id(): number {
    return this.#parts.peer.id;
  }

  get user(): string {
    return this.#parts.session.user;
  }

  get buffered(): number {
    return this.#parts.driver.buffered;
  }

  tell(from: number, user: string, bytes: Uint8Array): void {
    const { driver, channel } = this.#parts;
    driver.run((core) => core.presence(channel, from, user, bytes));
  }
}
