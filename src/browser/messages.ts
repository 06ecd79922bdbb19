/**
 * What tabs and the owner of a database say to each other; docs/tabs.md is the
 * protocol. Each message is declared once, as the checks of its fields: types
 * follow from them, and `route.ts` reads what arrives by them.
 *
 * Everything here survives a structured clone. Bytes are `Uint8Array`s; images
 * are transferred to the owner's own page and travel as `Blob`s to others.
 *
 * Architecture invariant: nothing from outside is unbounded (law 10). A page of
 * the same origin is trusted with the data, not with our memory or our types.
 */

import { limits } from "../base/limits.ts";
import type {
  ChannelStatus,
  Incident,
  PresentPeer,
  SyncProgress,
  SyncReason,
  Unsent,
} from "../db/channel.ts";
import type { ConnectionStatus } from "../db/connect.ts";
import type { StorageIncident, StorageStatus } from "../db/storage_status.ts";
import {
  anything,
  by,
  bytesOf,
  bytesUpTo,
  type Checked,
  count,
  exactly,
  type Fields,
  flag,
  integer,
  list,
  maybe,
  number,
  oneOf,
  pair,
  type Shape,
  shape,
  text,
} from "./checks.ts";

/** Version of this protocol; pages of other versions do not share an owner. */
export const TABS_VERSION = 2;

/** A name of a user, tab or file, or a code. */
export const id = text(limits.idBytesMax);
const name = text(limits.nameCharsMax);
const words = text(limits.tabTextMax);
const bytes = bytesUpTo(limits.batchBytesMax);
const chain = text(40, 40);
const mode = oneOf("default", "trusted", "fast");
const args = list(anything, 16);

/** A coded error as data; `code`: an `ErrorCode`. */
const failure = { code: id, message: words };

/** An address in the owner's log, and the checksum of the last record before it: proof that it is the same log. */
const point = shape({ address: count, crc: count });

/** Chains, and how many of their commits. */
const chains = list(pair(chain, count), limits.tabListMax);

/** A record of a log, as it stands there. */
const record = shape({
  /** What it is: a log's number. */
  kind: count,
  bytes,
});

/** Are these records of a log? */
export const isRecords = list(record, limits.tabListMax);

/** A file of the repository's folder, by the last segment of its name. */
const file = shape({
  name: id,
  bytes: by<Uint8Array | Blob>((value) =>
    value instanceof Uint8Array || value instanceof Blob
  ),
});

/** The device's session. */
const session = shape({
  user: id,
  publicKey: bytesOf(32),
  /** A `CryptoKey` that cannot be read, or 32 bytes where the browser has no Ed25519. */
  key: anything,
  certificate: maybe(bytes),
  others: list(bytes, limits.pastCertificatesMax + limits.certificatesMax),
});

/** `connect()` of a tab. Functions stay there and are asked for by `ask`. */
const connect = shape({
  address: words,
  /** Credentials as data; `"ask"`: a function of the tab gives them. */
  session: anything,
  /** An address; `"ask"`: a function of the tab logs in. */
  login: maybe(words),
  renew: maybe(flag),
});

/** How a tab wants the database; must fit what the owner has. */
const wishes = shape({
  user: id,
  /** 64 hexadecimal digits. */
  rootKey: maybe(id),
  mode: maybe(mode),
  salt: maybe(flag),
});

const date = maybe(
  by<Date>((value) => value instanceof Date && number(value.getTime())),
);
const reason = maybe(exactly<SyncReason>({ code: id, message: words }));
const storageStatus = exactly<StorageStatus>({
  backend: id,
  persisted: flag,
  quotaBytes: maybe(number),
  usedBytes: number,
  isNearlyFull: flag,
  unsyncedBytes: number,
  open: list(name, limits.tabListMax),
  incidents: list(
    exactly<StorageIncident>({ code: id, at: number, message: words }),
    limits.incidentsMax,
  ),
});
const connectionStatus = exactly<ConnectionStatus>({
  state: id,
  reason,
  attempts: count,
  retryAt: date,
});
const syncStatus = exactly<ChannelStatus>({
  state: id,
  reason,
  unsent: exactly<Unsent>({ commits: count, bytes: number, oldest: date }),
  progress: maybe(exactly<SyncProgress>({ done: number, total: number })),
  equalAt: date,
  incidents: list(
    exactly<Incident>({
      kind: id,
      at: date,
      message: words,
      details: anything,
    }),
    limits.incidentsMax,
  ),
  enforced: maybe(list(words, limits.enforcedMax)),
  clockOffsetMs: maybe(number),
});
const peer = exactly<PresentPeer>({
  peer: integer,
  user: id,
  bytes: bytesUpTo(limits.presenceBytesMax),
});

