/**
 * The words in which a conversation and its driver talk.
 *
 * A conversation is a pure core: inputs go in, outputs come out, in order. It
 * reads no clock and no dice, opens no wire, and keeps nothing of what a slow
 * peer lacks. Its driver owns transport, timers, files and repositories.
 *
 * @module
 */

import type { SessionSigner } from "../crypto/mod.ts";
import type { Arrival, Gate } from "../repo/arrival.ts";
import type { Certificate } from "../repo/certificate.ts";
import type { RepositoryName } from "../repo/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import type { Judged } from "../repo/admit.ts";
import type { Refusal } from "../src/base/errors.ts";
import type { Clocks } from "../src/base/server_clock.ts";
import type { AuditReport } from "./audit.ts";
import type { ResumeState } from "./resume.ts";
import type { Witness } from "./witness.ts";

/** When an input happens. */
export type Moment = Clocks;

/** What goes into a conversation. */
export type Input =
  /** The transport is open: once, before all others. */
  | ({ readonly is: "begin" } & Moment)
  /** A whole frame came; its bytes are the conversation's own from now on. */
  | ({ readonly is: "frame"; readonly bytes: Uint8Array } & Moment)
  /** What a `sign` asked for. */
  | ({ readonly is: "signed"; readonly signature: Uint8Array } & Moment)
  /** Time went on, as a `wake` asked. */
  | ({ readonly is: "time" } & Moment);

/** What comes out of it, to be done in order. */
export type Output =
  | { readonly do: "send"; readonly frame: Uint8Array }
  /** Nothing follows; `failed` or `goodbye` was sent before where the other side should hear. */
  | { readonly do: "close"; readonly code: string; readonly detail: string }
  | { readonly do: "tell"; readonly event: ConversationEvent }
  /** Bring a `signed` input: this message under the session's key. Only a client's asks for it, once. */
  | { readonly do: "sign"; readonly message: Uint8Array }
  /** Bring a `time` input after this long; the last `wake` counts. */
  | { readonly do: "wake"; readonly afterMs: number };

/** Who proves itself: signs with a session key, shows its certificates. */
export interface Prover extends SessionSigner {
  /** Its own certificate first, then its issuers', up to the root. */
  readonly certificates: readonly Uint8Array[];
}

/** A server: it signs at once. */
export interface ServerProver extends Prover {
  sign(message: Uint8Array): Uint8Array;
}

/** Who the other side has proved to be. */
export interface PeerSession {
  /** Session public key, 32 bytes. */
  readonly key: Uint8Array;
  readonly user: string;
  /** A JSON object, as text. */
  readonly claims: string;
  /** May it issue certificates? Then it is a server, or the owner of the root key. */
  readonly mayIssue: boolean;
  /** Wall milliseconds from which on its certificate is good. */
  readonly notBefore: number;
  /** Wall milliseconds after which it ends. */
  readonly notAfter: number;
  /** Its own certificate first, then its issuers'. */
  readonly certificates: readonly Uint8Array[];
}

/** Bits of what a session may do on a channel. */
export const rights = {
  /** It is sent commits, vectors, witnesses, presence. Without this, nothing but acks and refusals. */
  read: 1,
  /** Its new commits are wanted; rules still judge each of them. */
  write: 2,
  /** Who may read cannot be judged yet: what a witness proves is wanted, whoever wrote it, and nothing else. */
  restore: 4,
} as const;

/** A commit or batch that the server refused, as the client hears of it. */
export interface RefusedEvent {
  readonly tell: "refused";
  readonly name: RepositoryName;
  readonly chain: string;
  /** The first commit that was refused, and how many were from there on. */
  readonly number: number;
  readonly count: number;
  readonly reason: string;
  readonly rule: string;
  readonly detail: string;
  readonly kept: boolean;
  /**
   * What follows: "withdrawn" = taken back and re-authored without it; "login" = a new certificate is needed;
   * "later" = tried again on this connection after a while; "resynchronise" = the channel opens again with vectors;
   * "skipped" = another author's, not uploaded on this connection.
   */
  readonly then: "withdrawn" | "login" | "later" | "resynchronise" | "skipped";
}

