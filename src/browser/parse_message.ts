/**
 * What arrives between tabs and owners, checked: `messages.ts` as code.
 *
 * A message is a structured clone, so it is plain data of our own already;
 * it is looked at and handed on, never copied.
 *
 * Architecture invariant: nothing from outside is unbounded (law 10). A page of
 * the same origin is trusted with the data, not with our memory or our types.
 *
 * @module
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
  type Envelope,
  type OwnerMessage,
  type TabMessage,
  type TabRecord,
  TABS_VERSION,
} from "./messages.ts";

/** Says whether a value is as it must be. */
type Check = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Check>>;

/** What was said, and by which side. */
export type Parsed =
  | {
    readonly side: "tab";
    readonly envelope: Envelope & { message: TabMessage };
  }
  | {
    readonly side: "owner";
    readonly envelope: Envelope & { message: OwnerMessage };
  }
  | {
    readonly side: "other-version";
    readonly from: string;
    /** Whom it is for, where it says so in the way of all builds. */
    readonly to: string | undefined;
  };

const anything: Check = () => true;
const flag: Check = (value) => typeof value === "boolean";
const count: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0;
const bytes = bytesUpTo(limits.batchBytesMax);

function bytesUpTo(lengthMax: number): Check {
  return (value) => value instanceof Uint8Array && value.length <= lengthMax;
}

function text(lengthMax: number): Check {
  return (value) => typeof value === "string" && value.length <= lengthMax;
}

function bytesOf(length: number): Check {
  return (value) => value instanceof Uint8Array && value.length === length;
}

function oneOf(...words: readonly string[]): Check {
  return (value) => words.includes(value as string);
}

function maybe(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function list(check: Check, lengthMax: number): Check {
  return (value) =>
    Array.isArray(value) && value.length <= lengthMax &&
    // Unlike `every`, it looks at holes, too.
    value.findIndex((one) => !check(one)) < 0;
}

/** What is handed on whole has nothing but these fields. */
function exactly<T>(fields: Readonly<Record<keyof T, Check>>): Check {
  const fits = shape(fields);
  return (value) =>
    fits(value) &&
    // `fits` has seen that it is an object.
    Object.keys(value as object).every((key) => Object.hasOwn(fields, key));
}

function shape(fields: Fields): Check {
  const entries = Object.entries(fields);
  return (value) =>
    typeof value === "object" && value !== null &&
    entries.every(([name, check]) =>
      check((value as Readonly<Record<string, unknown>>)[name])
    );
}

const name = text(limits.nameCharsMax);
const id = text(limits.idBytesMax);
const words = text(limits.tabTextMax);
const chain: Check = (value) =>
  typeof value === "string" && value.length === 40;
const mode = oneOf("default", "trusted", "fast");
const point = shape({ address: count, crc: count });
const failure = { code: id, message: words };
const chains = list(
  (value) =>
    Array.isArray(value) && value.length === 2 && chain(value[0]) &&
    count(value[1]),
  limits.tabListMax,
);
const record = shape({
  kind: oneOf(
    "certificate",
    "resolution",
    "revocation",
    "signed",
    "unsigned",
    "withdrawal",
  ),
  bytes,
});
const records = list(record, limits.tabListMax);
/** Are these records of a log? */
export function isRecords(value: unknown): value is readonly TabRecord[] {
  return records(value);
}

const file = shape({
  name: id,
  bytes: (value) => value instanceof Uint8Array || value instanceof Blob,
});
const certificates = list(
  bytes,
  limits.pastCertificatesMax + limits.certificatesMax,
);
const session = shape({
  user: id,
  publicKey: bytesOf(32),
  key: anything,
  certificate: maybe(bytes),
  others: certificates,
});
const connect = shape({
  address: words,
  session: anything,
  login: maybe(words),
  renew: maybe(flag),
});
const number: Check = Number.isFinite;
const date = maybe((value) => value instanceof Date && number(value.getTime()));
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
  clockOffsetMs: maybe(number),
});
const peer = exactly<PresentPeer>({
  peer: Number.isSafeInteger,
  user: id,
  bytes: bytesUpTo(limits.presenceBytesMax),
});
const databaseFields: Fields = {
  storage: storageStatus,
  connection: maybe(shape({ address: words, status: connectionStatus })),
  repositories: list(name, limits.tabListMax),
  tabs: list(id, limits.tabsMax),
  session: maybe(session),
};
const syncFields: Fields = {
  repository: name,
  status: syncStatus,
  acknowledged: chains,
  others: list(peer, limits.presencePeersMax + limits.tabsMax),
};
const args = list(anything, 16);