const database = {
  storage: storageStatus,
  /** Absent while there is no connection. */
  connection: maybe(shape({ address: words, status: connectionStatus })),
  repositories: list(name, limits.tabListMax),
  /** Ids of the tabs that share this owner, the owner's own page first. */
  tabs: list(id, limits.tabsMax),
  /** When it changed. */
  session: maybe(session),
};

const sync = {
  repository: name,
  status: syncStatus,
  /** What the server has durably. */
  acknowledged: chains,
  /** Once the owner's log was followed up to here. */
  to: count,
  /** Who else is present: peers as `sync/presence.ts` has them, and other tabs of this device. */
  others: list(peer, limits.presencePeersMax + limits.tabsMax),
};

/** What a tab says. */
export const tabMessages = {
  /** The first word of a page to the worker that it started: which database. */
  start: { name: id },
  /** A page to its worker: close and let another page's worker be the owner. */
  yield: {},
  /** A page to its worker: both are about to be frozen; let go of the files at once. */
  freeze: {},
  /** A page to its worker: the page is back; stand in line again. */
  resume: {},
  /** A page to its worker: the owner does not answer; take its place. */
  steal: {},
  /** The first word of a tab to an owner, and after every change of owner. */
  hello: {
    wishes,
    isHidden: flag,
    /** Every chain that it holds, with its repository: nobody else may have them. */
    chains: list(pair(name, chain), limits.tabChainsMax),
    /** As the last owner told it: fresh files go on with it where all were lost. */
    session: maybe(session),
    /** It called `connect()`: the owner connects so, unless it is connected. */
    connect: maybe(connect),
  },
  /** Opens a repository, or goes on with it under another owner. */
  open: {
    call: count,
    repository: name,
    /** What the tab has of the owner's log; absent the first time. */
    at: maybe(point),
    /** The `life` of the log that it has, as it was opened. */
    life: maybe(id),
    /** The chain that it writes; absent: it wants one. */
    chain: maybe(chain),
    /** Chains of which pages that are gone have left something to hand in: nobody gets them. */
    left: maybe(list(chain, limits.tabChainsMax)),
    /** Its schemas have rich kinds: so will what others send. */
    rich: maybe(flag),
  },
  /**
   * What the tab's log got of the tab itself, in order: sealed batches, and resolutions of refusals.
   * `seq` grows by one with each `write` of this tab in this repository.
   */
  write: { repository: name, seq: count, records: isRecords },
  /** The tab has no more use for a repository. */
  close: { repository: name },
  /** Asks the owner to do something. */
  call: {
    call: count,
    repository: maybe(name),
    method: oneOf(
      "audit",
      "checkpoint",
      "connect",
      "deleteRepository",
      "disconnect",
      "durable",
      "handIn",
      "overwritten",
      "readFile",
      "receipt",
      "retryConnection",
      "sign",
      "tap",
      "verify",
      "writeFile",
    ),
    args,
  },
  /** The answer to an `ask`. */
  reply: { ask: count, value: anything, failure: maybe(shape(failure)) },
  /** What the tab shows to others; empty: nothing. */
  present: { repository: name, bytes: bytesUpTo(limits.presenceBytesMax) },
  /** Its page was hidden or shown. */
  visibility: { isHidden: flag },
  /** Its page has a network again, or none. */
  network: { isThere: flag },
  /** Is the owner alive? */
  ping: { ping: count },
  /** The page goes away. */
  goodbye: {},
} satisfies Messages;

