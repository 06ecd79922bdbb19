/**
 * A virtual network: one link between every client and the server, and
 * connections over them, which behave like TCP until something breaks them.
 *
 * A link has two lanes, each with a delay, a width, and perhaps a stall (a
 * partition of that direction: what is sent waits until it is healed). A
 * connection that breaks delivers an arbitrary part of what was under way, and
 * its two ends learn of it at times of their own, or not at all.
 *
 * @module
 */

import type {
  Transport,
  TransportEnd,
} from "../../sync/transport/transport.ts";
import type { Dice } from "./dice.ts";
import type { Mangler } from "./mangler.ts";
import type { Timeline } from "./timeline.ts";
import { brief, type Trace } from "./trace.ts";
import { type Lane, Pipe } from "./pipe.ts";

/** The way between one client and the server. */
export interface Link {
  readonly client: string;
  readonly up: Lane;
  readonly down: Lane;
  /** Does nothing new come through, in either direction? */
  isCut: boolean;
  /** Changes frames on their way, where the network is hostile. */
  mangler: Mangler | undefined;
}

/** Who takes connections; `undefined` while nobody listens. */
export type Listener = (transport: Transport, link: Link) => void;

/** Sees every frame that arrives. */
export type Tap = (
  to: "client" | "server",
  link: Link,
  frame: Uint8Array,
) => void;

/** What a network is made of. */
export interface NetworkParts {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly dice: Dice;
  readonly tap: Tap;
}

const LOST: TransportEnd = { code: "lost", detail: "The wire is gone" };

/** See the file's header. */
export class Network {
  readonly #parts: NetworkParts;
  readonly #connections = new Set<Connection>();
  readonly links = new Map<string, Link>();
  listener: Listener | undefined;

  /** @param parts time, dice, and who looks on */
  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** Lays a link. */
  link(client: string, up: Lane, down: Lane): Link {
    const link: Link = { client, up, down, isCut: false, mangler: undefined };
    this.links.set(client, link);
    return link;
  }

  /** Opens a connection over a link; rejects with a `TransportEnd` when it cannot. */
  connect(link: Link, signal: AbortSignal): Promise<Transport> {
    const { timeline, trace } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<Transport>();
    timeline.after(link.up.delayMs + link.down.delayMs + 1, () => {
      if (signal.aborted) return reject(LOST);
      const isOpen = !link.isCut && !link.up.isStalled && !link.down.isStalled;
      const { listener } = this;
      if (!isOpen || listener === undefined) {
        trace.note(link.client, "unreachable");
        return reject({ code: "unavailable", detail: "Nobody answers" });
      }
      trace.note(link.client, "connected");
      const connection = new Connection(
        this.#parts,
        link,
        (over) => this.#connections.delete(over),
      );
      this.#connections.add(connection);
      listener(connection.server, link);
      resolve(connection.client);
    });
    return promise;
  }

  /** Breaks all connections of a link; the two ends learn of it, or only one of them does. */
  breakLink(link: Link, isHeard: { client: boolean; server: boolean }): void {
    for (const connection of this.#of(link)) connection.break(isHeard);
  }

  /** The server's machine is gone: clients learn of it when they learn of it. */
  breakAll(isHeard: { client: boolean; server: boolean }): void {
    for (const connection of [...this.#connections]) connection.break(isHeard);
  }

  /** Lanes changed: what waited may go on. */
  healed(link: Link): void {
    for (const connection of this.#of(link)) connection.pump();
  }

  /** How many connections are there on a link, as the network knows it. */
  count(link: Link): number {
    return this.#of(link).length;
  }

  #of(link: Link): Connection[] {
    return [...this.#connections].filter((one) => one.link === link);
  }
}

/** Two ends and the two pipes between them. */
class Connection {
  readonly #parts: NetworkParts;
  readonly #gone: (connection: Connection) => void;
  readonly link: Link;
  readonly client: End;
  readonly server: End;
  #isBroken = false;

  constructor(
    parts: NetworkParts,
    link: Link,
    gone: (connection: Connection) => void,
  ) {
    this.#parts = parts;
    this.#gone = gone;
    this.link = link;
    const { timeline, dice } = parts;
    const up = new Pipe(timeline, dice, link.up, () => link.isCut);
    const down = new Pipe(timeline, dice, link.down, () => link.isCut);
    this.client = new End(up, () => this.#over());
    this.server = new End(down, () => this.#over());
    up.deliver = (item) => this.#deliver("server", item);
    down.deliver = (item) => this.#deliver("client", item);
  }

  #deliver(to: "client" | "server", item: Uint8Array | TransportEnd): void {
    const end = to === "client" ? this.client : this.server;
    if (!(item instanceof Uint8Array)) return end.end(item);
    const { mangler } = this.link;
    const frames = mangler === undefined ? [item] : mangler.mangle(to, item);
    for (const frame of frames) {
      if (end.isEnded) return;
      const arrow = to === "server" ? "->s" : "<-s";
      this.#parts.trace.note(
        this.link.client,
        `frame${arrow}`,
        `0x${frame[0]?.toString(16)} ${brief(frame)}`,
      );
      this.#parts.tap(to, this.link, frame);
      end.receive(frame);
    }
  }

  pump(): void {
    this.client.pipe.pump();
    this.server.pipe.pump();
  }

  /** Nothing goes on; some of what was under way still arrives. */
  break(isHeard: { client: boolean; server: boolean }): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const { dice, timeline, trace } = this.#parts;
    trace.note(this.link.client, "broken");
    for (
      const [end, hears] of [[this.client, isHeard.client], [
        this.server,
        isHeard.server,
      ]] as const
    ) {
      const other = end === this.client ? this.server : this.client;
      other.pipe.cutTo(dice.number());
      if (hears) timeline.after(dice.between(0, 500), () => end.end(LOST));
    }
  }

  #over(): void {
    if (this.client.isEnded && this.server.isEnded) this.#gone(this);
  }
}

/** One end of a connection. */
class End implements Transport {
  readonly pipe: Pipe;
  readonly #over: () => void;
  #events: Parameters<Transport["listen"]>[0] | undefined;
  #early: Uint8Array[] = [];
  #end: TransportEnd | undefined;

  constructor(pipe: Pipe, over: () => void) {
    this.pipe = pipe;
    this.#over = over;
  }

  /** Has its owner been told of the end? */
  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  get buffered(): number {
    return this.pipe.buffered;
  }

  listen(events: Parameters<Transport["listen"]>[0]): void {
    this.#events = events;
    for (const frame of this.#early.splice(0)) events.frame(frame);
    if (this.#end !== undefined) events.ended(this.#end);
  }

  send(frame: Uint8Array): void {
    if (this.#end === undefined) this.pipe.push(frame.slice());
  }

  close(code: string, detail: string): void {
    if (this.#end !== undefined) return;
    this.pipe.push({ code, detail });
    this.end({ code, detail });
  }

  receive(frame: Uint8Array): void {
    if (this.#events === undefined) this.#early.push(frame);
    else this.#events.frame(frame);
  }

  end(end: TransportEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#events?.ended(end);
    this.#over();
  }
}
