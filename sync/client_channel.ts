/**
 * One repository of a client, over connections that come and go.
 *
 * Architecture invariant: `live` is never said while it is not known what the
 * server lacks; every state but `live` that has a reason shows it.
 */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { type Deferred, deferred } from "../src/base/deferred.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import { backoffMs } from "./backoff.ts";
import { auditOf, type ChannelAudit, IncidentList } from "./client_report.ts";
import {
  type ConversationEvent,
  type EventOf,
  rights,
} from "./conversation.ts";
import type { Driver } from "./driver.ts";
import { lateAudit } from "./late_audit.ts";
import { Others, type PresentPeer } from "./presence.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";
import {
  type ChannelStatus,
  type ClientStatus,
  Notifier,
  settled,
  type SyncProgress,
  type SyncReason,
} from "./status.ts";
import type { ClientConversation } from "./client_conversation.ts";
import { UnsentCount } from "./unsent.ts";

/** Events that belong to one repository. */
export type ChannelEvent = Extract<
  ConversationEvent,
  { name: RepositoryName }
>;

/** What a channel works with. */
export interface SyncChannelParts {
  readonly port: RepositoryPort;
  readonly server: ServerKnowledge;
  readonly world: World;
  /** How the connection fares. */
  readonly client: () => ClientStatus;
  readonly clockOffsetMs: () => number | undefined;
  /** The server wants a new certificate. */
  readonly login: () => void;
}

/** After these the channel is opened again on the same connection. */
const PASSING = new Set([
  "unavailable",
  "rate-limited",
  "too-many-channels",
  "internal",
  "shutting-down",
  "timeout",
  "memory-full",
]);

type Phase = "closed" | "opening" | "catching-up" | "live" | "declined";

/** A repository on a client's connection. */
export class SyncChannel {
  readonly #parts: SyncChannelParts;
  readonly #notifier = new Notifier();
  readonly #others = new Others();
  /** What is known of the server; it outlives the channel. */
  readonly server: ServerKnowledge;
  readonly #unsent: UnsentCount;
  readonly #endShareable: () => void;
  #driver: Driver<ClientConversation> | undefined;
  #phase: Phase = "closed";
  #reason: SyncReason | undefined;
  #progress: SyncProgress | undefined;
  #equalAt: Date | undefined;
  #enforced: readonly string[] | undefined;
  readonly #incidents: IncidentList;
  #present = new Uint8Array();
  /** One that was asked for; who asks meanwhile hears the same. */
  #audit: Deferred<ChannelAudit> | undefined;
  #declines = 0;
  #cancelOpen: (() => void) | undefined;
  #status: ChannelStatus | undefined;
  #isStale = true;
  #isClosed = false;

