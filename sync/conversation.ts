/**
 * The words in which a conversation and its driver talk.
 *
 * A conversation is a pure core: inputs go in, outputs come out, in order. It
 * reads no clock and no dice, opens no wire, and keeps nothing of what a slow
 * peer lacks. Its driver owns transport, timers, files and repositories.
 */

import type { Arrival, Gate } from "../repo/admission/arrival.ts";
import type { Certificate } from "../repo/commit/certificate.ts";
import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { Judged } from "../repo/admission/admit.ts";
import type { Refusal } from "../src/base/errors.ts";
import type { Clocks } from "../src/base/server_clock.ts";
import type { AuditReport } from "./audit.ts";
import type { LogOrder } from "./order_teller.ts";
import type { MessageOf } from "./message.ts";
import type { PeerSession, Prover, ServerProver } from "./proof.ts";
import type { PartBudget } from "./window.ts";
import type { Incident } from "./status.ts";
import type { Broadcast } from "./broadcast.ts";
import type { ReceiptDesk } from "./receipt.ts";
import type { Witness, WitnessSource } from "./witness.ts";

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

/** Bits of what a session may do on a channel. */
export const rights = {
  /** It is sent commits, vectors, witnesses, presence. Without this, nothing but acks and refusals. */
  read: 1,
  /** Its new commits are wanted; rules still judge each of them. */
  write: 2,
  /** Who may read cannot be judged yet: what a witness proves is wanted, whoever wrote it, and nothing else. */
  restore: 4,
} as const;

/** What is told of one repository. */
interface Named {
  readonly name: RepositoryName;
}

/** What the driver hears, by its name. "C": of a client's conversation; "S": of a server's; "CS": both. */
interface Events {
  /** CS: the other side has proved itself. `clockOffsetMs`: server's wall clock minus ours (client only). */
  readonly ready: {
    readonly peer: PeerSession;
    readonly serverName: string;
    readonly clockOffsetMs: number;
  };
  /** C: the server told its time once more, with a refusal. `clockOffsetMs`: as of `ready`. */
  readonly clock: { readonly clockOffsetMs: number };
  /**
   * S: answer with `opened` or `declined`, now or later. `genesisId`: as the client says it; the conversation
   * declines where it is another one.
   */
  readonly opening: Named & {
    readonly channel: number;
    readonly genesisId: Uint8Array;
    readonly session: PeerSession;
  };
  /** S: a channel was declined that the driver was not asked about, or had opened; `name`: where it is one. */
  readonly unopened: {
    readonly name: RepositoryName | undefined;
    readonly code: string;
  };
  /** S: the client closed the channel, or it was declined after all: release what was opened for it. */
  readonly closed: Named & { readonly channel: number };
  /** C: the server does not answer, or does so again. */
  readonly silence: { readonly isSilent: boolean };
  /** C: the channel is open. */
  readonly opened: Named & {
    readonly rights: number;
    readonly epoch: Uint8Array;
    readonly enforced: readonly string[];
  };
  /** C: this channel cannot be; the others go on. */
  readonly declined: Named & { readonly code: string; readonly detail: string };
  /** C: how far the first catching up is, in commits received. */
  readonly progress: Named & { readonly done: number; readonly total: number };
  /** CS: everything that there was has been sent (S) or received (C). */
  readonly live: Named;
  /** C: the server has everything of `chain` below `count`, durably, and signed for it where it is an own one: `write.synced`. */
  readonly acked: Named & { readonly chain: string; readonly count: number };
  /** C: there is (`false`) or is not (`true`) something that the server has not acknowledged. */
  readonly quiet: Named & { readonly quiet: boolean };
  /** C: the server refused `count` commits of a batch, from `number` on. */
  readonly refused: Named & Refused & { readonly then: FollowUp };
  /** S: a batch of this client was refused; returns nothing: keeping it was asked of `keeps`. */
  readonly "refused-batch": Named & {
    readonly arrival: Arrival;
    readonly refusal: Refusal;
    readonly kept: boolean;
  };
  /** S: records went through the door, for metrics. */
  readonly received: Named & {
    readonly judged: readonly Judged[];
    readonly bytes: number;
  };
  /** C: a sound witness of this server. */
  readonly witness: Named & { readonly witness: Witness };
  /** C: both sides had exactly the same commits. */
  readonly equal: Named & { readonly atMs: number };
  /** C: how many commits a server lacks of those that the last proved witness shows; 0: none any more. */
  readonly restoring: Named & {
    readonly missing: number;
    readonly epoch: Uint8Array;
    /** What it had signed, for an incident; "" where nothing is missing. */
    readonly receipt: string;
  };
  /** Something that should not happen between honest replicas. */
  readonly incident: {
    readonly name: RepositoryName | undefined;
    readonly kind: Exclude<
      Incident["kind"],
      "restore-incomplete" | "wrong-kind" | "not-enforced"
    >;
    readonly message: string;
    readonly details: Readonly<Record<string, string | number | boolean>>;
    readonly report?: AuditReport;
  };
  /** C: the answer to {@link ClientConversation.audit}. */
  readonly audited: Named & { readonly report: AuditReport };
  /** S: a sound witness of what there was, and what it is the hash of. */
  readonly proof: Named & {
    readonly witness: Witness;
    readonly summary: Uint8Array;
  };
  /** S: `bytes` empty: gone. */
  readonly present: Named & {
    readonly channel: number;
    readonly bytes: Uint8Array;
  };
  /** C: another peer's presence; `bytes` empty: gone. */
  readonly presence: Named & {
    readonly peer: number;
    readonly user: string;
    readonly bytes: Uint8Array;
  };
  /** C: the server closes; come back after this long. A `close` output follows. */
  readonly goodbye: { readonly waitMs: number };
}