/** Something that should not happen between honest replicas. */
export interface IncidentEvent {
  readonly tell: "incident";
  readonly name: RepositoryName | undefined;
  readonly kind:
    | "desync"
    | "server-rolled-back"
    | "server-forked"
    | "bad-witness"
    | "relay-refused"
    | "bad-record"
    | "clock";
  readonly message: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly report?: AuditReport;
}

/** What the driver hears. "C": of a client's conversation; "S": of a server's; "CS": both. */
export type ConversationEvent =
  /** CS: the other side has proved itself. `clockOffsetMs`: server's wall clock minus ours (client only). */
  | {
    readonly tell: "ready";
    readonly peer: PeerSession;
    readonly serverName: string;
    readonly clockOffsetMs: number;
  }
  /** C: the server told its time once more, with a refusal. `clockOffsetMs`: as of `ready`. */
  | { readonly tell: "clock"; readonly clockOffsetMs: number }
  /** S: answer with `opened` or `declined`, now or later. `revoked` rights: see {@linkcode rights}. */
  | {
    readonly tell: "opening";
    readonly channel: number;
    readonly name: RepositoryName;
    /** As the client says it; the conversation declines where it is another one. */
    readonly genesisId: Uint8Array;
    readonly session: PeerSession;
  }
  /** S: a channel was declined that the driver was not asked about, or had opened; `name`: where it is one. */
  | {
    readonly tell: "unopened";
    readonly name: RepositoryName | undefined;
    readonly code: string;
  }
  /** S: the client closed the channel, or it was declined after all: release what was opened for it. */
  | {
    readonly tell: "closed";
    readonly channel: number;
    readonly name: RepositoryName;
  }
  /** C: the channel is open; `commits` is how many the server has (0 without the right to read). */
  | {
    readonly tell: "opened";
    readonly name: RepositoryName;
    readonly rights: number;
    readonly epoch: Uint8Array;
    readonly commits: number;
  }
  /** C: this channel cannot be; the others go on. */
  | {
    readonly tell: "declined";
    readonly name: RepositoryName;
    readonly code: string;
    readonly detail: string;
  }
  /** C: how far the first catching up is, in commits received. */
  | {
    readonly tell: "progress";
    readonly name: RepositoryName;
    readonly done: number;
    readonly total: number;
  }
  /** CS: everything that there was has been sent (S) or received (C). */
  | { readonly tell: "live"; readonly name: RepositoryName }
  /** C: the server has everything of `chain` below `count`, durably; compare with `write.synced`. */
  | {
    readonly tell: "acked";
    readonly name: RepositoryName;
    readonly chain: string;
    readonly count: number;
  }
  /** C: there is (`false`) or is not (`true`) something that the server has not acknowledged. */
  | {
    readonly tell: "quiet";
    readonly name: RepositoryName;
    readonly quiet: boolean;
  }
  /** C: keep this (`encodeResume`) in the repository's folder, lazily: an older one is sound too. */
  | {
    readonly tell: "resume";
    readonly name: RepositoryName;
    readonly state: ResumeState;
  }
  | RefusedEvent
  /** S: a batch of this client was refused; returns nothing: keeping it was asked of `keeps`. */
  | {
    readonly tell: "refused-batch";
    readonly name: RepositoryName;
    readonly arrival: Arrival;
    readonly refusal: Refusal;
    readonly kept: boolean;
  }
  /** S: records went through the door, for metrics. */
  | {
    readonly tell: "received";
    readonly name: RepositoryName;
    readonly judged: readonly Judged[];
    readonly bytes: number;
  }
  /** C: a sound witness of this server. */
  | {
    readonly tell: "witness";
    readonly name: RepositoryName;
    readonly witness: Witness;
  }
  /** C: both sides had exactly the same commits. */
  | {
    readonly tell: "equal";
    readonly name: RepositoryName;
    readonly atMs: number;
  }
  /** C: how many commits a server lacks of those that the last proved witness shows; 0: none any more. */
  | {
    readonly tell: "restoring";
    readonly name: RepositoryName;
    readonly missing: number;
    readonly epoch: Uint8Array;
  }
  | IncidentEvent
  /** C: the answer to {@link ClientConversation.audit}. */
  | {
    readonly tell: "audited";
    readonly name: RepositoryName;
    readonly report: AuditReport;
  }
  /** S: a sound witness of what there was, and what it is the hash of. */
  | {
    readonly tell: "proof";
    readonly name: RepositoryName;
    readonly witness: Witness;
    readonly summary: Uint8Array;
  }
  /** S: `bytes` empty: gone. */
  | {
    readonly tell: "present";
    readonly channel: number;
    readonly name: RepositoryName;
    readonly bytes: Uint8Array;
  }
  /** C: another peer's presence; `bytes` empty: gone. */
  | {
    readonly tell: "presence";
    readonly name: RepositoryName;
    readonly peer: number;
    readonly user: string;
    readonly bytes: Uint8Array;
  }
  /** C: the server closes; come back after this long. A `close` output follows. */
  | { readonly tell: "goodbye"; readonly waitMs: number };

