/**
 * What a checkpoint remembers of a repository besides its tables:
 * `1 | genesis varint {n} | genesis id {32} | graph varint {n} | certificates varint | (varint {n})*
 * | withdrawals varint {n} | revocations varint | (varint {n})*`, and 1 where the
 * tables hold what a repair salvaged.
 *
 * @module
 */

import { ByteReader, ByteWriter } from "../../src/base/bytes.ts";
import {
  type Certificate,
  Certificates,
  decodeCertificate,
} from "../commit/certificate.ts";
import { idLength } from "../commit/commit.ts";
import { Graph } from "../graph/graph.ts";
import {
  decodeRevocation,
  type Revocation,
  Revocations,
} from "../commit/revocation.ts";
import { Withdrawals } from "../refusal/withdrawals.ts";
import { readBytes, writeBytes } from "../commit/canonical.ts";

const FORMAT = 1;

/** A repository's knowledge apart from its items. */
export interface ReplicaMeta {
  /** The genesis record's bytes. */
  readonly genesis: Uint8Array;
  /** Its hash. */
  readonly genesisId: Uint8Array;
  /** Which commits are known. */
  readonly graph: Graph;
  /** Who may sign. */
  readonly certificates: Certificates;
  /** Which of the log's commits are void, and the refusals that stand. */
  readonly withdrawals: Withdrawals;
  /** Who may sign no more. */
  readonly revocations: Revocations;
  /** Do the tables hold what a repair salvaged? */
  readonly isSalvaged: boolean;
}

/** The bytes of the meta. */
export function encodeMeta(
  meta: Omit<ReplicaMeta, "isSalvaged"> & { readonly salvage?: unknown },
): Uint8Array {
  const { genesis, graph, certificates } = meta;
  const writer = new ByteWriter(1024);
  writer.u8(FORMAT);
  writeBytes(writer, genesis);
  writer.bytes(meta.genesisId);
  writeBytes(writer, graph.encode());
  const known: Certificate[] = [...certificates];
  writer.varint(known.length);
  for (const { bytes } of known) writeBytes(writer, bytes);
  writeBytes(writer, meta.withdrawals.encode());
  const revoked: Revocation[] = [...meta.revocations];
  writer.varint(revoked.length);
  for (const { bytes } of revoked) writeBytes(writer, bytes);
  if (meta.salvage !== undefined) writer.u8(1);
  return writer.copy();
}

/** Reads the meta; `SyntaxError` when the bytes are none. */
export function decodeMeta(bytes: Uint8Array): ReplicaMeta {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode meta: its format is unknown");
  }
  const genesis = readBytes(reader).slice();
  const genesisId = reader.take(idLength).slice();
  const graph = Graph.decode(readBytes(reader), genesisId);
  const certificates = new Certificates();
  const count = reader.varint();
  for (let i = 0; i < count; i++) {
    certificates.add(decodeCertificate(readBytes(reader)));
  }
  // Older checkpoints end here.
  const withdrawals = reader.done
    ? new Withdrawals()
    : Withdrawals.decode(new ByteReader(readBytes(reader)));
  const revocations = new Revocations();
  const revoked = reader.done ? 0 : reader.varint();
  for (let i = 0; i < revoked; i++) {
    revocations.add(decodeRevocation(readBytes(reader)));
  }
  const isSalvaged = !reader.done;
  const credentials = { certificates, revocations };
  return { genesis, genesisId, graph, ...credentials, withdrawals, isSalvaged };
}