  constructor(parts: SyncChannelParts) {
    this.#parts = parts;
    const { port, world, server } = parts;
    this.server = server;
    this.#unsent = new UnsentCount(port, server, world, () => this.changed());
    this.#incidents = new IncidentList(world, server);
    this.#endShareable = port.onShareable(() => {
      const { name } = port;
      const driver = this.#driver;
      driver?.run((core) => core.shareable(name, driver.moment));
      this.changed();
    });
  }

  /** The repository's name. */
  get name(): RepositoryName {
    return this.#parts.port.name;
  }

  /** The same object until something changes. */
  get status(): ChannelStatus {
    if (this.#isStale) {
      this.#isStale = false;
      this.#status = settled(this.#status, this.#look());
    }
    return this.#status!;
  }

  /** Calls when the status, what is acknowledged, or who is present changed; once a turn. */
  subscribe(listener: () => void): () => void {
    return this.#notifier.subscribe(listener);
  }

  /** How many commits of a chain the server is known to have durably. */
  acknowledged(chain: string): number {
    return this.server.acknowledged(chain);
  }

  /** Compares with the server now; rejects with `unreachable` without a live channel. */
  async audit(): Promise<ChannelAudit> {
    this.#liveDriver();
    await lateAudit.load();
    const driver = this.#liveDriver();
    const { promise } = this.#audit ??= deferred<ChannelAudit>();
    driver.run((core) => core.audit(this.name));
    return await promise;
  }

  /** The connection, where the channel is live. */
  #liveDriver(): Driver<ClientConversation> {
    if (this.#driver !== undefined && this.#phase === "live") {
      return this.#driver;
    }
    const why = "Cannot audit: there is no live connection";
    throw new DatabaseError("unreachable", why);
  }

  /** There will be no answer. */
  #failAudit(why: string): void {
    this.#audit?.reject(new DatabaseError("unreachable", why));
    this.#audit = undefined;
  }

  /** Shows bytes to the others, now and after each reconnect; empty: nothing. */
  present(bytes: Uint8Array): void {
    if (bytes.length > limits.presenceBytesMax) {
      throw new DatabaseError(
        "value-too-large",
        `Presence takes ${limits.presenceBytesMax} bytes at most`,
      );
    }
    this.#present = bytes.slice();
    if (this.#isOpen()) this.#showPresence();
  }

  /** What the others show; the same array until it changes. */
  get others(): readonly PresentPeer[] {
    return this.#others.list;
  }

  #isOpen(): boolean {
    return this.#phase === "catching-up" || this.#phase === "live";
  }

  #showPresence(): void {
    const bytes = this.#present;
    this.#driver?.run((core) => core.present(this.name, bytes));
  }

  /** Goes on over a connection. */
  begin(driver: Driver<ClientConversation>): void {
    const { port } = this.#parts;
    this.#driver = driver;
    this.#phase = "opening";
    this.#reason = undefined;
    this.#cancelOpen?.();
    this.#cancelOpen = undefined;
    // A conversation that was declined still knows it: it begins anew.
    driver.run((core) => [
      ...core.close(port.name),
      ...core.open(port, this.server),
    ]);
    this.changed();
  }

  /** Opens it again where it was declined. */
  retry(): void {
    if (this.#driver !== undefined && this.#phase === "declined") {
      this.begin(this.#driver);
    }
  }

  /** The connection is gone. */
  lost(): void {
    this.#driver = undefined;
    this.#phase = "closed";
    this.#reason = undefined;
    this.#progress = undefined;
    this.#others.clear();
    this.#failAudit("The connection ended during the audit");
    this.#cancelOpen?.();
    this.#cancelOpen = undefined;
    this.changed();
  }

  /** Something happened on the wire. */
  tell(event: ChannelEvent): void {
    this.#hear(event);
    this.changed();
  }

  #hear(event: ChannelEvent): void {
    switch (event.tell) {
      case "opened":
        return this.#opened(event);
      case "declined":
        return this.#declined(event.code, event.detail);
      case "progress":
        this.#progress = Object.freeze({
          done: event.done,
          total: event.total,
        });
        return;
      case "live":
        return this.#live();
      case "refused":
        return this.#refused(event);
      case "equal":
        this.#equalAt = new Date(event.atMs);
        return this.#incidents.settle();
      case "restoring":
        return this.#incidents.noteRestoring(
          event.missing,
          event.epoch,
          event.receipt,
        );
      case "audited":
        this.#audit?.resolve(auditOf(event.report));
        this.#audit = undefined;
        return;
      case "presence":
        return void this.#others.set(event.peer, event.user, event.bytes);
    }
  }

  #opened(
    { rights: given, epoch, enforced }: Extract<
      ChannelEvent,
      { tell: "opened" }
    >,
  ): void {
    this.#phase = "catching-up";
    const mayRead = (given & rights.read) !== 0;
    if (mayRead) this.#incidents.noteEpoch(epoch);
    this.#enforced = mayRead ? Object.freeze(enforced) : undefined;
    this.#reason = mayRead ? undefined : (given & rights.restore) !== 0
      ? {
        code: "unavailable",
        message:
          "The server lost what says who may read: it is given back what it had",
      }
      : {
        code: "forbidden",
        message:
          "This session was revoked, or may no longer read: it only hands in what it wrote, for the server's owner to decide",
      };
    if (this.#present.length > 0) this.#showPresence();
  }

  #live(): void {
    this.#declines = 0;
    this.#phase = "live";
    this.#progress = undefined;
  }

  #declined(code: string, message: string): void {
    this.#phase = "declined";
    this.#reason = Object.freeze({ code, message });
    this.#progress = undefined;
    this.#others.clear();
    this.#failAudit(`The server declined the repository: ${code}`);
    if (!PASSING.has(code)) return;
    const waitMs = backoffMs(++this.#declines, this.#parts.world);
    this.#cancelOpen ??= this.#parts.world.after(waitMs, () => {
      this.#cancelOpen = undefined;
      this.retry();
    });
  }

  #refused(event: Extract<ChannelEvent, { tell: "refused" }>): void {
    if (event.then === "void") this.#unsent.noteReissued();
    if (event.then === "login") this.#parts.login();
  }

  /** Notes what must not happen. */
  incident(event: EventOf<"incident">): void {
    this.#incidents.add(event);
    this.changed();
  }

  /** The status may be another one. */
  changed(): void {
    this.#isStale = true;
    this.#notifier.tell();
  }

  #look(): ChannelStatus {
    const { state, reason } = this.#where();
    return {
      state,
      reason,
      unsent: this.#unsent.look(this.#isOpen()),
      progress: this.#progress,
      equalAt: this.#equalAt,
      enforced: this.#enforced,
      incidents: this.#incidents.list,
      clockOffsetMs: this.#parts.clockOffsetMs(),
    };
  }

  #where(): Pick<ChannelStatus, "state" | "reason"> {
    if (this.#isClosed) return { state: "closed", reason: undefined };
    const client = this.#parts.client();
    if (client.state === "closed") {
      return { state: "offline", reason: undefined };
    }
    if (client.state !== "ready") {
      return { state: client.state, reason: client.reason };
    }
    const reason = this.#reason;
    if (reason !== undefined) return { state: "refused", reason };
    const isLive = this.#phase === "catching-up" || this.#phase === "live";
    return {
      state: isLive ? this.#phase as "live" : "connecting",
      reason: undefined,
    };
  }

  /** Ends it. */
  close(): void {
    if (this.#isClosed) return;
    const driver = this.#driver;
    this.#unsent.close();
    this.#driver = undefined;
    driver?.run((core) => core.close(this.name));
    this.#isClosed = true;
    this.#endShareable();
    this.#cancelOpen?.();
    this.#others.clear();
    this.#failAudit("The repository was closed during the audit");
    this.changed();
  }
}
