/**
 * Messages: the grammar of frames, as docs/protocol.md has it. A frame is its
 * kind's byte and the fields of its message.
 */

import type { Arrival } from "../repo/admission/arrival.ts";
import type { VersionVector } from "../repo/commit/version_vector.ts";
import { travels } from "../repo/log/format.ts";
import { limits } from "../src/base/limits.ts";
import {
  bytes,
  count,
  type Field,
  type Fields,
  fixed,
  flag,
  flagged,
  type Said,
  textUpTo,
  u32,
  u48,
  u8,
  unfit,
} from "../src/base/layout.ts";
import {
  certificates,
  chain,
  type Cursor,
  cursor,
  receipt,
  text,
  texts,
  vector,
} from "./frame_fields.ts";

import { progress } from "./progress.ts";

/** The wire version that this code speaks. */
export const wireVersion = 2;

/**
 * What a side can do beyond this version, a bit each: what it knows, and what the
 * other one must know, too. None has been needed yet.
 */
export const features = { knows: 0, needs: 0 } as const;

/** What the other side needs and this one does not know, as bits; 0: nothing. */
export function missingFeatures({ needs }: { readonly needs: number }): number {
  return (needs & ~features.knows) >>> 0;
}

/** Frames from this kind on are skipped by who does not know them. */
export const skippedFrameMin = 0x80;

/** A record of a log on the wire. */
export type WireRecord = Arrival;

/** What a client has, told in one of two ways. */
export type Start =
  | { readonly from: "cursor"; readonly cursor: Cursor }
  | { readonly from: "vector"; readonly vector: VersionVector };

/** What an audit asks. */
export type AuditQuery =
  | { readonly ask: "summary" }
  | {
    readonly ask: "ids";
    readonly chain: string;
    readonly numbers: readonly number[];
  }
  | { readonly ask: "state" | "items"; readonly prefix: readonly number[] };

const start: Field<Start> = {
  says: "0 | cursor, or 1 | vector",
  write(writer, start) {
    flag.write(writer, start.from === "vector");
    if (start.from === "cursor") cursor.write(writer, start.cursor);
    else vector.write(writer, start.vector);
  },
  read: (reader) =>
    flag.read(reader)
      ? { from: "vector", vector: vector.read(reader) }
      : { from: "cursor", cursor: cursor.read(reader) },
};

/** The kind of a record: as in the log. */
const recordKind: Field<number> = {
  ...u8,
  read(reader) {
    const kind = reader.u8();
    if (!travels(kind)) throw unfit("a record is of a kind that stays at home");
    return kind;
  },
};

const records: Field<readonly WireRecord[]> = {
  says: "varint | (kind u8 | bytes)*",
  write(writer, records) {
    writer.varint(records.length);
    for (const record of records) {
      recordKind.write(writer, record.kind);
      bytes.write(writer, record.bytes);
    }
  },
  /** Records are copied out where they are small, so that a parked one does not keep its frame. */
  read(reader) {
    const length = reader.varint();
    const records: WireRecord[] = [];
    for (let i = 0; i < length; i++) {
      const kind = recordKind.read(reader);
      const view = bytes.read(reader);
      const isMost = view.length * 2 > reader.end;
      records.push({ kind, bytes: isMost ? view : view.slice() });
    }
    return records;
  },
};

const QUERIES = ["summary", "ids", "state", "items"] as const;
/** Half-bytes of a hash. */
const PREFIX_MAX = 64;

const query: Field<AuditQuery> = {
  says: "as below",
  write(writer, query) {
    writer.u8(QUERIES.indexOf(query.ask));
    if (query.ask === "ids") {
      chain.write(writer, query.chain);
      writer.varint(query.numbers.length);
      for (const number of query.numbers) writer.varint(number);
    } else if (query.ask !== "summary") {
      writer.u8(query.prefix.length);
      for (const half of query.prefix) writer.u8(half);
    }
  },
  read(reader) {
    const ask = QUERIES[reader.u8()];
    if (ask === undefined) throw unfit("an audit asks for something unknown");
    if (ask === "summary") return { ask };
    if (ask === "ids") {
      const name = chain.read(reader);
      const length = reader.varint();
      if (length > limits.auditNumbersMax) throw unfit("too many numbers");
      const numbers = Array.from({ length }, () => reader.varint());
      return { ask, chain: name, numbers };
    }
    const depth = reader.u8();
    const prefix = [...reader.take(depth)];
    if (depth > PREFIX_MAX || prefix.some((half) => half > 15)) {
      throw unfit("a prefix is not made of half-bytes");
    }
    return { ask, prefix };
  },
};

