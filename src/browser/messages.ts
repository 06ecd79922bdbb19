/**
 * What tabs and the owner of a database say to each other; docs/tabs.md is the
 * protocol. Types only: `parse_message.ts` makes them of what arrives.
 *
 * Everything here survives a structured clone. Bytes are `Uint8Array`s; images
 * are transferred to the owner's own page and travel as `Blob`s to others.
 *
 * @module
 */

import type { Frame } from "../db/internals.ts";

/** Version of this protocol; pages of other versions do not share an owner. */
export const TABS_VERSION = 1;

/** Every message on every route. */
export interface Envelope {
  /** {@linkcode TABS_VERSION} of the sender. */
  readonly sheaf: number;
  /** Id of the sender: a tab's, or an owner's. */
  readonly from: string;
  /** Id of the receiver, or of several; `undefined` is everybody. */
  readonly to: string | readonly string[] | undefined;
  /** Of the owner that speaks or is spoken to; 0 while the sender knows none. */
  readonly term: number;
  readonly message: TabMessage | OwnerMessage;
}

/** What a tab says. */
export type TabMessage =
  | Start
  | Yield
  | Freeze
  | Resume
  | Steal
  | Hello
  | Open
  | Read
  | WriteRecords
  | CloseRepository
  | Call
  | Reply
  | Present
  | Visibility
  | Ping
  | Goodbye;

/** What an owner says. */
export type OwnerMessage =
  | Announce
  | Welcome
  | Rejected
  | Opened
  | Records
  | Acknowledged
  | Declined
  | Reload
  | Deleted
  | DatabaseReport
  | SyncReport
  | Result
  | Ask
  | Frames
  | Overwritten
  | Pong;

/** A coded error as data. */
export interface Failure {
  /** An `ErrorCode`. */
  readonly code: string;
  readonly message: string;
}

/** How a tab wants the database; must fit what the owner has. */
export interface Wishes {
  readonly user: string;
  /** 64 hexadecimal digits. */
  readonly rootKey?: string | undefined;
  readonly mode?: "default" | "trusted" | "fast" | undefined;
}

/** The first word of a page to the worker that it started. */
export interface Start {
  readonly kind: "start";
  /** Which database. */
  readonly name: string;
}

/** A page to its worker: close and let another page's worker be the owner. */
export interface Yield {
  readonly kind: "yield";
}

/** A page to its worker: both are about to be frozen; let go of the files at once. */
export interface Freeze {
  readonly kind: "freeze";
}

/** A page to its worker: the page is back; stand in line again. */
export interface Resume {
  readonly kind: "resume";
}

/** A page to its worker: the owner does not answer; take its place. */
export interface Steal {
  readonly kind: "steal";
}

/** The first word of a tab to an owner, and after every change of owner. */
export interface Hello {
  readonly kind: "hello";
  readonly wishes: Wishes;
  readonly isHidden: boolean;
  /** Every chain that it holds: nobody else may have them. */
  readonly chains: readonly (readonly [repository: string, chain: string])[];
  /** The device's session, as the last owner told it: fresh files go on with it where all were lost. */
  readonly session?: SessionReport | undefined;
  /** It called `connect()`: the owner connects so, unless it is connected. */
  readonly connect?: ConnectRequest | undefined;
}

/** `connect()` of a tab. Functions stay there and are asked for by `ask`. */
export interface ConnectRequest {
  readonly address: string;
  /** Credentials as data; `"ask"`: a function of the tab gives them. */
  readonly session: unknown;
  /** An address; `"ask"`: a function of the tab logs in. */
  readonly login?: string | undefined;
  readonly renew?: boolean | undefined;
}

/** Opens a repository, or goes on with it under another owner. */
export interface Open {
  readonly kind: "open";
  readonly call: number;
  readonly repository: string;
  /** What the tab has of the owner's log; absent the first time. */
  readonly at?: LogPoint | undefined;
  /** The `life` of the log that it has, as it was opened. */
  readonly life?: string | undefined;
  /** The chain that it writes, 40 characters; absent: it wants one. */
  readonly chain?: string | undefined;
  /** Chains of which pages that are gone have left something to hand in: nobody gets them. */
  readonly left?: readonly string[] | undefined;
}

/** An address in the owner's log, and proof that it is the same log. */
export interface LogPoint {
  readonly address: number;
  /** Checksum of the last record before it, as the log has it. */
  readonly crc: number;
}

/** Asks for records from an address on. */
export interface Read {
  readonly kind: "read";
  readonly repository: string;
  readonly from: number;
}

/** A record of a log, as it stands there. */
export interface TabRecord {
  readonly kind:
    | "certificate"
    | "resolution"
    | "revocation"
    | "signed"
    | "unsigned"
    | "withdrawal";
  readonly bytes: Uint8Array;
}

/** What the tab's log got of the tab itself, in order: sealed batches, and resolutions of refusals. */
export interface WriteRecords {
  readonly kind: "write";
  readonly repository: string;
  /** Grows by one with each `write` of this tab in this repository. */
  readonly seq: number;
  readonly records: readonly TabRecord[];
}

/** The tab has no more use for a repository. */
export interface CloseRepository {
  readonly kind: "close";
  readonly repository: string;
}

/** Asks the owner to do something. */
export interface Call {
  readonly kind: "call";
  readonly call: number;
  readonly repository?: string | undefined;
  readonly method: CallMethod;
  readonly args: readonly unknown[];
}

