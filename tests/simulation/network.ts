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

import { HttpFault } from "../../server/body.ts";
import type { Wire } from "../../server/connections.ts";
import { encodeText } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
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
  /** Since when the client hears nothing; `Infinity` while it could. */
  silentSinceMs: number;
}

/** Who takes connections; throws an `HttpFault` where there is no place. */
export type Listener = (wire: Wire, link: Link) => void;

/** Who answers requests: their bodies are JSON. */
export type Answerer = (body: string, link: Link) => Promise<Answer>;

/** What a request gets. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

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
  /** `undefined` while nobody listens. */
  listener: Listener | undefined;
  /** `undefined` while nobody listens. */
  answerer: Answerer | undefined;
  /** The most bytes that ever waited on one wire. */
  bufferedMax = 0;

  /** @param parts time, dice, and who looks on */
  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** Lays a link. */
  link(client: string, up: Lane, down: Lane): Link {
    const link: Link = {
      client,
      up,
      down,
      isCut: false,
      mangler: undefined,
      silentSinceMs: Infinity,
    };
    this.links.set(client, link);
    return link;
  }

  /** Opens a connection over a link; rejects with a `TransportEnd` when it cannot, and never settles for the dead. */
  connect(
    link: Link,
    signal: AbortSignal,
    isDead: () => boolean = () => false,
  ): Promise<Transport> {
    const { timeline, trace } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<Transport>();
    timeline.after(link.up.delayMs + link.down.delayMs + 1, () => {
      if (isDead()) return;
      if (signal.aborted) return reject(LOST);
      const { listener } = this;
      if (!isOpen(link) || listener === undefined) {
        trace.note(link.client, "unreachable");
        return reject({ code: "unavailable", detail: "Nobody answers" });
      }
      const connection = new Connection(
        this.#parts,
        link,
        {
          gone: (over) => void this.#connections.delete(over),
          buffered: (bytes) =>
            void (this.bufferedMax = Math.max(this.bufferedMax, bytes)),
        },
      );
      this.#connections.add(connection);
      try {
        listener(connection.server, link);
      } catch (cause) {
        if (!(cause instanceof HttpFault)) throw cause;
        this.#connections.delete(connection);
        trace.note(link.client, "declined", cause.code);
        return reject({ code: "unavailable", detail: cause.message });
      }
      trace.note(link.client, "connected");
      resolve(connection.client);
    });
    return promise;
  }

  /**
   * Sends a request and brings its answer, as late as the link makes them;
   * rejects where nobody answers in time, and never settles for the dead.
   */
  ask(
    link: Link,
    body: string,
    withinMs: number,
    isDead: () => boolean,
  ): Promise<Answer> {
    const { timeline, trace } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const lost = () => {
      if (!isDead()) reject(new DatabaseError("unreachable", "Nobody answers"));
    };
    timeline.after(withinMs, lost);
    timeline.after(link.up.delayMs, () => {
      const { answerer } = this;
      if (!isOpen(link) || answerer === undefined) return lost();
      trace.note(link.client, "asks", brief(encodeText(body)));
      answerer(body, link).then((answer) => {
        timeline.after(link.down.delayMs, () => {
          if (!isOpen(link)) return lost();
          if (!isDead()) resolve(answer);
        });
      }, lost);
    });
    return promise;
  }

  /** Breaks all connections of a link. */
  breakLink(link: Link, how: Breaking): void {
    for (const connection of this.#of(link)) connection.break(how);
  }

  /** Breaks every connection: the server is gone. */
  breakAll(how: Breaking): void {
    for (const connection of [...this.#connections]) connection.break(how);
  }

  /** Lanes changed: what waited may go on. */
  changed(link: Link): void {
    const isSilent = link.isCut || link.down.isStalled;
    if (!isSilent) link.silentSinceMs = Infinity;
    else if (link.silentSinceMs === Infinity) {
      link.silentSinceMs = this.#parts.timeline.nowMs;
    }
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

function isOpen({ isCut, up, down }: Link): boolean {
  return !isCut && !up.isStalled && !down.isStalled;
}

/** What becomes of an end: it is told soon, it hears nothing more, or nobody is there any more. */
type Fate = "told" | "untold" | "dead";

/** How a connection breaks. */
export interface Breaking {
  readonly client: Fate;
  readonly server: Fate;
}

/** Whom a connection tells. */
interface Hooks {
  readonly gone: (connection: Connection) => void;
  readonly buffered: (bytes: number) => void;
}

/** Two ends and the two pipes between them. */
class Connection {
  readonly #parts: NetworkParts;
  readonly #hooks: Hooks;
  readonly link: Link;
  readonly client: End;
  readonly server: End;

  constructor(
    parts: NetworkParts,
    link: Link,
    hooks: Hooks,
  ) {
    this.#parts = parts;
    this.#hooks = hooks;
    this.link = link;
    const { timeline, dice } = parts;
    const up = new Pipe(timeline, dice, link.up, () => link.isCut);
    const down = new Pipe(timeline, dice, link.down, () => link.isCut);
    this.client = new End(up, () => this.#over(), hooks.buffered);
    this.server = new End(down, () => this.#over(), hooks.buffered);
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

  /** Nothing goes on; some of what was under way still arrives, unless nobody is there. */
  break(how: Breaking): void {
    const { dice, timeline, trace } = this.#parts;
    trace.note(this.link.client, "broken", `${how.client} ${how.server}`);
    const sides = [[this.client, this.server, how.client], [
      this.server,
      this.client,
      how.server,
    ]] as const;
    for (const [end, other, fate] of sides) {
      other.pipe.cutTo(dice.number());
      if (fate === "dead") end.mute();
      if (fate === "told") {
        timeline.after(dice.between(0, 500), () => end.end(LOST));
      }
    }
  }

  #over(): void {
    if (this.client.isEnded && this.server.isEnded) this.#hooks.gone(this);
  }
}

/** One end of a connection. */
class End implements Transport, Wire {
  readonly pipe: Pipe;
  readonly transport = this;
  readonly #closed = Promise.withResolvers<void>();
  readonly closed = this.#closed.promise;
  readonly #over: () => void;
  readonly #sent: (buffered: number) => void;
  #events: Parameters<Transport["listen"]>[0] | undefined;
  #early: Uint8Array[] = [];
  #end: TransportEnd | undefined;

  constructor(pipe: Pipe, over: () => void, sent: (buffered: number) => void) {
    this.pipe = pipe;
    this.#over = over;
    this.#sent = sent;
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
    if (this.#end !== undefined) return;
    this.pipe.push(frame.slice());
    this.#sent(this.pipe.buffered);
  }

  close(code: string, detail: string): void {
    if (this.#end !== undefined) return;
    this.pipe.push({ code, detail });
    this.end({ code, detail });
  }

  /** Its owner is dead: nobody hears, nothing is sent. */
  mute(): void {
    this.#end ??= LOST;
    this.#closed.resolve();
    this.#over();
  }

  receive(frame: Uint8Array): void {
    if (this.#events === undefined) this.#early.push(frame);
    else this.#events.frame(frame);
  }

  end(end: TransportEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#closed.resolve();
    this.#events?.ended(end);
    this.#over();
  }
}
