/**
 * Connections: who may open one, what became of it, and what its trouble was,
 * each kind told once. Whose wire it is, a socket's or another, is not asked
 * here.
 *
 * Architecture invariant: places are bounded in total, by address and for those
 * who have not proved themselves, before anything is kept of a stranger
 * (law 10).
 */

import { getOrMake } from "../src/base/collections.ts";
import { toHex } from "../src/base/bytes.ts";
import type { World } from "../src/base/world.ts";
import type { PeerSession } from "../sync/proof.ts";
import type { HostEvent, HostPeer } from "../sync/host_hooks.ts";
import type { Transport } from "../sync/transport/transport.ts";
import { limits } from "../src/base/limits.ts";
import { HttpFault } from "./body.ts";
import type { Latencies, Metrics } from "./metrics.ts";
import { type Log, messageOf, type TroubleLog } from "./log.ts";
import type { Quotas } from "./options.ts";
import { Buckets, Places } from "./quotas.ts";
import type { Tracing } from "./tracing.ts";

/** So many connections of an address may fail at once, and one a second. */
const FAILURES = 60;

/**
 * What no honest peer ends with, and how many failures it is worth: what the
 * platform has of a flood, it deals with before anything else. Silence, say, is
 * no offence: a whole office may close its laptops at once.
 */
const FAILURE_TOKENS: ReadonlyMap<string, number> = new Map([
  ["bad-message", 1],
  ["bad-proof", 1],
  ["bad-certificate", 1],
  ["too-large", 1],
  ["window-exceeded", 1],
  ["rate-limited", 20],
]);

export interface ConnectionParts {
  readonly quotas: Quotas;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly world: World;
  readonly tracing: Tracing;
  readonly latencies: Latencies;
  /** Hands a wire to the host. */
  readonly accept: (transport: Transport, address: string) => HostPeer;
  /** A summary of an earlier epoch came. */
  readonly proven: (event: HostEvent & { readonly kind: "proof" }) => void;
}

/** A wire of a peer that is here or about to be. */
export interface Wire {
  /** Nobody listens to it yet. */
  readonly transport: Transport;
  /** Resolves when the socket itself is gone, which may be long after the transport ended. */
  readonly closed: Promise<void>;
}

/** The places of one connection, each given back once. */
export interface TakenPlaces {
  readonly connection: () => void;
  readonly unproved: () => void;
}

/** What belongs to the next peer that the host tells of. */
interface Arriving {
  /** Gives the place of a stranger back, once. */
  readonly unproved: () => void;
  readonly closed: Promise<void>;
}

interface Connection extends Arriving {
  readonly trouble: TroubleLog;
  session: string | undefined;
}