/** What an owner can be asked to do. */
export type CallMethod =
  | "audit"
  | "checkpoint"
  | "connect"
  | "deleteRepository"
  | "disconnect"
  | "durable"
  | "handIn"
  | "overwritten"
  | "readFile"
  | "retryConnection"
  | "sign"
  | "tap"
  | "verify"
  | "writeFile";

/** The answer to an `ask`. */
export interface Reply {
  readonly kind: "reply";
  readonly ask: number;
  readonly value?: unknown;
  readonly failure?: Failure | undefined;
}

/** What the tab shows to others; empty: nothing. */
export interface Present {
  readonly kind: "present";
  readonly repository: string;
  readonly bytes: Uint8Array;
}

/** Its page was hidden or shown. */
export interface Visibility {
  readonly kind: "visibility";
  readonly isHidden: boolean;
}

/** Is the owner alive? */
export interface Ping {
  readonly kind: "ping";
  readonly ping: number;
}

/** The page goes away. */
export interface Goodbye {
  readonly kind: "goodbye";
}

/** There is an owner. */
export interface Announce {
  readonly kind: "announce";
}

/** What a tab needs to know of the database. */
export interface Welcome {
  readonly kind: "welcome";
  /** 32 bytes. */
  readonly rootKey: Uint8Array;
  readonly mode: "default" | "trusted" | "fast";
  readonly session: SessionReport;
  readonly report: DatabaseReport;
}

/** The device's session. */
export interface SessionReport {
  readonly user: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** A `CryptoKey` that cannot be read, or 32 bytes where the browser has no Ed25519. */
  readonly key: unknown;
  readonly certificate?: Uint8Array | undefined;
  readonly others: readonly Uint8Array[];
}

/** The tab cannot share this owner. */
export interface Rejected extends Failure {
  readonly kind: "rejected";
}

/** A file of the repository's folder. */
export interface ImageFile {
  /** The last segment of its name. */
  readonly name: string;
  readonly bytes: Uint8Array | Blob;
}

/** A repository is open for this tab. */
export interface Opened {
  readonly kind: "opened";
  readonly call: number;
  readonly repository: string;
  readonly failure?: Failure | undefined;
  /** For a tab that has nothing. */
  readonly image?: readonly ImageFile[] | undefined;
  /** What the image, or the tab, has of the log. Address 0: the tab reads it all, and skips what it knows. */
  readonly at: LogPoint;
  /** Another one whenever a repository of this name was deleted; absent: none was. */
  readonly life?: string | undefined;
  /** The chain that the tab writes; absent: it begins one. */
  readonly chain?: string | undefined;
  /** Id of that chain's last commit, 32 bytes. */
  readonly lastId?: Uint8Array | undefined;
  /** Chain and count of all that the owner has. */
  readonly known: readonly (readonly [chain: string, count: number])[];
  readonly sync: SyncReport;
}

/** Records of the log, in order. */
export interface Records {
  readonly kind: "records";
  readonly repository: string;
  readonly from: number;
  readonly next: LogPoint;
  readonly records: readonly TabRecord[];
}

/** Everything up to `seq` is durable. */
export interface Acknowledged {
  readonly kind: "acknowledged";
  readonly repository: string;
  readonly seq: number;
}

/**
 * What was written as `seq` was not taken. Code `gap`: something before it is
 * missing. Code `chain`: its chain does not go on. Any other code is final.
 */
export interface Declined extends Failure {
  readonly kind: "declined";
  readonly repository: string;
  readonly seq: number;
  /** With `chain`: where the log ends; who has read it up to there knows all that was taken. */
  readonly end?: number | undefined;
}

/** The owner's files are others now: open again with what you have. */
export interface Reload {
  readonly kind: "reload";
  readonly repository: string;
}

/** What the tab has of it was deleted: it closes it. */
export interface Deleted {
  readonly kind: "deleted";
  readonly repository: string;
}

/** State of the database; whenever it changed. */
export interface DatabaseReport {
  readonly kind: "database";
  /** `StorageStatus` of `src/db` as data. */
  readonly storage: unknown;
  /** `ConnectionStatus` as data; absent while there is no connection. */
  readonly connection?:
    | { readonly address: string; readonly status: unknown }
    | undefined;
  readonly repositories: readonly string[];
  /** Ids of the tabs that share this owner, the owner's own page first. */
  readonly tabs: readonly string[];
  /** The session, when it changed. */
  readonly session?: SessionReport | undefined;
}

/** State of one repository between the device and its server; whenever it changed. */
export interface SyncReport {
  readonly kind: "sync";
  readonly repository: string;
  /** `SyncStatus` without its refusals, as data. */
  readonly status: unknown;
  /** Chain and count of what the server has durably. */
  readonly acknowledged: readonly (readonly [chain: string, count: number])[];
  /** Who else is present: peers as `sync/presence.ts` has them, and other tabs of this device. */
  readonly others: readonly unknown[];
}

/** What became of a `call`. */
export interface Result {
  readonly kind: "result";
  readonly call: number;
  readonly value?: unknown;
  readonly failure?: Failure | undefined;
}

/** Asks a tab for what only its code can give. */
export interface Ask {
  readonly kind: "ask";
  readonly ask: number;
  readonly what: "credentials" | "login";
  readonly args: readonly unknown[];
}

/** What was said on the connection, for a tab that has tapped it. */
export interface Frames {
  readonly kind: "frames";
  readonly frames: readonly Frame[];
}

/** Own edits lost: there may be some to take by the call `overwritten`. */
export interface Overwritten {
  readonly kind: "overwritten";
  readonly repository: string;
}

/** It is alive. */
export interface Pong {
  readonly kind: "pong";
  readonly ping: number;
}