/** What an owner says. */
export const ownerMessages = {
  /** There is an owner. */
  announce: {},
  /** What a tab needs to know of the database. */
  welcome: {
    rootKey: bytesOf(32),
    mode,
    session,
    report: shape({ kind: anything, ...database }),
  },
  /** The tab cannot share this owner. */
  rejected: failure,
  /** A repository is open for this tab. */
  opened: {
    call: count,
    repository: name,
    failure: maybe(shape(failure)),
    /** For a tab that has nothing. */
    image: maybe(list(file, limits.tabListMax)),
    /** What the image, or the tab, has of the log. Address 0: the tab reads it all, and skips what it knows. */
    at: point,
    /** Another one whenever a repository of this name was deleted; absent: none was. */
    life: maybe(id),
    /** The chain that the tab writes; absent: it begins one. */
    chain: maybe(chain),
    /** Id of that chain's last commit. */
    lastId: maybe(bytesOf(32)),
    /** All that the owner has. */
    known: chains,
    /** Only what cannot be opened stands nowhere. */
    sync: shape({ ...sync, kind: anything, status: maybe(syncStatus) }),
  },
  /** Records of the log, in order. */
  records: {
    repository: name,
    from: count,
    next: point,
    records: isRecords,
  },
  /** Everything up to `seq` is durable. */
  acknowledged: { repository: name, seq: count },
  /**
   * What was written as `seq` was not taken. Code `gap`: something before it is
   * missing. Code `chain`: its chain does not go on. Any other code is final.
   * `end`, with `chain`: where the log ends; who has read it up to there knows all that was taken.
   */
  declined: { repository: name, seq: count, end: maybe(count), ...failure },
  /** The owner's files are others now: open again with what you have. */
  reload: { repository: name },
  /** What the tab has of it was deleted: it closes it. */
  deleted: { repository: name },
  /** State of the database; whenever it changed. */
  database,
  /** State of one repository between the device and its server; whenever it changed. */
  sync,
  /** What became of a `call`. */
  result: { call: count, value: anything, failure: maybe(shape(failure)) },
  /** Asks a tab for what only its code can give. */
  ask: { ask: count, what: oneOf("credentials", "login"), args },
  /** What was said on the connection, for a tab that has tapped it. */
  frames: {
    frames: list(
      shape({
        ...{ at: count, way: oneOf("in", "out"), kind: id, bytes: count },
        accepted: list(pair(chain, pair(count, count)), limits.tabFramesMax),
      }),
      limits.tabFramesMax,
    ),
  },
  /** Own edits lost: there may be some to take by the call `overwritten`. */
  overwritten: { repository: name },
  /** It is alive. */
  pong: { ping: count },
} satisfies Messages;

type Messages = Readonly<Record<string, Fields>>;

type Said<All extends Messages> = {
  [Kind in keyof All]: { readonly kind: Kind } & Shape<All[Kind]>;
};

/** What a tab says, by its kind. */
export type OfTab = Said<typeof tabMessages>;
/** What an owner says, by its kind. */
export type OfOwner = Said<typeof ownerMessages>;
export type TabMessage = OfTab[keyof OfTab];
export type OwnerMessage = OfOwner[keyof OfOwner];

export type Failure = Shape<typeof failure>;
export type Wishes = Checked<typeof wishes>;
export type ConnectRequest = Checked<typeof connect>;
export type LogPoint = Checked<typeof point>;
export type TabRecord = Checked<typeof record>;
export type ImageFile = Checked<typeof file>;
export type SessionReport = Checked<typeof session>;
export type Hello = OfTab["hello"];
export type Open = OfTab["open"];
export type WriteRecords = OfTab["write"];
export type Call = OfTab["call"];
export type CallMethod = Call["method"];
export type Welcome = OfOwner["welcome"];
export type Opened = OfOwner["opened"];
export type Records = OfOwner["records"];
export type DatabaseReport = OfOwner["database"];
export type SyncReport = OfOwner["sync"];
/** A report, or what an owner says that has none yet. */
export type Standing = Opened["sync"];
export type Ask = OfOwner["ask"];

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
