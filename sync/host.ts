/**
 * The listening side: many connections, the repositories that they share.
 *
 * It accepts transports, whoever made them, and asks its server through hooks
 * for rights, repositories, quotas and what to keep.
 *
 * Architecture invariant: a peer that is slow, hostile or gone costs the others
 * nothing but a share of each turn; halves of records are bounded over all
 * connections (law 10).
 */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import { limits } from "../src/base/limits.ts";
import type { ServerOptions } from "./conversation.ts";
import { HostConnection } from "./host_connection.ts";
import type { HostOptions, HostPeer } from "./host_hooks.ts";
import { HostShelf } from "./host_shelf.ts";
import { Turns } from "./host_turns.ts";
import { PartBudget } from "./window.ts";
import { ServerConversation } from "./server_conversation.ts";
import type { Transport } from "./transport/transport.ts";

/** What hashing an item for an audit takes, in milliseconds. */
const AUDITED_MS = 0.02;

/** Serves repositories to peers. */
export class SyncHost {
  readonly #options: HostOptions;
  readonly #connections = new Set<HostConnection>();
  readonly #shelf: HostShelf;
  readonly #turns: Turns;
  readonly #budget = new PartBudget(limits.partBytesMax);
  #nextId = 1;
  #goodbyeMs: number | undefined;
  #emptied: (() => void) | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    const { world, prover, hooks } = options;
    const turns = this.#turns = new Turns(world);
    this.#shelf = new HostShelf({
      world,
      prover,
      open: (name) => hooks.openRepository(name),
      news: (followers) => turns.add(followers),
    });
  }

  /**
   * Serves a peer until its transport ends.
   *
   * @param transport open, or about to be; nobody listens to it yet
   * @param address where it comes from, for quotas and logs
   */
  accept(transport: Transport, address: string): HostPeer {
    const { world, hooks } = this.#options;
    const connection = new HostConnection({
      id: this.#nextId++,
      address,
      transport,
      world,
      hooks,
      shelf: this.#shelf,
      turns: this.#turns,
      converse: (connection) => this.#converse(connection),
      ended: (connection) => {
        this.#connections.delete(connection);
        if (this.#connections.size === 0) this.#emptied?.();
      },
    });
    this.#connections.add(connection);
    connection.start();
    const waitMs = this.#goodbyeMs;
    if (waitMs !== undefined) connection.finish((core) => core.goodbye(waitMs));
    return connection;
  }

  #converse(connection: HostConnection): ServerConversation {
    const { prover, rootKey, name, hooks, world } = this.#options;
    const options: ServerOptions = {
      session: prover,
      rootKey,
      name,
      random: (target) => world.random(target),
      admits: (session) => hooks.admits?.(connection, session),
      holdsCredit: hooks.creditDelay !== undefined,
      chargeAudit: (items) =>
        hooks.workDelay?.(connection, items * AUDITED_MS) ?? 0,
      hasRoom: (channel) => connection.hasRoom(channel),
      budget: this.#budget,
    };
    return new ServerConversation(options);
  }

  /** Ends the connections of some peers with a reason; says how many. For a revoked session, say. */
  disconnect(
    isMeant: (peer: HostPeer) => boolean,
    code: string,
    detail: string,
  ): number {
    const meant = [...this.#connections].filter(isMeant);
    for (const connection of meant) {
      connection.finish((core) => core.fail(code, detail));
    }
    return meant.length;
  }

  /** Ends the channels of a repository with a reason; peers may open it again. */
  decline(name: RepositoryName, code: string, detail: string): void {
    for (const connection of [...this.#connections]) {
      connection.decline(name, code, detail);
    }
  }

  /** Judges the open channels of some peers anew, after rights changed; who may no longer is declined. */
  async reauthorize(isMeant: (peer: HostPeer) => boolean): Promise<void> {
    const meant = [...this.#connections].filter(isMeant);
    await Promise.all(meant.map((connection) => connection.reauthorize()));
  }

  /** Tells all peers, and who still comes, to come back after `waitMs`. */
  goodbye(waitMs: number): void {
    this.#goodbyeMs = Math.min(waitMs, limits.goodbyeMsMax);
    for (const connection of [...this.#connections]) {
      connection.finish((core) => core.goodbye(waitMs));
    }
  }

  /** Says goodbye; resolves when nobody is connected and every repository was released. */
  async close(waitMs = 0): Promise<void> {
    this.goodbye(waitMs);
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => this.#emptied = resolve);
  }
}
