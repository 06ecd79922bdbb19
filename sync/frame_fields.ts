/** The fields that frames have beside those of every layout. */

import {
  chainBytes,
  chainBytesLength,
  chainName,
} from "../repo/commit/commit.ts";
import {
  encodeVector,
  readVector,
  type VersionVector,
} from "../repo/commit/version_vector.ts";
import {
  bytes,
  copied,
  count,
  type Field,
  fixed,
  flagged,
  list,
  struct,
  textUpTo,
  u48,
  unfit,
  type ValueOf,
} from "../src/base/layout.ts";
import { limits } from "../src/base/limits.ts";

const CHARACTERS_MAX = Math.floor(limits.wireTextBytesMax / 3);

/** A text of the wire, which is cut so that the other side takes it. */
export const text: Field<string> = {
  ...textUpTo(limits.wireTextBytesMax),
  write: (writer, value) =>
    writer.text(value.slice(0, CHARACTERS_MAX).toWellFormed()),
};

/** Some texts of the wire. */
export const texts: Field<readonly string[]> = {
  says: "varint | (text)*",
  write(writer, list) {
    const some = list.slice(0, limits.enforcedMax);
    writer.varint(some.length);
    for (const one of some) text.write(writer, one);
  },
  read(reader) {
    const length = reader.varint();
    if (length > limits.enforcedMax) throw unfit("too many texts");
    return Array.from({ length }, () => text.read(reader));
  },
};

/** The name of a chain. */
export const chain: Field<string> = {
  says: "{40}",
  write: (writer, value) => writer.bytes(chainBytes(value)),
  read: (reader) => chainName(reader.take(chainBytesLength)),
};

/** A list of certificates, own first. */
export const certificates: Field<readonly Uint8Array[]> = {
  says: "u8 | (bytes)*",
  write(writer, list) {
    writer.u8(list.length);
    for (const one of list) bytes.write(writer, one);
  },
  read(reader) {
    const length = reader.u8();
    if (length > limits.certificatesMax) throw unfit("too many certificates");
    return Array.from({ length }, () => bytes.read(reader));
  },
};

/** How many commits of each chain. */
export const vector: Field<VersionVector> = {
  says: "varint | (chain {40} | commits varint)*",
  write: (writer, value) => writer.bytes(encodeVector(value)),
  read: readVector,
};

/** A position in a server's log, and the order of acceptance up to there. */
export const place = struct({ position: count, order: copied(32) });

/** See {@linkcode place}. */
export type Place = ValueOf<typeof place>;

/** The way up in a tree: the hash beside each step. */
export const hashes = list(copied(32), limits.receiptPathMax);

/** What a receipt says on the wire: what both sides know already is not said. */
export const receiptFields = struct({
  /** Where it was given; nothing: at the place that was told last. */
  place: flagged(place),
  /** The server's wall clock. */
  wall: u48,
  /** What was signed together with it: the hashes beside its way up. */
  path: hashes,
  /** Of the chains that it names. */
  summary: bytes,
  signature: fixed(64),
});

/** See {@linkcode receiptFields}. */
export type SentReceipt = ValueOf<typeof receiptFields>;

/** A receipt in a frame. */
export const receipt: Field<SentReceipt> = {
  says: "as below",
  write: (writer, value) => receiptFields.write(writer, value),
  read: (reader) => receiptFields.read(reader),
};

/** A place, and the life of the log in which it is one. */
export const cursor = struct({ epoch: copied(16), ...place.fields });

/** See {@linkcode cursor}. */
export type Cursor = ValueOf<typeof cursor>;
