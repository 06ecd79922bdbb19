/**
 * Messages: what a frame of docs/protocol.md says, decoded.
 *
 * @module
 */

import type { Arrival } from "../repo/arrival.ts";
import type { VersionVector } from "../repo/version_vector.ts";
import type { Cursor } from "./resume.ts";

/** The wire version that this code speaks. */
export const wireVersion = 1;

/** What a record is. */
export type WireKind = Arrival["kind"];

/** A record of a log on the wire. */
export interface WireRecord {
  readonly kind: WireKind;
  readonly bytes: Uint8Array;
}

/** The server's first word. */
export interface Hello {
  readonly is: "hello";
  readonly nonce: Uint8Array;
  readonly rootKey: Uint8Array;
  readonly name: string;
}

/** The client shows who it is. */
export interface Prove {
  readonly is: "prove";
  readonly nonce: Uint8Array;
  readonly window: number;
  readonly certificates: readonly Uint8Array[];
  readonly signature: Uint8Array;
}

/** The server shows who it is. */
export interface Welcome {
  readonly is: "welcome";
  readonly window: number;
  readonly heartbeatMs: number;
  /** The server's wall clock. */
  readonly clock: number;
  readonly certificates: readonly Uint8Array[];
  readonly signature: Uint8Array;
}

/** A first frame in another version of the wire. */
export interface OtherVersion {
  readonly is: "other-version";
  readonly version: number;
}

/** What a client has, told in one of two ways. */
export type Start =
  | { readonly from: "cursor"; readonly cursor: Cursor }
  | { readonly from: "vector"; readonly vector: VersionVector };

/** The client opens a channel. */
export interface Open {
  readonly is: "open";
  readonly channel: number;
  readonly name: string;
  readonly genesisId: Uint8Array;
  readonly start: Start;
}

/** The server opens it, too. */
export interface Opened {
  readonly is: "opened";
  readonly channel: number;
  readonly rights: number;
  readonly epoch: Uint8Array;
  readonly commits: number;
  /** What the server has; absent: the cursor stands. */
  readonly vector: VersionVector | undefined;
}

/** What a client has, after its cursor was refused. */
export interface Vector {
  readonly is: "vector";
  readonly channel: number;
  readonly vector: VersionVector;
}

/** A channel that cannot be. */
export interface Declined {
  readonly is: "declined";
  readonly channel: number;
  readonly code: string;
  readonly detail: string;
}

/** The client closes a channel. */
export interface Close {
  readonly is: "close";
  readonly channel: number;
}

/** Records of a log, in its order. */
export interface Records {
  readonly is: "records";
  readonly channel: number;
  readonly records: readonly WireRecord[];
  /** From the server only: everything before it has been sent. */
  readonly cursor: Cursor | undefined;
}

/** A piece of a record that is too large for a frame; offset 0 begins anew. */
export interface Part {
  readonly is: "part";
  readonly channel: number;
  readonly kind: WireKind;
  readonly total: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Admitted or refused, and durable, up to this record. */
export interface Ack {
  readonly is: "ack";
  readonly channel: number;
  readonly sequence: number;
}

/** A record was refused. */
export interface Refuse {
  readonly is: "refuse";
  readonly channel: number;
  readonly sequence: number;
  /** 40 zeros where the record was no batch. */
  readonly chain: string;
  /** How many commits of that chain the server has: what must not be withdrawn. */
  readonly from: number;
  /** The first commit that was refused. */
  readonly number: number;
  /** How many were, from there on: more than one where it is not the fault of one. */
  readonly count: number;
  readonly reason: string;
  readonly rule: string;
  readonly detail: string;
  readonly kept: boolean;
}

/** So many more bytes may be sent. */
export interface Credit {
  readonly is: "credit";
  readonly bytes: number;
}

/** Everything that there was has been sent. */
export interface Live {
  readonly is: "live";
  readonly channel: number;
  readonly commits: number;
  readonly cursor: Cursor;
}

/** What the server signs of its past: see witness.ts. */
export interface WitnessMessage {
  readonly is: "witness";
  readonly channel: number;
  readonly witness: Uint8Array;
}

/** A witness of what there was, its signer's certificates, and the summary that its digest is of. */
export interface Proof {
  readonly is: "proof";
  readonly channel: number;
  readonly witness: Uint8Array;
  readonly certificates: readonly Uint8Array[];
  readonly summary: Uint8Array;
}

/** Own presence. */
export interface Present {
  readonly is: "present";
  readonly channel: number;
  readonly bytes: Uint8Array;
}

/** Another peer's presence. */
export interface Presence {
  readonly is: "presence";
  readonly channel: number;
  readonly peer: number;
  readonly user: string;
  readonly bytes: Uint8Array;
}

/** Are you there? */
export interface Ping {
  readonly is: "ping";
  readonly token: number;
}

/** Yes. */
export interface Pong {
  readonly is: "pong";
  readonly token: number;
}

/** What an audit asks. */
export type AuditQuery =
  | { readonly ask: "summary" }
  | {
    readonly ask: "ids";
    readonly chain: string;
    readonly numbers: readonly number[];
  }
  | { readonly ask: "state"; readonly prefix: readonly number[] }
  | { readonly ask: "items"; readonly prefix: readonly number[] };

/** A question of an audit. */
export interface Audit {
  readonly is: "audit";
  readonly channel: number;
  readonly question: number;
  readonly query: AuditQuery;
}

/** Its answer: bytes that only the question explains. */
export interface Audited {
  readonly is: "audited";
  readonly channel: number;
  readonly question: number;
  readonly answer: Uint8Array;
}

/** The conversation ends. */
export interface Failed {
  readonly is: "failed";
  readonly code: string;
  readonly detail: string;
}

/** The server closes; come back after this long. */
export interface Goodbye {
  readonly is: "goodbye";
  readonly waitMs: number;
}

/** Everything that a frame can say. */
export type Message =
  | Hello
  | Prove
  | Welcome
  | Open
  | Opened
  | Vector
  | Declined
  | Close
  | Records
  | Part
  | Ack
  | Refuse
  | Credit
  | Live
  | WitnessMessage
  | Proof
  | Present
  | Presence
  | Ping
  | Pong
  | Audit
  | Audited
  | Failed
  | Goodbye;

/** The message of one kind. */
export type MessageOf<Is extends Message["is"]> = Extract<Message, { is: Is }>;

/** What a server says on a channel. */
export type ServerWord = MessageOf<
  | "opened"
  | "declined"
  | "records"
  | "part"
  | "ack"
  | "refuse"
  | "live"
  | "witness"
  | "presence"
  | "audited"
>;

/** What a client says on a channel that is open. */
export type ClientWord = MessageOf<
  "vector" | "records" | "part" | "proof" | "present" | "audit"
>;
