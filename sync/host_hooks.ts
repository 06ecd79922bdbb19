/** What a host asks of the server that it works for. Types only. */

import type { Arrival, Gate } from "../repo/admission/arrival.ts";
import type { Certificate } from "../repo/commit/certificate.ts";
import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import type { Refusal } from "../src/base/errors.ts";
import type { World } from "../src/base/world.ts";
import type { EventOf, Staging, Wants } from "./conversation.ts";
import type { LogOrder } from "./order_teller.ts";
import type { PeerSession, ServerProver } from "./proof.ts";
import type { TransportEnd } from "./transport/transport.ts";

/** One connection, as hooks see it. */
export interface HostPeer {
  /** Another number for each connection of this host. */
  readonly id: number;
  /** Where it comes from, as whoever accepted it says: for quotas and logs. */
  readonly address: string;
  /** Who it is; `undefined` until it has proved that. */
  readonly session: PeerSession | undefined;
}

/** Why something is declined, in a code of docs/protocol.md. */
export interface Declined {
  readonly code: string;
  readonly detail: string;
}

/** What a session may do in a repository. */
export type Access =
  | {
    /** Bits of `rights`: see conversation.ts. */
    readonly rights: number;
    /** Why it may not any more; asked before more is sent to it, where its rights depend on what is stored. */
    readonly ended?: () => Declined | undefined;
    /** Asked in the place of the hook. */
    readonly gate?: Gate;
    /** Asked in the place of the hook. */
    readonly wants?: Wants;
  }
  | { readonly declined: Declined };

/** A repository that is open for peers. */
export interface HostedRepository {
  readonly port: RepositoryPort;
  readonly order: LogOrder;
  /** What is asked of writes in it, by names that clients compare with theirs. */
  readonly enforced?: readonly string[];
  /** The last peer has left; the owner decides when to close. */
  release(): void;
}

/** What a conversation tells. */
type Told<Tell extends "received" | "refused-batch" | "proof"> = Omit<
  EventOf<Tell>,
  "tell"
>;

/** What a host tells of a peer, for metrics and logs. */
export type HostEvent =
  | { readonly kind: "accepted" }
  | { readonly kind: "ready" }
  | {
    readonly kind: "ended";
    readonly end: TransportEnd;
    readonly isOwn: boolean;
  }
  | {
    readonly kind: "opened" | "closed" | "live";
    readonly name: RepositoryName;
  }
  | {
    readonly kind: "declined";
    /** `undefined`: what was asked for is no name. */
    readonly name: RepositoryName | undefined;
    readonly code: string;
  }
  | ({ readonly kind: "received" } & Told<"received">)
  | ({ readonly kind: "refused" } & Omit<Told<"refused-batch">, "arrival">)
  /** A sound witness of what there was, and the summary that it is the hash of. */
  | ({ readonly kind: "proof" } & Told<"proof">)
  | {
    readonly kind: "incident";
    readonly name: RepositoryName | undefined;
    readonly incident: string;
    readonly message: string;
  }
  | {
    readonly kind: "frame";
    readonly way: "in" | "out";
    readonly bytes: number;
  }
  /** A hook or the host itself failed. */
  | { readonly kind: "fault"; readonly error: unknown };

/** What a host asks. Hooks that throw are faults: the peer hears `internal`. */
export interface HostHooks {
  /** Is this session welcome at all? Asked when it has proved itself. */
  admits?(peer: HostPeer, session: PeerSession): Declined | undefined;
  /**
   * May this session read or write a repository of this name? Asked before
   * anything looks whether there is one (law 8): it must not look either,
   * unless that is what the rights depend on.
   */
  authorize(
    peer: HostPeer,
    session: PeerSession,
    name: RepositoryName,
  ): Access | Promise<Access>;
  /**
   * May this session open it as what its client takes it for? Asked of who may read or write it, before it is
   * opened: here a server looks whether there is one, and who may begin one.
   *
   * @param genesisId that the client knows; another one is declined as `mode-mismatch` once it is open
   */
  begins?(
    peer: HostPeer,
    session: PeerSession,
    name: RepositoryName,
    genesisId: Uint8Array,
  ): Declined | undefined;
  /** Opens a repository; once for all peers until its release. `undefined`: there is none, which peers hear as `forbidden`. */
  openRepository(name: RepositoryName): Promise<HostedRepository | undefined>;
  /** Asked of every sound new batch (law 7) whose clock is plausible. */
  gate?(
    peer: HostPeer,
    name: RepositoryName,
    ...asked: Parameters<Gate>
  ): Refusal | undefined;
  /** Why a record is not taken, before anybody looks into it. */
  wants?(
    peer: HostPeer,
    name: RepositoryName,
    ...asked: Parameters<Wants>
  ): Refusal | undefined;
  /** What keeps back, of one channel, the pieces of chains that come back after a loss. */
  staging?(name: RepositoryName): Staging | undefined;
  /** Keeps a refused batch for somebody to decide; says whether it did. */
  keeps?(
    peer: HostPeer,
    name: RepositoryName,
    arrival: Arrival,
    refusal: Refusal,
  ): boolean;
  /** Is a session revoked, whatever records say? Asked of who signed a witness. */
  isRevoked?(session: Certificate): boolean;
  /** How long the peer waits for credit for these bytes, in milliseconds; 0: not at all. */
  creditDelay?(peer: HostPeer, bytes: number): number;
  /** Charges work that frames besides records cost, in milliseconds; says how long the peer's next frames wait. */
  workDelay?(peer: HostPeer, workMs: number): number;
  /** Is there memory for work on a repository that takes some? Where there is not, it waits. */
  hasRoom?(name: RepositoryName): boolean;
  /** Hears everything. */
  event?(peer: HostPeer, event: HostEvent): void;
}

/** What a host works with. */
export interface HostOptions {
  readonly world: World;
  /** The server's own session, whose certificate may issue. */
  readonly prover: ServerProver;
  /** The root public key, 32 bytes. */
  readonly rootKey: Uint8Array;
  /** The server's name, which clients sign. */
  readonly name: string;
  readonly hooks: HostHooks;
}