const nonce = fixed(32);
const signature = fixed(64);
const channel = count;

/** A kind of frames: its byte, and the fields behind it. */
function frame<F extends Fields>(
  kind: number,
  fields: F,
): { readonly kind: number; readonly fields: F } {
  return { kind, fields };
}

/** All frames. */
export const frames = {
  /** The server's first word. It begins with the wire's version, as `prove` does. */
  hello: frame(0x01, {
    knows: u32,
    needs: u32,
    nonce,
    rootKey: fixed(32),
    name: textUpTo(limits.wireTextBytesMax),
  }),
  /** The client shows who it is. */
  prove: frame(0x02, {
    knows: u32,
    needs: u32,
    nonce,
    window: count,
    certificates,
    signature,
  }),
  /** The server shows who it is; `clock`: its wall clock. */
  welcome: frame(0x03, {
    /** The features that both sides know. */
    features: u32,
    window: count,
    heartbeatMs: count,
    clock: u48,
    certificates,
    signature,
  }),
  /** The client opens a channel. */
  open: frame(0x10, {
    channel,
    name: textUpTo(limits.nameSegmentsMax * 65),
    genesisId: fixed(32),
    start,
  }),
  /** The server opens it, too; `vector`: what it has, absent where the cursor stands; `enforced`: what it asks of writes. */
  opened: frame(0x11, {
    channel,
    rights: u8,
    epoch: fixed(16),
    commits: count,
    vector: flagged(vector),
    enforced: texts,
  }),
  /** What a client has, after its cursor was refused. */
  vector: frame(0x12, { channel, vector }),
  /** A channel that cannot be. */
  declined: frame(0x13, { channel, code: text, detail: text }),
  /** The client closes a channel. */
  close: frame(0x14, { channel }),

  /** Records of a log, in its order; `progress`, from the server only: everything before its place has been sent. */
  records: frame(0x20, { channel, records, progress: flagged(progress) }),
  /** A piece of a record that is too large for a frame; offset 0 begins anew. */
  part: frame(0x21, {
    channel,
    kind: recordKind,
    total: count,
    offset: count,
    bytes,
  }),
  /** Admitted or refused, and durable, up to this record; `receipt`: of what was admitted of the session's own chains. */
  ack: frame(0x22, { channel, sequence: count, receipt: flagged(receipt) }),
  /** A record was refused. */
  refuse: frame(0x23, {
    channel,
    sequence: count,
    /** 40 zeros where the record was no batch. */
    chain,
    /** How many commits of that chain the server has: what stays. */
    from: count,
    /** The first commit that was refused. */
    number: count,
    /** How many were, from there on: more than one where it is not the fault of one. */
    count,
    reason: text,
    rule: text,
    detail: text,
    kept: flag,
  }),
  /** So many more bytes may be sent. */
  credit: frame(0x24, { bytes: count }),
  /** Everything that there was has been sent; `receipt`, once behind a vector: of the session's own chains. */
  live: frame(0x25, {
    channel,
    commits: count,
    progress: flagged(progress),
    receipt: flagged(receipt),
  }),
  /** What the server signs of its past: see witness.ts. */
  witness: frame(0x26, { channel, witness: bytes }),
  /** A witness of what there was, its signer's certificates, and the summary that its digest is of. */
  proof: frame(0x27, {
    channel,
    statement: bytes,
    certificates,
    summary: bytes,
  }),

  /** Own presence. */
  present: frame(0x30, { channel, bytes }),
  /** Another peer's presence. */
  presence: frame(0x31, { channel, peer: count, user: text, bytes }),

  /** Are you there? */
  ping: frame(0x40, { token: u32 }),
  /** Yes. */
  pong: frame(0x41, { token: u32 }),
  /** A question of an audit. */
  audit: frame(0x50, { channel, question: count, query }),
  /** Its answer: bytes that only the question explains. */
  audited: frame(0x51, { channel, question: count, answer: bytes }),
  /** The conversation ends. */
  failed: frame(0x60, { code: text, detail: text }),
  /** The server closes; come back after this long. */
  goodbye: frame(0x61, { waitMs: count }),
} as const;

type Frames = typeof frames;

/** The message of one kind, or of one of several. */
export type MessageOf<Is extends keyof Frames> = Is extends Is
  ? { readonly is: Is } & Said<Frames[Is]["fields"]>
  : never;

/** Everything that a frame can say. */
export type Message = MessageOf<keyof Frames>;

/** A frame that says nothing here: a first one in another version of the wire, or one that may be skipped. */
export type Foreign =
  | { readonly is: "other-version"; readonly version: number }
  | { readonly is: "skipped" };

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