const tabMessages: Readonly<Record<TabMessage["kind"], Fields>> = {
  start: { name: id },
  yield: {},
  freeze: {},
  resume: {},
  steal: {},
  hello: {
    wishes: shape({ user: id, rootKey: maybe(id), mode: maybe(mode) }),
    isHidden: flag,
    chains: list(
      (value) =>
        Array.isArray(value) && value.length === 2 && name(value[0]) &&
        chain(value[1]),
      limits.tabChainsMax,
    ),
    session: maybe(session),
    connect: maybe(connect),
  },
  open: {
    call: count,
    repository: name,
    at: maybe(point),
    life: maybe(id),
    chain: maybe(chain),
    left: maybe(list(chain, limits.tabChainsMax)),
  },
  read: { repository: name, from: count },
  write: { repository: name, seq: count, records },
  close: { repository: name },
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
      "retryConnection",
      "sign",
      "tap",
      "verify",
      "writeFile",
    ),
    args,
  },
  reply: { ask: count, failure: maybe(shape(failure)) },
  present: {
    repository: name,
    bytes: bytesUpTo(limits.presenceBytesMax),
  },
  visibility: { isHidden: flag },
  ping: { ping: count },
  goodbye: {},
};

const ownerMessages: Readonly<Record<OwnerMessage["kind"], Fields>> = {
  announce: {},
  welcome: {
    rootKey: bytesOf(32),
    mode,
    session,
    report: shape(databaseFields),
  },
  rejected: failure,
  opened: {
    call: count,
    repository: name,
    failure: maybe(shape(failure)),
    image: maybe(list(file, limits.tabListMax)),
    at: point,
    life: maybe(id),
    chain: maybe(chain),
    lastId: maybe(bytesOf(32)),
    known: chains,
    // Only what cannot be opened stands nowhere.
    sync: shape({ ...syncFields, status: maybe(syncStatus) }),
  },
  records: { repository: name, from: count, next: point, records },
  acknowledged: { repository: name, seq: count },
  declined: { repository: name, seq: count, end: maybe(count), ...failure },
  reload: { repository: name },
  deleted: { repository: name },
  database: databaseFields,
  sync: syncFields,
  result: { call: count, failure: maybe(shape(failure)) },
  ask: { ask: count, what: oneOf("credentials", "login"), args },
  frames: {
    frames: list(
      shape({ at: count, way: oneOf("in", "out"), kind: id, bytes: count }),
      limits.tabFramesMax,
    ),
  },
  overwritten: { repository: name },
  pong: { ping: count },
};

const receivers = list(id, limits.tabsMax);
const envelopeOf = shape({
  from: id,
  to: maybe((value) => id(value) || receivers(value)),
  term: count,
});
const stranger = shape({ from: id, sheaf: count });
const tabChecks = checksOf(tabMessages);
const ownerChecks = checksOf(ownerMessages);

function checksOf(
  messages: Readonly<Record<string, Fields>>,
): Map<string, Check> {
  return new Map(
    Object.entries(messages).map(([kind, fields]) => [kind, shape(fields)]),
  );
}

/** A repository that is open stands somewhere. */
function isWhole(message: OwnerMessage): boolean {
  return message.kind !== "opened" || message.failure !== undefined ||
    message.sync.status !== undefined;
}

/** Reads what arrived; `undefined` where it is no message of ours. */
export function parseEnvelope(data: unknown): Parsed | undefined {
  if (!stranger(data)) return undefined;
  const envelope = data as Envelope; // Its fields are looked at one by one below.
  const { from, sheaf } = envelope;
  if (sheaf !== TABS_VERSION) {
    const to = typeof envelope.to === "string" && id(envelope.to)
      ? envelope.to
      : undefined;
    return { side: "other-version", from, to };
  }
  if (!envelopeOf(data) || !shape({ kind: id })(envelope.message)) {
    return undefined;
  }
  const { message } = envelope;
  if (tabChecks.get(message.kind)?.(message)) {
    return {
      side: "tab",
      envelope: envelope as Envelope & { message: TabMessage },
    };
  }
  if (ownerChecks.get(message.kind)?.(message)) {
    const said = message as OwnerMessage; // Its fields were just checked.
    return !isWhole(said) ? undefined : {
      side: "owner",
      envelope: envelope as Envelope & { message: OwnerMessage },
    };
  }
  return undefined;
}
