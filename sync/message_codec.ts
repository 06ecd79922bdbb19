/**
 * Frames: the bytes of messages, as the grammar of docs/protocol.md writes them.
 *
 * Every value has one form; a decoder throws `SyntaxError` and nothing else.
 * What a message may say at which time is not decided here.
 *
 * Architecture invariant: no count in a frame makes a decoder take more memory
 * than a small multiple of the frame (law 10).
 *
 * @module
 */

import { readCount } from "../repo/canonical.ts";
import { chainBytes } from "../repo/commit.ts";
import { ByteReader, ByteWriter } from "../src/base/bytes.ts";
import {
  channelAndBytes,
  type Codec,
  type Codecs,
  readBytes,
  readCertificates,
  readChain,
  readFlag,
  readQuery,
  readRecordKind,
  readRecords,
  readRest,
  readWireText,
  unfit,
  wireText,
  writeBytes,
  writeCursor,
  writeList,
  writeQuery,
  writeRecordKind,
  writeRecords,
} from "./frame_fields.ts";
import { greetings, openings } from "./greeting_codec.ts";
import { type Message, type OtherVersion, wireVersion } from "./message.ts";
import { readCursor } from "./resume.ts";

const transfers: Pick<
  Codecs,
  "records" | "part" | "ack" | "refuse" | "credit" | "live"
> = {
  records: {
    kind: 0x20,
    write(writer, { channel, records, cursor }) {
      writer.varint(channel);
      writeRecords(writer, records);
      if (cursor !== undefined) writeCursor(writer, cursor);
    },
    read: (reader) => ({
      channel: readCount(reader),
      records: readRecords(reader),
      cursor: reader.done ? undefined : readCursor(reader),
    }),
  },
  part: {
    kind: 0x21,
    write(writer, { channel, kind, total, offset, bytes }) {
      writer.varint(channel);
      writeRecordKind(writer, kind);
      writer.varint(total);
      writer.varint(offset);
      writeBytes(writer, bytes);
    },
    read(reader) {
      const channel = readCount(reader);
      const kind = readRecordKind(reader);
      const total = readCount(reader);
      const offset = readCount(reader);
      const bytes = readBytes(reader);
      if (bytes.length === 0 || offset + bytes.length > total) {
        throw unfit("a part is not inside its record");
      }
      return { channel, kind, total, offset, bytes };
    },
  },
  ack: {
    kind: 0x22,
    write(writer, { channel, sequence }) {
      writer.varint(channel);
      writer.varint(sequence);
    },
    read: (reader) => ({
      channel: readCount(reader),
      sequence: readCount(reader),
    }),
  },
  refuse: {
    kind: 0x23,
    write(writer, message) {
      writer.varint(message.channel);
      writer.varint(message.sequence);
      writer.bytes(chainBytes(message.chain));
      writer.varint(message.from);
      writer.varint(message.number);
      writer.varint(message.count);
      writer.text(wireText(message.reason));
      writer.text(wireText(message.rule));
      writer.text(wireText(message.detail));
      writer.u8(message.kept ? 1 : 0);
    },
    read: (reader) => ({
      channel: readCount(reader),
      sequence: readCount(reader),
      chain: readChain(reader),
      from: readCount(reader),
      number: readCount(reader),
      count: readCount(reader),
      reason: readWireText(reader),
      rule: readWireText(reader),
      detail: readWireText(reader),
      kept: readFlag(reader),
    }),
  },
  credit: {
    kind: 0x24,
    write: (writer, { bytes }) => writer.varint(bytes),
    read: (reader) => ({ bytes: readCount(reader) }),
  },
  live: {
    kind: 0x25,
    write(writer, { channel, commits, cursor }) {
      writer.varint(channel);
      writer.varint(commits);
      writeCursor(writer, cursor);
    },
    read: (reader) => ({
      channel: readCount(reader),
      commits: readCount(reader),
      cursor: readCursor(reader),
    }),
  },
};

const statements: Pick<
  Codecs,
  "witness" | "proof" | "present" | "presence" | "audit" | "audited"
> = {
  witness: { kind: 0x26, ...channelAndBytes("witness") },
  proof: {
    kind: 0x27,
    write(writer, { channel, witness, certificates, summary }) {
      writer.varint(channel);
      writeBytes(writer, witness);
      writeList(writer, certificates);
      writer.bytes(summary);
    },
    read: (reader) => ({
      channel: readCount(reader),
      witness: readBytes(reader),
      certificates: readCertificates(reader),
      summary: readRest(reader),
    }),
  },
  present: { kind: 0x30, ...channelAndBytes("bytes") },
  presence: {
    kind: 0x31,
    write(writer, { channel, peer, user, bytes }) {
      writer.varint(channel);
      writer.varint(peer);
      writer.text(wireText(user));
      writer.bytes(bytes);
    },
    read: (reader) => ({
      channel: readCount(reader),
      peer: readCount(reader),
      user: readWireText(reader),
      bytes: readRest(reader),
    }),
  },
  audit: {
    kind: 0x50,
    write(writer, { channel, question, query }) {
      writer.varint(channel);
      writer.varint(question);
      writeQuery(writer, query);
    },
    read: (reader) => ({
      channel: readCount(reader),
      question: readCount(reader),
      query: readQuery(reader),
    }),
  },
  audited: {
    kind: 0x51,
    write(writer, { channel, question, answer }) {
      writer.varint(channel);
      writer.varint(question);
      writer.bytes(answer);
    },
    read: (reader) => ({
      channel: readCount(reader),
      question: readCount(reader),
      answer: readRest(reader),
    }),
  },
};

const ends: Pick<Codecs, "ping" | "pong" | "failed" | "goodbye"> = {
  ping: {
    kind: 0x40,
    write: (writer, { token }) => writer.u32(token),
    read: (reader) => ({ token: reader.u32() }),
  },
  pong: {
    kind: 0x41,
    write: (writer, { token }) => writer.u32(token),
    read: (reader) => ({ token: reader.u32() }),
  },
  failed: {
    kind: 0x60,
    write(writer, { code, detail }) {
      writer.text(wireText(code));
      writer.text(wireText(detail));
    },
    read: (reader) => ({
      code: readWireText(reader),
      detail: readWireText(reader),
    }),
  },
  goodbye: {
    kind: 0x61,
    write: (writer, { waitMs }) => writer.varint(waitMs),
    read: (reader) => ({ waitMs: readCount(reader) }),
  },
};

const codecs: Codecs = {
  ...greetings,
  ...openings,
  ...transfers,
  ...statements,
  ...ends,
};

const NAME_OF = new Map(
  Object.entries(codecs).map(([is, { kind }]) =>
    [kind, is as Message["is"]] as const
  ),
);

/** The frame of a message. */
export function encodeMessage(message: Message): Uint8Array {
  const writer = new ByteWriter(128);
  const codec = codecs[message.is] as Codec<Message>;
  writer.u8(codec.kind);
  codec.write(writer, message);
  return writer.view();
}

/**
 * The message of a frame; `SyntaxError` when it is none. A greeting of another
 * version says so and no more: its body is that version's business.
 */
export function decodeMessage(frame: Uint8Array): Message | OtherVersion {
  const reader = new ByteReader(frame);
  const is = NAME_OF.get(reader.u8());
  if (is === undefined) throw unfit("its kind is unknown");
  if (is === "hello" || is === "prove") {
    const version = reader.u8();
    if (version !== wireVersion) return { is: "other-version", version };
  }
  const body = (codecs[is] as Codec<Message>).read(reader);
  if (!reader.done) throw unfit("there are bytes after its end");
  return { is, ...body } as Message;
}