type Refused = Omit<
  MessageOf<"refuse">,
  "is" | "channel" | "sequence" | "from"
>;

/**
 * What follows a refusal: "void" = void here, and the rest sent or written again; "login" = a new certificate is needed;
 * "later" = tried again on this connection after a while; "resynchronise" = the channel opens again with vectors;
 * "skipped" = another author's, not uploaded on this connection.
 */
export type FollowUp =
  | "void"
  | "login"
  | "later"
  | "resynchronise"
  | "skipped";

/** What the driver hears of one kind. */
export type EventOf<Tell extends keyof Events> = Tell extends Tell
  ? { readonly tell: Tell } & Events[Tell]
  : never;

/** What the driver hears. */
export type ConversationEvent = EventOf<keyof Events>;

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
  readonly order: LogOrder;
  /** What is asked of writes, by names that clients compare with theirs. */
  readonly enforced?: readonly string[] | undefined;
  /** One for all channels of a repository; none: no witnesses. */
  readonly witness?: WitnessSource;
  /** One for all channels of a repository. */
  readonly broadcast?: Broadcast;
  /** One for all channels of a repository: signs receipts. */
  readonly receipts: ReceiptDesk;
  /** Asked once of every sound new batch (law 7). */
  readonly gate?: Gate;
  /** Keeps pieces back of chains that a server had accepted before it lost them. */
  readonly staging?: Staging;
  /** Why a record is not taken, before anybody looks into it. */
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
  /** Would a login help against `unknown-session`, `expired-session` (yes)? After one, say no: the rest is written again. */
  readonly canRenew?: boolean;
  /** Bytes that the server may send before credit comes; default `limits.windowBytes`. */
  readonly windowBytes?: number;
  /** Is there no memory for more? Then a repository that gets some is left: `memory-full`. */
  readonly isFull?: (() => boolean) | undefined;
}

/**
 * Why a record is not taken: a credential, or a batch of a chain. Of a credential
 * that is not wanted before something has come back nobody is told.
 */
export type Wants = (arrival: Arrival, chain: string) => Refusal | undefined;

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
  /** Is there memory for more of what is asked on a channel? Asked before each slice: an audit takes some for each item. */
  readonly hasRoom?: (channel: number) => boolean;
  readonly budget?: PartBudget;
  readonly windowBytes?: number;
}