/** A repository's log life as `repo/epoch.ts` keeps it. */
export interface EpochLife {
  /** 16 bytes. */
  readonly epoch: Uint8Array;
  /** 8 bytes that only this life gives out for a position. */
  check(position: number): Uint8Array;
  /** Did this life give the cursor out? */
  isIssued(position: number, check: Uint8Array): boolean;
}

/** Makes witnesses for all channels of one repository: see `WitnessMaker`. */
export interface WitnessSource {
  /** The newest one; makes one when something changed and the last is old enough. */
  newest(
    nowMs: number,
  ): { readonly bytes: Uint8Array; readonly position: number } | undefined;
  /** When `newest` may make another, in wall milliseconds. */
  readonly nextMs: number;
}

/** A bound over the halves of records that are being put together. */
export interface PartBudget {
  /** Takes bytes; false when there is no room. */
  take(bytes: number): boolean;
  /** Gives bytes back. */
  free(bytes: number): void;
}

/** What keeps batches back that cannot be judged alone. */
export interface Staging {
  /** What may be judged now that a batch came, in order: nothing while it waits for the rest of its chain. */
  take(arrival: Arrival): readonly Arrival[];
  /** Forgets what of a chain was kept back; it may be judged as it is. */
  drop(chain: string): readonly Arrival[];
}

/** What a server tells with `opened`. */
export interface ServerChannelOptions {
  /** Bits of {@linkcode rights}. */
  readonly rights: number;
  readonly life: EpochLife;
  /** One for all channels of a repository; none: no witnesses. */
  readonly witness?: WitnessSource;
  /** Asked once of every sound new batch (law 7); not of sessions that may issue. */
  readonly gate?: Gate;
  /** Keeps pieces back of chains that a server had accepted before it lost them. */
  readonly staging?: Staging;
  /** Is a record wanted? A batch that is not is `restoring`; of a credential nobody is told. */
  readonly wants?: Wants | undefined;
  /** Will the server keep a refused batch for somebody to decide? Asked before `refuse` is sent. */
  readonly keeps?: (arrival: Arrival, refusal: Refusal) => boolean;
  /** Is a session revoked by what is known besides the repository's records? Asked of who signed a witness. */
  readonly isRevoked?: (session: Certificate) => boolean;
  /** Has the right to read ended? Asked before each frame of records; the driver declines the channel then. */
  readonly isEnded?: () => boolean;
}

