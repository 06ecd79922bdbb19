/**
 * The frames that begin a conversation and its channels.
 *
 * @module
 */

import { readCount, readText } from "../repo/canonical.ts";
import { encodeVector } from "../repo/version_vector.ts";
import { limits } from "../src/base/limits.ts";
import {
  type Codecs,
  readCertificates,
  readFlag,
  readStart,
  readVector,
  readWireText,
  wireText,
  writeList,
  writeStart,
} from "./frame_fields.ts";
import { wireVersion } from "./message.ts";

const NAME_BYTES_MAX = limits.nameSegmentsMax * 65;
const NONCE_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Who the two sides are. */
export const greetings: Pick<Codecs, "hello" | "prove" | "welcome"> = {
  hello: {
    kind: 0x01,
    write(writer, { nonce, rootKey, name }) {
      writer.u8(wireVersion);
      writer.bytes(nonce);
      writer.bytes(rootKey);
      writer.text(name);
    },
    read: (reader) => ({
      nonce: reader.take(NONCE_BYTES),
      rootKey: reader.take(32),
      name: readWireText(reader),
    }),
  },
  prove: {
    kind: 0x02,
    write(writer, { nonce, window, certificates, signature }) {
      writer.u8(wireVersion);
      writer.bytes(nonce);
      writer.varint(window);
      writeList(writer, certificates);
      writer.bytes(signature);
    },
    read: (reader) => ({
      nonce: reader.take(NONCE_BYTES),
      window: readCount(reader),
      certificates: readCertificates(reader),
      signature: reader.take(SIGNATURE_BYTES),
    }),
  },
  welcome: {
    kind: 0x03,
    write(writer, { window, heartbeatMs, clock, certificates, signature }) {
      writer.varint(window);
      writer.varint(heartbeatMs);
      writer.u48(clock);
      writeList(writer, certificates);
      writer.bytes(signature);
    },
    read: (reader) => ({
      window: readCount(reader),
      heartbeatMs: readCount(reader),
      clock: reader.u48(),
      certificates: readCertificates(reader),
      signature: reader.take(SIGNATURE_BYTES),
    }),
  },
};

/** What they talk about. */
export const openings: Pick<
  Codecs,
  "open" | "opened" | "vector" | "declined" | "close"
> = {
  open: {
    kind: 0x10,
    write(writer, { channel, name, genesisId, start }) {
      writer.varint(channel);
      writer.text(name);
      writer.bytes(genesisId);
      writeStart(writer, start);
    },
    read: (reader) => ({
      channel: readCount(reader),
      name: readText(reader, NAME_BYTES_MAX),
      genesisId: reader.take(32),
      start: readStart(reader),
    }),
  },
  opened: {
    kind: 0x11,
    write(writer, { channel, rights, epoch, commits, vector }) {
      writer.varint(channel);
      writer.u8(rights);
      writer.bytes(epoch);
      writer.varint(commits);
      writer.u8(vector === undefined ? 0 : 1);
      if (vector !== undefined) writer.bytes(encodeVector(vector));
    },
    read: (reader) => ({
      channel: readCount(reader),
      rights: reader.u8(),
      epoch: reader.take(16),
      commits: readCount(reader),
      vector: readFlag(reader) ? readVector(reader) : undefined,
    }),
  },
  vector: {
    kind: 0x12,
    write(writer, { channel, vector }) {
      writer.varint(channel);
      writer.bytes(encodeVector(vector));
    },
    read: (reader) => ({
      channel: readCount(reader),
      vector: readVector(reader),
    }),
  },
  declined: {
    kind: 0x13,
    write(writer, { channel, code, detail }) {
      writer.varint(channel);
      writer.text(wireText(code));
      writer.text(wireText(detail));
    },
    read: (reader) => ({
      channel: readCount(reader),
      code: readWireText(reader),
      detail: readWireText(reader),
    }),
  },
  close: {
    kind: 0x14,
    write: (writer, { channel }) => writer.varint(channel),
    read: (reader) => ({ channel: readCount(reader) }),
  },
};
