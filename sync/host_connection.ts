/** One peer's connection to a host. */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type { ConversationEvent, EventOf, Output } from "./conversation.ts";
import type { PeerSession } from "./proof.ts";
import { Driver } from "./driver.ts";
import { HostChannel } from "./host_channel.ts";
import type { HostEvent, HostHooks, HostPeer } from "./host_hooks.ts";
import type { HostShelf } from "./host_shelf.ts";
import type { Turns } from "./host_turns.ts";
import { PacedTransport } from "./transport/paced_transport.ts";
import type { Transport, TransportEnd } from "./transport/transport.ts";
import type { ServerConversation } from "./server_conversation.ts";

/** What a connection works with. */
export interface HostConnectionParts {
  readonly id: number;
  readonly address: string;
  readonly transport: Transport;
  readonly world: World;
  readonly hooks: HostHooks;
  readonly shelf: HostShelf;
  readonly turns: Turns;
  /** Makes its conversation. */
  converse(connection: HostConnection): ServerConversation;
  /** It is over. */
  ended(connection: HostConnection): void;
}

/** So often is looked whether a peer has read what it was sent. */
const READ_MS = 20;

/** A peer of a host. */
export class HostConnection implements HostPeer {
  readonly #parts: HostConnectionParts;
  readonly #driver: Driver<ServerConversation>;
  readonly #channels = new Map<number, HostChannel>();
  #toOpen: HostChannel[] = [];
  #opening = 0;
  /** Was a batch refused for whose work nobody has paid? */
  #hasRefused = false;
  #session: PeerSession | undefined;
  #cancelCredit: (() => void) | undefined;

  constructor(parts: HostConnectionParts) {
    this.#parts = parts;
    const core = parts.converse(this);
    const transport = this.#paced();
    this.#driver = new Driver(core, transport, parts.world, {
      tell: (event) => this.#tell(event),
      ended: (end, isOwn) => this.#ended(end, isOwn),
      broke: (error) => this.event({ kind: "fault", error }),
      moved: (way, { length: bytes }) => {
        this.event({ kind: "frame", way, bytes });
        if (way === "in") this.#creditSoon();
      },
    }, limits.servedBytesMax);
  }

  /** Its wire, as fast as its work is paid for. */
  #paced(): Transport {
    const { transport, hooks, world } = this.#parts;
    if (hooks.workDelay === undefined) return transport;
    return new PacedTransport(transport, {
      world,
      charge: (workMs) => hooks.workDelay?.(this, workMs) ?? 0,
      hasRefused: () => {
        const hasRefused = this.#hasRefused;
        this.#hasRefused = false;
        return hasRefused;
      },
      flooded: () =>
        this.finish((core) => core.fail("rate-limited", "Too many frames")),
    });
  }

  get id(): number {
    return this.#parts.id;
  }

  get address(): string {
    return this.#parts.address;
  }

  get session(): PeerSession | undefined {
    return this.#session;
  }

  /** Begins to listen. */
  start(): void {
    this.event({ kind: "accepted" });
    this.#driver.start();
  }

  /** Tells the hook, whose failures are its own. */
  event(event: HostEvent): void {
    try {
      this.#parts.hooks.event?.(this, event);
    } catch {
      // Who counts and logs must not end what is counted.
    }
  }

  /** Asks the conversation to end, so that the peer hears why. */
  finish(ask: (core: ServerConversation) => Output[]): void {
    this.#driver.run(ask);
  }

  /** Ends its channel of a repository with a reason. */
  decline(name: RepositoryName, code: string, detail: string): void {
    for (const channel of this.#channels.values()) {
      if (channel.name === name) channel.decline(code, detail);
    }
  }

  /** Is there memory for more work on a channel? */
  hasRoom(number: number): boolean {
    const channel = this.#channels.get(number);
    return channel === undefined ||
      (this.#parts.hooks.hasRoom?.(channel.name) ?? true);
  }

  /** Judges its channels anew. */
  async reauthorize(): Promise<void> {
    await Promise.all(
      [...this.#channels.values()].map((channel) => channel.reauthorize()),
    );
  }

  #tell(event: ConversationEvent): void {
    switch (event.tell) {
      case "ready":
        return this.#ready(event.peer);
      case "opening":
        return this.#open(event);
      case "unopened": {
        const { name, code } = event;
        return this.event({ kind: "declined", name, code });
      }
      case "closed":
        return this.#close(event.channel);
      case "present":
        return this.#channels.get(event.channel)?.present(event.bytes);
      case "received":
        return this.event({ ...event, kind: "received" });
      case "refused-batch":
        this.#hasRefused = true;
        return this.event({ ...event, kind: "refused" });
      case "live":
        return this.event({ kind: "live", name: event.name });
      case "proof":
        return this.event({ ...event, kind: "proof" });
      case "incident": {
        const { name, kind: incident, message } = event;
        return this.event({ kind: "incident", name, incident, message });
      }
    }
  }

  #ready(session: PeerSession): void {
    this.#session = session;
    this.event({ kind: "ready" });
  }

  #open(opening: EventOf<"opening">): void {
    const { hooks, shelf, turns } = this.#parts;
    const driver = this.#driver;
    const event = (event: HostEvent) => this.event(event);
    const parts = { peer: this, driver, hooks, shelf, turns, event };
    const channel = new HostChannel({ ...opening, ...parts });
    this.#channels.get(opening.channel)?.close();
    this.#channels.set(opening.channel, channel);
    this.#toOpen.push(channel);
    this.#openNext();
  }

  /** Opens a few at a time: a peer may ask for a thousand at once. */
  async #openNext(): Promise<void> {
    if (this.#opening >= limits.openingMax) return;
    this.#opening++;
    for (
      let channel = this.#toOpen.shift();
      channel !== undefined;
      channel = this.#toOpen.shift()
    ) {
      await channel.open();
      await this.#read();
    }
    this.#opening--;
  }

  /** Answers may be large: who asks for many reads them first. No event tells of it, so it is looked for. */
  async #read(): Promise<void> {
    const { world } = this.#parts;
    while (
      !this.#driver.isOver && this.#driver.buffered > limits.openingBytesMax
    ) await new Promise<void>((resolve) => world.after(READ_MS, resolve));
  }

  #close(number: number): void {
    const channel = this.#channels.get(number);
    this.#channels.delete(number);
    this.#toOpen = this.#toOpen.filter((other) => other !== channel);
    channel?.close();
  }

  #creditSoon(): void {
    if (this.#parts.hooks.creditDelay === undefined) return;
    if (this.#cancelCredit !== undefined) return;
    queueMicrotask(() => this.#credit());
  }

  /** Grants what was used, as soon as the hook lets it. */
  #credit(): void {
    if (this.#cancelCredit !== undefined || this.#driver.isOver) return;
    const bytes = this.#driver.core.ungranted;
    if (bytes === 0) return;
    const delayMs = this.#parts.hooks.creditDelay?.(this, bytes) ?? 0;
    const grant = () => this.#driver.run((core) => core.grant(bytes));
    if (delayMs <= 0) return grant();
    this.#cancelCredit = this.#parts.world.after(delayMs, () => {
      this.#cancelCredit = undefined;
      grant();
      this.#credit();
    });
  }

  #ended(end: TransportEnd, isOwn: boolean): void {
    this.#cancelCredit?.();
    this.#toOpen = [];
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
    this.event({ kind: "ended", end, isOwn });
    this.#parts.ended(this);
  }
}