/** Options of a `ClientConversation`. */
export interface ClientOptions {
  /** Its driver signs. */
  readonly session: Pick<Prover, "publicKey" | "certificates">;
  /** 32 bytes: what every certificate goes back to. */
  readonly rootKey: Uint8Array;
  readonly random: (target: Uint8Array) => void;
  /** Did TLS vouch for the server's name? Then vectors go out with the proof. */
  readonly isPlaceProven?: boolean;
  /** May this replica take back commits of `chain`? Default: chains of the session's key. */
  readonly owns?: (chain: string) => boolean;
  /** Would a login help against `unknown-session`, `expired-session` (yes)? After one, say no: the rest is withdrawn. */
  readonly canRenew?: boolean;
  readonly budget?: PartBudget;
  /** Bytes that the server may send before credit comes; default `limits.windowBytes`. */
  readonly windowBytes?: number;
}

/** Is a record wanted: a credential, or a batch of a chain? */
export type Wants = (arrival: Arrival, chain: string) => boolean;

/** Options of a `ServerConversation`. */
export interface ServerOptions {
  readonly session: ServerProver;
  readonly rootKey: Uint8Array;
  /** The server's name, which clients sign. */
  readonly name: string;
  readonly random: (target: Uint8Array) => void;
  /** Is this session welcome at all? A refusal's `detail` travels; default: every sound one. */
  readonly admits?: (
    peer: PeerSession,
  ) => { readonly code: string; readonly detail: string } | undefined;
  /** Grants credit itself with `grant(bytes)` instead of at once: for quotas and rates. */
  readonly holdsCredit?: boolean;
  /** Charges for so many items that an audit hashed; says for how many milliseconds it rests. */
  readonly chargeAudit?: (items: number) => number;
  readonly budget?: PartBudget;
  readonly windowBytes?: number;
}

/**
 * The client's half: one connection, any number of channels. Every method
 * returns what is to be done, in order; none throws on what the peer sent.
 */
export interface ClientCore {
  step(input: Input): Output[];
  /** Opens a channel, now or when the server has proved itself; at any time. */
  open(port: RepositoryPort, resume?: ResumeState): Output[];
  /** Closes a repository's channel; nothing is told of it afterwards. */
  close(name: RepositoryName): Output[];
  /** What may be shared of a repository has grown: call it from `port.onShareable`. */
  shareable(name: RepositoryName, moment: Moment): Output[];
  /** Sets own presence; empty takes it back. To be sent again on every new connection, after `opened`. */
  present(name: RepositoryName, bytes: Uint8Array): Output[];
  /** Compares with the server; `audited` tells the report. */
  audit(name: RepositoryName): Output[];
  /** Everything of a repository has been acknowledged and nothing is on its way. */
  isQuiet(name: RepositoryName): boolean;
  /** How many commits of a chain the server is known to have, durably: at least so many. */
  serverHas(name: RepositoryName, chain: string): number;
  /** What to keep of a repository's channel now; `undefined` when there is none. */
  resumeState(name: RepositoryName): ResumeState | undefined;
  /** The driver's transport is gone: frees what is half received. */
  end(): void;
}

/** The server's half. */
export interface ServerCore {
  step(input: Input): Output[];
  /** Answers `opening`. The driver calls `shareable` whenever the port's `onShareable` runs. */
  opened(
    channel: number,
    port: RepositoryPort,
    options: ServerChannelOptions,
    moment: Moment,
  ): Output[];
  /** Answers `opening`, or ends an open channel. */
  declined(channel: number, code: string, detail: string): Output[];
  /** What may be shared of a repository has grown. */
  shareable(name: RepositoryName, moment: Moment): Output[];
  /** Tells a channel of another peer's presence. */
  presence(
    channel: number,
    peer: number,
    user: string,
    bytes: Uint8Array,
  ): Output[];
  /** Grants the client so many bytes more: only with `holdsCredit`. */
  grant(bytes: number): Output[];
  /** Bytes that the client has used and not been granted again. */
  readonly ungranted: number;
  /** Says goodbye and closes. */
  goodbye(waitMs: number): Output[];
  /** Says why and closes: a quota, a revoked session. */
  fail(code: string, detail: string): Output[];
  /** The driver's transport is gone: frees what is half received. */
  end(): void;
}