export class Connections {
  readonly #parts: ConnectionParts;
  readonly #places: Places;
  readonly #unproved: Places;
  readonly #lingering = new Lingering();
  /** Connections of an address that failed: who is in debt gets no new one. */
  readonly #failed = new Buckets({ perSecond: 1, burst: FAILURES });
  readonly #byPeer = new Map<number, Connection>();
  readonly #bySession = new Map<string, number>();
  #arriving: Arriving = NOBODY;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { connections, connectionsPerAddress } = parts.quotas;
    this.#places = new Places(connections, connectionsPerAddress);
    const { unproved, unprovedPerAddress } = parts.quotas;
    this.#unproved = new Places(unproved, unprovedPerAddress);
  }

  get size(): number {
    return this.#places.taken;
  }

  get sessions(): number {
    return this.#bySession.size;
  }

  of(sessionKey: string): number {
    return this.#bySession.get(sessionKey) ?? 0;
  }

  /**
   * Serves a wire that is open.
   *
   * @throws {HttpFault} `too-many-connections`
   */
  accept(wire: Wire, address: string): void {
    this.begin(wire, address, this.take(address));
  }

  begin(
    { transport, closed }: Wire,
    address: string,
    { connection, unproved }: TakenPlaces,
  ): void {
    // A peer that stopped reading holds its socket, and so its place, for longer than the conversation.
    closed.then(connection);
    this.#arriving = { unproved, closed };
    this.#parts.accept(transport, address);
  }

  /**
   * Takes places for a wire that is yet to be made.
   *
   * @throws {HttpFault} `too-many-connections`
   */
  take(address: string): TakenPlaces {
    const { world } = this.#parts;
    const nowMs = world.monotonic();
    const isUnwelcome = this.#lingering.isFull(address, nowMs) ||
      this.#failed.debt(address, nowMs) > 0;
    if (isUnwelcome) throw this.#full(address);
    const connection = this.#places.take(address);
    if (connection === undefined) throw this.#full(address);
    const unproved = this.#unproved.take(address);
    if (unproved !== undefined) return { connection, unproved };
    connection();
    throw this.#full(address);
  }

  #full(address: string): HttpFault {
    const why = "There are too many connections";
    return this.declined(address, 503, "too-many-connections", why);
  }

  /** Counts and logs that an address gets no connection; the answer that says so. */
  declined(
    address: string,
    status: number,
    code: string,
    why: string,
  ): HttpFault {
    const { metrics, log } = this.#parts;
    metrics.protocolError(code);
    log.tellOf(address, "warn", "connection-declined", { kind: code });
    return new HttpFault(status, code, why);
  }

  /** Counts a session that has proved itself; says how many connections it has now. */
  prove(peer: HostPeer, session: PeerSession): number {
    const connection = this.#of(peer);
    connection.unproved();
    const key = toHex(session.key);
    const count = this.of(key) + 1;
    this.#bySession.set(key, count);
    connection.session = key;
    return count;
  }

  hear(peer: HostPeer, event: HostEvent): void {
    const { metrics } = this.#parts;
    switch (event.kind) {
      case "frame":
        return event.way === "in"
          ? metrics.received(event.bytes)
          : metrics.sent(event.bytes);
      case "accepted":
        return this.#accepted(peer);
      case "received":
        return this.#received(event);
      case "ended":
        return this.#ended(peer, event);
      case "proof":
        return this.#parts.proven(event);
      default:
        return this.#tell(peer, event);
    }
  }

  #received(
    { name, judged, bytes }: HostEvent & { readonly kind: "received" },
  ): void {
    const { metrics, latencies, tracing } = this.#parts;
    let commits = 0;
    for (const { verdict } of judged) {
      if (verdict.verdict === "admit") {
        commits += verdict.batch.commits.length - verdict.from;
      }
    }
    if (commits === 0) return;
    metrics.admitted(commits);
    latencies.received(name);
    if (!tracing.isOn) return;
    const attributes = { "sheaf.repository": name, commits, bytes };
    tracing.span("sheaf.receive", attributes, () => {});
  }

  #tell(peer: HostPeer, event: HostEvent): void {
    const { metrics } = this.#parts;
    const { trouble } = this.#of(peer);
    switch (event.kind) {
      case "declined":
        metrics.protocolError(event.code);
        return trouble.warn("channel-declined", event.code, {
          repository: event.name,
        });
      case "refused":
        metrics.refused(event.refusal.refused);
        return trouble.warn("batch-refused", event.refusal.refused, {
          repository: event.name,
          detail: event.refusal.detail,
          rule: event.refusal.rule,
          kept: event.kept,
          session: peer.session && toHex(peer.session.key),
        });
      case "incident":
        return trouble.warn("incident", event.incident, {
          repository: event.name,
          message: event.message,
        });
      case "fault":
        metrics.protocolError("internal");
        return trouble.warn("fault", "internal", {
          message: messageOf(event.error),
        });
    }
  }

  #ended(
    peer: HostPeer,
    { end }: HostEvent & { readonly kind: "ended" },
  ): void {
    const { metrics, log } = this.#parts;
    const connection = this.#of(peer);
    const { code, detail } = end;
    if (QUIET_ENDS.has(code)) {
      log.write("debug", "connection-ended", { connection: peer.id, code });
    } else {
      metrics.protocolError(code);
      const tokens = FAILURE_TOKENS.get(code) ?? 0;
      this.#failed.take(peer.address, tokens, this.#parts.world.monotonic());
      connection.trouble.warn("connection-failed", code, { detail });
    }
    this.#forget(peer, connection);
  }

  #forget({ id, address }: HostPeer, connection: Connection): void {
    this.#byPeer.delete(id);
    connection.unproved();
    const nowMs = this.#parts.world.monotonic();
    connection.closed.then(this.#lingering.add(address, nowMs));
    const { session } = connection;
    if (session === undefined) return;
    const left = this.of(session) - 1;
    if (left > 0) this.#bySession.set(session, left);
    else this.#bySession.delete(session);
  }

  #of(peer: HostPeer): Connection {
    // Of who has gone already nothing is kept any more.
    return this.#byPeer.get(peer.id) ?? this.#connection(peer, NOBODY);
  }

  #accepted(peer: HostPeer): void {
    const arriving = this.#arriving;
    this.#arriving = NOBODY;
    this.#byPeer.set(peer.id, this.#connection(peer, arriving));
  }

  #connection({ id, address }: HostPeer, arriving: Arriving): Connection {
    const trouble = this.#parts.log.once({ connection: id, address });
    return { ...arriving, trouble, session: undefined };
  }
}

const NOBODY: Arriving = { unproved() {}, closed: Promise.resolve() };

/** Ends that nobody need look at. */
const QUIET_ENDS = new Set(["lost", "closed", "shutting-down", "goodbye"]);

/**
 * Sockets that outlive their conversation: their peer neither reads nor lets
 * go, and the platform cannot terminate them.
 *
 * Architecture invariant: what waits in such sockets is memory that only their
 * peer can free: an address has so many, and no new socket while it does
 * (law 10).
 */
export class Lingering {
  readonly #endedMs = new Map<string, Map<object, number>>();

  /**
   * The conversation of a socket ended.
   *
   * @returns says that the socket is gone
   */
  add(address: string, nowMs: number): () => void {
    const socket = {};
    getOrMake(this.#endedMs, address, () => new Map()).set(socket, nowMs);
    return () => this.#gone(address, socket);
  }

  #gone(address: string, socket: object): void {
    const sockets = this.#endedMs.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#endedMs.delete(address);
  }

  /** Has an address so many that it gets no other one? Those that ended just now may be closing yet. */
  isFull(address: string, nowMs: number): boolean {
    const sockets = this.#endedMs.get(address);
    if (sockets === undefined || sockets.size < limits.lingeringSocketsMax) {
      return false;
    }
    const beforeMs = nowMs - limits.lingerMs;
    let count = 0;
    for (const endedMs of sockets.values()) if (endedMs <= beforeMs) count++;
    return count >= limits.lingeringSocketsMax;
  }
}
